/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

/* altpath DEVICE DEVICE: an RDMA device over Ethernet says that it can migrate to an alternate
 * path, and takes none. Whoever wants automatic path migration can therefore not go by the device's
 * word, but has to try; and a connection where it was refused must be as good as before. */

#include "rc.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define RETRIES 6

/* Load the path that the queue pair uses anyway as the alternate one, on top of another change;
 * that is to be refused. */
static void expect_refusal(struct rc_end *end, const struct rc_end *peer, struct ibv_qp_attr attr,
                           int mask, const char *when)
{
    int unused, error;

    attr.alt_ah_attr = rc_to_rtr(peer, &unused).ah_attr;
    attr.alt_port_num = RC_PORT;
    attr.alt_timeout = 14;
    error = ibv_modify_qp(end->qp, &attr, mask | IBV_QP_ALT_PATH);
    if (error != EINVAL)
        rc_fail("alternate path, %s: %s", when, error == 0 ? "taken" : strerror(error));
    printf("alternate path, %s: %s\n", when, strerror(error));
}

static void change(struct rc_end *end, struct ibv_qp_attr attr, int mask)
{
    if (ibv_modify_qp(end->qp, &attr, mask) != 0)
        rc_fail("the queue pair does not go to state %d", attr.qp_state);
}

/* All three changes that may load an alternate path, each refused and then done without it. */
static void connect_refused(struct rc_end *end, const struct rc_end *peer)
{
    int mask;
    struct ibv_qp_attr attr = rc_to_rtr(peer, &mask);

    expect_refusal(end, peer, attr, mask, "INIT to RTR");
    change(end, attr, mask);
    attr = rc_to_rts(RETRIES, &mask);
    expect_refusal(end, peer, attr, mask, "RTR to RTS");
    change(end, attr, mask);
    attr.path_mig_state = IBV_MIG_REARM;
    mask = IBV_QP_STATE | IBV_QP_PATH_MIG_STATE;
    expect_refusal(end, peer, attr, mask, "in RTS");
    change(end, attr, mask);
}

int main(int argc, char **argv)
{
    static struct rc_end ends[2];
    struct ibv_device_attr device;

    if (argc != 3)
        rc_fail("usage: altpath DEVICE DEVICE");
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < 2; i++) {
        rc_open(&ends[i], argv[1 + i]);
        if (ibv_query_device(ends[i].context, &device) != 0 ||
            !(device.device_cap_flags & IBV_DEVICE_AUTO_PATH_MIG))
            rc_fail("%s does not claim automatic path migration", argv[1 + i]);
        rc_create(&ends[i]);
    }
    for (int i = 0; i < 2; i++)
        connect_refused(&ends[i], &ends[1 - i]);
    for (unsigned i = 0; i < 2; i++)
        if (rc_send(&ends[i], &ends[1 - i], i) != IBV_WC_SUCCESS)
            rc_fail("the connection is broken");
    printf("claimed, refused, and the connection works\n");
    for (int i = 0; i < 2; i++)
        rc_close(&ends[i]);
    return 0;
}
