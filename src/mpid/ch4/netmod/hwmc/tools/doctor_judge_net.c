/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Judges what passes between hosts, rail by rail. For each ordered pair of hosts that have a port
 * on the rail there are three answers: TCP, UDP to the host alone, multicast. Which of them is
 * missing tells a cable or address from a firewall, and that from a switch.
 */
#include "doctor.h"

#include <stdio.h>
#include <string.h>

/* Every firewall has rules in another place. */
#define SEE_RULES "see nft list ruleset first, for the table and the chain: "

/* Bytes of a datagram that every network takes: an MTU of 576 (RFC 791). */
#define SHORTEST 548

typedef bool (*is_bad_fn)(const struct hwmc_doctor_case *c, int rail, int to, int from);

static bool are_both_there(const struct hwmc_doctor_case *c, int rail, int to, int from)
{
    return hwmc_doctor_port_of(c, to, rail) && hwmc_doctor_port_of(c, from, rail);
}

/* A pair's trial on a rail: two hosts, or one that is alone. */
static bool is_pair(const struct hwmc_doctor_case *c, int rail, int to, int from)
{
    return are_both_there(c, rail, to, from) && (to != from || c->num_hosts == 1);
}

static bool casts(const struct hwmc_doctor_case *c, int rail, int to, int from)
{
    return hwmc_doctor_look_of(c, rail, to)->open && hwmc_doctor_look_of(c, rail, from)->open &&
           hwmc_doctor_look_of(c, rail, from)->sent > 0;
}

/* What is bad between two hosts. */

static bool is_unreachable(const struct hwmc_doctor_case *c, int rail, int to, int from)
{
    const struct hwmc_doctor_seen *s = hwmc_doctor_seen_of(c, rail, to, from);

    return to != from && s->tcp == HWMC_DOCTOR_TCP_SILENT && s->unicast == 0 && s->heard == 0;
}

/* A listener is there, so a refusal is a firewall's. */
static bool has_no_tcp(const struct hwmc_doctor_case *c, int rail, int to, int from)
{
    const struct hwmc_doctor_seen *s = hwmc_doctor_seen_of(c, rail, to, from);

    return to != from && hwmc_doctor_port_of(c, from, rail)->tcp != 0 &&
           s->tcp != HWMC_DOCTOR_TCP_CONNECTED && !is_unreachable(c, rail, to, from);
}

static bool has_no_udp(const struct hwmc_doctor_case *c, int rail, int to, int from)
{
    const struct hwmc_doctor_seen *s = hwmc_doctor_seen_of(c, rail, to, from);

    return to != from && s->tcp != HWMC_DOCTOR_TCP_SILENT && s->unicast == 0 && s->heard == 0;
}

static bool has_only_tcp(const struct hwmc_doctor_case *c, int rail, int to, int from)
{
    return has_no_udp(c, rail, to, from) &&
           hwmc_doctor_seen_of(c, rail, to, from)->tcp == HWMC_DOCTOR_TCP_CONNECTED;
}

static bool has_no_multicast(const struct hwmc_doctor_case *c, int rail, int to, int from)
{
    const struct hwmc_doctor_seen *s = hwmc_doctor_seen_of(c, rail, to, from);

    return s->heard == 0 && casts(c, rail, to, from) && (to == from || s->unicast > 0);
}

/* Of the datagrams that a host has sent, how many have to come. */
static int least_from(const struct hwmc_doctor_case *c, int rail, int from)
{
    return hwmc_doctor_look_of(c, rail, from)->sent - HWMC_DOCTOR_SPARE;
}

static bool loses(const struct hwmc_doctor_case *c, int rail, int to, int from)
{
    const struct hwmc_doctor_seen *s = hwmc_doctor_seen_of(c, rail, to, from);

    return s->heard > 0 && s->heard < least_from(c, rail, from);
}

static uint32_t longest_between(const struct hwmc_doctor_case *c, int rail, int to, int from)
{
    const uint32_t a = hwmc_doctor_port_of(c, to, rail)->datagram;
    const uint32_t b = hwmc_doctor_port_of(c, from, rail)->datagram;

    return a < b ? a : b;
}

/* By verbs, other datagrams go than the port's MTU says. */
static bool goes_by_verbs(const struct hwmc_doctor_case *c, int rail)
{
    for (int host = 0; host < c->num_hosts; host++) {
        const struct hwmc_doctor_port *p = hwmc_doctor_port_of(c, host, rail);

        if (p && (p->flags & HWMC_DOCTOR_VERBS) == 0)
            return false;
    }
    return true;
}

static bool shortens(const struct hwmc_doctor_case *c, int rail, int to, int from)
{
    const struct hwmc_doctor_seen *s = hwmc_doctor_seen_of(c, rail, to, from);

    return s->heard > 0 && s->heard >= least_from(c, rail, from) && !goes_by_verbs(c, rail) &&
           s->longest < longest_between(c, rail, to, from);
}

/* Counting pairs, and naming them. */

static int count_pairs(const struct hwmc_doctor_case *c, int rail, is_bad_fn is_bad, int *of)
{
    int bad = 0;

    *of = 0;
    for (int to = 0; to < c->num_hosts; to++)
        for (int from = 0; from < c->num_hosts; from++)
            if (is_pair(c, rail, to, from)) {
                (*of)++;
                bad += is_bad(c, rail, to, from);
            }
    return bad;
}

/* Everything is bad to this host, or from it; of three hosts and more. */
static bool all_bad(const struct hwmc_doctor_case *c, int rail, is_bad_fn is_bad, int host,
                    bool from_it)
{
    for (int other = 0; c->num_hosts > 2 && other < c->num_hosts; other++) {
        const int to = from_it ? other : host, from = from_it ? host : other;

        if (is_pair(c, rail, to, from) && !is_bad(c, rail, to, from))
            return false;
    }
    return c->num_hosts > 2 && hwmc_doctor_port_of(c, host, rail);
}

static void add_pair(const struct hwmc_doctor_case *c, int to, int from, char *text, size_t room)
{
    char word[150];

    if (to == from)
        snprintf(word, sizeof(word), "on %.60s itself", hwmc_doctor_name_of(c, to));
    else if (to < 0)
        snprintf(word, sizeof(word), "from %.60s to all", hwmc_doctor_name_of(c, from));
    else if (from < 0)
        snprintf(word, sizeof(word), "from all to %.60s", hwmc_doctor_name_of(c, to));
    else
        snprintf(word, sizeof(word), "from %.60s to %.60s", hwmc_doctor_name_of(c, from),
                 hwmc_doctor_name_of(c, to));
    hwmc_doctor_list(text, room, word);
}

/* "from h0 to h1, from all to h2"; the hosts that have it to themselves are the finding's. */
static void name_pairs(const struct hwmc_doctor_case *c, int rail, is_bad_fn is_bad,
                       struct hwmc_doctor_finding *f, char *text, size_t room)
{
    int of;

    text[0] = '\0';
    if (count_pairs(c, rail, is_bad, &of) == of && of > 1) {
        snprintf(text, room, "between all hosts");
        for (int host = 0; host < c->num_hosts; host++)
            hwmc_doctor_blame(f, c, host);
        return;
    }
    for (int host = 0; host < c->num_hosts; host++)
        for (int way = 0; way < 2; way++)
            if (all_bad(c, rail, is_bad, host, way > 0)) {
                add_pair(c, way > 0 ? -1 : host, way > 0 ? host : -1, text, room);
                if (way == 0 || !all_bad(c, rail, is_bad, host, false))
                    hwmc_doctor_blame(f, c, host);
            }
    for (int to = 0; to < c->num_hosts; to++)
        for (int from = 0; from < c->num_hosts; from++)
            if (is_pair(c, rail, to, from) && is_bad(c, rail, to, from) &&
                !all_bad(c, rail, is_bad, to, false) && !all_bad(c, rail, is_bad, from, true)) {
                add_pair(c, to, from, text, room);
                hwmc_doctor_blame(f, c, to);
            }
}

/* A finding for a rail where something is bad between hosts; NULL: nothing is. What is bad is
 * `what` and the pairs. */
static struct hwmc_doctor_finding *find_pairs(const struct hwmc_doctor_case *c,
                                              struct hwmc_doctor_report *r, int rail,
                                              enum hwmc_doctor_check check,
                                              enum hwmc_doctor_level level, is_bad_fn is_bad,
                                              const char *what)
{
    struct hwmc_doctor_finding *f;
    char pairs[240];
    int of;

    if (count_pairs(c, rail, is_bad, &of) == 0)
        return NULL;
    f = hwmc_doctor_find(r, check, level, rail);
    name_pairs(c, rail, is_bad, f, pairs, sizeof(pairs));
    snprintf(f->what, sizeof(f->what), "%s %s", what, pairs);
    return f;
}

/* Two hosts, or the one, hear each other on no rail. */
static bool is_cut_off(const struct hwmc_doctor_case *c, int to, int from)
{
    for (int rail = 0; rail < c->num_rails; rail++)
        if (are_both_there(c, rail, to, from) && hwmc_doctor_seen_of(c, rail, to, from)->heard > 0)
            return false;
    return true;
}

/* Without multicast on this rail: broken if no other rail has it. */
static enum hwmc_doctor_level level_of(const struct hwmc_doctor_case *c, int rail, is_bad_fn is_bad)
{
    for (int to = 0; to < c->num_hosts; to++)
        for (int from = 0; from < c->num_hosts; from++)
            if (is_pair(c, rail, to, from) && is_bad(c, rail, to, from) && is_cut_off(c, to, from))
                return HWMC_DOCTOR_BROKEN;
    return HWMC_DOCTOR_SLOW;
}

static const char *cost_of(enum hwmc_doctor_level level)
{
    return level == HWMC_DOCTOR_BROKEN
               ? "no multicast: broadcasts go along trees or by MPICH's algorithms"
               : "broadcasts do without this rail: long ones get the bandwidth of the others only";
}

static void judge_reach(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r, int rail)
{
    struct hwmc_doctor_finding *f = find_pairs(c, r, rail, HWMC_DOCTOR_REACH, HWMC_DOCTOR_BROKEN,
                                               is_unreachable, "nothing passes");

    if (f != NULL) {
        snprintf(f->cost, sizeof(f->cost), "a job hangs or ends with an error in MPI_Init");
        snprintf(f->mend, sizeof(f->mend),
                 "ping between these addresses; cables, VLAN, addresses, firewalls; or leave the "
                 "rail out: MPIR_CVAR_HWMC_RAILS and UCX_NET_DEVICES");
    }
    f = find_pairs(c, r, rail, HWMC_DOCTOR_REACH, HWMC_DOCTOR_BROKEN, has_no_tcp,
                   "TCP does not pass");
    if (f != NULL) {
        snprintf(f->cost, sizeof(f->cost), "a job hangs in MPI_Init, or with its first message");
        snprintf(f->mend, sizeof(f->mend),
                 SEE_RULES "nft insert rule inet filter input ip saddr SUBNET tcp dport "
                           "1024-65535 accept (ip6 saddr by IPv6); or firewall-cmd --zone=trusted "
                           "--add-source=SUBNET; "
                           "or iptables -I INPUT -s SUBNET -p tcp --dport 1024:65535 -j ACCEPT");
    }
}

static void judge_udp(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r, int rail)
{
    const enum hwmc_doctor_level level = level_of(c, rail, has_no_udp);
    int of;
    struct hwmc_doctor_finding *f =
        find_pairs(c, r, rail, HWMC_DOCTOR_UDP, level, has_no_udp,
                   count_pairs(c, rail, has_only_tcp, &of) == count_pairs(c, rail, has_no_udp, &of)
                       ? "TCP passes, and UDP does not"
                       : "UDP does not pass");

    if (f == NULL)
        return;
    snprintf(f->cost, sizeof(f->cost), "%s", cost_of(level));
    snprintf(f->mend, sizeof(f->mend),
             SEE_RULES
             "nft insert rule inet filter input udp dport 1024-65535 accept; or "
             "firewall-cmd --add-port=1024-65535/udp; or iptables -I INPUT -p udp --dport "
             "1024:65535 -j ACCEPT");
}

/* All who hear nothing get the frames nevertheless. */
static bool is_dropped_in_hosts(const struct hwmc_doctor_case *c, int rail)
{
    for (int to = 0; to < c->num_hosts; to++)
        for (int from = 0; from < c->num_hosts; from++)
            if (is_pair(c, rail, to, from) && has_no_multicast(c, rail, to, from) &&
                hwmc_doctor_seen_of(c, rail, to, from)->frames == 0)
                return false;
    return true;
}

static void judge_multicast(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r,
                            int rail)
{
    const enum hwmc_doctor_level level = level_of(c, rail, has_no_multicast);
    const bool ipv6 = hwmc_doctor_is_ipv6(c, rail);
    const bool in_hosts = c->num_hosts == 1 || is_dropped_in_hosts(c, rail);
    struct hwmc_doctor_finding *f = find_pairs(
        c, r, rail, HWMC_DOCTOR_MULTICAST, level, has_no_multicast,
        in_hosts ? "multicast arrives, and the kernel drops it," : "multicast does not pass");

    if (f == NULL)
        return;
    snprintf(f->cost, sizeof(f->cost), "%s", cost_of(level));
    if (in_hosts && ipv6)
        snprintf(f->mend, sizeof(f->mend),
                 "on the receiver: " SEE_RULES
                 "nft insert rule inet filter input ip6 daddr ff15::/16 accept; or ip6tables -I "
                 "INPUT -d ff15::/16 -j ACCEPT; or firewall-cmd --add-port=1024-65535/udp");
    else if (in_hosts)
        snprintf(f->mend, sizeof(f->mend),
                 "on the receiver: " SEE_RULES
                 "nft insert rule inet filter input ip daddr 239.192.0.0/14 accept; or iptables -I "
                 "INPUT -d 239.192.0.0/14 -j ACCEPT; or firewall-cmd --add-port=1024-65535/udp; if "
                 "no firewall is there: sysctl -w net.ipv4.conf.all.rp_filter=2");
    else
        snprintf(f->mend, sizeof(f->mend),
                 "on the switch: an %s querier, or no %s snooping in this VLAN (Linux bridge: "
                 "ip link set BRIDGE type bridge mcast_querier 1); no filter for %s",
                 ipv6 ? "MLD" : "IGMP", ipv6 ? "MLD" : "IGMP",
                 ipv6 ? "ff15::/16" : "239.192.0.0/14");
}

/* Datagrams that a host has sent and another one has not heard. */
static int lost_from(const struct hwmc_doctor_case *c, int rail, int to, int from)
{
    return hwmc_doctor_look_of(c, rail, from)->sent - hwmc_doctor_seen_of(c, rail, to, from)->heard;
}

static void judge_loss(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r, int rail)
{
    struct hwmc_doctor_finding *f =
        find_pairs(c, r, rail, HWMC_DOCTOR_LOSS, HWMC_DOCTOR_SLOW, loses, "multicast is lost");
    int most = 0, sent = HWMC_DOCTOR_DATAGRAMS;
    size_t len;

    if (f == NULL)
        return;
    for (int to = 0; to < c->num_hosts; to++)
        for (int from = 0; from < c->num_hosts; from++)
            if (is_pair(c, rail, to, from) && loses(c, rail, to, from) &&
                lost_from(c, rail, to, from) > most) {
                most = lost_from(c, rail, to, from);
                sent = hwmc_doctor_look_of(c, rail, from)->sent;
            }
    len = strlen(f->what);
    snprintf(f->what + len, sizeof(f->what) - len, ": up to %d of %d datagrams", most, sent);
    snprintf(f->cost, sizeof(f->cost),
             "repairs: with 1 %% lost at every host long broadcasts take 1.03 to 1.06 times as "
             "long, short ones a round trip more (docs/results.md)");
    snprintf(f->mend, sizeof(f->mend),
             "ethtool -S PORT and the switch's counters: storm control, small queues, bad cables; "
             "ethtool -G PORT rx 4096");
}

static void judge_mtu(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r, int rail)
{
    uint32_t least = UINT32_MAX, most = 0;
    struct hwmc_doctor_finding *f;

    for (int host = 0; host < c->num_hosts; host++) {
        const struct hwmc_doctor_port *p = hwmc_doctor_port_of(c, host, rail);

        if (p && p->rail.mtu < least)
            least = p->rail.mtu;
        if (p && p->rail.mtu > most)
            most = p->rail.mtu;
    }
    if (most <= least)
        return;
    f = hwmc_doctor_find(r, HWMC_DOCTOR_LENGTH, HWMC_DOCTOR_SLOW, rail);
    for (int host = 0; host < c->num_hosts; host++) {
        const struct hwmc_doctor_port *p = hwmc_doctor_port_of(c, host, rail);

        if (p && p->rail.mtu < most)
            hwmc_doctor_blame(f, c, host);
    }
    snprintf(f->what, sizeof(f->what), "MTUs differ: %u bytes here, %u on other hosts", least,
             most);
    snprintf(f->cost, sizeof(f->cost),
             "communicators with such a host use the shorter datagrams; a long TCP segment to it "
             "may get lost each time, and connections stall");
    snprintf(f->mend, sizeof(f->mend), "ip link set PORT mtu %u", most);
}

static void judge_length(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r, int rail)
{
    struct hwmc_doctor_finding *f = find_pairs(c, r, rail, HWMC_DOCTOR_LENGTH, HWMC_DOCTOR_SLOW,
                                               shortens, "long datagrams do not pass");
    uint32_t passes = UINT32_MAX, wanted = 0;
    size_t len;

    judge_mtu(c, r, rail);
    if (f == NULL)
        return;
    for (int to = 0; to < c->num_hosts; to++)
        for (int from = 0; from < c->num_hosts; from++)
            if (is_pair(c, rail, to, from) && shortens(c, rail, to, from)) {
                const uint32_t longest = hwmc_doctor_seen_of(c, rail, to, from)->longest;

                passes = longest < passes ? longest : passes;
                if (longest_between(c, rail, to, from) > wanted)
                    wanted = longest_between(c, rail, to, from);
            }
    len = strlen(f->what);
    snprintf(f->what + len, sizeof(f->what) - len, ": at most %u bytes, where ports would take %u",
             passes, wanted);
    snprintf(f->cost, sizeof(f->cost),
             "set-up of a communicator finds the shorter length by losing probes; MPICH's own "
             "messages over TCP stall");
    if (passes >= SHORTEST)
        snprintf(f->mend, sizeof(f->mend),
                 "jumbo frames on the switch, or ip link set PORT mtu %u on all hosts",
                 passes + (hwmc_doctor_is_ipv6(c, rail) ? 48 : 28));
    else
        snprintf(f->mend, sizeof(f->mend),
                 "jumbo frames on the switch; no filter or tunnel that drops long datagrams");
}

/* Lines for what was tried and is not bad, or could not be tried. */
static void say_rest(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r)
{
    static const struct {
        enum hwmc_doctor_check check;
        const char *text, *alone; /* NULL: it is tried on one host too */
    } lines[] = {
        {HWMC_DOCTOR_REACH, "all hosts reach each other by TCP", "one host: nobody to reach"},
        {HWMC_DOCTOR_UDP, "UDP passes between all hosts", "one host: nobody to reach"},
        {HWMC_DOCTOR_MULTICAST, "every host hears every other one", NULL},
        {HWMC_DOCTOR_LOSS, "no more than 2 of 100 datagrams were lost", NULL},
        {HWMC_DOCTOR_LENGTH, "the longest datagrams pass that ports take", NULL},
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char *said = r->said[lines[i].check];
        const bool alone = c->num_hosts == 1 && lines[i].alone;

        snprintf(said, sizeof(r->said[0]), "%s",
                 alone ? lines[i].alone
                 : c->num_hosts == 1 && lines[i].check == HWMC_DOCTOR_MULTICAST
                     ? "this host hears itself"
                     : lines[i].text);
        if ((alone || c->num_rails == 0) && r->level[lines[i].check] == HWMC_DOCTOR_OK)
            r->level[lines[i].check] = HWMC_DOCTOR_UNKNOWN;
        if (c->num_rails == 0)
            snprintf(said, sizeof(r->said[0]), "not tried: no rail");
    }
}

void hwmc_doctor_judge_net(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r)
{
    for (int rail = 0; rail < c->num_rails; rail++) {
        judge_reach(c, r, rail);
        judge_udp(c, r, rail);
        judge_multicast(c, r, rail);
        judge_loss(c, r, rail);
        judge_length(c, r, rail);
    }
    say_rest(c, r);
}
