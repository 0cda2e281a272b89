/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

#include <unistd.h>

/* A selection file for collectives inside a host: one that cannot be used is an error that names
 * it, on each communicator that would begin to use it, and only there; one that can is obeyed, by
 * ranks and bytes. */

static const char *const broken[] = {
    NULL, /* no file */
    "",
    "{",
    "[]",
    "{\"collective=bcast\": {}}",
    "{\"collective=neighbor_alltoall\": {\"comm_size=any\": {\"algorithm=auto\": {}}}}",
    "{\"comm_size=any\": {\"algorithm=auto\": {}}}",
    "{\"collective=bcast\": {\"comm_size<=4\": {\"algorithm=tree\": {}}}}",
    "{\"collective=bcast\": {\"comm_size=any\": {\"algorithm=sig\": {}}}}",
    "{\"collective=bcast\": {\"comm_size=any\": {\"algorithm=tree\": {\"degree=0\": {}}}}}",
    "{\"collective=bcast\": {\"comm_size=any\": {\"algorithm=tree\": {\"colour=4\": {}}}}}",
    "{\"collective=bcast\": {\"comm_size=any\": {\"algorithm=tree\": 4}}}",
    "{\"collective=bcast\": {\"comm_size=any\": {\"algorithm=tree\": {}, \"algorithm=g\": {}}}}",
    "{\"collective=bcast\": {\"avg_msg_size<=x\": {\"algorithm=tree\": {}},"
    " \"avg_msg_size=any\": {\"algorithm=tree\": {}}}}",
    "{\"collective=bcast\": {\"comm_size=any\": {\"algorithm=tree\": {}},"
    " \"comm_size<=2\": {\"algorithm=g\": {}}}}",
    "{\"collective=barrier\": {\"avg_msg_size=any\": {\"algorithm=tree\": {}}}}",
    "{\"collective=bcast\": {\"comm_size=any\": {\"algorithm=tree\": {}}}}\n"
    "{\"collective=barrier\": {\"comm_size=any\": {\"algorithm=sig\": {}}}}",
    "{\"collective=bcast\": {\"comm_size=any\": {\"algorithm=tree\": {}}}}}",
};

static const char good[] =
    "{\"collective=barrier\": {\"comm_size <= 2\": {\"algorithm=pe\": {}},"
    "  \"comm_size=any\": {\"algorithm=sig\": {}}},"
    " \"collective=bcast\": {\"comm_size=any\": {"
    "    \"avg_msg_size<=1000\": {\"algorithm=ota\": {\"inline_max=0\": {}}},"
    "    \"avg_msg_size<70000\": {\"algorithm=ag\": {\"piece_min=64\": {}, \"copy_min=1\": {}}},"
    "    \"avg_msg_size=any\": {\"algorithm=tree\": {\"degree=1\": {}, \"shape=kary\": {},"
    "       \"chunk=4096\": {}, \"copy_min=never\": {}}}}},"
    " \"collective=allreduce\": {\"avg_msg_size<=64\": {\"algorithm=tree\": {}},"
    "    \"avg_msg_size=any\": {\"algorithm=ag\": {}}},"
    " \"collective=reduce_scatter\": {\"total_msg_size=any\": {\"algorithm=treemm\": {}}},"
    " \"collective=scan\": {\"comm_size=any\": {\"algorithm=auto\": {\"chunk=1024\": {}}}}} \n\t\n";

static char path[64];

static void write_file(const char *text)
{
    FILE *f;

    unlink(path);
    if (text == NULL)
        return;
    f = fopen(path, "w");
    if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0) {
        printf("cannot write %s\n", path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* The first collective on `comm` answers an error that names the file; the next one works. */
static int refused(MPI_Comm comm, const char *text)
{
    char words[MPI_MAX_ERROR_STRING] = "";
    int errs = 0, length, code;

    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    code = MPI_Barrier(comm);
    if (code != MPI_SUCCESS)
        MPI_Error_string(code, words, &length);
    errs += strstr(words, path) == NULL;
    errs += MPI_Barrier(comm) != MPI_SUCCESS;
    if (errs > 0)
        printf("%s: %s\n", text != NULL ? text : "(no file)", words);
    fflush(stdout);
    return errs;
}

static int refused_all(void)
{
    int errs = refused(MPI_COMM_WORLD, broken[0]);

    for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
        MPI_Comm comm;

        write_file(broken[i]);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        errs += refused(comm, broken[i]);
        MPI_Comm_free(&comm);
    }
    return errs;
}

/* One choice more is `counter`'s than there were before. */
static int chosen(const char *counter, unsigned long long before)
{
    unsigned long long now = hwtest_counter(counter);

    if (now == before + 1)
        return 0;
    printf("%s: from %llu to %llu\n", counter, before, now);
    fflush(stdout);
    return 1;
}

static int bcast(MPI_Comm comm, size_t bytes, const char *counter)
{
    unsigned long long before = hwtest_counter(counter);
    unsigned char *buf = hwtest_alloc(bytes);
    int errs = hwtest_bcast(buf, bytes, 0, comm, bytes, counter);

    free(buf);
    return errs + chosen(counter, before);
}

static int allreduce(MPI_Comm comm, int count, const char *counter)
{
    unsigned long long before = hwtest_counter(counter);
    int *mine = calloc((size_t) count, sizeof(int)), *sum = calloc((size_t) count, sizeof(int));
    int errs = 0, size;

    MPI_Comm_size(comm, &size);
    for (int i = 0; i < count; i++)
        mine[i] = i;
    MPI_Allreduce(mine, sum, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count; i++)
        errs += sum[i] != i * size;
    free(mine);
    free(sum);
    return (errs > 0) + chosen(counter, before);
}

static int obeyed(MPI_Comm parent)
{
    int errs = 0, size, wrong, mine[64], sum[64];
    unsigned long long before;
    const char *barrier;
    MPI_Comm comm;

    MPI_Comm_dup(parent, &comm);
    MPI_Comm_size(comm, &size);
    barrier = size <= 2 ? "hwmc_shm_barrier_pe" : "hwmc_shm_barrier_sig";
    before = hwtest_counter(barrier);
    MPI_Barrier(comm);
    MPI_Barrier(comm);
    errs += chosen(barrier, before);
    errs += bcast(comm, 1000, "hwmc_shm_bcast_ota");
    errs += bcast(comm, 69999, "hwmc_shm_bcast_ag");
    errs += bcast(comm, 70000, "hwmc_shm_bcast_tree");
    errs += bcast(comm, 1, "hwmc_shm_bcast_ota");
    errs += allreduce(comm, 16, "hwmc_shm_reduce_tree");
    errs += allreduce(comm, 40000, "hwmc_shm_reduce_ag");
    for (int i = 0; i < 64; i++)
        mine[i] = i / size;
    before = hwtest_counter("hwmc_shm_reduce_treemm");
    MPI_Reduce_scatter_block(mine, sum, 64 / size, MPI_INT, MPI_SUM, comm);
    errs += chosen("hwmc_shm_reduce_treemm", before);
    MPI_Scan(mine, sum, 1, MPI_INT, MPI_SUM, comm);
    wrong = sum[0] != 0;
    MPI_Comm_free(&comm);
    return errs + wrong;
}

int main(int argc, char **argv)
{
    int errs = 0, provided, rank, index;
    MPI_Comm pair;

    snprintf(path, sizeof(path), "/tmp/hwtest-%ld.json", (long) getpid());
    setenv("MPIR_CVAR_HWMC_SELECTION", path, 1);
    setenv("MPIR_CVAR_HWMC_TUNE", "shm_after=0", 1);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MTest_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (MPI_T_cvar_get_index("MPIR_CVAR_HWMC_SELECTION", &index) == MPI_SUCCESS) {
        errs += refused_all();
        write_file(good);
        errs += obeyed(MPI_COMM_WORLD);
        MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
        MPI_Comm_size(pair, &index);
        if (index == 2)
            errs += obeyed(pair);
        MPI_Comm_free(&pair);
    }
    unlink(path);
    errs = hwtest_finish(errs);
    MPI_T_finalize();
    return errs;
}
