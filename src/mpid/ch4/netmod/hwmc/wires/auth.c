/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * In the process manager's key-value space:
 *
 *   hwmc-secret   the secret, hexadecimal: who can read this can forge messages
 */

#include "mpidimpl.h"
#include "../base/global.h"
#include "../base/counters.h"
#include "../base/hex.h"
#include "auth.h"
#include "../base/random.h"
#include "../lane/auth_lane.h"

#define KEY "hwmc-secret"
#define VALUE_MAX 256

static struct hwmc_auth *auth; /* NULL: the job has no secret */

int hwmc_mpi_random(void *bytes, size_t len)
{
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_CHKANDJUMP1(hwmc_random(bytes, len) != HWMC_OK, mpi_errno, MPI_ERR_OTHER,
                         "**hwmc_other", "**hwmc_other %s", "no random numbers from the system");

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int hwmc_auth_secret_put(void)
{
    int mpi_errno = MPI_SUCCESS;
    unsigned char secret[HWMC_AUTH_SECRET];
    char value[2 * sizeof(secret) + 1];

    mpi_errno = hwmc_mpi_random(secret, sizeof(secret));
    MPIR_ERR_CHECK(mpi_errno);
    hwmc_hex_write(value, secret, sizeof(secret));
    mpi_errno = MPIR_pmi_kvs_put(KEY, value);

fn_exit:
    explicit_bzero(secret, sizeof(secret));
    explicit_bzero(value, sizeof(value));
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int hwmc_auth_secret_get(void)
{
    int mpi_errno = MPI_SUCCESS;
    unsigned char secret[HWMC_AUTH_SECRET];
    char value[VALUE_MAX];

    MPIR_ERR_CHKANDJUMP1(!hwmc_auth_exists(), mpi_errno, MPI_ERR_OTHER, "**hwmc_other",
                         "**hwmc_other %s",
                         "MPIR_CVAR_HWMC_INTEGRITY=keyed: built without libsodium");
    mpi_errno = MPIR_pmi_kvs_get(0, KEY, value, (int) sizeof(value));
    MPIR_ERR_CHECK(mpi_errno);
    MPIR_ERR_CHKANDJUMP1(hwmc_hex_read(value, secret, sizeof(secret)) != (int) sizeof(secret),
                         mpi_errno, MPI_ERR_OTHER, "**hwmc_other", "**hwmc_other %s",
                         "the process manager changed hwmc's secret");
    auth = hwmc_auth_create((uint32_t) MPIR_Process.rank, secret);
    MPIR_ERR_CHKANDJUMP(!auth, mpi_errno, MPI_ERR_OTHER, "**nomem");

fn_exit:
    explicit_bzero(secret, sizeof(secret));
    explicit_bzero(value, sizeof(value));
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

struct hwmc_auth *hwmc_process_auth(void)
{
    return auth;
}

bool hwmc_process_auth_lane(struct hwmc_lane **lane, uint32_t number, struct hwmc_lane_params *to)
{
    const struct hwmc_auth_lane_params params = {.up = *to,
                                                 .auth = auth,
                                                 .counts = hwmc_counters.auth_lane,
                                                 .size = (uint32_t) MPIR_Process.size,
                                                 .rank = (uint32_t) MPIR_Process.rank,
                                                 .number = (uint16_t) number};
    struct hwmc_lane *auth_lane;

    if (!auth)
        return true;
    auth_lane = hwmc_auth_lane_open(&params, *lane);
    if (!auth_lane)
        return false;
    *to = (struct hwmc_lane_params){.recv = hwmc_auth_lane_on_recv,
                                    .lost = hwmc_auth_lane_on_lost,
                                    .sent = hwmc_auth_lane_on_sent,
                                    .ctx = auth_lane};
    *lane = auth_lane;
    return true;
}

void hwmc_auth_secret_close(void)
{
    hwmc_auth_destroy(auth);
    auth = NULL;
}
