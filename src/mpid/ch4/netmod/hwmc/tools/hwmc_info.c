/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * hwmc_info: what hwmc is, what it finds on this host, and how it is set.
 */
#include "mpichconf.h"
#include "info.h"
#include "version.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <ucp/api/ucp.h>

static const char usage[] =
    "usage: hwmc_info [--rails | --limits | --cvars | --pvars | --version | --help]\n"
    "       hwmc_info --model | --json [WHAT]\n"
    "       hwmc_info --all | --rails | --limits --json\n"
    "       hwmc_info --live PID [--json | --watch SECONDS]\n"
    "       hwmc_info --live [PID] --prometheus [FILE] [--watch SECONDS]\n"
    "       mpiexec -n N hwmc_info --net\n"
    "       hwmc_info --doctor [--json] [--hosts HOST,...]\n"
    "       mpiexec ... hwmc_info --doctor [--json]\n"
    "\n"
    "  (no option)  version, what is built in, and the network ports; --all is the same\n"
    "  --rails      the network ports of this host: which can carry multicast, what multicasts "
    "there\n"
    "               and why that, and whether it works\n"
    "  --limits     what of this host's settings limits a job: buffers of sockets, MTUs, and "
    "whether "
    "the kernel\n"
    "               takes several datagrams in one piece and hands them over so\n"
    "  --cvars      control variables: value, default, what each does\n"
    "  --pvars      performance variables, as MPI_T names them\n"
    "  --model      which algorithm a broadcast of each length takes, and the time predicted for "
    "each;\n"
    "               who runs other collectives over hosts\n"
    "  --json       the same as MPICH's selection file, for "
    "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE\n"
    "  --live       counters, rails and communicators of a rank that runs on this host, which is "
    "not "
    "disturbed;\n"
    "               with --watch what changes in each interval, until the process ends;\n"
    "               with --prometheus counters of a process, or of all on this host, as its text "
    "format,\n"
    "               in a file that is replaced, for a node exporter's textfile collector\n"
    "  --net        in a job: the first process multicasts, and a table tells who heard it\n"
    "  --doctor     tries this host, or all hosts of a job, or those named, for what hwmc needs "
    "and "
    "what slows\n"
    "               it; for each finding what it costs and what mends it. Exit status: 0, 1 "
    "(something slows\n"
    "               hwmc), 2 (something does not work)\n"
    "  --version    only hwmc's version\n"
    "\n"
    "WHAT is any of ranks=P, hosts=H, rails=R, sites=N, multicast=0, latency_us=L, mbit=B (of a "
    "rail),\n"
    "site_latency_us=L, loss_ppm=P, datagram_ns=T, message_ns=T, loaded_us=L, loaded_mbit=B, "
    "burst=BYTES,\n"
    "separated by commas; what it leaves open is taken from MPIR_CVAR_HWMC_NETWORK, then from this "
    "host's\n"
    "ports.\n"
    "\n"
    "A port is tried by multicasting a datagram to this host itself. The ports a job uses are "
    "named\n"
    "by MPIR_CVAR_HWMC_RAILS; --net tries the same. Exit status but of --doctor: 0, or 1 when "
    "multicast did not "
    "work\n"
    "where it was tried, or a process shows nothing.\n";

/* The line of MPI_Get_library_version that begins with `name`, without it. */
static void print_library_line(const char *name, const char *title)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    const char *line;
    int len;

    if (MPI_Get_library_version(text, &len) != MPI_SUCCESS)
        return;
    line = strstr(text, name);
    if (line == NULL)
        return;
    line += strlen(name);
    line += strspn(line, " \t");
    printf("%-10s %.*s\n", title, (int) strcspn(line, "\n"), line);
}

static int print_all(void)
{
    int status;
#ifdef HAVE_HWMC_VERBS
    const char *verbs = "verbs (multicast of InfiniBand and RoCE v2)";
#else
    const char *verbs = "verbs: not built";
#endif

    printf("%-10s %s\n", "hwmc", HWMC_VERSION);
    print_library_line("MPICH Version:", "MPICH");
    print_library_line("MPICH Device:", "device");
    printf("%-10s udp (IP multicast); %s; fault (spoils what comes, for tests)\n", "fabrics",
           verbs);
    printf("%-10s ucx (UCX %s)\n\n", "lanes", ucp_get_version_string());
    status = hwmc_info_rails();
    printf("\n");
    hwmc_info_limits();
    return status;
}

/* The words behind --doctor; -1: they are not understood. */
static int run_doctor(int argc, char **argv)
{
    const char *hosts = NULL;
    bool json = false;

    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (strcmp(argv[i], "--hosts") == 0 && i + 1 < argc && *argv[i + 1] != '\0')
            hosts = argv[++i];
        else
            return -1;
    }
    return hwmc_info_doctor(hosts, json);
}

/* The words behind --live; -1: they are not understood. */
static int run_live(int argc, char **argv)
{
    const char *pid = NULL, *file = NULL, *seconds = NULL;
    bool json = false, prometheus = false;
    int i = 0;

    if (argc > 0 && strncmp(argv[0], "--", 2) != 0)
        pid = argv[i++];
    for (; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (strcmp(argv[i], "--prometheus") == 0)
            prometheus = true;
        else if (strcmp(argv[i], "--watch") == 0 && i + 1 < argc)
            seconds = argv[++i];
        else if (prometheus && !file && strncmp(argv[i], "--", 2) != 0)
            file = argv[i];
        else
            return -1;
    }
    if (prometheus)
        return json ? -1 : hwmc_info_prometheus(pid, file, seconds);
    return !pid || (json && seconds) ? -1 : hwmc_info_live(pid, seconds, json);
}

static bool is_of_host(const char *option)
{
    return strcmp(option, "--all") == 0 || strcmp(option, "--rails") == 0 ||
           strcmp(option, "--limits") == 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *option;
        int (*run)(void);
    } parts[] = {
        {"--rails", hwmc_info_rails}, {"--limits", hwmc_info_limits}, {"--cvars", hwmc_info_cvars},
        {"--pvars", hwmc_info_pvars}, {"--net", hwmc_info_net},
    };

    if (argc == 1 || (argc == 2 && strcmp(argv[1], "--all") == 0))
        return print_all();
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(usage, stdout);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("hwmc %s\n", HWMC_VERSION);
        return 0;
    }
    if (argc <= 3 && strcmp(argv[1], "--model") == 0)
        return hwmc_info_model(argc == 3 ? argv[2] : "");
    if (argc <= 3 && strcmp(argv[1], "--json") == 0)
        return hwmc_info_json(argc == 3 ? argv[2] : "");
    if (argc == 3 && strcmp(argv[2], "--json") == 0 && is_of_host(argv[1]))
        return hwmc_info_host_json(strcmp(argv[1], "--limits") != 0,
                                   strcmp(argv[1], "--rails") != 0);
    if (strcmp(argv[1], "--doctor") == 0 || strcmp(argv[1], "--live") == 0) {
        const int status =
            argv[1][2] == 'd' ? run_doctor(argc - 2, argv + 2) : run_live(argc - 2, argv + 2);

        if (status >= 0)
            return status;
    }
    for (size_t i = 0; argc == 2 && i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strcmp(argv[1], parts[i].option) == 0)
            return parts[i].run();
    fputs(usage, stderr);
    return 2;
}
