/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What comes once a job: the engine with its counters, the netmod's registration, and the end.
 */

#include "mpiimpl.h"
#include "netmod.h"
#include "request.h"
#include "../comm/comm.h"
#include "../engine/engine.h"
#include "../op/wait_failure.h"
#include "../process/hosts.h"
#include "../process/launcher.h"
#include "../select/spread_choose.h"
#include "../stats/epoch.h"
#include "../settings/settings.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define ABORT_MS 100 /* mpiexec may be stopped, or gone */

/* A fence of some of a step's processes, as in MPICH 5.0, does not end with Slurm's PMIx. */
void MPIR_Hwmc_choose_pmi(void)
{
    const enum hwmc_launcher launcher = hwmc_launcher_find(getenv);

    if (!getenv("MPIR_CVAR_PMI_VERSION"))
        HWMC_CHOOSE_PMI(launcher);
    if (launcher == HWMC_LAUNCHER_PMIX && getenv("SLURM_STEP_ID") &&
        !getenv("MPIR_CVAR_PMI_DISABLE_GROUP"))
        HWMC_PMI_WITHOUT_GROUPS();
}

/* What was written to a pipe, and nobody has read. */
static int bytes_in_pipe(int fd)
{
    struct stat of;
    int bytes;

    if (fstat(fd, &of) != 0 || !S_ISFIFO(of.st_mode) || ioctl(fd, FIONREAD, &bytes) != 0)
        return 0;
    return bytes;
}

void MPIR_Hwmc_before_abort(void)
{
    for (int ms = 0; ms < ABORT_MS; ms++) {
        if (bytes_in_pipe(STDOUT_FILENO) == 0 && bytes_in_pipe(STDERR_FILENO) == 0)
            return;
        usleep(1000);
    }
}

struct hwmc_engine *hwmc_open(void)
{
    static struct hwmc_counts *counts;
    static struct hwmc_engine_counts *engine_counts;

    if (!counts) {
        hwmc_add_counters(&counts, &engine_counts);
        hwmc_note_host(hwmc_host_of((uint32_t) MPIR_Process.rank));
    }
    return hwmc_process_open(counts, engine_counts);
}

void hwmc_register(struct hwmc_wires_cfg *cfg)
{
    cfg->memory = (size_t) hwmc_settings.net.memory << 20;
    cfg->show = hwmc_show_group;
    hwmc_process_register(cfg);
}

void hwmc_close(void)
{
    hwmc_shm_shut();
    hwmc_spread_close();
    hwmc_requests_close();
    hwmc_forget_hosts();
    hwmc_forget_sites();
    if (!hwmc_registered())
        return;
    hwmc_lock();
    hwmc_wait_failure_close();
    hwmc_process_close();
    hwmc_unlock();
    hwmc_forget_seen();
}
