/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Judges whether switches will forget who has joined a multicast group: whether they bring a
 * group's frames only to hosts that have joined it, and whether anybody asks these again.
 */
#include "doctor.h"

#include <stdio.h>
#include <string.h>

/* The kernel pads short names, and writes the colon right behind long ones. */
bool hwmc_doctor_igmp_line(const char *line, const char *port)
{
    char name[32], version[8];

    return sscanf(line, "%*d %31[^: ] : %*d %7s", name, version) == 2 && strcmp(name, port) == 0 &&
           (strcmp(version, "V1") == 0 || strcmp(version, "V2") == 0);
}

/* How a rail's switch treats groups. */
struct snooping {
    int lookers; /* hosts that could see frames to a group that they have not joined */
    int floods;  /* that saw some */
    int queries; /* hosts that saw a query */
    const struct hwmc_doctor_port *bridge; /* that snoops and asks nobody, in sight; NULL */
};

static void look_for_snooping(const struct hwmc_doctor_case *c, int rail, struct snooping *s)
{
    *s = (struct snooping){0};
    for (int host = 0; host < c->num_hosts; host++) {
        const struct hwmc_doctor_look *look = hwmc_doctor_look_of(c, rail, host);
        const struct hwmc_doctor_port *p = hwmc_doctor_port_of(c, host, rail);

        s->queries += look->queries > 0 || (p && (p->flags & HWMC_DOCTOR_QUERIED) != 0);
        if (p && (p->flags & HWMC_DOCTOR_SNOOPS) != 0 && (p->flags & HWMC_DOCTOR_ASKS) == 0)
            s->bridge = p;
        /* Host 0 sends them. */
        if (host == 0 || look->taps == 0 || hwmc_doctor_seen_of(c, rail, host, 0)->frames == 0)
            continue;
        s->lookers++;
        s->floods += look->floods > 0;
    }
}

static void find_snooping(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r, int rail,
                          const struct hwmc_doctor_port *bridge)
{
    struct hwmc_doctor_finding *f =
        hwmc_doctor_find(r, HWMC_DOCTOR_SNOOPING, HWMC_DOCTOR_SLOW, rail);
    const bool ipv6 = hwmc_doctor_is_ipv6(c, rail);
    const char *protocol = ipv6 ? "MLD" : "IGMP";

    for (int host = 0; host < c->num_hosts; host++)
        hwmc_doctor_blame(f, c, host);
    snprintf(f->what, sizeof(f->what),
             "the switch snoops %s, and no querier has answered: it brings multicast only to "
             "hosts that have joined, and forgets them",
             protocol);
    snprintf(f->cost, sizeof(f->cost),
             "multicast works now, and stops some four minutes after a communicator's set-up "
             "(260 s, RFC %d); until it is back broadcasts go along trees",
             ipv6 ? 3810 : 3376);
    if (bridge)
        snprintf(f->mend, sizeof(f->mend), "ip link set %s type bridge mcast_querier 1",
                 bridge->bridge);
    else
        snprintf(f->mend, sizeof(f->mend),
                 "on the switch: an %s querier in this VLAN, or no %s snooping; a Linux host "
                 "can be one: ip link set BRIDGE type bridge mcast_querier 1%s",
                 protocol, protocol,
                 ipv6 ? " (it asks from the bridge's own IPv6 address of the link)" : "");
}

void hwmc_doctor_judge_snooping(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r)
{
    bool known = true, queries = false, ipv6 = false;

    for (int rail = 0; rail < c->num_rails; rail++) {
        struct snooping s;

        look_for_snooping(c, rail, &s);
        queries = queries || s.queries > 0;
        ipv6 = ipv6 || hwmc_doctor_is_ipv6(c, rail);
        known = known && (s.lookers > 0 || s.queries > 0);
        if (s.queries == 0 && ((s.lookers > 0 && s.floods == 0) || (s.lookers == 0 && s.bridge)))
            find_snooping(c, r, rail, s.bridge);
    }
    if (r->level[HWMC_DOCTOR_SNOOPING] != HWMC_DOCTOR_OK)
        return;
    if (known && c->num_rails > 0) {
        snprintf(r->said[HWMC_DOCTOR_SNOOPING], sizeof(r->said[0]), "%s",
                 queries ? ipv6 ? "there is a querier of MLD" : "there is an IGMP querier"
                         : "switches bring multicast to all ports");
        return;
    }
    r->level[HWMC_DOCTOR_SNOOPING] = HWMC_DOCTOR_UNKNOWN;
    snprintf(r->said[HWMC_DOCTOR_SNOOPING], sizeof(r->said[0]), "%s",
             c->num_hosts == 1 ? "not tried: needs another host"
                               : "not seen: needs multicast that works, and CAP_NET_RAW");
}
