/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Judges which rails hosts have.
 */
#include "doctor.h"

#include <stdio.h>

static void find_no_rail(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r, int host)
{
    const struct hwmc_doctor_ports *p = &c->ports[host];
    struct hwmc_doctor_finding *f = hwmc_doctor_find(r, HWMC_DOCTOR_RAILS, HWMC_DOCTOR_BROKEN, -1);

    hwmc_doctor_list(f->hosts, sizeof(f->hosts), hwmc_doctor_name_of(c, host));
    if (p->wrong[0] != '\0') {
        snprintf(f->what, sizeof(f->what), "MPIR_CVAR_HWMC_RAILS: %s is no port of this host",
                 p->wrong);
        snprintf(f->cost, sizeof(f->cost), "MPI_Init fails");
        snprintf(f->mend, sizeof(f->mend), "name a port or a subnet that hwmc_info --rails lists");
        return;
    }
    snprintf(f->what, sizeof(f->what), "no port with an IPv4 address is up and can be a rail");
    snprintf(f->cost, sizeof(f->cost), "no multicast; over several hosts MPI does not work at all");
    snprintf(f->mend, sizeof(f->mend), "ip link set PORT up; ip addr add ADDRESS/24 dev PORT");
}

static void judge_presence(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r, int rail)
{
    struct hwmc_doctor_finding *f = NULL;
    const struct hwmc_doctor_port *first = hwmc_doctor_port_of(c, 0, rail);

    for (int host = 0; host < c->num_hosts; host++) {
        const struct hwmc_doctor_port *p = hwmc_doctor_port_of(c, host, rail);

        if (p && p->err == 0)
            continue;
        f = f ? f : hwmc_doctor_find(r, HWMC_DOCTOR_RAILS, HWMC_DOCTOR_SLOW, rail);
        hwmc_doctor_list(f->hosts, sizeof(f->hosts), hwmc_doctor_name_of(c, host));
    }
    if (f == NULL)
        return;
    if (c->num_rails == 1)
        f->level = r->level[HWMC_DOCTOR_RAILS] = HWMC_DOCTOR_BROKEN;
    snprintf(f->what, sizeof(f->what), "no port that works in the subnet of %s of %s",
             first ? first->rail.name : "-", hwmc_doctor_name_of(c, 0));
    snprintf(f->cost, sizeof(f->cost), "communicators with such a host do without this rail");
    snprintf(f->mend, sizeof(f->mend),
             "hwmc_info --rails there; ip link, ip addr; or MPIR_CVAR_HWMC_RAILS with those that "
             "all hosts have");
}

static void judge_addresses(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r,
                            int rail)
{
    struct hwmc_doctor_finding *f = NULL;

    for (int host = 1; host < c->num_hosts; host++) {
        const struct hwmc_doctor_port *p = hwmc_doctor_port_of(c, host, rail);

        for (int other = 0; p && other < host; other++) {
            const struct hwmc_doctor_port *q = hwmc_doctor_port_of(c, other, rail);

            if (q == NULL || q->rail.addr != p->rail.addr)
                continue;
            f = f ? f
                  : hwmc_doctor_find(r, HWMC_DOCTOR_RAILS,
                                     c->num_rails == 1 ? HWMC_DOCTOR_BROKEN : HWMC_DOCTOR_SLOW,
                                     rail);
            hwmc_doctor_list(f->hosts, sizeof(f->hosts), hwmc_doctor_name_of(c, host));
            break;
        }
    }
    if (f == NULL)
        return;
    snprintf(f->what, sizeof(f->what), "these hosts have an address that another host has too%s",
             hwmc_doctor_port_of(c, 0, rail) && hwmc_doctor_port_of(c, 0, rail)->rail.loopback
                 ? ": the rail is loopback"
                 : "");
    snprintf(f->cost, sizeof(f->cost), "a job leaves the rail out, or reaches the wrong host");
    snprintf(f->mend, sizeof(f->mend),
             "ip addr del and add; or MPIR_CVAR_HWMC_RAILS without this subnet");
}

static void list_rails(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r)
{
    char *said = r->said[HWMC_DOCTOR_RAILS];

    for (int rail = 0; rail < c->num_rails; rail++) {
        const struct hwmc_doctor_port *p = hwmc_doctor_port_of(c, 0, rail);

        if (p)
            hwmc_doctor_list(said, sizeof(r->said[0]), p->rail.name);
    }
}

void hwmc_doctor_judge_rails(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r)
{
    list_rails(c, r);
    for (int host = 0; host < c->num_hosts; host++)
        if (c->ports[host].num == 0)
            find_no_rail(c, r, host);
    for (int rail = 0; rail < c->num_rails; rail++) {
        judge_presence(c, r, rail);
        judge_addresses(c, r, rail);
    }
}
