/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * peer_info: see peer_info.h.
 */
#include "peer_info.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH 3u
#define RUN_MAX 128u
#define COPY 128u
#define COPY_MIN 4u
#define COPY_MAX (COPY_MIN + 127u)
#define BACK_MAX 65536u

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Bytes on their way to text. */
struct writer {
    char *text;
    size_t len;
    uint32_t bits; /* that make no character yet */
    uint32_t num;  /* of these */
};

static void put(struct writer *w, uint8_t byte)
{
    w->bits = w->bits << 8 | byte;
    for (w->num += 8; w->num >= 6; w->num -= 6)
        w->text[w->len++] = digits[w->bits >> (w->num - 6) & 63];
}

static size_t end(struct writer *w)
{
    if (w->num > 0)
        w->text[w->len++] = digits[w->bits << (6 - w->num) & 63];
    w->text[w->len] = '\0';
    return w->len;
}

/* The longest piece at `at` that has come before; how far back. */
static size_t find(const uint8_t *bytes, size_t len, size_t at, size_t *back)
{
    size_t best = 0;

    for (size_t b = 1; b <= at && b <= BACK_MAX && best < COPY_MAX; b++) {
        size_t n = 0;

        while (n < COPY_MAX && at + n < len && bytes[at + n] == bytes[at + n - b])
            n++;
        if (n > best) {
            best = n;
            *back = b;
        }
    }
    return best;
}

static void put_run(struct writer *w, const uint8_t *bytes, size_t len)
{
    if (len == 0)
        return;
    put(w, (uint8_t) (len - 1));
    for (size_t i = 0; i < len; i++)
        put(w, bytes[i]);
}

size_t hwmc_peer_info_room(size_t len)
{
    size_t most = LENGTH + len + len / RUN_MAX + 1;

    return (most * 8 + 5) / 6 + 1;
}

size_t hwmc_peer_info_write(const uint8_t *bytes, size_t len, char *text)
{
    struct writer w = {.text = text};
    size_t from = 0, at = 0; /* what is to be written as it is */

    for (uint32_t i = 0; i < LENGTH; i++)
        put(&w, (uint8_t) (len >> 8 * i));
    while (at < len) {
        size_t back = 0, n = find(bytes, len, at, &back);

        if (n >= COPY_MIN) {
            put_run(&w, bytes + from, at - from);
            put(&w, (uint8_t) (COPY + n - COPY_MIN));
            put(&w, (uint8_t) ((back - 1) >> 8));
            put(&w, (uint8_t) (back - 1));
            from = at += n;
        } else if (++at - from == RUN_MAX) {
            put_run(&w, bytes + from, at - from);
            from = at;
        }
    }
    put_run(&w, bytes + from, at - from);
    return end(&w);
}

/* Text on its way to bytes. */
struct reader {
    const char *text;
    uint32_t bits;
    uint32_t num;
    bool wrong; /* the text is over, or has other characters */
};

static uint8_t get(struct reader *r)
{
    while (r->num < 8) {
        const char *digit = *r->text != '\0' ? strchr(digits, *r->text++) : NULL;

        if (digit == NULL) {
            r->wrong = true;
            return 0;
        }
        r->bits = r->bits << 6 | (uint32_t) (digit - digits);
        r->num += 6;
    }
    r->num -= 8;
    return (uint8_t) (r->bits >> r->num);
}

/* Of a piece: how many bytes there are now; 0: it is wrong. */
static size_t read_piece(struct reader *r, uint8_t *bytes, size_t at, size_t len)
{
    const uint8_t kind = get(r);
    size_t n = kind < COPY ? kind + 1u : kind - COPY + COPY_MIN, back = 0;

    if (kind >= COPY) {
        back = (size_t) get(r) << 8;
        back = (back | get(r)) + 1;
    }
    if (r->wrong || n > len - at || back > at)
        return 0;
    for (; n > 0; n--, at++)
        bytes[at] = back > 0 ? bytes[at - back] : get(r);
    return r->wrong ? 0 : at;
}

uint8_t *hwmc_peer_info_read(const char *text, size_t *len)
{
    struct reader r = {.text = text};
    uint8_t *bytes;
    size_t at = 0;

    *len = 0;
    for (uint32_t i = 0; i < LENGTH; i++)
        *len |= (size_t) get(&r) << 8 * i;
    if (r.wrong || *len > HWMC_PEER_INFO_MAX)
        return NULL;
    bytes = malloc(*len > 0 ? *len : 1);
    while (bytes != NULL && at < *len) {
        at = read_piece(&r, bytes, at, *len);
        if (at == 0)
            break;
    }
    if (bytes != NULL && (at < *len || *r.text != '\0')) {
        free(bytes);
        bytes = NULL;
    }
    return bytes;
}

void hwmc_peer_info_free(uint8_t *bytes)
{
    free(bytes);
}
