/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * wire: messages of groups as bytes, and the one place where these are parsed. PROTOCOL.md
 * specifies the format; this file is its implementation. One header goes before every message but
 * fragments by multicast, of which there are most: these have a shorter one.
 */
#ifndef HWMC_ENGINE_WIRE_WIRE_H_INCLUDED
#define HWMC_ENGINE_WIRE_WIRE_H_INCLUDED

#include <stddef.h>

#include "../../core/base/msg.h"

#define HWMC_WIRE_MAGIC 0x686du /* "hm" */
#define HWMC_WIRE_VERSION 7u
#define HWMC_WIRE_HEAD 64u         /* bytes of the header */
#define HWMC_WIRE_CAST_HEAD 40u    /* bytes of the header of a fragment by multicast */
#define HWMC_WIRE_PARAMETERS 48u   /* bytes of struct hwmc_parameters */
#define HWMC_WIRE_PROBE_MAX 16448u /* bytes of a PROBE's payload */
#define HWMC_WIRE_BITS_MAX 4096u   /* fragments that a NACK can name */
#define HWMC_WIRE_CONTROL_MAX (HWMC_WIRE_BITS_MAX / 8) /* payload of what is not DATA */

/* Whose message it is. */
struct hwmc_wire_id {
    uint64_t job;        /* key of the job */
    uint32_t context;    /* MPI context id of the communicator */
    uint32_t leader;     /* rank in MPI_COMM_WORLD of the communicator's rank 0 */
    uint32_t generation; /* the leader's number for the communicator; 0 during set-up */
    bool unchecked;      /* the job does without CRCs; alike on all its processes */
};

/* A message as it came, parsed. */
struct hwmc_wire_in {
    struct hwmc_wire_id id;
    struct hwmc_msg msg; /* its bits and parameters point below; not set: rail, lane, token */
    bool cast;           /* DATA by multicast: of bid the low 32 bits came; frags is not set */
    bool whole;          /* ... but its upper half came too; set by who knows */
    const void *payload; /* of DATA, SEGMENT, BLOCK: borrowed from the bytes parsed */
    uint32_t len;        /* of the payload */
    struct hwmc_parameters parameters;
    uint64_t bits[HWMC_WIRE_BITS_MAX / 64];
};

enum hwmc_wire_result {
    HWMC_WIRE_OK,
    HWMC_WIRE_FORMAT,  /* not a message of this version, or its lengths contradict */
    HWMC_WIRE_FOREIGN, /* another job's */
    HWMC_WIRE_CORRUPT  /* the CRC is wrong */
};

/* The payload is the caller's bytes. */
static inline bool hwmc_wire_carries(enum hwmc_msg_type type)
{
    return type == HWMC_MSG_DATA || type == HWMC_MSG_SEGMENT || type == HWMC_MSG_MEASURE ||
           type == HWMC_MSG_PROBE || type == HWMC_MSG_BLOCK;
}

/* Bytes of a PROBE's payload, so that it is as long as a fragment of `bytes` by multicast. */
static inline uint32_t hwmc_wire_probe_len(uint32_t bytes)
{
    const uint32_t more = HWMC_WIRE_HEAD - HWMC_WIRE_CAST_HEAD;
    uint32_t len = bytes > more ? bytes - more : 0;

    return len < HWMC_WIRE_PROBE_MAX ? len : HWMC_WIRE_PROBE_MAX;
}

/* Bytes of the header that goes before `msg`. */
uint32_t hwmc_wire_head_len(const struct hwmc_msg *msg);

/* Bytes of the header that the datagram's first bytes announce; 0 when it is too short for any. */
uint32_t hwmc_wire_head_of(const void *datagram, size_t len);

/* `head` begins a fragment by multicast that calls itself this one; HWMC_WIRE_CAST_HEAD bytes. */
bool hwmc_wire_is_fragment(const void *head, const struct hwmc_wire_id *id, uint64_t bid,
                           uint32_t index);

/* Writes the header of `msg` from rank `src` to `head`. DATA, SEGMENT, MEASURE, PROBE, BLOCK: the
 * payload is `len` bytes of `body`. For every other type it is written to `body`
 * (HWMC_WIRE_CONTROL_MAX bytes) and `len` is ignored. Returns the length of the payload. */
uint32_t hwmc_wire_encode(void *head, const struct hwmc_wire_id *id, uint32_t src,
                          const struct hwmc_msg *msg, void *body, uint32_t len);

/* Parses a message of which `head` holds the header, `head_len` bytes, and `body` the remaining
 * `body_len`. `unchecked`: without regard to the CRC. Only with OK is `in` filled. */
enum hwmc_wire_result hwmc_wire_decode(struct hwmc_wire_in *in, uint64_t job, bool unchecked,
                                       const void *head, size_t head_len, const void *body,
                                       size_t body_len);

/* A message of this type is for a group that may have no generation yet. */
static inline bool hwmc_wire_is_by_key(enum hwmc_msg_type type)
{
    return type == HWMC_MSG_INVITE || type == HWMC_MSG_REPORT || type == HWMC_MSG_DECIDE ||
           type == HWMC_MSG_LOST;
}

#endif /* HWMC_ENGINE_WIRE_WIRE_H_INCLUDED */
