/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * hwmc_tune: finds out by which algorithm each collective inside this host is fastest, and who runs
 * it faster over the hosts of the job, and writes the selection file for MPIR_CVAR_HWMC_SELECTION:
 * docs/tuning.md.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* cpu_set_t */
#endif

#include "tune.h"

#include <json.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAP_US 5000 /* of a rank that has no part in a stage */
#define BYTES_MAX (256 << 20)

static const char usage[] =
    "usage: mpiexec -n N hwmc_tune [-o FILE] [-ops NAME,...] [-sizes BYTES,...] [-quick]\n"
    "       hwmc_tune -check FILE\n"
    "\n"
    "Tries every algorithm of the collectives inside a host, for 2, 4, 8, ... and all ranks of "
    "the\n"
    "first host; then hwmc's and MPICH's algorithms over 2, 4, 8, ... and all hosts. Writes the\n"
    "selection of the fastest, for MPIR_CVAR_HWMC_SELECTION.\n"
    "\n"
    "  -o FILE   where to write; else to the standard output\n"
    "  -ops      these collectives only, of barrier bcast reduce allreduce reduce_scatter gather\n"
    "            allgather scatter alltoall\n"
    "  -sizes    message lengths in bytes, ascending; multiples of 8; 64k are 64 KiB, 1M is 1 MiB\n"
    "  -quick    fewer and shorter samples\n"
    "  -check    whether a file is a selection; what is wrong if not\n"
    "\n"
    "Control variables in the environment that turn hwmc off, or select an algorithm of a "
    "collective\n"
    "that is tried, do not hold; the others do.\n";

static int rank, size;

/* Where this rank runs: which host, in the order of their first ranks, and which rank there. */
static int host, place, num_hosts, num_there; /* the last: ranks of the first host */

/* A length as 8, 64k or 1M, and nothing else; 0: it is none, or out of range. */
static int64_t parse_size(const char *word)
{
    char *end;
    int64_t number, unit = 1;

    if (*word < '0' || *word > '9')
        return 0;
    number = strtoll(word, &end, 10); /* or too large for any unit */
    if (*end == 'k' || *end == 'K')
        unit = 1 << 10;
    else if (*end == 'M')
        unit = 1 << 20;
    if (unit > 1)
        end++;
    return *end == '\0' && number <= BYTES_MAX / unit ? number * unit : 0;
}

static bool parse_sizes(struct tune_plan *plan, char *list)
{
    plan->num_sizes = 0;
    for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
        const int64_t bytes = parse_size(word);
        int64_t before = plan->num_sizes > 0 ? plan->bytes[plan->num_sizes - 1] : 0;

        if (plan->num_sizes == TUNE_SIZES_MAX || bytes <= before || bytes % 8 != 0) {
            fprintf(stderr, "hwmc_tune: -sizes: not understood: %s\n", word);
            return false;
        }
        plan->bytes[plan->num_sizes++] = bytes;
    }
    return plan->num_sizes > 0;
}

/* Whether `name` is one of the names between commas. */
static bool listed(const char *list, const char *name)
{
    size_t n = strlen(name);

    for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
        if (strncmp(list, name, n) == 0 && (list[n] == ',' || list[n] == '\0'))
            return true;
    return false;
}

static bool known_ops(const char *list)
{
    int names = 1, known = 0;

    for (const char *c = list; *c != '\0'; c++)
        names += *c == ',';
    for (int o = 0; o < tune_num_ops; o++)
        known += listed(list, tune_ops[o].name);
    return names == known;
}

static bool parse(struct tune_plan *plan, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *value = i + 1 < argc ? argv[i + 1] : NULL;

        if (strcmp(argv[i], "-quick") == 0) {
            plan->repeats = 3;
            plan->sample = 0.001;
            continue;
        }
        if (!value)
            return false;
        i++;
        if (strcmp(argv[i - 1], "-o") == 0)
            plan->out = value;
        else if (strcmp(argv[i - 1], "-ops") == 0 && known_ops(value))
            plan->ops = value;
        else if (strcmp(argv[i - 1], "-sizes") != 0 || !parse_sizes(plan, value))
            return false;
    }
    return true;
}

/* Whether what a file has, or is to have, is a selection. */
static bool sound(const char *text, const char *name)
{
    char why[HWMC_SHM_ENTRY_WHY];
    struct json_object *tree = hwmc_shm_entry_parse(text, why);

    if (tree)
        json_object_put(tree);
    else
        fprintf(stderr, "hwmc_tune: %s: %s\n", name, why);
    return tree != NULL;
}

static int check(const char *file)
{
    char *text = hwmc_shm_entry_load(file);
    bool good = text && sound(text, file);

    if (!text)
        perror(file);
    free(text);
    return good ? 0 : 1;
}

/* More ranks than processors that they may run on. */
static bool is_crowded(MPI_Comm comm, int ranks)
{
    cpu_set_t mine, all;

    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof(mine), &mine);
    MPI_Allreduce(&mine, &all, sizeof(mine), MPI_BYTE, MPI_BOR, comm);
    return ranks > CPU_COUNT(&all);
}

static void nap_until_all_come(void)
{
    MPI_Request request;
    int done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done)
            usleep(NAP_US);
    }
}

/* hwmc's number of the host that this rank runs on. MPI_COMM_TYPE_SHARED does not tell: where MPICH
 * is built without its own shared memory, from release 5 on each rank is alone there. */
static int own_host(void)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    unsigned long long number = 0;
    int index, count, err;

    err = MPI_T_pvar_get_index("hwmc_host", MPI_T_PVAR_CLASS_GENERIC, &index);
    if (err != MPI_SUCCESS || MPI_T_pvar_session_create(&session) != MPI_SUCCESS)
        tune_fail("this MPI has no hwmc: there is no performance variable hwmc_host");
    MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
    MPI_T_pvar_read(session, handle, &number);
    MPI_T_pvar_handle_free(session, &handle);
    MPI_T_pvar_session_free(&session);
    return (int) number;
}

static void find_place(void)
{
    MPI_Comm mine;
    int ranks, first;

    MPI_Comm_split(MPI_COMM_WORLD, own_host(), rank, &mine);
    MPI_Comm_rank(mine, &place);
    MPI_Comm_size(mine, &ranks);
    first = place == 0;
    MPI_Scan(&first, &host, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&first, &num_hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    host--;
    MPI_Bcast(&host, 1, MPI_INT, 0, mine);
    num_there = ranks;
    MPI_Bcast(&num_there, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Comm_free(&mine);
}

static bool is_in(const struct tune_stage *stage)
{
    return stage->hosts > 0 ? host < stage->hosts : host == 0 && place < stage->ranks;
}

/* Other ranks sleep meanwhile. */
static void run_stage(struct tune_stage *stage, const struct tune_plan *plan,
                      struct tune_found *found)
{
    const struct tune_op *ops = stage->hosts > 0 ? tune_host_ops : tune_ops;
    const int num = stage->hosts > 0 ? tune_num_host_ops : tune_num_ops;

    MPI_Comm_split(MPI_COMM_WORLD, is_in(stage) ? 0 : MPI_UNDEFINED, rank, &stage->comm);
    if (stage->comm != MPI_COMM_NULL) {
        MPI_Comm_size(stage->comm, &stage->ranks);
        stage->crowded = stage->hosts == 0 && is_crowded(stage->comm, stage->ranks);
        for (int o = 0; o < num; o++)
            if (!plan->ops || listed(plan->ops, ops[o].name))
                tune_measure(&ops[o], stage, plan, &found[o]);
        MPI_Comm_free(&stage->comm);
    }
    nap_until_all_come();
}

/* Stages, and what was found in each. */
struct tuned {
    struct tune_stage stages[TUNE_STAGES_MAX];
    struct tune_found *found[TUNE_STAGES_MAX];
    int num;
};

/* Of 2, 4, 8, ... and `most` ranks, or hosts. None of less than 2. */
static void plan_stages(struct tuned *t, int most, bool over_hosts)
{
    t->num = 0;
    for (int n = 2; most >= 2 && n < 2 * most && t->num < TUNE_STAGES_MAX; n *= 2) {
        const int here = n < most ? n : most;

        t->stages[t->num++] =
            over_hosts ? (struct tune_stage){.hosts = here} : (struct tune_stage){.ranks = here};
    }
}

static void run_stages(struct tuned *t, const struct tune_plan *plan)
{
    for (int s = 0; s < t->num; s++) {
        t->found[s] = calloc(TUNE_HOST_OPS_MAX, sizeof(*t->found[s]));
        if (!t->found[s])
            tune_fail("no memory");
        run_stage(&t->stages[s], plan, t->found[s]);
    }
}

static void free_found(struct tuned *t)
{
    for (int s = 0; s < t->num; s++)
        free(t->found[s]);
}

static void write_parts(FILE *to, const struct tuned *inside, const struct tuned *over)
{
    fprintf(to, "{");
    if (inside->num > 0)
        tune_write(to, inside->stages, inside->num, inside->found);
    fprintf(to, inside->num > 0 && over->num > 0 ? ",\n" : "\n");
    if (over->num > 0)
        tune_host_write(to, over->stages, over->num, over->found);
    fprintf(to, over->num > 0 ? "\n}\n" : "}\n");
}

static void write_all(const struct tune_plan *plan, const struct tuned *inside,
                      const struct tuned *over)
{
    char *text = NULL;
    size_t length;
    FILE *memory = open_memstream(&text, &length);
    FILE *to = plan->out ? fopen(plan->out, "w") : stdout;

    if (!memory || !to)
        tune_fail("the file given with -o cannot be written");
    write_parts(memory, inside, over);
    if (fclose(memory) != 0 || !sound(text, "what was found"))
        tune_fail("no selection came out");
    if (fputs(text, to) < 0 || fflush(to) != 0)
        tune_fail("the file given with -o cannot be written");
    if (plan->out && (fclose(to) != 0 || check(plan->out) != 0))
        tune_fail("the file given with -o cannot be read again");
    free(text);
}

/* MPICH's variable of a collective: it may go to the device, and no algorithm is named. */
static void free_choice(const char *coll)
{
    char name[80];

    snprintf(name, sizeof(name), "MPIR_CVAR_%s_INTRA_ALGORITHM", coll);
    setenv(name, "auto", 1);
    snprintf(name, sizeof(name), "MPIR_CVAR_%s_DEVICE_COLLECTIVE", coll);
    setenv(name, "1", 1);
}

/* Control variables as MPI reads them when it starts, whatever the user has: hwmc is on, and there
 * is no selection but what is tried. They are set, not unset: MPICH knows each by other names
 * too. */
static void prepare(void)
{
    static const char *const settings[][2] = {
        {"MPIR_CVAR_HWMC_ENABLE", "1"},
        {"MPIR_CVAR_HWMC_SHM", "1"},
        {"MPIR_CVAR_HWMC_SHM_MEMORY", "4096"},
        {"MPIR_CVAR_HWMC_MIN_RANKS", "2"},
        {"MPIR_CVAR_HWMC_SELECTION", "none"},
        {"MPIR_CVAR_HWMC_TUNE", TUNE_KEYS},
        {"MPIR_CVAR_HWMC_ALGORITHMS", ""},
        {"MPIR_CVAR_HWMC_BARRIER_ALGORITHM", "auto"},
        {"MPIR_CVAR_HWMC_BCAST_ALGORITHM", "auto"},
        {"MPIR_CVAR_HWMC_REDUCE_ALGORITHM", "auto"},
        {"MPIR_CVAR_HWMC_ALLREDUCE_ALGORITHM", "auto"}, /* it would go before REDUCE's */
        {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", ""},
        {"MPIR_CVAR_DEVICE_COLLECTIVES", "percoll"},
        {"MPIR_CVAR_IBCAST_INTRA_ALGORITHM", "auto"}, /* hw forces blocking ones too */
    };
    static const char *const colls[] = {
        "BARRIER", "BCAST",   "REDUCE",    "ALLREDUCE", "REDUCE_SCATTER_BLOCK",
        "GATHER",  "SCATTER", "ALLGATHER", "ALLTOALL"};

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        setenv(settings[i][0], settings[i][1], 1);
    for (size_t i = 0; i < sizeof(colls) / sizeof(colls[0]); i++)
        free_choice(colls[i]);
}

int main(int argc, char **argv)
{
    struct tune_plan plan = {
        .num_sizes = 10,
        .bytes = {8, 64, 512, 4096, 16384, 65536, 262144, 1 << 20, 4 << 20, 16 << 20},
        .repeats = 5,
        .sample = 0.002};
    struct tuned inside, over;
    int provided;

    if (argc == 3 && strcmp(argv[1], "-check") == 0)
        return check(argv[2]);
    if (!parse(&plan, argc, argv)) {
        fputs(usage, stderr);
        return 2;
    }
    prepare();
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2)
        tune_fail("run it with 2 ranks or more: mpiexec -n N hwmc_tune");
    find_place();
    tune_host_ops_init();
    plan_stages(&inside, num_there, false);
    plan_stages(&over, num_hosts, true);
    run_stages(&inside, &plan);
    run_stages(&over, &plan);
    if (rank == 0)
        write_all(&plan, &inside, &over);
    free_found(&inside);
    free_found(&over);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
