/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * settings: see settings.h.
 */

#include "mpiimpl.h"
#include "settings.h"
#include "cvar_text.h"
#include "../core/base/trace.h"
#include "../process/trace.h"
#include "../settings/keys.h"
#include "../settings/old_names.h"
#include "../shm/segment/params.h"

extern char **environ;

#define WHY_MAX 384
#define WORD_MAX 24

_Static_assert(WHY_MAX >= HWMC_KEY_WHY && WHY_MAX >= HWMC_OLD_WHY, "room for each reason");

static bool split_word(const char **text, char word[WORD_MAX])
{
    const size_t len = strcspn(*text, "+");

    if (len == 0 || len >= WORD_MAX)
        return false;
    memcpy(word, *text, len);
    word[len] = '\0';
    *text += len;
    if (**text == '+' && *++*text == '\0')
        return false;
    return true;
}

static int net_named(const char *name)
{
    if (strcmp(name, "two_stage") == 0)
        return HWMC_SET_NET_TWO_STAGE;
    return strcmp(name, "multilane") == 0 ? HWMC_SET_NET_MULTILANE : HWMC_SET_NET_AUTO;
}

/* Reads "auto", or a word that `named` knows and, for broadcasts, one for the network, in any
 * order. False: it is something else. */
static bool read_words(const char *text, int (*named)(const char *), int *shm,
                       enum hwmc_set_net *net)
{
    char word[WORD_MAX];

    *shm = -1;
    if (strcmp(text, "auto") == 0 || *text == '\0')
        return true;
    while (*text != '\0') {
        if (!split_word(&text, word))
            return false;
        if (net && *net == HWMC_SET_NET_AUTO && net_named(word) != HWMC_SET_NET_AUTO)
            *net = (enum hwmc_set_net) net_named(word);
        else if (*shm < 0 && named(word) >= 0)
            *shm = named(word);
        else
            return false;
    }
    return true;
}

/* False: an algorithm is not known. */
static bool read_algorithms(struct hwmc_settings *s, char *why)
{
    struct {
        const char *name, *text, *words;
        int (*named)(const char *);
        int *shm;
        enum hwmc_set_net *net;
    } const each[] = {
        {"MPIR_CVAR_HWMC_BCAST_ALGORITHM", MPIR_CVAR_HWMC_BCAST_ALGORITHM,
         "auto; two_stage or multilane; treemm, ota, g, ag or tree; or one of each kind with a + "
         "between them",
         hwmc_shm_bcast_named, &s->shm.bcast, &s->net.bcast},
        {"MPIR_CVAR_HWMC_BARRIER_ALGORITHM", MPIR_CVAR_HWMC_BARRIER_ALGORITHM,
         "auto, ota, sig, tree, pe or dis", hwmc_shm_barrier_named, &s->shm.barrier, NULL},
        {"MPIR_CVAR_HWMC_REDUCE_ALGORITHM", MPIR_CVAR_HWMC_REDUCE_ALGORITHM,
         "auto, tree, ag, treemm or each", hwmc_shm_reduction_named, &s->shm.reduce, NULL},
        {"MPIR_CVAR_HWMC_ALLREDUCE_ALGORITHM", MPIR_CVAR_HWMC_ALLREDUCE_ALGORITHM,
         "auto, tree, ag, treemm or each", hwmc_shm_reduction_named, &s->shm.allreduce, NULL},
    };

    for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
        const char *text = hwmc_cvar_text(each[i].name, each[i].text);

        if (read_words(text, each[i].named, each[i].shm, each[i].net))
            continue;
        snprintf(why, WHY_MAX, "%s: %.100s is not known; it may be %s", each[i].name, text,
                 each[i].words);
        return false;
    }
    return true;
}

static bool read_trace(const struct hwmc_settings *s, uint32_t *topics, char *why)
{
    if (hwmc_trace_parse(s->debug.trace, topics))
        return true;
    snprintf(why, WHY_MAX,
             "MPIR_CVAR_HWMC_DEBUG: trace=%.100s is not known; it may be all, or some of bcast, "
             "epoch, setup, group, session, trial and failure, as [bcast,epoch]",
             s->debug.trace);
    return false;
}

static bool read_strings(struct hwmc_settings *s, char *why)
{
    const char *const set[] = {
        [HWMC_KEYS_ALGORITHMS] = MPIR_CVAR_HWMC_ALGORITHMS,
        [HWMC_KEYS_TUNE] = MPIR_CVAR_HWMC_TUNE,
        [HWMC_KEYS_DEBUG] = MPIR_CVAR_HWMC_DEBUG,
    };

    for (int i = 0; i < HWMC_KEYS_STRINGS; i++) {
        const enum hwmc_key_string string = (enum hwmc_key_string) i;

        if (!hwmc_keys_read(string, hwmc_cvar_text(hwmc_keys_variable(string), set[i]), s, why))
            return false;
    }
    return true;
}

/* Nothing of hwmc's happens, whatever else is said. */
static void turn_off(struct hwmc_settings *s)
{
    s->wait = HWMC_SET_WAIT_SPIN;
    s->progress_thread = HWMC_SET_THREAD_OFF;
    s->shm.on = false;
    s->ways.resilient = false;
    s->ways.lane = HWMC_SET_LANE_AUTO;
}

static bool has_old_names(char *why)
{
    for (char **item = environ; item && *item; item++)
        if (hwmc_old_name(*item, why))
            return true;
    return false;
}

static int read_all(void)
{
    int mpi_errno = MPI_SUCCESS;
    char why[WHY_MAX];
    struct hwmc_settings s;
    uint32_t topics;

    memset(&s, 0, sizeof(s)); /* and what is between the fields: they are compared */
    MPIR_ERR_CHKANDJUMP(!hwmc_cvars_fill(&s), mpi_errno, MPI_ERR_OTHER, "**nomem");
    MPIR_ERR_CHKANDJUMP1(!read_algorithms(&s, why) || !read_strings(&s, why) ||
                             !read_trace(&s, &topics, why),
                         mpi_errno, MPI_ERR_OTHER, "**hwmc_setting", "**hwmc_setting %s", why);
    if (!s.enable)
        turn_off(&s);
    if (memcmp(&s, &hwmc_settings, sizeof(s)) != 0) /* other threads read it */
        hwmc_settings = s;
    if (topics != hwmc_trace_topics)
        hwmc_trace_open(topics);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int hwmc_settings_refresh(void)
{
    return hwmc_cvars_are_freed() ? MPI_SUCCESS : read_all();
}

int hwmc_settings_open(void)
{
    static bool filled;
    int mpi_errno = MPI_SUCCESS;
    char why[WHY_MAX];

    MPIR_ERR_CHKANDJUMP1(has_old_names(why), mpi_errno, MPI_ERR_OTHER, "**hwmc_setting",
                         "**hwmc_setting %s", why);
    if (!filled || !hwmc_cvars_are_freed())
        mpi_errno = read_all();
    MPIR_ERR_CHECK(mpi_errno);
    filled = true;

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
