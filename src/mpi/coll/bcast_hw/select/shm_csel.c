/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * shm_csel: see shm_csel.h. hwmc (shm_entry) reads the file before MPICH does, which ends the
 * process at anything it does not know. Of the format used here, MPICH's search needs only a
 * communicator's size. So it gets a communicator that has nothing else, with as many ranks as share
 * memory: those of a host.
 */

#include "shm_csel.h"
#include "../process/errors.h"
#include "../process/mpich.h"

#include <errno.h>
#include <json.h>
#include <pthread.h>

#include "shm_selection_json.h"
#include "../settings/settings.h"

struct hwmc_shm_csel {
    void *root;     /* MPICH's, for any number of ranks */
    uint32_t users; /* communicators that have it, and the process */
};

static struct hwmc_shm_csel *loaded; /* NULL: not yet */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *create_entry(struct json_object *leaf)
{
    char why[HWMC_SHM_ENTRY_WHY];
    struct hwmc_shm_entry *e = MPL_malloc(sizeof(*e), MPL_MEM_COLL);
    bool sound = e && hwmc_shm_entry_read(e, leaf, HWMC_SHM_TABLE_ANY, why);

    MPIR_Assert(sound); /* it was looked at before */
    return e;
}

/* Sets *root; to NULL after an error. */
static int load(void **root)
{
    const char *file = hwmc_settings.shm.selection;
    const bool given = *file != '\0', none = given && strcmp(file, "none") == 0;
    char *text = given && !none ? hwmc_shm_entry_load(file) : NULL;
    char why[HWMC_SHM_ENTRY_WHY];
    const char *json = none ? "{}" : given ? text : HWMC_SHM_SELECTION_JSON;
    struct json_object *tree;
    int mpi_errno = MPI_SUCCESS;

    *root = NULL;
    if (!json)
        return hwmc_error_selection(file, strerror(errno));
    tree = hwmc_shm_entry_parse(json, why);
    if (tree) {
        json_object_put(hwmc_shm_entry_take_hosts(tree));
        mpi_errno = MPIR_Csel_create_from_buf(json_object_to_json_string(tree), create_entry, root);
        json_object_put(tree);
    } else {
        mpi_errno = hwmc_error_selection(given ? file : "hwmc's own", why);
    }
    free(text);
    return mpi_errno;
}

/* One user less. */
static void drop(struct hwmc_shm_csel *s)
{
    if (--s->users > 0)
        return;
    MPIR_Csel_free(s->root);
    MPL_free(s);
}

static struct hwmc_shm_csel *take(int *mpi_errno)
{
    struct hwmc_shm_csel *s = loaded;

    if (!s) {
        s = MPL_calloc(1, sizeof(*s), MPL_MEM_COLL);
        MPIR_Assert(s);
        *mpi_errno = load(&s->root);
        s->users = 1;
        if (*mpi_errno) {
            MPL_free(s);
            return NULL;
        }
        loaded = s;
    }
    s->users++;
    return s;
}

static MPIR_Comm of_size(uint32_t ranks)
{
    return (MPIR_Comm){.comm_kind = MPIR_COMM_KIND__INTRACOMM,
                       .local_size = (int) ranks,
                       .remote_size = (int) ranks};
}

int hwmc_shm_csel_begin(struct hwmc_shm_host *n, uint32_t ranks)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Comm comm = of_size(ranks);

    MPIR_Assert(!n->csel);
    pthread_mutex_lock(&lock);
    n->csel = take(&mpi_errno);
    pthread_mutex_unlock(&lock);
    if (n->csel)
        mpi_errno = MPIR_Csel_prune(n->csel->root, &comm, &n->pruned);
    return mpi_errno;
}

void hwmc_shm_csel_end(struct hwmc_shm_host *n)
{
    if (!n->csel)
        return;
    if (n->pruned)
        MPIR_Csel_free(n->pruned);
    pthread_mutex_lock(&lock);
    drop(n->csel);
    pthread_mutex_unlock(&lock);
    n->csel = NULL;
    n->pruned = NULL;
}

void hwmc_shm_csel_close(void)
{
    pthread_mutex_lock(&lock);
    if (loaded)
        drop(loaded);
    loaded = NULL;
    pthread_mutex_unlock(&lock);
}

const struct hwmc_shm_entry *hwmc_shm_csel_search(const struct hwmc_shm_host *n,
                                                  enum hwmc_shm_kind kind, MPI_Aint bytes)
{
    static const MPIR_Csel_coll_type_e types[] = {
        [HWMC_SHM_KIND_BARRIER] = MPIR_CSEL_COLL_TYPE__BARRIER,
        [HWMC_SHM_KIND_BCAST] = MPIR_CSEL_COLL_TYPE__BCAST,
        [HWMC_SHM_KIND_REDUCE] = MPIR_CSEL_COLL_TYPE__REDUCE,
        [HWMC_SHM_KIND_ALLREDUCE] = MPIR_CSEL_COLL_TYPE__ALLREDUCE,
        [HWMC_SHM_KIND_GATHER] = MPIR_CSEL_COLL_TYPE__GATHER,
        [HWMC_SHM_KIND_ALLGATHER] = MPIR_CSEL_COLL_TYPE__ALLGATHER,
        [HWMC_SHM_KIND_SCATTER] = MPIR_CSEL_COLL_TYPE__SCATTER,
        [HWMC_SHM_KIND_ALLTOALL] = MPIR_CSEL_COLL_TYPE__ALLTOALL,
        [HWMC_SHM_KIND_REDUCE_SCATTER] = MPIR_CSEL_COLL_TYPE__REDUCE_SCATTER,
        [HWMC_SHM_KIND_SCAN] = MPIR_CSEL_COLL_TYPE__SCAN,
    };
    MPIR_Comm comm = of_size(n->group.size);
    MPIR_Csel_coll_sig_s sig = {.coll_type = types[kind], .comm_ptr = &comm};
    MPI_Aint *counts = NULL;
    void *found;

    if (!n->pruned)
        return NULL;
    switch (kind) {
        case HWMC_SHM_KIND_BCAST:
            sig.u.bcast.count = bytes;
            sig.u.bcast.datatype = HWMC_BYTE;
            break;
        case HWMC_SHM_KIND_REDUCE:
            sig.u.reduce.count = bytes;
            sig.u.reduce.datatype = HWMC_BYTE;
            break;
        case HWMC_SHM_KIND_ALLREDUCE:
            sig.u.allreduce.count = bytes;
            sig.u.allreduce.datatype = HWMC_BYTE;
            break;
        case HWMC_SHM_KIND_REDUCE_SCATTER:
            /* All bytes as one rank's: the search looks at their sum. */
            counts = MPL_calloc(n->group.size, sizeof(*counts), MPL_MEM_COLL);
            if (!counts)
                return NULL;
            counts[0] = bytes;
            sig.u.reduce_scatter.recvcounts = counts;
            sig.u.reduce_scatter.datatype = HWMC_BYTE;
            break;
        default:
            break; /* by the number of ranks alone */
    }
    found = MPIR_Csel_search(n->pruned, sig);
    MPL_free(counts);
    return found;
}
