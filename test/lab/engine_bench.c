/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * engine_bench: what the engine takes for a datagram, without a network and without a system: two
 * engines in one process over a fabric in memory. See bench_engine.
 *
 *   engine_bench [-mib N] [-groups N] [-payload N] [-integrity crc32c|off|keyed] [-stages]
 *
 * Sends messages of 1 MiB, on each group in turn, N MiB in all. Writes a line:
 *
 *   payload groups integrity  send recv placed kept  poll
 *
 * send, recv   ns a datagram that the engines of root and member take, the fabric's own copies not
 *              counted. The member copies payloads to the program's memory.
 * placed       as recv, payloads being read to the program's memory at once
 * kept         ns a datagram more at root and member, together: hwmc_group_unpin, which copies what
 *              others may ask for
 * poll         ns of a poll that finds nothing, all groups idle
 *
 * With -stages parts of it alone, in ns a datagram: writing and reading a header; CRC or code of
 * the sender and of the receiver; the machines of root and member; a copy of the payload.
 */
#include "bench_memory_net.h"
#include "core/base/frags.h"
#include "engine/wire/crc32c.h"

#define MESSAGE (1u << 20)
#define PIECE 262144u /* of a network of 10 Gbit/s */
#define CHANNELS 16u
#define PERIOD 8u
#define ROUNDS 15 /* of which the quickest counts: other work on the machine only adds */

#define MANY 500 /* messages of a round; then there are fewer rounds */

struct options {
    uint32_t mib, groups, payload;
    enum hwmc_integrity integrity;
    bool stages;
};

struct bench {
    struct options o;
    struct side *sides; /* of root and member */
    struct hwmc_group **groups[SIDES];
    unsigned char *memory[SIDES];
    uint64_t now;          /* the engines' time: a number that grows */
    uint64_t taken[SIDES]; /* ns in the engine, less the fabric's */
    uint64_t kept;         /* ns; not in `taken` */
    uint64_t datagrams;
};

struct figures {
    double send, recv, kept;
};

static double quickest(const double *values, int n)
{
    double least = values[0];

    for (int i = 1; i < n; i++)
        least = values[i] < least ? values[i] : least;
    return least;
}

/* Group `i` of both sides; it is not ON yet. */
static void create_group(struct bench *b, uint32_t i)
{
    static const uint32_t world[SIDES] = {0, 1};

    for (uint32_t r = 0; r < SIDES; r++) {
        const struct hwmc_group_cfg cfg = {
            .context = i,
            .size = SIDES,
            .rank = r,
            .world = world,
            .key = 1000 + i,
            .policy = {.first = {.period = PERIOD}, .stay = true},
            .channels = CHANNELS,
            .fanout = 2,
            .piece_bytes = PIECE,
            .join_ns = 1000000000,
            .probe_ns = 250000000,
        };

        b->groups[r][i] = hwmc_group_create(&b->sides[r].engine->groups, &cfg, b->now);
        if (!b->groups[r][i])
            exit(1);
    }
}

/* Both engines, until nothing happens. */
static void settle(struct bench *b)
{
    int events;

    do {
        events = 0;
        b->now += 1000;
        for (uint32_t r = 0; r < SIDES; r++)
            events += hwmc_engine_progress(b->sides[r].engine, b->now);
    } while (events > 0);
}

static bool all_on(const struct bench *b)
{
    for (uint32_t i = 0; i < b->o.groups; i++)
        for (uint32_t r = 0; r < SIDES; r++)
            if (b->groups[r][i]->state != HWMC_GROUP_ON)
                return false;
    return true;
}

static void set_up(struct bench *b, bool places)
{
    b->now = 1000;
    open_net(b->sides, b->o.payload, b->o.integrity, places);
    for (uint32_t r = 0; r < SIDES; r++)
        b->groups[r] = calloc(b->o.groups, sizeof(struct hwmc_group *));
    for (uint32_t i = 0; i < b->o.groups; i++) {
        create_group(b, i);
        settle(b);
    }
    for (int tries = 0; !all_on(b); tries++) {
        if (tries == 1000000)
            exit(1);
        b->now += 1000000;
        settle(b);
    }
}

static void tear_down(struct bench *b)
{
    close_net(b->sides);
    for (uint32_t r = 0; r < SIDES; r++)
        free(b->groups[r]);
}

/* What side r takes is counted from begin_side to end_side. */
static uint64_t begin_side(struct bench *b, uint32_t r)
{
    b->sides[r].fabric_ns = 0;
    b->now += 1000;
    return wall_ns();
}

static void end_side(struct bench *b, uint32_t r, uint64_t begun)
{
    b->taken[r] += wall_ns() - begun - clock_ns - b->sides[r].fabric_ns;
}

/* Until the next broadcast can be posted on side `r`. */
static void wait_open(struct bench *b, uint32_t r, struct hwmc_group *g)
{
    while (!hwmc_group_open(g)) {
        uint64_t begun = begin_side(b, r);

        hwmc_group_stall(g, b->now);
        hwmc_engine_progress(b->sides[r].engine, b->now);
        end_side(b, r, begun);
        begun = begin_side(b, 1 - r);
        hwmc_engine_progress(b->sides[1 - r].engine, b->now);
        end_side(b, 1 - r, begun);
    }
}

static void send_piece(struct bench *b, struct hwmc_group *g, uint32_t n, bool more)
{
    uint64_t begun;

    wait_open(b, 0, g);
    begun = begin_side(b, 0);
    (void) hwmc_group_next_bytes(g, n);
    hwmc_group_post_root(g, n, more, b->now);
    while (!hwmc_group_done(g) || !hwmc_group_sent(g))
        hwmc_engine_progress(b->sides[0].engine, b->now);
    hwmc_group_consume(g, b->now);
    end_side(b, 0, begun);
}

static void recv_piece(struct bench *b, struct hwmc_group *g)
{
    uint64_t begun;

    wait_open(b, 1, g);
    begun = begin_side(b, 1);
    hwmc_group_post_member(g, 0, b->now);
    while (!hwmc_group_done(g))
        hwmc_engine_progress(b->sides[1].engine, b->now);
    hwmc_group_consume(g, b->now);
    end_side(b, 1, begun);
}

static void unpin(struct bench *b, struct hwmc_group *g)
{
    const uint64_t begun = wall_ns();

    hwmc_group_unpin(g);
    b->kept += wall_ns() - begun - clock_ns;
}

static void send_message(struct bench *b, uint32_t i)
{
    struct hwmc_group *root = b->groups[0][i], *member = b->groups[1][i];
    const uint32_t piece = root->piece_bytes;

    hwmc_group_pin(root, b->memory[0], MESSAGE);
    hwmc_group_pin(member, b->memory[1], MESSAGE);
    for (uint32_t at = 0; at < MESSAGE; at += piece) {
        const uint32_t n = MESSAGE - at < piece ? MESSAGE - at : piece;

        send_piece(b, root, n, at + n < MESSAGE);
        recv_piece(b, member);
    }
    unpin(b, root);
    unpin(b, member);
    if (memcmp(b->memory[0], b->memory[1], MESSAGE) != 0) {
        fprintf(stderr, "other bytes came than were sent\n");
        exit(1);
    }
    b->datagrams += hwmc_frags_of(MESSAGE, b->o.payload);
}

/* All messages once more in each round; the first one makes all warm. */
static struct figures measure_messages(struct bench *b)
{
    double send[ROUNDS], kept[ROUNDS], recv[ROUNDS];
    const uint32_t messages = b->o.mib > b->o.groups ? b->o.mib : b->o.groups;
    const int rounds = messages < MANY ? ROUNDS : ROUNDS / 4;

    for (int round = -1; round < rounds; round++) {
        b->taken[0] = b->taken[1] = b->kept = b->datagrams = 0;
        for (uint32_t m = 0; m < messages; m++) {
            memset(b->memory[1], 0, MESSAGE);
            send_message(b, m % b->o.groups);
        }
        if (round < 0)
            continue;
        send[round] = (double) b->taken[0] / (double) b->datagrams;
        recv[round] = (double) b->taken[1] / (double) b->datagrams;
        kept[round] = (double) b->kept / (double) b->datagrams;
    }
    return (struct figures){quickest(send, rounds), quickest(recv, rounds), quickest(kept, rounds)};
}

static double measure_polls(struct bench *b)
{
    enum { POLLS = 100000 };
    double each[ROUNDS];

    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t begun = wall_ns();

        for (int i = 0; i < POLLS; i++)
            hwmc_engine_progress(b->sides[0].engine, b->now);
        each[round] = (double) (wall_ns() - begun) / POLLS;
    }
    return quickest(each, ROUNDS);
}

static const char *name_of(enum hwmc_integrity integrity)
{
    return integrity == HWMC_INTEGRITY_OFF     ? "off"
           : integrity == HWMC_INTEGRITY_KEYED ? "keyed"
                                               : "crc32c";
}

static void measure_engine(struct bench *b)
{
    struct figures copied, placed;
    double poll;

    set_up(b, false);
    copied = measure_messages(b);
    settle(b);
    poll = measure_polls(b);
    tear_down(b);
    set_up(b, true);
    placed = measure_messages(b);
    printf("%u %u %s %.1f %.1f %.1f %.1f %.1f\n", b->o.payload, b->o.groups,
           name_of(b->o.integrity), placed.send, copied.recv, placed.recv, placed.kept, poll);
    tear_down(b);
}

/* Stages alone. */

struct stages {
    struct options o;
    unsigned char *from, *to;
    struct hwmc_auth *auth;
    uint32_t frags; /* of a message */
};

static struct hwmc_msg fragment(uint32_t frags, uint32_t index)
{
    return (struct hwmc_msg){
        .type = HWMC_MSG_DATA,
        .multicast = true,
        .bid = 5,
        .data = {.frags = frags, .bytes = PIECE, .index = index, .rails = 1},
    };
}

static double stage_encode(struct stages *s)
{
    const struct hwmc_wire_id id = {.job = 7, .generation = 1, .unchecked = true};
    unsigned char head[HWMC_WIRE_HEAD];
    const uint64_t begun = wall_ns();

    for (uint32_t i = 0; i < s->frags; i++) {
        const struct hwmc_msg m = fragment(s->frags, i);

        hwmc_wire_encode(head, &id, 0, &m, s->from, s->o.payload);
        __asm__ volatile("" : : "r"(head) : "memory");
    }
    return (double) (wall_ns() - begun);
}

static double stage_decode(struct stages *s)
{
    static struct hwmc_wire_in in;
    const struct hwmc_wire_id id = {.job = 7, .generation = 1, .unchecked = true};
    const struct hwmc_msg m = fragment(s->frags, 1);
    unsigned char head[HWMC_WIRE_HEAD];
    uint64_t begun;

    hwmc_wire_encode(head, &id, 0, &m, s->from, s->o.payload);
    begun = wall_ns();
    for (uint32_t i = 0; i < s->frags; i++) {
        if (hwmc_wire_decode(&in, 7, true, head, HWMC_WIRE_CAST_HEAD, s->from, s->o.payload) !=
            HWMC_WIRE_OK)
            exit(1);
        __asm__ volatile("" : : "r"(&in) : "memory");
    }
    return (double) (wall_ns() - begun);
}

/* The code that the options ask for; it differs little between both sides. */
static double stage_code(struct stages *s)
{
    unsigned char head[HWMC_AUTH + HWMC_WIRE_HEAD] = {0};
    volatile uint32_t crc;
    const uint64_t begun = wall_ns();

    for (uint32_t i = 0; i < s->frags; i++) {
        const unsigned char *body = s->from + (size_t) i * s->o.payload;

        if (s->auth)
            hwmc_auth_put(s->auth, head, 0, 0, head + HWMC_AUTH, HWMC_WIRE_CAST_HEAD, body,
                          s->o.payload);
        else if (s->o.integrity == HWMC_INTEGRITY_CRC32C)
            crc = hwmc_crc32c_more(hwmc_crc32c(head, HWMC_WIRE_CAST_HEAD), body, s->o.payload);
    }
    (void) crc;
    return (double) (wall_ns() - begun);
}

static double stage_copy(struct stages *s)
{
    const uint64_t begun = wall_ns();

    for (uint32_t i = 0; i < s->frags; i++) {
        memcpy(s->to + (size_t) i * s->o.payload, s->from + (size_t) i * s->o.payload,
               s->o.payload);
        __asm__ volatile("" : : "r"(s->to) : "memory");
    }
    return (double) (wall_ns() - begun);
}

/* The streams of root and member, one message. */
static struct hwmc_stream streams[SIDES];

static void open_streams(struct stages *s)
{
    static struct hwmc_counts counts;
    const uint32_t frags = PIECE / s->o.payload > 0 ? PIECE / s->o.payload : 1;

    for (uint32_t r = 0; r < SIDES; r++) {
        const struct hwmc_stream_cfg cfg = {
            .size = SIDES,
            .rank = r,
            .policy = {.first = {.rails = 1, .period = PERIOD}, .stay = true},
            .channels = CHANNELS,
            .fanout = 2,
            .frag_bytes = s->o.payload,
            .max_bytes = frags * s->o.payload,
            .counts = &counts,
        };
        void *memory = malloc(hwmc_stream_footprint(&cfg));

        if (!memory)
            exit(1);
        hwmc_stream_init(&streams[r], &cfg, memory);
        hwmc_stream_agreed(&streams[r], 1);
    }
}

/* Takes what side `r` has to send; returns how many messages. */
static uint32_t take_sends(uint32_t r, struct hwmc_msg *out, uint32_t room, uint64_t now)
{
    const struct hwmc_room rails = {.each = 1, .best = 1};
    uint32_t n = 0;

    while (n < room && hwmc_stream_next_send(&streams[r], rails, &out[n], now))
        n++;
    return n;
}

static void give(uint32_t r, struct hwmc_msg *in, uint32_t n, uint64_t now)
{
    for (uint32_t i = 0; i < n; i++) {
        in[i].peer = 1 - r;
        hwmc_stream_on_recv(&streams[r], &in[i], now);
    }
}

/* One message in pieces: ns of root and member. */
static void stage_machines(struct stages *s, uint64_t *now, double *root, double *member)
{
    static struct hwmc_msg under_way[4096];
    const uint32_t piece = streams[0].ring.max_frags * s->o.payload;

    *root = *member = 0;
    for (uint32_t at = 0; at < s->frags * s->o.payload; at += piece) {
        uint64_t begun = wall_ns();
        uint32_t n;

        *now += 1000;
        hwmc_stream_post_root(&streams[0], piece, true, 1, *now);
        n = take_sends(0, under_way, 4096, *now);
        hwmc_stream_consume(&streams[0], *now);
        *root += (double) (wall_ns() - begun);
        begun = wall_ns();
        hwmc_stream_post_member(&streams[1], 0, *now);
        give(1, under_way, n, *now);
        hwmc_stream_consume(&streams[1], *now);
        *member += (double) (wall_ns() - begun);
        give(0, under_way, take_sends(1, under_way, 4096, *now), *now);
        give(1, under_way, take_sends(0, under_way, 4096, *now), *now);
    }
}

static void measure_stages(struct bench *b)
{
    static const unsigned char secret[HWMC_AUTH_SECRET] = {1};
    double (*const stage[])(struct stages *) = {stage_encode, stage_decode, stage_code, stage_copy};
    struct stages s = {
        .o = b->o, .from = b->memory[0], .to = b->memory[1], .frags = MESSAGE / b->o.payload};
    double each[6][ROUNDS];
    uint64_t now = 1000;

    if (b->o.integrity == HWMC_INTEGRITY_KEYED)
        s.auth = hwmc_auth_create(0, secret);
    open_streams(&s);
    for (int round = -1; round < ROUNDS; round++) {
        const int at = round < 0 ? 0 : round;

        for (int i = 0; i < 4; i++)
            each[i][at] = stage[i](&s);
        stage_machines(&s, &now, &each[4][at], &each[5][at]);
    }
    for (int i = 0; i < 6; i++)
        printf("%.1f%c", quickest(each[i], ROUNDS) / s.frags, i < 5 ? ' ' : '\n');
}

static bool parse_options(struct options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";

        if (strcmp(argv[i], "-stages") == 0) {
            o->stages = true;
            continue;
        }
        if (strcmp(argv[i], "-mib") == 0)
            o->mib = (uint32_t) atoi(value);
        else if (strcmp(argv[i], "-groups") == 0)
            o->groups = (uint32_t) atoi(value);
        else if (strcmp(argv[i], "-payload") == 0)
            o->payload = (uint32_t) atoi(value);
        else if (strcmp(argv[i], "-integrity") == 0)
            o->integrity = strcmp(value, "off") == 0     ? HWMC_INTEGRITY_OFF
                           : strcmp(value, "keyed") == 0 ? HWMC_INTEGRITY_KEYED
                                                         : HWMC_INTEGRITY_CRC32C;
        else
            return false;
        i++;
    }
    return o->mib > 0 && o->groups > 0 && o->payload >= 64 && o->payload <= DATAGRAM_MAX - 128;
}

int main(int argc, char **argv)
{
    static struct side sides[SIDES];
    struct bench b = {.o = {.mib = 64, .groups = 1, .payload = 1432}, .sides = sides};

    if (!parse_options(&b.o, argc, argv)) {
        fprintf(stderr, "usage: engine_bench [-mib N] [-groups N] [-payload N] "
                        "[-integrity crc32c|off|keyed] [-stages]\n");
        return 1;
    }
    time_clock();
    for (uint32_t r = 0; r < SIDES; r++)
        b.memory[r] = malloc(MESSAGE);
    if (!b.memory[0] || !b.memory[1] || !hwmc_auth_exists())
        return 1;
    for (uint32_t i = 0; i < MESSAGE; i++)
        b.memory[0][i] = (unsigned char) (i * 2654435761u >> 13);
    if (b.o.stages)
        measure_stages(&b);
    else
        measure_engine(&b);
    return 0;
}
