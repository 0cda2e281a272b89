/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* The performance variables hwmc_*, all of them: each is what docs/counters.md says
 * all are, is found by its name, gets a handle, and can be read and not be written. Then known work
 * is done, and those that must have moved have, by as much where that is known, and those that must
 * not have have not. What is known follows from the environment: multicast forced, collectives over
 * shared memory from the first one on, links. Where the library has none there is nothing to test.
 * -verbose prints them. */

#define MAX_VARS 512
#define NAME 128
#define ROUNDS 50
#define BYTES 400 /* round i is of i * BYTES */
#define CALLS 20  /* of each other kind */

struct variable {
    char name[NAME];
    int class;
    MPI_Datatype type;
    MPI_T_pvar_handle handle;
    unsigned long long before, after;
};

static struct variable vars[MAX_VARS];
static int num_vars, rank, size, errs;
static MPI_T_pvar_session session;

static void wrong(const char *name, const char *what)
{
    printf("rank %d: %s: %s\n", rank, name, what);
    errs++;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_set(const char *setting, const char *to)
{
    return getenv(setting) != NULL && strcmp(getenv(setting), to) == 0;
}

/* What does not only rise. */
static int class_of(const char *name)
{
    static const struct {
        const char *name;
        int class;
    } others[] = {
        {"hwmc_latency_ns", MPI_T_PVAR_CLASS_LEVEL},
        {"hwmc_site_latency_ns", MPI_T_PVAR_CLASS_LEVEL},
        {"hwmc_rail_mbit", MPI_T_PVAR_CLASS_LEVEL},
        {"hwmc_all_mbit", MPI_T_PVAR_CLASS_LEVEL},
        {"hwmc_loaded_ns", MPI_T_PVAR_CLASS_LEVEL},
        {"hwmc_loaded_mbit", MPI_T_PVAR_CLASS_LEVEL},
        {"hwmc_message_ns", MPI_T_PVAR_CLASS_LEVEL},
        {"hwmc_burst_bytes", MPI_T_PVAR_CLASS_LEVEL},
        {"hwmc_shm_segments", MPI_T_PVAR_CLASS_LEVEL},
        {"hwmc_shm_bytes", MPI_T_PVAR_CLASS_LEVEL},
        {"hwmc_lanes_hardware", MPI_T_PVAR_CLASS_LEVEL},
        {"hwmc_lanes_software", MPI_T_PVAR_CLASS_LEVEL},
        {"hwmc_host", MPI_T_PVAR_CLASS_GENERIC},
        {"hwmc_rails_context", MPI_T_PVAR_CLASS_GENERIC},
        {"hwmc_rails_from", MPI_T_PVAR_CLASS_GENERIC},
        {"hwmc_rails_used", MPI_T_PVAR_CLASS_GENERIC},
        {"hwmc_rails_unused", MPI_T_PVAR_CLASS_GENERIC},
        {"hwmc_rails_rank", MPI_T_PVAR_CLASS_GENERIC},
        {"hwmc_rails_why", MPI_T_PVAR_CLASS_STATE},
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(name, others[i].name) == 0)
            return others[i].class;
    return MPI_T_PVAR_CLASS_COUNTER;
}

/* A state is an int, and each of its values has a name. */
static bool has_states(MPI_Datatype type, MPI_T_enum enumeration)
{
    char name[NAME], item[NAME];
    int num, length = NAME, value;

    if (type != MPI_INT || enumeration == MPI_T_ENUM_NULL ||
        MPI_T_enum_get_info(enumeration, &num, name, &length) != MPI_SUCCESS || num < 2)
        return false;
    for (int i = 0; i < num; i++) {
        length = NAME;
        if (MPI_T_enum_get_item(enumeration, i, &value, item, &length) != MPI_SUCCESS ||
            value != i || length < 5)
            return false;
    }
    return true;
}

static bool is_number(MPI_Datatype type, MPI_T_enum enumeration)
{
    return type == MPI_UNSIGNED_LONG_LONG && enumeration == MPI_T_ENUM_NULL;
}

static unsigned long long read_variable(const struct variable *v)
{
    unsigned long long values[1] = {~0ull};
    int states[1] = {-1};
    const bool is_state = v->class == MPI_T_PVAR_CLASS_STATE;

    if (MPI_T_pvar_read(session, v->handle, is_state ? (void *) states : values) != MPI_SUCCESS)
        wrong(v->name, "cannot be read");
    return is_state ? (unsigned long long) states[0] : values[0];
}

/* A variable of ours: what is told of it, and its handle. */
static void take(int index)
{
    struct variable *v = &vars[num_vars];
    char text[1024];
    int name_length = NAME, text_length = sizeof(text), verbosity, bind, readonly, continuous;
    int atomic, count, found;
    unsigned long long value = 1;
    MPI_T_enum enumeration;

    if (MPI_T_pvar_get_info(index, v->name, &name_length, &verbosity, &v->class, &v->type,
                            &enumeration, text, &text_length, &bind, &readonly, &continuous,
                            &atomic) != MPI_SUCCESS) {
        wrong("a variable", "nothing is told of it");
        return;
    }
    if (!begins(v->name, "hwmc_"))
        return;
    if (text_length < 10)
        wrong(v->name, "has no description");
    if (v->class != class_of(v->name))
        wrong(v->name, "is of another class");
    if (!(v->class == MPI_T_PVAR_CLASS_STATE ? has_states(v->type, enumeration)
                                             : is_number(v->type, enumeration)) ||
        bind != MPI_T_BIND_NO_OBJECT || !readonly || !continuous)
        wrong(v->name, "is of another type, binding or kind");
    if (MPI_T_pvar_get_index(v->name, v->class, &found) != MPI_SUCCESS || found != index)
        wrong(v->name, "is not found by its name");
    if (num_vars + 1 == MAX_VARS ||
        MPI_T_pvar_handle_alloc(session, index, NULL, &v->handle, &count) != MPI_SUCCESS) {
        wrong(v->name, "got no handle");
        return;
    }
    if (count != 1)
        wrong(v->name, "has not one value");
    if (MPI_T_pvar_start(session, v->handle) == MPI_SUCCESS)
        wrong(v->name, "runs always, and can be started");
    if (MPI_T_pvar_write(session, v->handle, &value) == MPI_SUCCESS)
        wrong(v->name, "can be written");
    num_vars++;
}

/* A variable by its name; an error if there is none. */
static const struct variable *named(const char *name)
{
    static const struct variable none;

    for (int i = 0; i < num_vars; i++)
        if (strcmp(vars[i].name, name) == 0)
            return &vars[i];
    wrong(name, "is not there");
    return &none;
}

static unsigned long long rise(const char *name)
{
    const struct variable *v = named(name);

    return v->after - v->before;
}

static void must_rise(const char *name)
{
    if (rise(name) == 0)
        wrong(name, "has not moved");
}

static void must_rise_by(const char *name, unsigned long long by)
{
    if (rise(name) != by) {
        printf("rank %d: %s rose by %llu, not by %llu\n", rank, name, rise(name), by);
        errs++;
    }
}

static void must_stay(const char *prefix)
{
    for (int i = 0; i < num_vars; i++)
        if (begins(vars[i].name, prefix) && vars[i].after != vars[i].before)
            wrong(vars[i].name, "has moved");
}

/* A communicator that shares memory as long as it lives. */
static void work_on_another(bool shares)
{
    const struct variable *segments = shares ? named("hwmc_shm_segments") : NULL;
    unsigned long long had = shares ? read_variable(segments) : 0;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < CALLS; i++)
        MPI_Barrier(comm);
    if (shares && read_variable(segments) != had + 1)
        wrong(segments->name, "is not one more with another communicator");
    MPI_Comm_free(&comm);
    if (shares && read_variable(segments) != had)
        wrong(segments->name, "is not what it was before a communicator that is freed");
}

static void work(bool shares)
{
    void *buf = hwtest_alloc(ROUNDS * BYTES);
    long one = 1, sum = 0;
    int token = rank;

    for (int i = 0; i < ROUNDS; i++)
        errs += hwtest_bcast(buf, BYTES * (size_t) i, i % size, MPI_COMM_WORLD, i, "pvars");
    for (int i = 0; i < CALLS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (sum != size)
            wrong("allreduce", "a wrong sum");
        MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    work_on_another(shares);
    free(buf);
}

static void check_multicast(void)
{
    static const char *const risen[] = {
        "hwmc_two_stage",          "hwmc_cast_frags",     "hwmc_got_cast",
        "hwmc_setup_on",           "hwmc_datagrams_sent", "hwmc_datagram_bytes_sent",
        "hwmc_datagrams_received", "hwmc_syncs",          "hwmc_lane_messages_sent",
    };

    for (size_t i = 0; i < sizeof(risen) / sizeof(risen[0]); i++)
        must_rise(risen[i]);
    must_rise_by("hwmc_calls", ROUNDS - 1); /* the first is of no bytes */
    must_rise_by("hwmc_call_bytes", BYTES * (ROUNDS - 1) * ROUNDS / 2);
    must_stay("hwmc_off_");
    must_stay("hwmc_rails_");
    must_stay("hwmc_shm_bcast_");
}

static void check_shared_memory(void)
{
    const unsigned long long calls = rise("hwmc_shm_calls");

    if (calls < ROUNDS - 1 + 3 * CALLS)
        wrong("hwmc_shm_calls", "has not moved enough");
    if (named("hwmc_shm_bytes")->after == 0)
        wrong("hwmc_shm_bytes", "is 0");
    must_rise_by("hwmc_shm_left_to_mpich", 0);
    must_rise_by("hwmc_two_stage", 0);
    must_rise_by("hwmc_datagrams_sent", 0);
}

static void check(bool multicasts, bool shares, bool links)
{
    if (multicasts)
        check_multicast();
    if (shares)
        check_shared_memory();
    if (links) {
        must_rise("hwmc_am_received");
        if (named("hwmc_lanes_software")->after + named("hwmc_lanes_hardware")->after == 0)
            wrong("hwmc_lanes_software", "is 0");
    } else {
        must_stay("hwmc_session_");
        must_stay("hwmc_am_received");
        must_stay("hwmc_lanes_");
        must_stay("hwmc_rc_");
    }
    must_rise_by("hwmc_drop_foreign", 0);
    must_rise_by("hwmc_drop_format", 0);
    must_rise_by("hwmc_drop_crc", 0);
    must_rise_by("hwmc_drop_forged", 0);
    must_rise_by("hwmc_bad", 0);
    must_rise_by("hwmc_lanes_lost", 0);
    for (int i = 0; i < num_vars; i++)
        if (vars[i].class == MPI_T_PVAR_CLASS_COUNTER && vars[i].after < vars[i].before)
            wrong(vars[i].name, "fell");
}

int main(int argc, char **argv)
{
    int provided, num;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MTest_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const bool verbose = hwtest_flag(argc, argv, "-verbose") && rank == 0;
    const bool shares = size > 1 && is_set("HWTEST_NODE", "1");

    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_num(&num);
    for (int i = 0; i < num; i++)
        take(i);
    for (int i = 0; i < num_vars; i++)
        vars[i].before = read_variable(&vars[i]);

    work(shares && num_vars > 0);
    for (int i = 0; i < num_vars; i++) {
        vars[i].after = read_variable(&vars[i]);
        if (verbose)
            fprintf(stderr, "%-40s %llu\n", vars[i].name, vars[i].after);
    }
    if (num_vars > 0)
        check(size > 1 && is_set("MPIR_CVAR_BCAST_INTRA_ALGORITHM", "hw"), shares,
              size > 1 && is_set("MPIR_CVAR_HWMC_RESILIENT", "1"));

    for (int i = 0; i < num_vars; i++)
        if (MPI_T_pvar_handle_free(session, &vars[i].handle) != MPI_SUCCESS ||
            vars[i].handle != MPI_T_PVAR_HANDLE_NULL)
            wrong(vars[i].name, "its handle was not freed");
    MPI_T_pvar_session_free(&session);
    /* The last to leave the tools interface: some MPICH cannot be entered a second time. */
    errs = hwtest_finish(errs);
    MPI_T_finalize();
    return errs;
}
