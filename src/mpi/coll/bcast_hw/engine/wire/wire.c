/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * wire: see wire.h. Fields of the header, in network byte order:
 *
 *    0  2 magic        16  4 context       40  4 index
 *    2  1 version      20  4 generation    44  4 frags
 *    3  1 type         24  8 bid           48  4 bytes
 *    4  4 crc          32  4 src           52  4 length of the payload
 *    8  8 job          36  4 root          56  4 leader
 *                                          60  4 rails, tree, slot, flags
 *
 * What root, index, frags, bytes, rails, tree and slot say in each type is in FIELDS_BY_TYPE.
 *
 * Of a fragment by multicast, the first 16 bytes alike, then:
 *
 *   16  4 leader       24  4 bid, low bits   32  4 bytes       38  1 rails
 *   20  4 generation   28  4 root            36  2 index       39  1 flags
 */
#include "wire.h"

#include <endian.h>
#include <string.h>

#include "../../core/base/bitmap.h"
#include "crc32c.h"

enum {
    AT_MAGIC = 0,
    AT_VERSION = 2,
    AT_TYPE = 3,
    AT_CRC = 4,
    AT_JOB = 8,
    AT_CONTEXT = 16,
    AT_GENERATION = 20,
    AT_BID = 24,
    AT_SRC = 32,
    AT_ROOT = 36,
    AT_INDEX = 40,
    AT_FRAGS = 44,
    AT_BYTES = 48,
    AT_LENGTH = 52,
    AT_LEADER = 56,
    AT_FLAGS = 60
};

enum {
    CAST_LEADER = 16,
    CAST_GENERATION = 20,
    CAST_BID = 24,
    CAST_ROOT = 28,
    CAST_BYTES = 32,
    CAST_INDEX = 36,
    CAST_RAILS = 38,
    CAST_FLAGS = 39
};

/* DATA by multicast, on the wire. */
#define TYPE_CAST 32u

static void put_u32(uint8_t *p, uint32_t v)
{
    v = htobe32(v);
    memcpy(p, &v, sizeof(v));
}

static void put_u64(uint8_t *p, uint64_t v)
{
    v = htobe64(v);
    memcpy(p, &v, sizeof(v));
}

/* Two fields, or more, at once: crc_of reads words. */
static void put_pair(uint8_t *p, uint32_t first, uint32_t second)
{
    put_u64(p, (uint64_t) first << 32 | second);
}

static uint16_t get_u16(const uint8_t *p)
{
    uint16_t v;

    memcpy(&v, p, sizeof(v));
    return be16toh(v);
}

static uint32_t get_u32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return be32toh(v);
}

static uint64_t get_u64(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return be64toh(v);
}

/* A bitmap travels as bytes, fragment i being bit i mod 8 of byte i / 8, in whole words of 64. */
static uint32_t put_bits(uint8_t *p, const struct hwmc_msg *msg)
{
    uint32_t words = hwmc_bitmap_words(msg->nack.frags);

    for (uint32_t w = 0; w < words; w++) {
        uint64_t le = htole64(msg->nack.bits[w]);

        memcpy(p + w * sizeof(le), &le, sizeof(le));
    }
    return words * (uint32_t) sizeof(uint64_t);
}

static void get_bits(uint64_t *bits, const uint8_t *p, uint32_t words)
{
    memcpy(bits, p, words * sizeof(*bits));
    for (uint32_t w = 0; w < words; w++)
        bits[w] = le64toh(bits[w]);
}

static uint32_t put_parameters(uint8_t *p, const struct hwmc_parameters *t)
{
    put_u32(p, t->stage);
    put_u32(p + 4, t->reason);
    put_u32(p + 8, t->rank);
    put_u32(p + 12, t->rails);
    put_u32(p + 16, t->frag_bytes);
    put_u32(p + 20, t->window);
    put_u32(p + 24, t->generation);
    put_u32(p + 28, t->from);
    put_u64(p + 32, t->group);
    put_u64(p + 40, t->seed);
    return HWMC_WIRE_PARAMETERS;
}

static void get_parameters(struct hwmc_parameters *t, const uint8_t *p)
{
    t->stage = get_u32(p);
    t->reason = get_u32(p + 4);
    t->rank = get_u32(p + 8);
    t->rails = get_u32(p + 12);
    t->frag_bytes = get_u32(p + 16);
    t->window = get_u32(p + 20);
    t->generation = get_u32(p + 24);
    t->from = get_u32(p + 28);
    t->group = get_u64(p + 32);
    t->seed = get_u64(p + 40);
}

/* Of all but the field for the CRC: in words, as bytes that were written apart are slow to read
 * together. */
static uint32_t crc_of(const uint8_t *head, uint32_t head_len, const void *body, uint32_t len)
{
    uint64_t words[HWMC_WIRE_HEAD / sizeof(uint64_t)];
    uint32_t crc;

    memcpy(words, head, head_len);
    words[0] &= htobe64(UINT64_C(0xffffffff) << 32);
    crc = hwmc_crc32c_words(words, head_len / sizeof(*words));
    return len ? hwmc_crc32c_more(crc, body, len) : crc;
}

static bool names_fragments(enum hwmc_msg_type type)
{
    return type == HWMC_MSG_NACK || type == HWMC_MSG_ROOT_NACK || type == HWMC_MSG_SEEK;
}

static bool has_parameters(enum hwmc_msg_type type)
{
    return type == HWMC_MSG_REPORT || type == HWMC_MSG_DECIDE;
}

/* The fields of the header that say something else for each type. */
struct fields {
    uint32_t root, index, frags, bytes;
    uint8_t rails, tree, slot;
};

/* What each type has in them: X(member of struct hwmc_msg, field). The others are 0, and what comes
 * in them is dropped. */
/* clang-format off */
#define FIELDS_BY_TYPE(TYPE, X)                                                                    \
    TYPE(DATA, X(data.root, root) X(data.index, index) X(data.frags, frags)                        \
               X(data.bytes, bytes) X(data.rails, rails))                                          \
    TYPE(NACK, X(nack.root, root) X(nack.frags, frags) X(nack.bytes, bytes))                       \
    TYPE(ROOT_NACK, X(nack.root, root) X(nack.frags, frags) X(nack.bytes, bytes))                  \
    TYPE(SEEK, X(nack.root, root) X(nack.frags, frags) X(nack.bytes, bytes))                       \
    TYPE(OFFER, X(offer.root, root) X(offer.frags, frags) X(offer.bytes, bytes))                   \
    TYPE(READY, X(offer.root, root) X(offer.frags, frags) X(offer.bytes, bytes))                   \
    TYPE(SYNC_UP, X(up.worst, root) X(up.repaired, index) X(up.losses, frags)                      \
                  X(up.train, bytes) X(up.well_rails, rails))                                      \
    TYPE(SYNC_DOWN, X(down.repaired, index))                                                       \
    TYPE(PROBE, X(probe.train, index) X(probe.bytes, bytes) X(probe.number, tree))                 \
    TYPE(GRANT, X(grant.root, root) X(grant.limit, index) X(grant.late_rails, frags)               \
                X(grant.bytes, bytes) X(grant.rails, rails) X(grant.tree, tree)                    \
                X(grant.slot, slot))                                                               \
    TYPE(SEGMENT, X(segment.root, root) X(segment.index, index) X(segment.bytes, bytes)            \
                  X(segment.rails, rails) X(segment.tree, tree) X(segment.slot, slot))             \
    TYPE(MEASURE, X(measure.lane, index) X(measure.bytes, bytes))                                  \
    TYPE(EPOCH, X(epoch.culprit, root) X(epoch.number, index) X(epoch.rails, rails)                \
                X(epoch.reason, tree) X(epoch.period, slot))                                       \
    TYPE(LOST, X(lost.rank, root) X(lost.stage, index) X(lost.finder, bytes) X(lost.rails, rails)) \
    TYPE(BLOCK, X(block.index, index) X(block.bytes, bytes) X(block.port, slot))                   \
    TYPE(BLOCK_GRANT, X(block.index, index) X(block.bytes, bytes) X(block.port, slot))             \
    TYPE(BLOCK_CREDIT, X(block.index, index))
/* clang-format on */

#define TYPE(name, members)                                                                        \
    case HWMC_MSG_##name:                                                                          \
        members break;

static struct fields get_fields(const struct hwmc_msg *msg)
{
    struct fields f = {0};

#define X(member, field) f.field = msg->member;
    switch (msg->type) {
        FIELDS_BY_TYPE(TYPE, X)
        default: /* SYNC_ASK, INVITE, REPORT, DECIDE */
            break;
    }
#undef X
    return f;
}

static void set_fields(struct hwmc_msg *msg, const struct fields *f)
{
#define X(member, field) msg->member = (__typeof__(msg->member)) f->field;
    switch (msg->type) {
        FIELDS_BY_TYPE(TYPE, X)
        default:
            break;
    }
#undef X
}

static bool is_cast(const struct hwmc_msg *msg)
{
    return msg->type == HWMC_MSG_DATA && msg->multicast;
}

uint32_t hwmc_wire_head_len(const struct hwmc_msg *msg)
{
    return is_cast(msg) ? HWMC_WIRE_CAST_HEAD : HWMC_WIRE_HEAD;
}

uint32_t hwmc_wire_head_of(const void *datagram, size_t len)
{
    const uint8_t *p = datagram;
    uint32_t head = len > AT_TYPE && p[AT_TYPE] == TYPE_CAST ? HWMC_WIRE_CAST_HEAD : HWMC_WIRE_HEAD;

    return len >= head ? head : 0;
}

bool hwmc_wire_is_fragment(const void *head, const struct hwmc_wire_id *id, uint64_t bid,
                           uint32_t index)
{
    const uint8_t *p = head;

    return p[AT_TYPE] == TYPE_CAST && get_u64(p + AT_JOB) == id->job &&
           get_u32(p + CAST_LEADER) == id->leader &&
           get_u32(p + CAST_GENERATION) == id->generation &&
           get_u32(p + CAST_BID) == (uint32_t) bid && get_u16(p + CAST_INDEX) == index;
}

/* What both headers begin with. */
static void put_start(uint8_t *p, const struct hwmc_wire_id *id, uint8_t type)
{
    put_pair(p + AT_MAGIC, HWMC_WIRE_MAGIC << 16 | HWMC_WIRE_VERSION << 8 | type, 0);
    put_u64(p + AT_JOB, id->job);
}

static uint32_t encode_cast(uint8_t *p, const struct hwmc_wire_id *id, const struct hwmc_msg *msg,
                            const void *body, uint32_t len)
{
    put_start(p, id, TYPE_CAST);
    put_pair(p + CAST_LEADER, id->leader, id->generation);
    put_pair(p + CAST_BID, (uint32_t) msg->bid, msg->data.root);
    put_pair(p + CAST_BYTES, msg->data.bytes,
             (msg->data.index & 0xffff) << 16 | (uint32_t) msg->data.rails << 8 | msg->flags);
    put_u32(p + AT_CRC, id->unchecked ? 0 : crc_of(p, HWMC_WIRE_CAST_HEAD, body, len));
    return len;
}

/* Not inlined: fragments by multicast, of which there are most, do without what it keeps in
 * registers. */
__attribute__((noinline)) static uint32_t encode_other(uint8_t *p, const struct hwmc_wire_id *id,
                                                       uint32_t src, const struct hwmc_msg *msg,
                                                       void *body, uint32_t len)
{
    const struct fields f = get_fields(msg);

    if (names_fragments(msg->type))
        len = put_bits(body, msg);
    else if (has_parameters(msg->type))
        len = put_parameters(body, msg->parameters);
    else if (!hwmc_wire_carries(msg->type))
        len = 0;
    put_start(p, id, (uint8_t) msg->type);
    put_u32(p + AT_CONTEXT, id->context);
    put_u32(p + AT_GENERATION, id->generation);
    put_u64(p + AT_BID, msg->bid);
    put_u32(p + AT_SRC, src);
    put_u32(p + AT_ROOT, f.root);
    put_u32(p + AT_INDEX, f.index);
    put_u32(p + AT_FRAGS, f.frags);
    put_u32(p + AT_BYTES, f.bytes);
    put_u32(p + AT_LENGTH, len);
    put_u32(p + AT_LEADER, id->leader);
    p[AT_FLAGS] = f.rails;
    p[AT_FLAGS + 1] = f.tree;
    p[AT_FLAGS + 2] = f.slot;
    p[AT_FLAGS + 3] = msg->flags;
    put_u32(p + AT_CRC, id->unchecked ? 0 : crc_of(p, HWMC_WIRE_HEAD, body, len));
    return len;
}

uint32_t hwmc_wire_encode(void *head, const struct hwmc_wire_id *id, uint32_t src,
                          const struct hwmc_msg *msg, void *body, uint32_t len)
{
    return is_cast(msg) ? encode_cast(head, id, msg, body, len)
                        : encode_other(head, id, src, msg, body, len);
}

/* The payload must have the length that type and header fields ask for; those of DATA, SEGMENT and
 * BLOCK are checked by the group, which knows the sizes. */
static bool payload_fits(enum hwmc_msg_type type, uint32_t frags, uint32_t bytes, uint32_t len)
{
    switch (type) {
        case HWMC_MSG_DATA:
        case HWMC_MSG_SEGMENT:
        case HWMC_MSG_MEASURE:
        case HWMC_MSG_BLOCK:
            return true;
        case HWMC_MSG_NACK:
        case HWMC_MSG_ROOT_NACK:
        case HWMC_MSG_SEEK:
            return frags <= HWMC_WIRE_BITS_MAX && len == hwmc_bitmap_words(frags) * 8;
        case HWMC_MSG_REPORT:
        case HWMC_MSG_DECIDE:
            return len == HWMC_WIRE_PARAMETERS;
        case HWMC_MSG_PROBE:
            return len == hwmc_wire_probe_len(bytes);
        default:
            return len == 0;
    }
}

static enum hwmc_wire_result decode_cast(struct hwmc_wire_in *in, bool unchecked, const uint8_t *p,
                                         const void *body, uint32_t len)
{
    if (!unchecked && get_u32(p + AT_CRC) != crc_of(p, HWMC_WIRE_CAST_HEAD, body, len))
        return HWMC_WIRE_CORRUPT;
    in->cast = true;
    in->whole = false;
    in->id = (struct hwmc_wire_id){
        .job = get_u64(p + AT_JOB),
        .leader = get_u32(p + CAST_LEADER),
        .generation = get_u32(p + CAST_GENERATION),
    };
    in->msg = (struct hwmc_msg){
        .type = HWMC_MSG_DATA,
        .flags = p[CAST_FLAGS],
        .peer = get_u32(p + CAST_ROOT),
        .bid = get_u32(p + CAST_BID),
        .data = {.root = get_u32(p + CAST_ROOT),
                 .bytes = get_u32(p + CAST_BYTES),
                 .index = get_u16(p + CAST_INDEX),
                 .rails = p[CAST_RAILS]},
    };
    in->payload = body;
    in->len = len;
    return HWMC_WIRE_OK;
}

static enum hwmc_wire_result decode_other(struct hwmc_wire_in *in, bool unchecked, const uint8_t *p,
                                          const void *body, uint32_t len)
{
    const enum hwmc_msg_type type = (enum hwmc_msg_type) p[AT_TYPE];
    const struct fields f = {
        .root = get_u32(p + AT_ROOT),
        .index = get_u32(p + AT_INDEX),
        .frags = get_u32(p + AT_FRAGS),
        .bytes = get_u32(p + AT_BYTES),
        .rails = p[AT_FLAGS],
        .tree = p[AT_FLAGS + 1],
        .slot = p[AT_FLAGS + 2],
    };

    if (type < HWMC_MSG_DATA || type >= HWMC_MSG_LIMIT || get_u32(p + AT_LENGTH) != len ||
        !payload_fits(type, f.frags, f.bytes, len))
        return HWMC_WIRE_FORMAT;
    if (!unchecked && get_u32(p + AT_CRC) != crc_of(p, HWMC_WIRE_HEAD, body, len))
        return HWMC_WIRE_CORRUPT;
    in->cast = false;
    in->id = (struct hwmc_wire_id){
        .job = get_u64(p + AT_JOB),
        .context = get_u32(p + AT_CONTEXT),
        .leader = get_u32(p + AT_LEADER),
        .generation = get_u32(p + AT_GENERATION),
    };
    in->msg = (struct hwmc_msg){
        .type = type,
        .flags = p[AT_FLAGS + 3],
        .peer = get_u32(p + AT_SRC),
        .bid = get_u64(p + AT_BID),
    };
    set_fields(&in->msg, &f);
    in->payload = body;
    in->len = len;
    if (names_fragments(type)) {
        get_bits(in->bits, body, len / 8);
        in->msg.nack.bits = in->bits;
    } else if (has_parameters(type)) {
        get_parameters(&in->parameters, body);
        in->msg.parameters = &in->parameters;
    }
    return HWMC_WIRE_OK;
}

enum hwmc_wire_result hwmc_wire_decode(struct hwmc_wire_in *in, uint64_t job, bool unchecked,
                                       const void *head, size_t head_len, const void *body,
                                       size_t body_len)
{
    const uint8_t *p = head;

    if ((head_len != HWMC_WIRE_HEAD && head_len != HWMC_WIRE_CAST_HEAD) || body_len > UINT32_MAX ||
        get_u16(p + AT_MAGIC) != HWMC_WIRE_MAGIC || p[AT_VERSION] != HWMC_WIRE_VERSION ||
        (p[AT_TYPE] == TYPE_CAST) != (head_len == HWMC_WIRE_CAST_HEAD))
        return HWMC_WIRE_FORMAT;
    if (get_u64(p + AT_JOB) != job)
        return HWMC_WIRE_FOREIGN;
    return p[AT_TYPE] == TYPE_CAST ? decode_cast(in, unchecked, p, body, (uint32_t) body_len)
                                   : decode_other(in, unchecked, p, body, (uint32_t) body_len);
}
