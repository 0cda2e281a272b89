/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Addresses and faults of a port. Sockets are in net.c.
 */
#include "port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MLIDS 0x3000u /* 0xc000..0xefff are given out */

void em_port_assign(struct em_port *port)
{
    uint32_t host = port->addr & 0xffu, addr = htonl(port->addr);
    const uint8_t guid[4] = {0x02, 0x1b, 0xe0, (uint8_t) port->num};

    port->lid = (uint16_t) ((2 * host + (uint32_t) port->num - 1) << port->lmc);
    memset(&port->gid, 0, sizeof(port->gid));
    port->gid.raw[0] = 0xfe;
    port->gid.raw[1] = 0x80;
    port->gid.raw[6] = (uint8_t) (port->addr >> 16);
    port->gid.raw[7] = (uint8_t) (port->addr >> 8);
    memcpy(port->gid.raw + 8, guid, 4);
    memcpy(port->gid.raw + 12, &addr, 4);
}

uint32_t em_port_addr_of_lid(const struct em_port *port, uint16_t lid)
{
    uint32_t n = (uint32_t) lid >> port->lmc, host = n / 2;

    if (lid >= EM_MLID_FIRST || (int) (n % 2) + 1 != port->num || host == 0 || host > 254)
        return 0;
    return em_subnet(port->addr) << 8 | host;
}

bool em_port_has_lid(const struct em_port *port, uint16_t lid)
{
    return lid >> port->lmc == port->lid >> port->lmc;
}

/* splitmix64: any seed will do, and the sequence is the same everywhere. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

bool em_faults_lose(struct em_faults *f, const struct em_packet *p)
{
    for (int i = 0; i < f->num_cut_lids; i++)
        if (f->cut_lids[i] == p->slid || f->cut_lids[i] == p->dlid)
            return true;
    return f->drop > 0 && next_random(&f->seed) % 1000 < f->drop;
}

int em_faults_cut_lid(struct em_faults *f, uint16_t lid, bool cut)
{
    int i = 0;

    while (i < f->num_cut_lids && f->cut_lids[i] != lid)
        i++;
    if (cut && i == f->num_cut_lids) {
        if (i == EM_CUTS_MAX)
            return ENOSPC;
        f->cut_lids[f->num_cut_lids++] = lid;
    } else if (!cut && i < f->num_cut_lids) {
        f->cut_lids[i] = f->cut_lids[--f->num_cut_lids];
    }
    return 0;
}

bool em_joins_parse(struct em_joins *joins, const char *text)
{
    unsigned ms = 0;
    int end = 0;

    if (strcmp(text, "refuse") != 0 && strcmp(text, "grant") != 0 &&
        (sscanf(text, "delay:%u%n", &ms, &end) != 1 || text[end] != '\0'))
        return false;
    *joins = (struct em_joins){ms, strcmp(text, "refuse") == 0};
    return true;
}

uint16_t em_mlid_of(const union ibv_gid *mgid)
{
    uint32_t h = 2166136261u; /* FNV-1a */

    for (int i = 0; i < 16; i++)
        h = (h ^ mgid->raw[i]) * 16777619u;
    return (uint16_t) (EM_MLID_FIRST + h % MLIDS);
}
