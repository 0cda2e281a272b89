/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rc_wire: see rc_wire.h.
 */
#include "rc_wire.h"

#include <string.h>

#include "rc.h"

#define MAGIC 0x7263u
#define VERSION 1u
#define SHORT 8u /* bytes of an exchange without an end */
#define END 20u  /* with one, before the ports */
#define PORT 24u

static void put_u16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t) (v >> 8);
    p[1] = (uint8_t) v;
}

static void put_u32(uint8_t *p, uint32_t v)
{
    put_u16(p, v >> 16);
    put_u16(p + 2, v);
}

static uint16_t get_u16(const uint8_t *p)
{
    return (uint16_t) (p[0] << 8 | p[1]);
}

static uint32_t get_u32(const uint8_t *p)
{
    return (uint32_t) get_u16(p) << 16 | get_u16(p + 2);
}

static void put_first(uint8_t *p, uint8_t type)
{
    put_u16(p, MAGIC);
    p[2] = VERSION;
    p[3] = type;
}

static bool is_first(const uint8_t *p)
{
    return get_u16(p) == MAGIC && p[2] == VERSION;
}

static bool has_end(enum rc_exchange_type type)
{
    return type == RC_CONNECT || type == RC_ACCEPT;
}

static void put_end(uint8_t *p, const struct rc_end *e)
{
    put_u32(p + 8, e->qp_num);
    put_u32(p + 12, e->psn);
    put_u16(p + 16, e->credits);
    p[18] = e->hardware ? 1 : 0;
    p[19] = e->num_ports;
    for (uint8_t i = 0; i < e->num_ports; i++) {
        uint8_t *q = p + END + i * PORT;

        memset(q, 0, PORT);
        q[0] = e->port[i].number;
        q[1] = e->port[i].lmc;
        put_u16(q + 2, e->port[i].lid);
        memcpy(q + 4, e->port[i].gid.raw, 16);
        q[20] = (uint8_t) e->mtu[i];
        q[21] = e->port[i].grh ? 1 : 0;
        q[22] = e->port[i].bits;
    }
}

static bool get_port(const uint8_t *q, struct hwmc_apm_port *port, enum ibv_mtu *mtu)
{
    memset(port, 0, sizeof(*port));
    port->number = q[0];
    port->lmc = q[1];
    port->lid = get_u16(q + 2);
    memcpy(port->gid.raw, q + 4, 16);
    *mtu = (enum ibv_mtu) q[20];
    port->grh = (q[21] & 1) != 0;
    port->bits = q[22];
    return port->number >= 1 && port->lmc <= 7 && port->bits <= 127 && q[20] >= IBV_MTU_256 &&
           q[20] <= IBV_MTU_4096;
}

static bool get_end(const uint8_t *p, size_t len, struct rc_end *e)
{
    bool ok = true;

    memset(e, 0, sizeof(*e));
    if (len < END || p[19] < 1 || p[19] > RC_PORTS_MAX || len != END + p[19] * PORT)
        return false;
    e->qp_num = get_u32(p + 8);
    e->psn = get_u32(p + 12);
    e->credits = get_u16(p + 16);
    e->hardware = (p[18] & 1) != 0;
    e->num_ports = p[19];
    for (uint8_t i = 0; i < e->num_ports; i++)
        ok = get_port(p + END + i * PORT, &e->port[i], &e->mtu[i]) && ok;
    return ok && e->qp_num >> 24 == 0 && e->psn >> 24 == 0 && e->credits >= RC_CREDITS_MIN &&
           e->credits <= RC_CREDITS_MAX;
}

size_t rc_wire_write_exchange(const struct rc_exchange *x, uint8_t *bytes)
{
    put_first(bytes, (uint8_t) x->type);
    put_u32(bytes + 4, x->epoch);
    if (!has_end(x->type))
        return SHORT;
    put_end(bytes, &x->end);
    return END + x->end.num_ports * PORT;
}

bool rc_wire_read_exchange(const uint8_t *bytes, size_t len, struct rc_exchange *x)
{
    if (len < SHORT || !is_first(bytes) || bytes[3] < RC_CONNECT || bytes[3] > RC_WANT)
        return false;
    x->type = (enum rc_exchange_type) bytes[3];
    x->epoch = get_u32(bytes + 4);
    return has_end(x->type) ? get_end(bytes, len, &x->end) : len == SHORT;
}

void rc_wire_write_fragment(const struct rc_fragment *f, uint8_t *bytes)
{
    put_first(bytes, (uint8_t) f->type);
    put_u16(bytes + 4, f->credits);
    put_u16(bytes + 6, 0);
    put_u32(bytes + 8, f->head_len);
    put_u32(bytes + 12, f->total);
    put_u32(bytes + 16, f->offset);
}

bool rc_wire_read_fragment(const uint8_t *bytes, size_t len, struct rc_fragment *f)
{
    uint64_t payload = len - RC_HEADER;

    if (len < RC_HEADER || !is_first(bytes) || bytes[3] < RC_DATA || bytes[3] > RC_CREDIT)
        return false;
    f->type = (enum rc_fragment_type) bytes[3];
    f->credits = get_u16(bytes + 4);
    f->head_len = get_u32(bytes + 8);
    f->total = get_u32(bytes + 12);
    f->offset = get_u32(bytes + 16);
    if (f->type == RC_CREDIT)
        return payload == 0;
    return f->total <= HWMC_LANE_RC_MESSAGE_MAX && f->head_len <= HWMC_LANE_RC_HEAD_MAX &&
           f->head_len <= f->total && f->offset <= f->total && payload <= f->total - f->offset &&
           (payload > 0 || f->total == 0) && (f->offset > 0 || f->head_len <= payload);
}
