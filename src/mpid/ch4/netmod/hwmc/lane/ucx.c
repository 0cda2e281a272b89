/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Progress of the lane of ucx.h, waiting for it, and flushing.
 */

#include "ucx_state.h"

int hwmc_lane_ucx_poll(struct hwmc_lane *lane)
{
    struct hwmc_lane_ucx *l = hwmc_lane_ucx_of(lane);
    int events = l->is_cut ? 0 : (int) ucp_worker_progress(l->worker);

    if (l->num_waiting > 0)
        hwmc_lane_ucx_try_waiting(l);
    if (l->num_failed > 0) {
        events++;
        hwmc_lane_ucx_tell_failures(l);
    }
    return events;
}

int hwmc_lane_ucx_fd(struct hwmc_lane *lane)
{
    return hwmc_lane_ucx_of(lane)->efd;
}

int hwmc_lane_ucx_arm(struct hwmc_lane *lane)
{
    struct hwmc_lane_ucx *l = hwmc_lane_ucx_of(lane);

    if (l->is_cut)
        return HWMC_OK;
    return l->num_failed == 0 && ucp_worker_arm(l->worker) == UCS_OK ? HWMC_OK : HWMC_AGAIN;
}

/* UCX has timers of its own, that its descriptor tells of. */
uint64_t hwmc_lane_ucx_deadline(struct hwmc_lane *lane)
{
    (void) lane;
    return UINT64_MAX;
}

static void on_flushed(void *request, ucs_status_t status, void *user_data)
{
    struct hwmc_lane_ucx *l = user_data;

    (void) status;
    l->flush = l->flush == FLUSH_LATE ? FLUSH_NONE : FLUSH_DONE;
    ucp_request_free(request);
}

int hwmc_lane_ucx_flush(struct hwmc_lane *lane)
{
    struct hwmc_lane_ucx *l = hwmc_lane_ucx_of(lane);
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send = on_flushed,
        .user_data = l,
    };

    if (l->is_cut)
        return HWMC_OK;
    if (l->num_waiting > 0)
        return HWMC_AGAIN;
    if (l->sending == NULL && l->flush == FLUSH_NONE) {
        ucs_status_ptr_t request = ucp_worker_flush_nbx(l->worker, &param);

        /* An error: there is nothing more to be had. */
        l->flush = UCS_PTR_IS_PTR(request) ? FLUSH_RUNS : FLUSH_DONE;
    }
    return l->sending == NULL && l->flush == FLUSH_DONE ? HWMC_OK : HWMC_AGAIN;
}
