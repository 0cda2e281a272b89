/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * In the process manager's key-value space:
 *
 *   hwmc-R-I      part I of the record of process R, as text (lane/record); the last part is
 *                 shorter than the others, or empty. It has the addresses of the process's lanes,
 *                 by name: "c" for control, else the rail's subnet, which of the process's ports in
 *                 it, and which lane over that, as 0a4d0100-24-0-0
 *
 * A peer's address is read when it is first sent to.
 */

#include "mpidimpl.h"
#include "../base/global.h"
#include "peers.h"
#include "peer_info.h"

#define VALUE_MAX 1024              /* of what the process manager may hold in a value, used */
#define NO_TEXT "."                 /* where a value may not be empty */
#define TEXT_MAX ((size_t) 1 << 20) /* of a record */

/* Characters of a record that go into one value. */
static size_t part_len(void)
{
    return (size_t) MPL_MIN(MPIR_pmi_max_val_size(), VALUE_MAX) - 1;
}

static void part_key(char *key, size_t room, unsigned rank, unsigned part)
{
    snprintf(key, room, "hwmc-%u-%u", rank, part);
}

static int put_text(const char *text, size_t len)
{
    int mpi_errno = MPI_SUCCESS;
    char key[32], value[VALUE_MAX];
    size_t done = 0, n;

    for (unsigned part = 0;; part++) {
        n = MPL_MIN(len - done, part_len());
        memcpy(value, text + done, n);
        value[n] = '\0';
        part_key(key, sizeof(key), (unsigned) MPIR_Process.rank, part);
        mpi_errno = MPIR_pmi_kvs_put(key, n > 0 ? value : NO_TEXT);
        MPIR_ERR_CHECK(mpi_errno);
        done += n;
        if (n < part_len())
            break;
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* What a process has put in the key-value space. Several threads may ask, and another one may spawn
 * processes: PMI is for one at a time. */
static int ask_pmi(uint32_t rank, const char *key, char *value, int room)
{
    int mpi_errno;

    MPID_THREAD_CS_ENTER(VCI, MPIR_THREAD_VCI_PMI_MUTEX);
    mpi_errno = MPIR_pmi_kvs_get((int) rank, key, value, room);
    MPID_THREAD_CS_EXIT(VCI, MPIR_THREAD_VCI_PMI_MUTEX);
    return mpi_errno;
}

/* The text of another process, the caller's to free; NULL: it cannot be had. */
static char *get_text(uint32_t peer)
{
    char key[32], *text = NULL;
    size_t got = 0;

    for (unsigned part = 0; got <= TEXT_MAX; part++) {
        char *more = MPL_realloc(text, got + VALUE_MAX, MPL_MEM_OTHER);
        size_t n;

        if (!more)
            break;
        text = more;
        part_key(key, sizeof(key), peer, part);
        if (hwmc_global.pmi_in_use || ask_pmi(peer, key, text + got, VALUE_MAX) != MPI_SUCCESS)
            break;
        if (strcmp(text + got, NO_TEXT) == 0)
            text[got] = '\0';
        n = strlen(text + got);
        got += n;
        if (n < part_len())
            return text;
    }
    MPL_free(text);
    return NULL;
}

/* In a record stand one after the other: length of a name, name, length of an address (2, lowest
 * first), address. */
size_t hwmc_peers_note(unsigned char *record, const char *name, const void *addr, size_t len)
{
    const size_t n = strlen(name);

    if (!record)
        return n + 3 + len;
    record[0] = (unsigned char) n;
    memcpy(record + 1, name, n);
    record[n + 1] = (unsigned char) len;
    record[n + 2] = (unsigned char) (len >> 8);
    memcpy(record + n + 3, addr, len);
    return n + 3 + len;
}

/* Copies the address of that name; its length, 0 where there is none or it has no room. */
static size_t look_up(const unsigned char *record, size_t len, const char *name, void *addr,
                      size_t room)
{
    size_t at = 0, n, bytes;

    for (; at < len; at += n + 3 + bytes) {
        n = record[at];
        if (len - at < n + 3)
            break;
        bytes = record[at + n + 1] | (size_t) record[at + n + 2] << 8;
        if (len - at - n - 3 < bytes)
            break;
        if (n != strlen(name) || memcmp(record + at + 1, name, n) != 0)
            continue;
        if (bytes > room)
            break;
        memcpy(addr, record + at + n + 3, bytes);
        return bytes;
    }
    return 0;
}

int hwmc_peers_put(const unsigned char *record, size_t len)
{
    int mpi_errno = MPI_SUCCESS;
    char *text = MPL_malloc(hwmc_peer_info_room(len), MPL_MEM_OTHER);

    MPIR_ERR_CHKANDJUMP(!text, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno = put_text(text, hwmc_peer_info_write(record, len, text));
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    MPL_free(text);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

size_t hwmc_peers_address(uint32_t peer, const char *name, void *addr, size_t room)
{
    size_t bytes = 0, len;
    char *text = get_text(peer);
    unsigned char *record = text ? hwmc_peer_info_read(text, &bytes) : NULL;

    len = record ? look_up(record, bytes, name, addr, room) : 0;
    hwmc_peer_info_free(record);
    MPL_free(text);
    return len;
}
