/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

/* ports DEVICE DEVICE DOWN UP: what a program sees when the wire between two devices goes and comes
 * back. DOWN and UP are commands that do it. */

#include "rc.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define PATIENCE 60000 /* ms for an event */
#define RETRIES 2

static void shell(const char *command)
{
    if (system(command) != 0)
        rc_fail("failed: %s", command);
}

/* Wait for an event of the port; others, of which there may be any number, are let pass. */
static void expect_event(struct rc_end *end, enum ibv_event_type wanted)
{
    struct pollfd fd = {.fd = end->context->async_fd, .events = POLLIN};
    const char *name = ibv_get_device_name(end->context->device);
    struct ibv_async_event event;

    do {
        if (poll(&fd, 1, PATIENCE) != 1 || ibv_get_async_event(end->context, &event) != 0)
            rc_fail("%s: no event \"%s\"", name, ibv_event_type_str(wanted));
        ibv_ack_async_event(&event);
    } while (event.event_type != wanted);
    printf("%s: event \"%s\"\n", name, ibv_event_type_str(wanted));
}

static void expect_state(struct rc_end *end, enum ibv_port_state wanted)
{
    struct ibv_port_attr attr;

    if (ibv_query_port(end->context, RC_PORT, &attr) != 0 || attr.state != wanted)
        rc_fail("%s: the port is not in state %s", ibv_get_device_name(end->context->device),
                ibv_port_state_str(wanted));
}

static void expect_send(struct rc_end *from, struct rc_end *to, enum ibv_wc_status wanted)
{
    static unsigned seed;
    enum ibv_wc_status status = rc_send(from, to, ++seed);

    if (status != wanted)
        rc_fail("send: \"%s\", not \"%s\"", ibv_wc_status_str(status), ibv_wc_status_str(wanted));
    printf("send: \"%s\"\n", ibv_wc_status_str(status));
}

static void expect_qp_state(struct rc_end *end, enum ibv_qp_state wanted)
{
    struct ibv_qp_init_attr init;
    struct ibv_qp_attr attr;

    if (ibv_query_qp(end->qp, &attr, IBV_QP_STATE, &init) != 0 || attr.qp_state != wanted)
        rc_fail("the queue pair is not in state %d", wanted);
}

int main(int argc, char **argv)
{
    static struct rc_end ends[2];

    if (argc != 5)
        rc_fail("usage: ports DEVICE DEVICE DOWN UP");
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < 2; i++)
        rc_open(&ends[i], argv[1 + i]);
    rc_connect(&ends[0], &ends[1], RETRIES);
    expect_send(&ends[0], &ends[1], IBV_WC_SUCCESS);

    shell(argv[3]);
    for (int i = 0; i < 2; i++) {
        expect_event(&ends[i], IBV_EVENT_PORT_ERR);
        expect_state(&ends[i], IBV_PORT_DOWN);
    }
    expect_send(&ends[0], &ends[1], IBV_WC_RETRY_EXC_ERR);
    expect_qp_state(&ends[0], IBV_QPS_ERR);

    shell(argv[4]);
    for (int i = 0; i < 2; i++) {
        expect_event(&ends[i], IBV_EVENT_PORT_ACTIVE);
        expect_state(&ends[i], IBV_PORT_ACTIVE);
        rc_destroy(&ends[i]);
    }
    rc_connect(&ends[0], &ends[1], RETRIES);
    expect_send(&ends[0], &ends[1], IBV_WC_SUCCESS);
    for (int i = 0; i < 2; i++)
        rc_close(&ends[i]);
    return 0;
}
