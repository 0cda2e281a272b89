/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What active messages over links use of MPICH, in place of MPICH's headers: types with the fields
 * that they look at, and functions that am_test.cc has. Datatypes: one of single bytes in a row,
 * one of every second byte.
 */

#ifndef HWMC_TEST_UNIT_FAKE_MPICH_MPI_MPIDIMPL_H_INCLUDED
#define HWMC_TEST_UNIT_FAKE_MPICH_MPI_MPIDIMPL_H_INCLUDED

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MPICH_NUMVERSION 40300000

typedef ptrdiff_t MPI_Aint;
typedef int MPI_Datatype, MPI_Op;
typedef struct MPIR_Comm MPIR_Comm;
typedef struct MPIR_Win MPIR_Win;
typedef struct MPIR_Info MPIR_Info;
typedef struct MPIR_Datatype MPIR_Datatype;

#define MPI_SUCCESS 0
#define MPI_ERR_OTHER 15
#define MPI_BYTE 1
#define EVERY_SECOND_BYTE 2

#define ATTRIBUTE(list) __attribute__(list)
#define MPL_ATTR_ALIGNED(n) __attribute__((aligned(n)))
#define MPL_COMPILE_TIME_ASSERT(holds) ((void) sizeof(char[(holds) ? 1 : -1]))
#define MPL_STATIC_INLINE_PREFIX static inline __attribute__((unused))
#define unlikely(holds) __builtin_expect((holds), 0)
#define MPL_MIN(a, b) ((a) < (b) ? (a) : (b))
#define MPL_malloc(size, what) malloc(size)
#define MPL_calloc(num, size, what) calloc(num, size)
#define MPL_free(p) free(p)

#define MPIR_Assert(holds) assert(holds)
#define MPIR_ERR_CHECK(err)                                                                        \
    do {                                                                                           \
        if (err)                                                                                   \
            goto fn_fail;                                                                          \
    } while (0)
#define MPIR_ERR_CHKANDJUMP(wrong, err, code, text)                                                \
    do {                                                                                           \
        if (wrong) {                                                                               \
            (err) = (code);                                                                        \
            goto fn_fail;                                                                          \
        }                                                                                          \
    } while (0)

typedef struct MPIR_Request MPIR_Request;

/* Of CH4's fields of a request. */
struct fake_am {
    struct {
        int recv_type;
        MPI_Aint offset;
    } recv_async;
    int (*target_cmpl_cb)(MPIR_Request *rreq);
};

struct MPIR_Request {
    MPI_Aint status; /* bytes */
    void *buffer;
    MPI_Aint count;
    MPI_Datatype datatype;
    struct fake_am *req, am;
    int number; /* for the test */
};

#define MPIDIG_REQUEST(request, field) ((request)->field)
#define MPIDIG_RECV_DATATYPE 0
#define MPIR_STATUS_SET_COUNT(status, count) ((status) = (count))

/* Bytes of data, bytes from the first to the last, and whether these are the same. */
#define MPIDI_Datatype_get_info(count, datatype, contig, size, ptr, true_lb)                       \
    do {                                                                                           \
        (size) = (size_t) (count);                                                                 \
        (contig) = (datatype) == MPI_BYTE;                                                         \
        (ptr) = NULL;                                                                              \
        (true_lb) = 0;                                                                             \
    } while (0)
#define MPIR_get_contig_ptr(buffer, true_lb) ((void *) ((char *) (buffer) + (true_lb)))

#define MPIDI_AM_HANDLERS_MAX 64
#define MPIDIG_AM_ATTR__IS_ASYNC 2

typedef int (*fake_target_cb)(void *hdr, void *data, MPI_Aint size, uint32_t attr,
                              MPIR_Request **rreq);

extern struct fake_mpidig {
    int (*origin_cbs[MPIDI_AM_HANDLERS_MAX])(MPIR_Request *sreq);
    fake_target_cb target_msg_cbs[MPIDI_AM_HANDLERS_MAX];
} MPIDIG_global;

extern struct fake_process {
    int rank, size;
} MPIR_Process;

/* Memory of a device: `true` where `buffer` lies there, and nobody but the next two may touch
 * it. */
bool MPIR_GPU_query_pointer_is_dev(const void *buffer);

#define MPIR_TYPEREP_FLAG_NONE 0
int MPIR_Typerep_pack(const void *buffer, MPI_Aint count, MPI_Datatype datatype, MPI_Aint offset,
                      void *to, MPI_Aint max, MPI_Aint *packed, uint32_t flags);

/* Returns 1 when the last of the data is there. */
void MPIDIG_recv_setup(MPIR_Request *rreq);
int MPIDIG_recv_copy_seg(void *bytes, MPI_Aint size, MPIR_Request *rreq);

/* As netmodpre.h does. */
#include "hwmc_pre.h"

#endif /* HWMC_TEST_UNIT_FAKE_MPICH_MPI_MPIDIMPL_H_INCLUDED */
