/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "mpidimpl.h"
#include "../base/global.h"
#include "ucx_memory.h"
#include "../lane/ucx_log.h"
#include "../../../../../mpi/coll/bcast_hw/settings/settings.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <ucs/debug/log_def.h>
#include <unistd.h>

#define TEXT_MAX 512

static struct hwmc_ucx_log ucx_log;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned handlers; /* of UCX's messages, with ours; 0: ours is not there */

/* MPICH's process manager may end a job before it has read why: until it has, or for a second. */
static void wait_until_read(int fd)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    struct stat kind;
    int bytes;

    if (fstat(fd, &kind) != 0 || !S_ISFIFO(kind.st_mode))
        return;
    for (int i = 0; i < 100 && ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0; i++)
        nanosleep(&pause, NULL);
}

static void give_up(uint64_t lasted_ns, const char *last_words)
{
    char host[HOST_NAME_MAX + 1] = "";

    gethostname(host, sizeof(host) - 1);
    fprintf(stderr,
            "hwmc: rank %d (process %ld on %s) has got no more memory for %d ms "
            "(no_memory_ms of MPIR_CVAR_HWMC_TUNE), and UCX waits for it: %s. Look at the limits "
            "of the "
            "process (ulimit -v, ulimit -d) and at the memory of the host.\n",
            MPIR_Process.rank, (long) getpid(), host, (int) (lasted_ns / 1000000), last_words);
    wait_until_read(STDERR_FILENO);
    MPID_Abort(MPIR_Process.comm_world, MPI_SUCCESS, 1, "no more memory");
}

static void advise_on_memory(void)
{
    static bool done;

    if (!done)
        fprintf(stderr, "hwmc: UCX cannot share memory between processes of this host. Give the "
                        "container a larger /dev/shm and one user namespace for all of them, or "
                        "set UCX_TLS=tcp,self: docs/containers.md\n");
    done = true;
}

static void advise_on_ways(void)
{
    static bool done;
    unsigned major, minor, release;

    ucp_get_version(&major, &minor, &release);
    if (!done)
        fprintf(stderr,
                "hwmc: UCX has no way between two hosts. By TCP both need an address of one family "
                "on a port that UCX_NET_DEVICES allows. IPv6 takes UCX 1.12 (this is %u.%u), and "
                "addresses of more than the link. Where some hosts have both families and others "
                "IPv6 alone, set UCX_TCP_AF_PRIO=inet6,inet: docs/ipv6.md\n",
                major, minor);
    done = true;
}

/* Runs inside UCX, in any of its threads, also where it holds locks: calls nothing of UCX's that
 * asks for more. */
static ucs_log_func_rc_t on_message(const char *file, unsigned line, const char *function,
                                    ucs_log_level_t level,
                                    const ucs_log_component_config_t *component, const char *format,
                                    va_list values)
{
    char text[TEXT_MAX];
    const uint64_t patience = (uint64_t) MPL_MAX(hwmc_settings.tune.no_memory_ms, 0) * 1000000;
    uint64_t now, lasted = 0;
    bool show;

    (void) function;
    (void) component;
    if (level > UCS_LOG_LEVEL_WARN || pthread_mutex_trylock(&lock) != 0)
        return UCS_LOG_FUNC_RC_CONTINUE;
    now = hwmc_now();
    vsnprintf(text, sizeof(text), format, values);
    if (strstr(text, ucs_status_string(UCS_ERR_NO_MEMORY)))
        lasted = hwmc_ucx_log_add(&ucx_log, now);
    show = hwmc_ucx_log_show(&ucx_log, file, line, now);
    if (level <= UCS_LOG_LEVEL_ERROR && hwmc_ucx_log_is_of_shared_memory(file))
        advise_on_memory();
    if (level <= UCS_LOG_LEVEL_ERROR && hwmc_ucx_log_is_of_no_way(file, text))
        advise_on_ways();
    if (patience > 0 && lasted >= patience)
        give_up(lasted, text); /* with the lock: once */
    pthread_mutex_unlock(&lock);
    return show ? UCS_LOG_FUNC_RC_CONTINUE : UCS_LOG_FUNC_RC_STOP;
}

void hwmc_memory_init(void)
{
    if (handlers > 0)
        return;
    ucs_log_push_handler(on_message);
    handlers = ucs_log_num_handlers();
}

/* UCX takes away the last one only. Ours, with others' on top, does no harm while the library is
 * there. */
void hwmc_memory_finalize(void)
{
    if (handlers > 0 && handlers == ucs_log_num_handlers()) {
        ucs_log_pop_handler();
        handlers = 0;
    }
}
