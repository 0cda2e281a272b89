/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * scatter_read: the side of a rank that reads its part of each other rank, or of the root, phase by
 * phase, in the way that the other's line says. Where the other has another length for it than is
 * expected here, it reads what fits, and acknowledges all.
 */
#include "scatter_impl.h"

/* Where the part in this phase belongs, and how much is expected. */
static struct hwmc_shm_range place_of(const struct hwmc_shm_scatter *w, uint32_t peer)
{
    if (w->of_all)
        return hwmc_shm_part_of(&w->out_vector, peer);
    return (struct hwmc_shm_range){0, w->length};
}

/* From among all parts of that rank, packed at `from`. */
static void read_packed(struct hwmc_shm_scatter *w, const struct hwmc_shm_out *out,
                        const unsigned char *from, struct hwmc_shm_range to)
{
    const struct hwmc_shm_group *g = w->op.group;
    uint64_t bytes = out->length;
    uint64_t n;

    if (bytes == HWMC_SHM_SCATTER_UNEVEN) {
        const unsigned char *lengths = from;

        from += g->size * sizeof(bytes);
        for (uint32_t r = 0; r < g->rank; r++) {
            memcpy(&bytes, lengths + r * sizeof(bytes), sizeof(bytes));
            from += bytes;
        }
        memcpy(&bytes, lengths + g->rank * sizeof(bytes), sizeof(bytes));
    } else {
        from += g->rank * bytes;
    }
    n = hwmc_shm_vector_agree(&w->op, to.bytes, bytes);
    if (n > 0)
        memcpy(w->out + to.at, from, n);
    w->op.moved = n > g->params.inline_max;
}

/* A chunk, if it is there. OK: it was the last. */
static int read_chunk(struct hwmc_shm_scatter *w, uint32_t peer, const struct hwmc_shm_out *out,
                      struct hwmc_shm_range to)
{
    const struct hwmc_shm_group *g = w->op.group;
    unsigned char *from = hwmc_shm_buffer(g, peer, out->first + w->from + w->taken);
    uint64_t at, fits;
    size_t n;

    if (hwmc_shm_load(&out->ready) < hwmc_shm_scatter_mark(w->from, w->taken + 1))
        return HWMC_AGAIN;
    if (w->taken == 0)
        memcpy(&w->place.bytes, from, sizeof(w->place.bytes));
    at = hwmc_shm_scatter_range(w, w->taken, w->place.bytes, &n);
    fits = hwmc_shm_vector_next(at, hwmc_shm_vector_agree(&w->op, to.bytes, w->place.bytes), n);
    if (fits > 0)
        memcpy(w->out + to.at + at, hwmc_shm_scatter_data(from, w->taken), fits);
    hwmc_shm_lines_ack(&w->op, hwmc_shm_scatter_mark(w->from, ++w->taken));
    w->op.moved = true;
    return at + n < w->place.bytes ? HWMC_AGAIN : HWMC_OK;
}

/* Some of the part in the other's memory. OK: all is here; AGAIN; or as shm/copy/copy.h. */
static int read_memory(struct hwmc_shm_scatter *w, uint32_t peer, const struct hwmc_shm_out *out,
                       struct hwmc_shm_range to)
{
    const struct hwmc_shm_group *g = w->op.group;
    uint64_t end;
    size_t n;
    int err;

    if (!w->asked) {
        err = hwmc_shm_vector_ask(&w->op, peer, &w->place);
        if (err != HWMC_OK)
            return err;
        w->asked = true;
    }
    end = hwmc_shm_vector_agree(&w->op, to.bytes, w->place.bytes);
    n = hwmc_shm_vector_next(w->at, end, g->params.copy_step);
    if (n > 0) {
        err =
            hwmc_shm_group_get(g, peer, w->out + to.at + w->at, out->addr + w->place.at + w->at, n);
        if (err != HWMC_OK)
            return err;
        w->at += n;
        w->op.moved = true;
    }
    return w->at < end ? HWMC_AGAIN : HWMC_OK;
}

/* Some of this phase's part. OK: all is here; AGAIN; or as shm/copy/copy.h. */
static int read_part(struct hwmc_shm_scatter *w)
{
    const struct hwmc_shm_group *g = w->op.group;
    uint32_t peer = g->ring[g->rank + g->size - w->from];
    const struct hwmc_shm_out *out = &hwmc_shm_lines(&w->op, peer)->out;
    struct hwmc_shm_range to = place_of(w, peer);
    uint64_t ready;

    if (hwmc_shm_load(&out->serial) != w->op.serial)
        return HWMC_AGAIN;
    if (out->addr != 0)
        return read_memory(w, peer, out, to);
    ready = hwmc_shm_load(&out->ready);
    if (ready == 0)
        return HWMC_AGAIN;
    if (ready == HWMC_SHM_SCATTER_BODY)
        read_packed(w, out, out->body, to);
    else if (ready == HWMC_SHM_SCATTER_BUFFER)
        read_packed(w, out, hwmc_shm_buffer(g, peer, out->first), to);
    else
        return read_chunk(w, peer, out, to);
    return HWMC_OK;
}

int hwmc_shm_scatter_read(struct hwmc_shm_scatter *w)
{
    while (w->from <= w->last && !w->op.moved) {
        int err = read_part(w);

        if (err != HWMC_OK)
            return err;
        w->from++;
        w->taken = 0;
        w->at = 0;
        w->asked = false;
        hwmc_shm_lines_ack(&w->op, hwmc_shm_scatter_mark(w->from, 0));
    }
    return w->from <= w->last ? HWMC_AGAIN : HWMC_OK;
}
