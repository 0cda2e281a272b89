/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * See types.h.
 */

#include "types.h"
#include "mpir_op_util.h"
#include "../process/errors.h"

#define ALIGN ((MPI_Aint) 16) /* of any type in C */

/* Which kernels: HWMC_SHM_TYPE_NUM where there are none. */

#define NONE HWMC_SHM_TYPE_NUM
#define TYPE(name) HWMC_SHM_TYPE_##name

/* Pairs of a value and an int; the same handles in all releases. */
static enum hwmc_shm_type pair_of(MPI_Datatype type)
{
    switch (type) {
        case MPI_FLOAT_INT:
            return TYPE(FLOAT_INT);
        case MPI_DOUBLE_INT:
            return TYPE(DOUBLE_INT);
        case MPI_LONG_INT:
            return TYPE(LONG_INT);
        case MPI_SHORT_INT:
            return TYPE(SHORT_INT);
        case MPI_LONG_DOUBLE_INT:
            return TYPE(LONG_DOUBLE_INT);
        default:
            return NONE;
    }
}

#if MPICH_NUMVERSION >= 50000000

/* MPICH has few types inside, named by what they are. Fortran's logicals have values of their
 * own. */
static enum hwmc_shm_type kernels_of(MPI_Datatype type)
{
    MPIR_DATATYPE_REPLACE_BUILTIN(type);
    if (!HANDLE_IS_BUILTIN(type))
        return pair_of(type);
    switch (MPIR_DATATYPE_GET_RAW_INTERNAL(type)) {
#define X(mpich, ours)                                                                             \
    case mpich:                                                                                    \
        return TYPE(ours);
        X(MPIR_INT8, INT8)
        X(MPIR_INT16, INT16)
        X(MPIR_INT32, INT32)
        X(MPIR_INT64, INT64)
        X(MPIR_UINT8, UINT8)
        X(MPIR_UINT16, UINT16)
        X(MPIR_UINT32, UINT32)
        X(MPIR_UINT64, UINT64)
        X(MPIR_FLOAT32, FLOAT)
        X(MPIR_FLOAT64, DOUBLE)
        X(MPIR_ALT_FLOAT96, LONG_DOUBLE)
        X(MPIR_ALT_FLOAT128, LONG_DOUBLE)
        X(MPIR_COMPLEX32, FLOAT_COMPLEX)
        X(MPIR_COMPLEX64, DOUBLE_COMPLEX)
        X(MPIR_ALT_COMPLEX96, LONG_DOUBLE_COMPLEX)
        X(MPIR_ALT_COMPLEX128, LONG_DOUBLE_COMPLEX)
        X(MPIR_2INT32, INT_INT)
#undef X
        default:
            return NONE;
    }
}

#else

static enum hwmc_shm_type integers_of(size_t size, bool is_signed)
{
    switch (size) {
        case 1:
            return is_signed ? TYPE(INT8) : TYPE(UINT8);
        case 2:
            return is_signed ? TYPE(INT16) : TYPE(UINT16);
        case 4:
            return is_signed ? TYPE(INT32) : TYPE(UINT32);
        case 8:
            return is_signed ? TYPE(INT64) : TYPE(UINT64);
        default:
            return NONE;
    }
}

/* In these releases a type of Fortran or C++ has the C type of its own that configure found. */

static enum hwmc_shm_type integer_of(MPI_Datatype type)
{
    switch (type) {
#undef MPIR_OP_TYPE_MACRO
#define MPIR_OP_TYPE_MACRO(mpi, ctype, name)                                                       \
    case mpi:                                                                                      \
        return integers_of(sizeof(ctype), (ctype) -1 < (ctype) 1);
        MPIR_OP_TYPE_GROUP(C_INTEGER)
        MPIR_OP_TYPE_GROUP(C_INTEGER_EXTRA)
        MPIR_OP_TYPE_GROUP(FORTRAN_INTEGER)
        MPIR_OP_TYPE_GROUP(FORTRAN_INTEGER_EXTRA)
        MPIR_OP_TYPE_GROUP(BYTE)
        case MPI_C_BOOL:
            return integers_of(sizeof(_Bool), false);
        default:
            return NONE;
    }
}

static enum hwmc_shm_type real_of(MPI_Datatype type)
{
    switch (type) {
#undef MPIR_OP_TYPE_MACRO
#define MPIR_OP_TYPE_MACRO(mpi, ctype, name)                                                       \
    case mpi:                                                                                      \
        return _Generic((ctype) 0, float                                                           \
                        : TYPE(FLOAT), double                                                      \
                        : TYPE(DOUBLE), long double                                                \
                        : TYPE(LONG_DOUBLE), default                                               \
                        : NONE);
        MPIR_OP_TYPE_GROUP(FLOATING_POINT)
        MPIR_OP_TYPE_GROUP(FLOATING_POINT_EXTRA)
        default:
            return NONE;
    }
}

/* A pair of reals, whether C knows it as complex or not. */
static enum hwmc_shm_type complex_of(MPI_Datatype type)
{
    size_t size = 0;

    switch (type) {
#undef MPIR_OP_TYPE_MACRO
#define MPIR_OP_TYPE_MACRO(mpi, ctype, name)                                                       \
    case mpi:                                                                                      \
        size = sizeof(ctype);                                                                      \
        break;
        MPIR_OP_TYPE_GROUP(COMPLEX)
        MPIR_OP_TYPE_GROUP(COMPLEX_EXTRA)
        default:
            return NONE;
    }
#undef MPIR_OP_TYPE_MACRO
    if (size == sizeof(float _Complex))
        return TYPE(FLOAT_COMPLEX);
    if (size == sizeof(double _Complex))
        return TYPE(DOUBLE_COMPLEX);
    return size == sizeof(long double _Complex) ? TYPE(LONG_DOUBLE_COMPLEX) : NONE;
}

static enum hwmc_shm_type kernels_of(MPI_Datatype type)
{
    enum hwmc_shm_type found = integer_of(type);

    if (found == NONE)
        found = real_of(type);
    if (found == NONE)
        found = complex_of(type);
    if (found == NONE && type == MPI_2INT)
        found = TYPE(INT_INT);
#ifdef HAVE_FORTRAN_BINDING
    if (found == NONE && type == MPI_2INTEGER && sizeof(MPI_Fint) == sizeof(int))
        found = TYPE(INT_INT);
#endif
    return found == NONE ? pair_of(type) : found;
}

#endif

static hwmc_shm_kernel kernel_of(MPI_Op op, MPI_Datatype type)
{
    enum hwmc_shm_type ours = kernels_of(type);

    if (ours == NONE)
        return NULL;
    switch (op) {
#define X(name)                                                                                    \
    case MPI_##name:                                                                               \
        return hwmc_shm_kernel_of(HWMC_SHM_REDUCE_##name, ours);
        X(SUM)
        X(PROD)
        X(MIN)
        X(MAX)
        X(LAND)
        X(LOR)
        X(LXOR)
        X(BAND)
        X(BOR)
        X(BXOR)
        X(MINLOC)
        X(MAXLOC)
#undef X
        default:
            return NULL;
    }
}

bool hwmc_operation_is_exact(const struct hwmc_operation *o)
{
    if (!o->kernel)
        return false;
    switch (kernels_of(o->type)) {
        case TYPE(INT8):
        case TYPE(INT16):
        case TYPE(INT32):
        case TYPE(INT64):
        case TYPE(UINT8):
        case TYPE(UINT16):
        case TYPE(UINT32):
        case TYPE(UINT64):
        case TYPE(SHORT_INT):
        case TYPE(INT_INT):
        case TYPE(LONG_INT):
            return true;
        default:
            return false;
    }
}

static void combine_by_kernel(void *ctx, void *out, const void *a, const void *b, size_t count)
{
    const struct hwmc_operation *o = ctx;

    o->kernel(out, a, b, count);
}

/* Where MPI counts an element from that begins at `at`: that may lie outside of our memory. */
static void *counted_from(const void *at, MPI_Aint first)
{
    return (void *) ((uintptr_t) at - (uintptr_t) first);
}

/* MPICH's functions have one operand where the result goes. */
static void combine_by_mpich(void *ctx, void *out, const void *a, const void *b, size_t count)
{
    struct hwmc_operation *o = ctx;
    size_t at_a_time = o->apart ? 1 : count;

    if (out != b)
        memcpy(out, b, count * o->of.element);
    for (size_t i = 0; i < count; i += at_a_time) {
        size_t at = i * o->of.element;
        int mpi_errno = MPIR_Reduce_local(counted_from((const char *) a + at, o->first),
                                          counted_from((char *) out + at, o->first),
                                          (MPI_Aint) at_a_time, o->type, o->op);

        if (o->mpi_errno == MPI_SUCCESS)
            o->mpi_errno = mpi_errno;
    }
}

static MPI_Aint round_down(MPI_Aint bytes)
{
    return bytes - ((bytes % ALIGN) + ALIGN) % ALIGN;
}

/* Where the elements lie, by the type's bounds. Memory of ours is aligned, so what is at a multiple
 * of ALIGN in the program's stays at one, unless the elements then no longer fit in their
 * extent. */
static bool lay_out(struct hwmc_operation *o)
{
    MPI_Aint size, true_lb, true_extent, element;
    bool is_contig;

    MPIR_Datatype_get_size_macro(o->type, size);
    MPIR_Datatype_get_extent_macro(o->type, o->extent);
    MPIR_Datatype_is_contig(o->type, &is_contig);
    MPIR_Type_get_true_extent_impl(o->type, &true_lb, &true_extent);
    o->lies = is_contig && o->extent == size;
    o->apart = o->extent < true_extent;
    o->first = true_lb;
    element = o->extent;
    if (o->apart) {
        o->first = round_down(true_lb);
        element = -round_down(o->first - true_lb - true_extent);
    } else if (!o->lies && true_lb + true_extent <= round_down(true_lb) + o->extent) {
        o->first = round_down(true_lb);
    }
    if (size == 0 || element > INT_MAX)
        return false;
    o->of.element = (uint32_t) element;
    return true;
}

/* MPIX_EQUAL's operands are records of MPICH's, not elements. */
static bool is_of_elements(MPI_Op op)
{
#if MPICH_NUMVERSION >= 40200000
    return op != MPIX_EQUAL;
#else
    (void) op;
    return true;
#endif
}

bool hwmc_operation_init(struct hwmc_operation *o, MPI_Op op, MPI_Datatype type)
{
    memset(o, 0, sizeof(*o));
    o->op = op;
    o->type = type;
    o->mpi_errno = MPI_SUCCESS;
    if (!is_of_elements(op) || !lay_out(o))
        return false;
    o->kernel = kernel_of(op, type);
    o->of.combine = o->kernel ? combine_by_kernel : combine_by_mpich;
    o->of.ctx = o;
    o->of.commutative = MPIR_Op_is_commutative(op);
    return true;
}

/* Copies elements from the program's memory to ours, or back. */

static int copy_in(const struct hwmc_operation *o, const void *from, void *to, MPI_Aint num)
{
    MPI_Aint at_a_time = o->apart ? 1 : num;
    int mpi_errno = MPI_SUCCESS;

    for (MPI_Aint i = 0; i < num && mpi_errno == MPI_SUCCESS; i += at_a_time)
        mpi_errno = MPIR_Localcopy((const char *) from + i * o->extent, at_a_time, o->type,
                                   counted_from((char *) to + i * o->of.element, o->first),
                                   at_a_time, o->type);
    return mpi_errno;
}

static int copy_out(const struct hwmc_operation *o, const void *from, void *to, MPI_Aint num)
{
    MPI_Aint at_a_time = o->apart ? 1 : num;
    int mpi_errno = MPI_SUCCESS;

    for (MPI_Aint i = 0; i < num && mpi_errno == MPI_SUCCESS; i += at_a_time)
        mpi_errno =
            MPIR_Localcopy(counted_from((const char *) from + i * o->of.element, o->first),
                           at_a_time, o->type, (char *) to + i * o->extent, at_a_time, o->type);
    return mpi_errno;
}

/* Memory for `num` elements. */
static int make(const struct hwmc_operation *o, MPI_Aint num, void **memory)
{
    *memory = num > 0 ? MPL_malloc((size_t) num * o->of.element, MPL_MEM_COLL) : NULL;
    return num > 0 && *memory == NULL ? hwmc_error_nomem() : MPI_SUCCESS;
}

static int begin_in(struct hwmc_operands *a, const struct hwmc_operation *o, const void *from,
                    MPI_Aint num)
{
    int mpi_errno;

    if (o->lies) {
        a->in = (const char *) from + o->first;
        return MPI_SUCCESS;
    }
    mpi_errno = make(o, num, &a->made[0]);
    if (mpi_errno == MPI_SUCCESS)
        mpi_errno = copy_in(o, from, a->made[0], num);
    a->in = a->made[0];
    return mpi_errno;
}

static int begin_out(struct hwmc_operands *a, const struct hwmc_operation *o, void *to,
                     MPI_Aint num, bool for_program)
{
    int mpi_errno;

    if (o->lies && for_program) {
        a->out = (char *) to + o->first;
        return MPI_SUCCESS;
    }
    mpi_errno = make(o, num, &a->made[1]);
    a->out = a->made[1];
    return mpi_errno;
}

int hwmc_operands_begin(struct hwmc_operands *a, const struct hwmc_operation *o,
                        const void *sendbuf, MPI_Aint num_in, void *recvbuf, MPI_Aint num_out,
                        bool for_program)
{
    bool in_place = sendbuf == MPI_IN_PLACE;
    int mpi_errno;

    memset(a, 0, sizeof(*a));
    mpi_errno = begin_in(a, o, in_place ? recvbuf : sendbuf, num_in);
    MPIR_ERR_CHECK(mpi_errno);
    if (in_place) {
        a->out = a->made[0] ? a->made[0] : (char *) recvbuf + o->first;
    } else {
        mpi_errno = begin_out(a, o, recvbuf, num_out, for_program);
        MPIR_ERR_CHECK(mpi_errno);
    }
    a->result = recvbuf;
    a->num_result = num_out;
    a->copies = for_program && !o->lies;

fn_exit:
    return mpi_errno;
fn_fail:
    hwmc_operands_end(a, o, false);
    goto fn_exit;
}

int hwmc_operands_end(struct hwmc_operands *a, const struct hwmc_operation *o, bool whole)
{
    int mpi_errno = MPI_SUCCESS;

    if (whole && a->copies)
        mpi_errno = copy_out(o, a->out, a->result, a->num_result);
    MPL_free(a->made[0]);
    MPL_free(a->made[1]);
    memset(a, 0, sizeof(*a));
    return mpi_errno;
}
