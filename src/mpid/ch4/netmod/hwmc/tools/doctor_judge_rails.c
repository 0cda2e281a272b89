/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Judges which rails hosts have, and where they have none in common.
 */
#include "doctor.h"
#include "../base/addr.h"

#include "../../../../../mpi/coll/bcast_hw/port/err.h"

#include <stdio.h>

static void find_no_rail(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r, int host)
{
    const struct hwmc_doctor_ports *p = &c->ports[host];
    struct hwmc_doctor_finding *f = hwmc_doctor_find(r, HWMC_DOCTOR_RAILS, HWMC_DOCTOR_BROKEN, -1);

    hwmc_doctor_blame(f, c, host);
    if (p->wrong[0] != '\0') {
        snprintf(f->what, sizeof(f->what), "MPIR_CVAR_HWMC_RAILS: %s is no port of this host",
                 p->wrong);
        snprintf(f->cost, sizeof(f->cost), "MPI_Init fails");
        snprintf(f->mend, sizeof(f->mend), "name a port or a subnet that hwmc_info --rails lists");
        return;
    }
    snprintf(f->what, sizeof(f->what), "no port with an address is up and can be a rail");
    snprintf(f->cost, sizeof(f->cost), "no multicast; over several hosts MPI does not work at all");
    snprintf(f->mend, sizeof(f->mend), "ip link set PORT up; ip addr add ADDRESS/24 dev PORT");
}

/* Fields: the address, index, prefix, scope, flags, all hexadecimal, and the port. */
bool hwmc_doctor_inet6_line(const char *line, char *port)
{
    const unsigned dad_failed = 8; /* IFA_F_DADFAILED */
    unsigned flags;

    return sscanf(line, "%*32[0-9a-f] %*x %*x %*x %x %31s", &flags, port) == 2 &&
           (flags & dad_failed) != 0;
}

static void find_twice(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r, int host)
{
    const char *port = c->ports[host].twice;
    struct hwmc_doctor_finding *f = hwmc_doctor_find(
        r, HWMC_DOCTOR_RAILS, c->ports[host].num == 0 ? HWMC_DOCTOR_BROKEN : HWMC_DOCTOR_SLOW, -1);

    hwmc_doctor_blame(f, c, host);
    snprintf(f->what, sizeof(f->what),
             "an IPv6 address of %s is another host's too (duplicate address detection)", port);
    snprintf(f->cost, sizeof(f->cost),
             "nothing comes to that address: without another one the port is no rail by IPv6");
    snprintf(f->mend, sizeof(f->mend),
             "ip -6 addr show dev %s dadfailed; ip -6 addr del and add another one", port);
}

/* The host has a port to other hosts that works, in whatever subnet. */
static bool has_a_port(const struct hwmc_doctor_case *c, int host)
{
    for (int i = 0; i < c->ports[host].num; i++)
        if (c->ports[host].at[i].err == 0 && !c->ports[host].at[i].rail.loopback)
            return true;
    return false;
}

static void judge_presence(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r, int rail)
{
    struct hwmc_doctor_finding *f = NULL;
    const struct hwmc_doctor_port *first = hwmc_doctor_port_of(c, 0, rail);
    bool alone = false;

    for (int host = 0; host < c->num_hosts; host++) {
        const struct hwmc_doctor_port *p = hwmc_doctor_port_of(c, host, rail);

        if (p && p->err == 0)
            continue;
        alone = alone || !has_a_port(c, host);
        f = f ? f : hwmc_doctor_find(r, HWMC_DOCTOR_RAILS, HWMC_DOCTOR_SLOW, rail);
        hwmc_doctor_blame(f, c, host);
    }
    if (f == NULL)
        return;
    if (alone)
        f->level = r->level[HWMC_DOCTOR_RAILS] = HWMC_DOCTOR_BROKEN;
    snprintf(f->what, sizeof(f->what), "no port that works in the subnet of %s of %s",
             first ? first->rail.name : "-", hwmc_doctor_name_of(c, 0));
    snprintf(f->cost, sizeof(f->cost), "%s",
             alone ? "communicators with such a host do without this rail"
                   : "communicators with such a host do without this rail; hosts of another "
                     "subnet multicast among themselves, and trees go between subnets");
    snprintf(f->mend, sizeof(f->mend),
             "hwmc_info --rails there; ip link, ip addr; or MPIR_CVAR_HWMC_RAILS with those that "
             "all hosts have");
}

static bool is_mute(const struct hwmc_doctor_case *c, int host, int rail)
{
    const struct hwmc_doctor_look *look = hwmc_doctor_look_of(c, rail, host);

    return !look->open || look->sent == 0;
}

/* No rail of the host can be used. */
static bool is_all_mute(const struct hwmc_doctor_case *c, int host)
{
    for (int rail = 0; rail < c->num_rails; rail++)
        if (!is_mute(c, host, rail))
            return false;
    return true;
}

static void find_mute(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r, int rail,
                      int host)
{
    const struct hwmc_doctor_look *look = hwmc_doctor_look_of(c, rail, host);
    const bool all = is_all_mute(c, host);
    struct hwmc_doctor_finding *f =
        hwmc_doctor_find(r, HWMC_DOCTOR_RAILS, all ? HWMC_DOCTOR_BROKEN : HWMC_DOCTOR_SLOW, rail);

    hwmc_doctor_blame(f, c, host);
    if (look->open)
        snprintf(f->what, sizeof(f->what), "nothing can be multicast on the rail");
    else
        snprintf(f->what, sizeof(f->what), "the rail does not open: %s", hwmc_err_text(look->err));
    snprintf(f->cost, sizeof(f->cost), "%s",
             all ? "no multicast: broadcasts go along trees or by MPICH's algorithms"
                 : "communicators with such a host do without this rail");
    snprintf(f->mend, sizeof(f->mend),
             "hwmc_info --rails there; MPIR_CVAR_HWMC_FABRIC=auto, where it has another value; "
             "sysctl net.ipv4.igmp_max_memberships net.core.optmem_max");
}

/* Ports that work, and on which the trial's fabric does not. */
static void judge_opening(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r, int rail)
{
    for (int host = 0; host < c->num_hosts; host++) {
        const struct hwmc_doctor_port *p = hwmc_doctor_port_of(c, host, rail);

        if (p && p->err == 0 && is_mute(c, host, rail) && hwmc_doctor_has_job_port(c))
            find_mute(c, r, rail, host);
    }
}

static void judge_addresses(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r,
                            int rail)
{
    struct hwmc_doctor_finding *f = NULL;

    for (int host = 1; host < c->num_hosts; host++) {
        const struct hwmc_doctor_port *p = hwmc_doctor_port_of(c, host, rail);

        for (int other = 0; p && other < host; other++) {
            const struct hwmc_doctor_port *q = hwmc_doctor_port_of(c, other, rail);

            if (q == NULL || !hwmc_addr_equal(&q->rail.addr, &p->rail.addr))
                continue;
            f = f ? f
                  : hwmc_doctor_find(r, HWMC_DOCTOR_RAILS,
                                     c->num_rails == 1 ? HWMC_DOCTOR_BROKEN : HWMC_DOCTOR_SLOW,
                                     rail);
            hwmc_doctor_blame(f, c, host);
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
    for (int host = 0; host < c->num_hosts; host++) {
        if (c->ports[host].twice[0] != '\0')
            find_twice(c, r, host);
        if (c->ports[host].num == 0)
            find_no_rail(c, r, host);
    }
    for (int rail = 0; rail < c->num_rails; rail++) {
        judge_presence(c, r, rail);
        judge_opening(c, r, rail);
        judge_addresses(c, r, rail);
    }
}

/* Nothing was tried between two hosts; with `casts`, nothing was multicast. */
static bool are_apart(const struct hwmc_doctor_case *c, int a, int b, bool casts)
{
    for (int rail = 0; rail < c->num_rails; rail++)
        if (hwmc_doctor_port_of(c, a, rail) && hwmc_doctor_port_of(c, b, rail) &&
            (!casts || (!is_mute(c, a, rail) && !is_mute(c, b, rail))))
            return false;
    return true;
}

/* "between h0 and h2"; empty: all was tried. */
static void name_apart(const struct hwmc_doctor_case *c, bool casts, char *text, size_t room)
{
    char word[150];

    text[0] = '\0';
    if (c->num_hosts == 1 && casts && are_apart(c, 0, 0, true))
        snprintf(text, room, "on %.60s", hwmc_doctor_name_of(c, 0));
    for (int a = 0; a < c->num_hosts; a++)
        for (int b = a + 1; b < c->num_hosts; b++)
            if (are_apart(c, a, b, casts)) {
                snprintf(word, sizeof(word), "between %.60s and %.60s", hwmc_doctor_name_of(c, a),
                         hwmc_doctor_name_of(c, b));
                hwmc_doctor_list(text, room, word);
            }
}

static void note_untried(struct hwmc_doctor_report *r, enum hwmc_doctor_check check,
                         const char *where)
{
    if (r->level[check] != HWMC_DOCTOR_OK || where[0] == '\0')
        return;
    r->level[check] = HWMC_DOCTOR_UNKNOWN;
    snprintf(r->said[check], sizeof(r->said[0]), "not tried %s", where);
}

void hwmc_doctor_judge_untried(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r)
{
    char any[120], casts[120];

    if (c->num_rails == 0)
        return;
    name_apart(c, false, any, sizeof(any));
    name_apart(c, true, casts, sizeof(casts));
    if (!hwmc_doctor_has_job_port(c))
        snprintf(casts, sizeof(casts), "without a UDP port");
    note_untried(r, HWMC_DOCTOR_REACH, any);
    note_untried(r, HWMC_DOCTOR_UDP, any);
    note_untried(r, HWMC_DOCTOR_MULTICAST, casts);
    note_untried(r, HWMC_DOCTOR_LOSS, casts);
    note_untried(r, HWMC_DOCTOR_LENGTH, casts);
}
