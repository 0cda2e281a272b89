/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "doctor_pmi.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_LEN 2048
#define PIECE 400 /* bytes of a value: twice that as text, of the 1024 that all managers take */

static bool send_line(struct hwmc_doctor_pmi *p, const char *line)
{
    size_t len = strlen(line);

    while (len > 0) {
        const ssize_t n = write(p->fd, line, len);

        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            line += n;
            len -= (size_t) n;
        }
    }
    return true;
}

/* One line, without its end. A process has one question under way, so nothing comes behind it. */
static bool read_line(struct hwmc_doctor_pmi *p, char *line)
{
    size_t have = 0;

    while (have + 1 < LINE_MAX_LEN) {
        const ssize_t n = read(p->fd, line + have, 1);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        if (line[have] == '\n') {
            line[have] = '\0';
            return true;
        }
        have++;
    }
    return false;
}

/* The value of `key` in "cmd=answer key=value ..."; NULL: it is not there. It ends at a blank. */
static const char *value_of(const char *line, const char *key)
{
    const size_t len = strlen(key);

    for (const char *word = line; *word != '\0'; word += *word == ' ') {
        if (strncmp(word, key, len) == 0 && word[len] == '=')
            return word + len + 1;
        word += strcspn(word, " ");
    }
    return NULL;
}

/* Sends a question and reads the answer, which has to be `cmd` and have no other rc than 0. */
static bool ask(struct hwmc_doctor_pmi *p, char *line, const char *cmd, const char *format, ...)
{
    const char *said;
    va_list args;

    va_start(args, format);
    vsnprintf(line, LINE_MAX_LEN, format, args);
    va_end(args);
    if (!send_line(p, line) || !read_line(p, line))
        return false;
    said = value_of(line, "cmd");
    if (!said || strncmp(said, cmd, strlen(cmd)) != 0)
        return false;
    said = value_of(line, "rc");
    return !said || atoi(said) == 0;
}

static int number_of(const char *name, int otherwise)
{
    const char *text = getenv(name);

    return text && *text != '\0' ? atoi(text) : otherwise;
}

bool hwmc_doctor_pmi_open(struct hwmc_doctor_pmi *p, const char **why)
{
    char line[LINE_MAX_LEN];
    const char *space;

    *p = (struct hwmc_doctor_pmi){.fd = number_of("PMI_FD", -1), .size = 1};
    *why = "there is PMI_PORT and no PMI_FD: start it with mpiexec";
    if (p->fd < 0)
        return getenv("PMI_PORT") == NULL;
    p->rank = number_of("PMI_RANK", -1);
    p->size = number_of("PMI_SIZE", -1);
    *why = "PMI_RANK and PMI_SIZE do not say which process this is";
    if (p->rank < 0 || p->size <= p->rank)
        return false;
    *why = "the process manager does not understand PMI version 1";
    if (!ask(p, line, "response_to_init", "cmd=init pmi_version=1 pmi_subversion=1\n") ||
        !ask(p, line, "my_kvsname", "cmd=get_my_kvsname\n"))
        return false;
    space = value_of(line, "kvsname");
    if (!space || strcspn(space, " ") >= sizeof(p->space))
        return false;
    memcpy(p->space, space, strcspn(space, " "));
    return true;
}

bool hwmc_doctor_pmi_put(struct hwmc_doctor_pmi *p, const char *name, const void *bytes, size_t len)
{
    const unsigned char *from = bytes;
    char line[LINE_MAX_LEN], text[2 * PIECE + 1];

    if (p->fd < 0)
        return true;
    for (size_t at = 0; at < len; at += PIECE) {
        for (size_t i = at; i < len && i < at + PIECE; i++)
            snprintf(text + 2 * (i - at), 3, "%02x", from[i]);
        if (!ask(p, line, "put_result", "cmd=put kvsname=%s key=hwmc-%s-%d-%zu value=%s\n",
                 p->space, name, p->rank, at / PIECE, text))
            return false;
    }
    return true;
}

static bool read_hex(const char *text, unsigned char *to, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned byte;

        if (sscanf(text + 2 * i, "%2x", &byte) != 1)
            return false;
        to[i] = (unsigned char) byte;
    }
    return true;
}

bool hwmc_doctor_pmi_get(struct hwmc_doctor_pmi *p, int rank, const char *name, void *bytes,
                         size_t len)
{
    char line[LINE_MAX_LEN];

    for (size_t at = 0; p->fd >= 0 && at < len; at += PIECE) {
        const size_t here = len - at < PIECE ? len - at : PIECE;
        const char *value;

        if (!ask(p, line, "get_result", "cmd=get kvsname=%s key=hwmc-%s-%d-%zu\n", p->space, name,
                 rank, at / PIECE))
            return false;
        value = value_of(line, "value");
        if (!value || strcspn(value, " ") < 2 * here ||
            !read_hex(value, (unsigned char *) bytes + at, here))
            return false;
    }
    return p->fd >= 0;
}

bool hwmc_doctor_pmi_barrier(struct hwmc_doctor_pmi *p)
{
    char line[LINE_MAX_LEN];

    return p->fd < 0 || ask(p, line, "barrier_out", "cmd=barrier_in\n");
}

void hwmc_doctor_pmi_close(struct hwmc_doctor_pmi *p)
{
    char line[LINE_MAX_LEN];

    if (p->fd >= 0)
        ask(p, line, "finalize_ack", "cmd=finalize\n");
    p->fd = -1;
}
