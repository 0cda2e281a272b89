/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * apm_pingpong: what automatic path migration costs, as Vishnu et al. 2007 measured it (sections
 * 4.2.1 and 4.2.2): two processes send a message back and forth over n queue pairs in turn, each
 * with the other port or LID as its alternate path.
 *
 *     apm_pingpong server [OPTION...]           serves one client
 *     apm_pingpong client HOST [OPTION...]
 *       --test times    from REARM to ARMED, and from MIGRATED to its event, of all queue pairs
 *              latency  of a round trip: without a transition, with each under way (default)
 *              armed    of round trips over two queue pairs, one armed and one that is not, in
 *                       blocks in turn; a line for each block
 *              cut      of a round trip while hardware migrates: "armed" on standard error says
 *                       that the primary path is to be cut, from outside
 *       --qps N         1..512 (1)
 *       --bytes N       0..65536 (128)
 *       --rounds N      how often; round trips without a transition: N a queue pair (10)
 *       --window N      messages on their way at a time, 1..16; test armed only (1)
 *       --leave-port    migrate when the port is reported down, without waiting for hardware
 *     both: --device NAME  --port N (1)  --tcp PORT (18515)  --timeout N (12), 4.096 us * 2^N
 *
 * Standard output of the client is CSV: test, qps, bytes, what, count, mean_us, max_us. Exit status
 * 1: the device does not migrate, or a queue pair was lost.
 *
 * Of hwmc it needs core/path/apm.c and conn.c, path.c, specify.c, load.c and migrate.c of apm/; of
 * others libibverbs.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <time.h>
#include <unistd.h>

#include "../../src/mpid/ch4/netmod/hwmc/apm/load.h"
#include "../../src/mpid/ch4/netmod/hwmc/apm/migrate.h"
#include "../../src/mpid/ch4/netmod/hwmc/apm/specify.h"
#include "apm_tcp.h"

#define QPS_MAX 512
#define BYTES_MAX 65536
#define PORTS_MAX 4
#define WINDOW_MAX 16
#define BLOCK 20 /* windows, of test armed */
#define RETRIES                                                                                    \
    3 /* of the client; the server has twice as many, so that it does not give up first */
#define WAIT_NS UINT64_C(30000000000) /* for anything at all */

struct qp {
    struct hwmc_apm_conn conn;
    atomic_uint events; /* IBV_EVENT_PATH_MIG that came */
    unsigned taken;     /* of these */
};

/* What an end tells the other when they connect; both are the same program. */
struct hello {
    uint32_t num_qps, num_ports;
    struct hwmc_apm_port port[PORTS_MAX];
    uint32_t qp_num[QPS_MAX];
};

static struct {
    bool server, leave_port;
    const char *host, *device, *tcp, *test;
    int qps, bytes, rounds, window, port, timeout;
} opt = {.tcp = "18515",
         .test = "latency",
         .qps = 1,
         .bytes = 128,
         .rounds = 10,
         .window = 1,
         .port = 1,
         .timeout = 12};

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static char memory[2 * BYTES_MAX]; /* to send, and to receive */
static struct qp qps[QPS_MAX];
static struct hwmc_apm_conn *conns[QPS_MAX];
static struct hello mine, theirs;
static atomic_uint num_events;
static atomic_bool port_down;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

/* Devices and connections. */

static void open_device(void)
{
    int n = 0, i = 0;
    struct ibv_device **list = ibv_get_device_list(&n);

    while (i < n && opt.device != NULL && strcmp(ibv_get_device_name(list[i]), opt.device) != 0)
        i++;
    if (list == NULL || i >= n)
        apm_fail("no such device");
    context = ibv_open_device(list[i]);
    ibv_free_device_list(list);
    pd = context != NULL ? ibv_alloc_pd(context) : NULL;
    cq = pd != NULL ? ibv_create_cq(context, 4 * QPS_MAX, NULL, NULL, 0) : NULL;
    mr = cq != NULL ? ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE) : NULL;
    if (mr == NULL)
        apm_fail("the device cannot be opened");
}

/* The primary path's port first. */
static void find_ports(void)
{
    struct ibv_device_attr attr;

    if (ibv_query_device(context, &attr) != 0)
        apm_fail("ibv_query_device");
    for (int k = 0; k <= attr.phys_port_cnt && mine.num_ports < PORTS_MAX; k++) {
        uint8_t number = (uint8_t) (k == 0 ? opt.port : k);
        struct hwmc_apm_port *p = &mine.port[mine.num_ports];
        struct ibv_port_attr port;

        if ((k > 0 && number == opt.port) || ibv_query_port(context, number, &port) != 0 ||
            port.state != IBV_PORT_ACTIVE || ibv_query_gid(context, number, 0, &p->gid) != 0)
            continue;
        p->number = number;
        p->lid = port.lid;
        p->lmc = port.lmc;
        p->grh = port.link_layer == IBV_LINK_LAYER_ETHERNET;
        mine.num_ports++;
    }
    if (mine.num_ports == 0 || mine.port[0].number != opt.port)
        apm_fail("the port is not active");
}

static void make_qps(void)
{
    struct ibv_qp_init_attr init = {.send_cq = cq,
                                    .recv_cq = cq,
                                    .cap = {.max_send_wr = (uint32_t) opt.window + 1,
                                            .max_recv_wr = (uint32_t) opt.window + 1,
                                            .max_send_sge = 1,
                                            .max_recv_sge = 1},
                                    .qp_type = IBV_QPT_RC,
                                    .sq_sig_all = 1};

    for (int i = 0; i < opt.qps; i++) {
        init.qp_context = &qps[i];
        conns[i] = &qps[i].conn;
        conns[i]->qp = ibv_create_qp(pd, &init);
        if (conns[i]->qp == NULL)
            apm_fail("ibv_create_qp");
        mine.qp_num[i] = conns[i]->qp->qp_num;
    }
    mine.num_qps = (uint32_t) opt.qps;
}

static void post_recv(int i)
{
    struct ibv_sge sge = {(uintptr_t) memory + BYTES_MAX, BYTES_MAX, mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = (uint64_t) i, .sg_list = &sge, .num_sge = 1}, *bad;

    if (ibv_post_recv(conns[i]->qp, &wr, &bad) != 0)
        apm_fail("ibv_post_recv");
}

static void post_send(int i, uint32_t bytes)
{
    struct ibv_sge sge = {(uintptr_t) memory, bytes, mr->lkey};
    struct ibv_send_wr wr = {
        .wr_id = (uint64_t) i, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};
    struct ibv_send_wr *bad;

    if (ibv_post_send(conns[i]->qp, &wr, &bad) != 0)
        apm_fail("ibv_post_send");
}

static void modify(int i, struct ibv_qp_attr *attr, int mask)
{
    errno = ibv_modify_qp(conns[i]->qp, attr, mask | IBV_QP_STATE);
    if (errno != 0)
        apm_fail("ibv_modify_qp");
    hwmc_apm_specified(conns[i], mask);
    hwmc_apm_conn_comm(conns[i], attr->qp_state);
}

/* The alternate path is specified on the way to RTR, as in the paper, and loaded later. */
static void connect_qp(int i)
{
    struct hwmc_apm_path primary, alternate;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = mine.port[0].number};

    hwmc_apm_path_between(&mine.port[0], 0, &theirs.port[0], 0, (uint8_t) opt.timeout, &primary);
    if (hwmc_apm_choose(mine.port, (int) mine.num_ports, theirs.port, (int) theirs.num_ports,
                        (uint8_t) opt.timeout, &alternate) == HWMC_APM_NO_ALTERNATE)
        apm_fail("there is no alternate path");
    hwmc_apm_conn_init(conns[i], conns[i]->qp, &primary, &alternate);
    modify(i, &attr, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
                                .path_mtu = IBV_MTU_1024,
                                .dest_qp_num = theirs.qp_num[i],
                                .min_rnr_timer = 12};
    hwmc_apm_path_address(&primary, &attr.ah_attr);
    modify(i, &attr,
           IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
               IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER |
               hwmc_apm_specify_with(conns[i], &attr));
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                                .timeout = (uint8_t) opt.timeout,
                                .retry_cnt = opt.server ? 2 * RETRIES : RETRIES,
                                .rnr_retry = 2 * RETRIES};
    modify(i, &attr,
           IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
               IBV_QP_MAX_QP_RD_ATOMIC);
    for (int n = 0; n <= opt.window; n++)
        post_recv(i);
}

/* Of both ends: the client's. */
static void share(int *number)
{
    if (opt.server)
        apm_tcp_get(number, sizeof(*number));
    else
        apm_tcp_put(number, sizeof(*number));
}

static void connect_all(void)
{
    char ready = 0;

    share(&opt.qps);
    share(&opt.window);
    if (opt.qps < 1 || opt.qps > QPS_MAX || opt.window < 1 || opt.window > WINDOW_MAX)
        apm_fail("that many queue pairs, or messages, cannot be");
    make_qps();
    apm_tcp_put(&mine, sizeof(mine));
    apm_tcp_get(&theirs, sizeof(theirs));
    if (theirs.num_qps != mine.num_qps || theirs.num_ports < 1 || theirs.num_ports > PORTS_MAX)
        apm_fail("the other end makes no sense");
    for (int i = 0; i < opt.qps; i++)
        connect_qp(i);
    apm_tcp_put(&ready, 1);
    apm_tcp_get(&ready, 1);
}

/* Events: the asynchronous thread of section 3.2 notes them, the main thread acts on them. */

static void *watch(void *arg)
{
    struct ibv_async_event e;

    while (ibv_get_async_event(context, &e) == 0) {
        if (e.event_type == IBV_EVENT_PATH_MIG) {
            atomic_fetch_add(&((struct qp *) e.element.qp->qp_context)->events, 1);
            atomic_fetch_add(&num_events, 1);
        } else if (e.event_type == IBV_EVENT_PORT_ERR && e.element.port_num == opt.port) {
            atomic_store(&port_down, true);
        }
        ibv_ack_async_event(&e);
    }
    return arg;
}

static void take_events(void)
{
    static unsigned seen;
    unsigned now = atomic_load(&num_events);

    if (seen == now)
        return;
    seen = now;
    for (int i = 0; i < opt.qps; i++)
        for (; qps[i].taken != atomic_load(&qps[i].events); qps[i].taken++)
            hwmc_apm_conn_event(conns[i], IBV_EVENT_PATH_MIG);
}

static int migrated(void)
{
    int n = 0;

    take_events();
    for (int i = 0; i < opt.qps; i++)
        n += conns[i]->state.path == HWMC_APM_MIGRATED;
    return n;
}

static void specify_all(void)
{
    for (int i = 0; i < opt.qps; i++)
        if (!conns[i]->state.specified && (errno = hwmc_apm_specify(conns[i])) != 0)
            apm_fail("the alternate path is refused");
}

static void load(int n)
{
    if (hwmc_apm_load(conns, n) != n)
        apm_fail("loading is refused");
}

/* The server: echoes, and does what the client says by TCP: L(oad), load the F(irst), S(pecify what
 * migrated); answers each. */

static bool obey(void)
{
    struct pollfd p = {.fd = apm_tcp_fd(), .events = POLLIN};
    char what;

    if (poll(&p, 1, 0) == 0)
        return true;
    if (recv(apm_tcp_fd(), &what, 1, 0) != 1)
        return false;
    if (what != 'S') {
        load(what == 'L' ? opt.qps : 1);
    } else {
        while (migrated() < opt.qps)
            sched_yield();
        specify_all();
    }
    apm_tcp_put(&what, 1);
    return true;
}

static void serve(void)
{
    unsigned idle = 0;

    for (;;) {
        struct ibv_wc wc;

        if (ibv_poll_cq(cq, 1, &wc) == 0) {
            if (++idle % 16 == 0 && !obey())
                return;
            sched_yield();
            continue;
        }
        errno = 0;
        if (wc.status != IBV_WC_SUCCESS)
            apm_fail(ibv_wc_status_str(wc.status));
        if (wc.opcode == IBV_WC_RECV) {
            post_recv((int) wc.wr_id);
            post_send((int) wc.wr_id, wc.byte_len);
        }
    }
}

/* The client. */

struct sum {
    uint64_t n, ns, max;
};

static void add(struct sum *s, uint64_t ns)
{
    s->n++;
    s->ns += ns;
    s->max = ns > s->max ? ns : s->max;
}

static void print(const char *what, const struct sum *s)
{
    printf("%s,%d,%d,%s,%llu,%.2f,%.2f\n", opt.test, opt.qps, opt.bytes, what,
           (unsigned long long) s->n, s->n > 0 ? (double) s->ns / (double) s->n / 1000 : 0.0,
           (double) s->max / 1000);
    fflush(stdout);
}

static void leave_port(void)
{
    if (!opt.leave_port || !atomic_exchange(&port_down, false))
        return;
    take_events();
    hwmc_apm_migrate(conns, opt.qps);
}

/* So many messages there and back: ns. */
static uint64_t round_trips(int i, int window)
{
    uint64_t from = now_ns();
    int left = 2 * window;

    for (int n = 0; n < window; n++)
        post_send(i, (uint32_t) opt.bytes);
    while (left > 0) {
        struct ibv_wc wc;

        errno = 0;
        if (ibv_poll_cq(cq, 1, &wc) == 0) {
            if (now_ns() - from > WAIT_NS)
                apm_fail("no answer");
            leave_port();
            sched_yield();
            continue;
        }
        if (wc.status != IBV_WC_SUCCESS)
            apm_fail(ibv_wc_status_str(wc.status));
        if (wc.opcode == IBV_WC_RECV)
            post_recv((int) wc.wr_id);
        left--;
    }
    return now_ns() - from;
}

static uint64_t round_trip(int i)
{
    return round_trips(i, 1);
}

static void ask(char what)
{
    apm_tcp_put(&what, 1);
}

static void answered(void)
{
    char what;

    apm_tcp_get(&what, 1);
}

/* Whether all queue pairs are where they are to be, `i` being the last that was used. */
static bool all_armed(int i)
{
    int n = 0;

    hwmc_apm_load_poll(&conns[i], 1);
    for (int k = 0; k < opt.qps; k++)
        n += conns[k]->state.path == HWMC_APM_ARMED;
    return n == opt.qps;
}

static bool all_migrated(int i)
{
    (void) i;
    return migrated() == opt.qps;
}

/* Round trips on all queue pairs in turn until `done`, which is asked after each. */
static struct sum iterate(bool (*done)(int), const char *failure)
{
    uint64_t until = now_ns() + WAIT_NS;
    struct sum s = {0};
    int i = 0;

    for (;;) {
        add(&s, round_trip(i));
        if (done(i))
            return s;
        i = (i + 1) % opt.qps;
        errno = 0;
        if (now_ns() > until)
            apm_fail(failure);
    }
}

static void use_all(struct sum *s)
{
    for (int i = 0; i < opt.qps; i++)
        add(s, round_trip(i));
}

/* `took`: ns until all are armed here. The server is by another message on each. */
static struct sum load_under_way(uint64_t *took)
{
    uint64_t from = now_ns();
    struct sum s, rest = {0};

    ask('L');
    load(opt.qps);
    s = iterate(all_armed, "paths are never loaded");
    *took = now_ns() - from;
    answered();
    use_all(&rest);
    return s;
}

static void migrate_all(void)
{
    errno = 0;
    if (hwmc_apm_migrate(conns, opt.qps) != opt.qps)
        apm_fail("migration is refused");
}

/* Both ends as they were: a queue pair of the server learns of the migration by a message. */
static void respecify(void)
{
    struct sum rest = {0};

    use_all(&rest);
    ask('S');
    answered();
    specify_all();
}

static void test_times(void)
{
    struct sum armed = {0}, moved = {0};

    for (int r = 0; r < opt.rounds; r++) {
        uint64_t from, took;

        load_under_way(&took);
        add(&armed, took);
        from = now_ns();
        migrate_all();
        while (!all_migrated(0))
            sched_yield();
        add(&moved, now_ns() - from);
        respecify();
    }
    print("migrated-armed", &armed);
    print("armed-migrated", &moved);
}

static void add_sum(struct sum *s, const struct sum *more)
{
    s->n += more->n;
    s->ns += more->ns;
    s->max = more->max > s->max ? more->max : s->max;
}

static void test_latency(void)
{
    struct sum original = {0}, loading = {0}, moving = {0}, s;
    uint64_t took;

    for (int r = 0; r < opt.rounds; r++)
        use_all(&original);
    for (int r = 0; r < opt.rounds; r++) {
        s = load_under_way(&took);
        add_sum(&loading, &s);
        migrate_all();
        use_all(&moving);
        s = iterate(all_migrated, "migrations are not told of");
        respecify();
    }
    print("original", &original);
    print("migrated-armed", &loading);
    print("armed-migrated", &moving);
}

static void block(int i, bool told)
{
    struct sum s = {0};

    for (int n = 0; n < BLOCK; n++)
        add(&s, round_trips(i, opt.window));
    if (told)
        print(i == 0 ? "armed" : "unarmed", &s);
}

/* Which goes first changes from round to round; the first rounds are to warm up. */
static void test_armed(void)
{
    if (opt.qps != 2)
        apm_fail("--test armed needs --qps 2");
    ask('F');
    load(1);
    answered();
    while (conns[0]->state.path != HWMC_APM_ARMED) {
        round_trip(0);
        hwmc_apm_load_poll(conns, 1);
    }
    for (int r = -4; r < opt.rounds; r++) {
        block(r & 1, r >= 0);
        block(~r & 1, r >= 0);
    }
    hwmc_apm_load_poll(conns, opt.qps);
    if (conns[0]->state.path != HWMC_APM_ARMED || conns[1]->state.path != HWMC_APM_MIGRATED)
        apm_fail("a path has changed its state");
}

/* From the first migration to the last. */
static void test_cut(void)
{
    struct sum before = {0}, during = {0};
    uint64_t until, took;

    load_under_way(&took);
    use_all(&before);
    fprintf(stderr, "armed\n");
    until = now_ns() + WAIT_NS;
    for (int i = 0; migrated() < opt.qps; i = (i + 1) % opt.qps) {
        uint64_t ns = round_trip(i);

        add(migrated() > 0 ? &during : &before, ns);
        errno = 0;
        if (during.n == 0 && now_ns() > until)
            apm_fail("nobody cut the path");
    }
    print("original", &before);
    print("cut", &during);
}

static void read_options(int argc, char **argv)
{
    static const struct option longs[] = {
        {"test", 1, NULL, 't'},    {"qps", 1, NULL, 'q'},        {"bytes", 1, NULL, 'b'},
        {"rounds", 1, NULL, 'r'},  {"leave-port", 0, NULL, 'l'}, {"device", 1, NULL, 'd'},
        {"window", 1, NULL, 'w'},  {"port", 1, NULL, 'p'},       {"tcp", 1, NULL, 'c'},
        {"timeout", 1, NULL, 'o'}, {NULL, 0, NULL, 0},
    };
    int *const numbers[] = {['q'] = &opt.qps,  ['b'] = &opt.bytes,   ['r'] = &opt.rounds,
                            ['p'] = &opt.port, ['o'] = &opt.timeout, ['w'] = &opt.window};
    int c;

    while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        if (c == '?')
            exit(2);
        else if (c == 't')
            opt.test = optarg;
        else if (c == 'l')
            opt.leave_port = true;
        else if (c == 'd')
            opt.device = optarg;
        else if (c == 'c')
            opt.tcp = optarg;
        else
            *numbers[c] = atoi(optarg);
    }
    opt.server = optind + 1 == argc && strcmp(argv[optind], "server") == 0;
    if (!opt.server && (optind + 2 != argc || strcmp(argv[optind], "client") != 0))
        apm_fail("server, or client HOST; see the head of the source");
    opt.host = opt.server ? NULL : argv[optind + 1];
    if (opt.qps < 1 || opt.qps > QPS_MAX || opt.bytes < 0 || opt.bytes > BYTES_MAX ||
        opt.rounds < 1 || opt.port < 1 || opt.port > 255 || opt.timeout < 1 || opt.timeout > 31)
        apm_fail("a number is out of its range");
}

int main(int argc, char **argv)
{
    pthread_t thread;

    read_options(argc, argv);
    apm_tcp_open(opt.host, opt.tcp);
    open_device();
    find_ports();
    connect_all();
    if (pthread_create(&thread, NULL, watch, NULL) != 0)
        apm_fail("pthread_create");
    if (opt.server)
        serve();
    else if (strcmp(opt.test, "times") == 0)
        test_times();
    else if (strcmp(opt.test, "cut") == 0)
        test_cut();
    else if (strcmp(opt.test, "armed") == 0)
        test_armed();
    else
        test_latency();
    return 0;
}
