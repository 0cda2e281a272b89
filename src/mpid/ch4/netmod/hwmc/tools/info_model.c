/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What algorithm selection takes, as a table and as MPICH's selection file.
 */

#include "info.h"
#include "../../../../../mpi/coll/bcast_hw/select/network_text.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* MPICH's own selection, as its library has it. */
extern const char MPII_coll_generic_json[];

#define UDP_HEADERS 28 /* of a datagram: IP and UDP */
#define HWMC_HEADER 40 /* PROTOCOL.md, section 2 */
#define SEGMENT_BYTES 8192
#define MAX_BYTES (UINT64_C(64) << 20)
#define MOST 1e9 /* ranks, hosts, sites */

struct model {
    struct hwmc_network net;
    struct hwmc_shape shape;
    uint32_t rails;
};

/* The ports that a job would use here. */
static void from_ports(struct model *m)
{
    struct hwmc_rail ports[HWMC_RAIL_PORTS_MAX], chosen[HWMC_RAILS_MAX];
    char spec[256], wrong[HWMC_RAIL_NAME_MAX];
    uint32_t mtu = 1500;
    int num = hwmc_rail_discover(ports, HWMC_RAIL_PORTS_MAX);

    m->net.mbit = HWMC_GUESSED_MBIT;
    m->rails = 1;
    hwmc_info_cvar_string("MPIR_CVAR_HWMC_RAILS", spec, sizeof(spec));
    if (num > 0)
        num = hwmc_rail_select(ports, num, spec, chosen, HWMC_RAILS_MAX, wrong);
    for (int i = 0; i < num; i++) {
        if (i == 0 || chosen[i].mtu < mtu)
            mtu = chosen[i].mtu;
        if (chosen[i].mbit > 0 && (i == 0 || chosen[i].mbit > m->net.mbit))
            m->net.mbit = chosen[i].mbit;
    }
    if (num > 0)
        m->rails = (uint32_t) num;
    m->shape.frag_bytes = mtu - UDP_HEADERS - HWMC_HEADER;
}

/* One item of what the user says of the communicator; the rest is the network's. */
static bool take_shape(struct model *m, const char **text)
{
    double value;

    if (hwmc_network_take(text, "ranks", 2, MOST, &value))
        m->shape.ranks = (uint32_t) value;
    else if (hwmc_network_take(text, "hosts", 1, MOST, &value))
        m->shape.hosts = (uint32_t) value;
    else if (hwmc_network_take(text, "rails", 1, HWMC_RAILS_MAX, &value))
        m->rails = (uint32_t) value;
    else if (hwmc_network_take(text, "sites", 1, MOST, &value))
        m->shape.sites = (uint32_t) value;
    else if (hwmc_network_take(text, "multicast", 0, MOST, &value))
        m->shape.frag_bytes = value > 0 ? m->shape.frag_bytes : 0;
    else
        return false;
    return true;
}

/* An item, up to the next comma, for the parser of the network's figures. */
static bool take_figure(struct model *m, const char **text)
{
    char item[64];
    size_t len = strcspn(*text, ",");

    if (len == 0 || len >= sizeof(item))
        return false;
    memcpy(item, *text, len);
    item[len] = '\0';
    *text += len + ((*text)[len] == ',');
    return hwmc_network_parse(item, &m->net);
}

/* So many ranks on so many hosts, and the trees that these can have (core/place/trees,
 * comm/comm.c). */
static void set_size(struct model *m, uint32_t ranks, uint32_t hosts)
{
    uint32_t trees = m->rails > 2 ? m->rails : 2;

    m->shape.ranks = ranks;
    m->shape.hosts = hosts;
    m->shape.trees = trees < ranks ? trees : ranks - 1;
}

static bool find(struct model *m, const char *what)
{
    char said[256];
    const char *text = what;
    bool good = true;

    *m = (struct model){
        .net = {.latency_ns = HWMC_GUESSED_LATENCY_NS,
                .site_latency_ns = HWMC_GUESSED_LATENCY_NS,
                .datagram_ns = HWMC_GUESSED_DATAGRAM_NS,
                .message_ns = HWMC_GUESSED_MESSAGE_NS},
        .shape = {.ranks = 8, .sites = 1, .seg_bytes = SEGMENT_BYTES},
    };
    from_ports(m);
    hwmc_info_cvar_string("MPIR_CVAR_HWMC_NETWORK", said, sizeof(said));
    good = hwmc_network_parse(said, &m->net);
    if (!good)
        fprintf(stderr, "hwmc_info: MPIR_CVAR_HWMC_NETWORK is not understood: %s\n", said);
    while (good && *text != '\0') {
        const char *item = text;

        good = take_shape(m, &text) || take_figure(m, &text);
        if (!good)
            fprintf(stderr, "hwmc_info: not understood: %s\n", item);
    }
    m->net.mbit_all = m->net.mbit * m->rails;
    if (m->shape.hosts == 0 || m->shape.hosts > m->shape.ranks)
        m->shape.hosts = m->shape.ranks; /* one a host */
    set_size(m, m->shape.ranks, m->shape.hosts);
    return good;
}

static enum hwmc_algorithm taken(const struct model *m, uint64_t bytes)
{
    return hwmc_model_best(&m->net, &m->shape, HWMC_ALGORITHM_LIMIT, bytes);
}

/* Of one rank of each host. */
static int print_others(struct model m)
{
    const uint32_t ranks = m.shape.ranks;

    if (m.shape.hosts < 2)
        return 0;
    set_size(&m, m.shape.hosts, m.shape.hosts);
    return hwmc_info_colls(&m.net, &m.shape, ranks) ? 0 : 2;
}

int hwmc_info_model(const char *what)
{
#define X(name, lower, text) {#lower, text},
    static const struct {
        const char *name, *text;
    } algorithms[] = {HWMC_ALGORITHMS(X)};
#undef X
    struct model m;

    if (!find(&m, what))
        return 2;
    printf("%u ranks on %u host%s, %u site%s, %u rail%s of %u Mbit/s, latency %.1f us (between "
           "sites %.1f us), "
           "%u ppm lost, multicast %s\n\n",
           m.shape.ranks, m.shape.hosts, m.shape.hosts > 1 ? "s" : "", m.shape.sites,
           m.shape.sites > 1 ? "s" : "", m.rails, m.rails > 1 ? "s" : "", m.net.mbit,
           (double) m.net.latency_ns / 1e3, (double) m.net.site_latency_ns / 1e3, m.net.loss_ppm,
           m.shape.frag_bytes > 0 ? "works" : "does not work");
    printf("%10s", "bytes");
    for (int a = 0; a < HWMC_ALGORITHM_LIMIT; a++)
        printf(" %11s", algorithms[a].name);
    printf("  taken\n");
    for (uint64_t bytes = 8; bytes <= MAX_BYTES; bytes *= 8) {
        printf("%10llu", (unsigned long long) bytes);
        for (int a = 0; a < HWMC_ALGORITHM_LIMIT; a++)
            hwmc_info_print_time(hwmc_model_ns(&m.net, &m.shape, (enum hwmc_algorithm) a, bytes));
        printf("  %s\n", algorithms[taken(&m, bytes)].name);
    }
    printf("\nThe least time is taken. Where it is MPICH's, MPICH selects among its own.\n");
    for (int a = 0; a < HWMC_ALGORITHM_LIMIT; a++)
        printf("  %-10s %s\n", algorithms[a].name, algorithms[a].text);
    return print_others(m);
}

/* The selection file. */

static const char *file_name(enum hwmc_algorithm a)
{
    switch (a) {
        case HWMC_ALGORITHM_BINOMIAL:
            return "MPIR_Bcast_intra_binomial";
        case HWMC_ALGORITHM_DOUBLING:
            return "MPIR_Bcast_intra_scatter_recursive_doubling_allgather";
        case HWMC_ALGORITHM_RING:
            return "MPIR_Bcast_intra_scatter_ring_allgather";
        default:
            return "MPIR_Bcast_intra_hw";
    }
}

/* The names in the file that two lengths get are the same. */
static bool alike(const struct model *m, uint64_t a, uint64_t b)
{
    return file_name(taken(m, a)) == file_name(taken(m, b));
}

static void print_algorithm(const struct model *m, uint64_t bytes, const char *key)
{
    printf("                    \"%s\":\n                    {\n"
           "                        \"algorithm=%s\":{}\n                    }",
           key, file_name(taken(m, bytes)));
}

/* One line a stretch of lengths: up to the last power of two that has the same. */
static void print_lengths(const struct model *m)
{
    char key[64];
    uint64_t first = 1;

    for (uint64_t bytes = 1; bytes < MAX_BYTES; bytes *= 2) {
        if (alike(m, first, 2 * bytes))
            continue;
        snprintf(key, sizeof(key), "avg_msg_size<=%llu", (unsigned long long) bytes);
        print_algorithm(m, first, key);
        printf(",\n");
        first = 2 * bytes;
    }
    print_algorithm(m, first, "avg_msg_size=any");
    printf("\n");
}

static void print_bcast(struct model m)
{
    uint32_t ranks = m.shape.ranks, each = (ranks - 1) / m.shape.hosts + 1;

    printf("    \"collective=bcast\":\n    {\n        \"comm_type=intra\":\n        {\n");
    for (uint32_t p = 2; p <= ranks; p *= 2) {
        bool last = 2 * p > ranks;

        if (last) {
            set_size(&m, ranks, (ranks - 1) / each + 1); /* and more */
            printf("            \"comm_size=any\":\n            {\n");
        } else {
            set_size(&m, p, (p - 1) / each + 1);
            printf("            \"comm_size<=%u\":\n            {\n", p);
        }
        print_lengths(&m);
        printf("            }%s\n", last ? "" : ",");
    }
    printf("        },\n        \"comm_type=inter\":\n        {\n"
           "            \"algorithm=MPIR_Bcast_inter_remote_send_local_bcast\":{}\n"
           "        }\n    }");
}

/* The end of the value that begins at the brace. */
static const char *end_of(const char *brace)
{
    int depth = 0;

    for (; *brace != '\0'; brace++) {
        depth += (*brace == '{') - (*brace == '}');
        if (depth == 0)
            return brace + 1;
    }
    return brace;
}

int hwmc_info_json(const char *what)
{
    static const char entry[] = "\"collective=bcast\"";
    const char *at = strstr(MPII_coll_generic_json, entry);
    struct model m;

    if (!find(&m, what))
        return 2;
    if (at == NULL || strchr(at, '{') == NULL) {
        fprintf(stderr, "hwmc_info: MPICH's own selection has no broadcast\n");
        return 1;
    }
    while (at > MPII_coll_generic_json && (at[-1] == ' ' || at[-1] == '\t'))
        at--;
    printf("%.*s", (int) (at - MPII_coll_generic_json), MPII_coll_generic_json);
    print_bcast(m);
    printf("%s\n", end_of(strchr(at, '{')));
    return 0;
}
