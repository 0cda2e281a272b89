/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * In the process manager's key-value space:
 *
 *   hwmc-secret   the secret, hexadecimal: who can read this can forge messages
 */

#include "mpidimpl.h"
#include "hwmc_impl.h"
#include "hwmc_counters.h"
#include "hwmc_hex.h"
#include "hwmc_secret.h"
#include "fabric/draw.h"
#include "lane/sealed.h"

#define KEY "hwmc-secret"
#define VALUE_MAX 256

static struct bcast_hw_seal *seal; /* NULL: the job has no secret */

int MPIDI_HWMC_draw(void *bytes, size_t len)
{
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_CHKANDJUMP1(hwmc_draw(bytes, len) != BCAST_HW_OK, mpi_errno, MPI_ERR_OTHER,
                         "**hwmc_other", "**hwmc_other %s", "no random numbers from the system");

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int MPIDI_HWMC_secret_put(void)
{
    int mpi_errno = MPI_SUCCESS;
    unsigned char secret[BCAST_HW_SEAL_SECRET];
    char value[2 * sizeof(secret) + 1];

    mpi_errno = MPIDI_HWMC_draw(secret, sizeof(secret));
    MPIR_ERR_CHECK(mpi_errno);
    MPIDI_HWMC_hex_write(value, secret, sizeof(secret));
    mpi_errno = MPIR_pmi_kvs_put(KEY, value);

fn_exit:
    explicit_bzero(secret, sizeof(secret));
    explicit_bzero(value, sizeof(value));
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int MPIDI_HWMC_secret_get(void)
{
    int mpi_errno = MPI_SUCCESS;
    unsigned char secret[BCAST_HW_SEAL_SECRET];
    char value[VALUE_MAX];

    MPIR_ERR_CHKANDJUMP1(!bcast_hw_seal_exists(), mpi_errno, MPI_ERR_OTHER, "**hwmc_other",
                         "**hwmc_other %s",
                         "MPIR_CVAR_BCAST_HW_INTEGRITY=keyed: built without libsodium");
    mpi_errno = MPIR_pmi_kvs_get(0, KEY, value, (int) sizeof(value));
    MPIR_ERR_CHECK(mpi_errno);
    MPIR_ERR_CHKANDJUMP1(MPIDI_HWMC_hex_read(value, secret, sizeof(secret)) != (int) sizeof(secret),
                         mpi_errno, MPI_ERR_OTHER, "**hwmc_other", "**hwmc_other %s",
                         "the process manager changed hwmc's secret");
    seal = bcast_hw_seal_create((uint32_t) MPIR_Process.rank, secret);
    MPIR_ERR_CHKANDJUMP(!seal, mpi_errno, MPI_ERR_OTHER, "**nomem");

fn_exit:
    explicit_bzero(secret, sizeof(secret));
    explicit_bzero(value, sizeof(value));
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

struct bcast_hw_seal *MPIDI_HWMC_seal(void)
{
    return seal;
}

bool MPIDI_HWMC_seal_lane(struct bcast_hw_lane **lane, uint32_t number,
                          struct bcast_hw_lane_params *to)
{
    const struct hwmc_sealed_params params = {.up = *to,
                                              .seal = seal,
                                              .counts = MPIDI_HWMC_counters.sealed,
                                              .size = (uint32_t) MPIR_Process.size,
                                              .rank = (uint32_t) MPIR_Process.rank,
                                              .number = (uint16_t) number};
    struct bcast_hw_lane *sealed;

    if (!seal)
        return true;
    sealed = hwmc_sealed_open(&params, *lane);
    if (!sealed)
        return false;
    *to = (struct bcast_hw_lane_params){.recv = hwmc_sealed_on_recv,
                                        .lost = hwmc_sealed_on_lost,
                                        .sent = hwmc_sealed_on_sent,
                                        .ctx = sealed};
    *lane = sealed;
    return true;
}

void MPIDI_HWMC_secret_close(void)
{
    bcast_hw_seal_destroy(seal);
    seal = NULL;
}
