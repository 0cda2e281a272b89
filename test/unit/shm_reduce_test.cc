// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// reduce_op: every kernel against the operation done element by element; any alignment and number
// of elements, the result apart from the operands or in place of either.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim_rng.h"

extern "C" {
#include "shm/coll/reduce_op.h"
}

namespace {

using Bytes = std::vector<unsigned char>;

constexpr size_t GUARD = 64; // bytes around a result that stay as they are
constexpr unsigned char UNTOUCHED = 0xa5;

template <class T> T load(const unsigned char *from)
{
    T x;

    memcpy(&x, from, sizeof x);
    return x;
}

// Values of which sums and products are exact, often equal, and at the ends of the range of
// integers.
template <class T> T draw(sim::Rng &rng)
{
    if constexpr (std::is_integral_v<T>) {
        switch (rng.below(4)) {
            case 0:
                return std::numeric_limits<T>::min();
            case 1:
                return std::numeric_limits<T>::max();
            case 2:
                return static_cast<T>(rng.below(3));
            default:
                return static_cast<T>(rng.next());
        }
    } else {
        return static_cast<T>(static_cast<int>(rng.below(17)) - 8);
    }
}

template <class T> struct Drawn {
    static T one(sim::Rng &rng)
    {
        return draw<T>(rng);
    }
};

template <class T> struct Drawn<std::complex<T>> {
    static std::complex<T> one(sim::Rng &rng)
    {
        return {draw<T>(rng), draw<T>(rng)};
    }
};

// The result's place: apart, or that of an operand.
enum Place { APART, ON_A, ON_B };

// Fills n elements from `at` on.
template <class T> void fill(Bytes &b, size_t at, size_t n, sim::Rng &rng)
{
    for (size_t i = 0; i < n; i++) {
        T x = Drawn<T>::one(rng);

        memcpy(&b[at + i * sizeof x], &x, sizeof x);
    }
}

template <class T>
void compare(hwmc_shm_kernel kernel, const std::function<T(T, T)> &expected, size_t n, size_t shift,
             Place place, sim::Rng &rng)
{
    const size_t bytes = n * sizeof(T);
    Bytes a(GUARD + bytes + GUARD, UNTOUCHED), b(a), out(a);
    // Each with an alignment of its own.
    const size_t at_a = 32 + shift, at_b = 32 + (shift * 3 + 1) % 17,
                 at_out = 32 + (shift * 5 + 2) % 19;

    fill<T>(a, at_a, n, rng);
    fill<T>(b, at_b, n, rng);
    const Bytes was_a = a, was_b = b;
    Bytes &to = place == ON_A ? a : place == ON_B ? b : out;
    const size_t at = place == ON_A ? at_a : place == ON_B ? at_b : at_out;

    kernel(&to[at], &a[at_a], &b[at_b], n);
    for (size_t i = 0; i < n; i++) {
        const T x = load<T>(&was_a[at_a + i * sizeof(T)]),
                y = load<T>(&was_b[at_b + i * sizeof(T)]);

        ASSERT_EQ(expected(x, y), load<T>(&to[at + i * sizeof(T)]))
            << "element " << i << " of " << n << ", shift " << shift << ", place " << place;
    }
    for (size_t i = 0; i < to.size(); i++) {
        if (i < at || i >= at + bytes) {
            ASSERT_EQ(UNTOUCHED, to[i]) << "byte " << i << " around " << at;
        }
    }
    ASSERT_TRUE(place == ON_A || a == was_a);
    ASSERT_TRUE(place == ON_B || b == was_b);
}

template <class T>
void check(hwmc_shm_reduce_op op, hwmc_shm_type type, const std::function<T(T, T)> &expected)
{
    hwmc_shm_kernel kernel = hwmc_shm_kernel_of(op, type);
    sim::Rng rng(op * 100 + type);
    // Around a block of 64 bytes, and around two.
    const size_t block = 64 / sizeof(T);

    SCOPED_TRACE(std::string(hwmc_shm_reduce_text(op)) + " of " + hwmc_shm_type_text(type));
    ASSERT_NE(nullptr, kernel);
    ASSERT_EQ(sizeof(T), hwmc_shm_type_size(type));
    for (size_t n :
         {size_t(0), size_t(1), size_t(3), block - 1, block, block + 1, 2 * block + 1, size_t(203)})
        for (size_t shift : {0, 1, 2, 8, 13})
            for (Place place : {APART, ON_A, ON_B}) {
                compare<T>(kernel, expected, n, shift, place, rng);
                ASSERT_FALSE(::testing::Test::HasFatalFailure());
            }
}

template <class T> void check_integers(hwmc_shm_type type)
{
    using U = std::make_unsigned_t<T>;
    using Wide = unsigned __int128;

    auto bits = [&](hwmc_shm_reduce_op op, auto of) {
        check<T>(op, type,
                 [of](T x, T y) { return static_cast<T>(static_cast<U>(of(U(x), U(y)))); });
    };
    bits(HWMC_SHM_REDUCE_SUM, [](U x, U y) { return Wide(x) + Wide(y); });
    bits(HWMC_SHM_REDUCE_PROD, [](U x, U y) { return Wide(x) * Wide(y); });
    bits(HWMC_SHM_REDUCE_LAND, [](U x, U y) { return x && y; });
    bits(HWMC_SHM_REDUCE_LOR, [](U x, U y) { return x || y; });
    bits(HWMC_SHM_REDUCE_LXOR, [](U x, U y) { return !x != !y; });
    bits(HWMC_SHM_REDUCE_BAND, [](U x, U y) { return x & y; });
    bits(HWMC_SHM_REDUCE_BOR, [](U x, U y) { return x | y; });
    bits(HWMC_SHM_REDUCE_BXOR, [](U x, U y) { return x ^ y; });
    check<T>(HWMC_SHM_REDUCE_MIN, type, [](T x, T y) { return std::min(x, y); });
    check<T>(HWMC_SHM_REDUCE_MAX, type, [](T x, T y) { return std::max(x, y); });
}

template <class T> void check_arithmetic(hwmc_shm_type type)
{
    check<T>(HWMC_SHM_REDUCE_SUM, type, [](T x, T y) { return x + y; });
    check<T>(HWMC_SHM_REDUCE_PROD, type, [](T x, T y) { return x * y; });
}

template <class T> void check_reals(hwmc_shm_type type)
{
    check_arithmetic<T>(type);
    check<T>(HWMC_SHM_REDUCE_MIN, type, [](T x, T y) { return std::min(x, y); });
    check<T>(HWMC_SHM_REDUCE_MAX, type, [](T x, T y) { return std::max(x, y); });
}

// Values from few, so that many are equal; bytes that are no member stay as they are.
template <class Pair> void check_pairs(hwmc_shm_type type)
{
    using Value = decltype(Pair::value);
    sim::Rng rng(type);

    ASSERT_EQ(sizeof(Pair), hwmc_shm_type_size(type));
    for (hwmc_shm_reduce_op op : {HWMC_SHM_REDUCE_MINLOC, HWMC_SHM_REDUCE_MAXLOC})
        for (size_t shift : {0, 1, 8})
            for (Place place : {APART, ON_A, ON_B}) {
                const size_t n = 101, bytes = n * sizeof(Pair);
                Bytes a(bytes + 16, UNTOUCHED), b(a), out(a);
                auto put = [&](Bytes &to, size_t i, Value value, int at) {
                    memcpy(&to[shift + i * sizeof(Pair)], &value, sizeof value);
                    memcpy(&to[shift + i * sizeof(Pair) + offsetof(Pair, at)], &at, sizeof at);
                };
                Bytes expected = place == APART ? out : a;

                for (size_t i = 0; i < n; i++) {
                    const Value v = draw<Value>(rng), w = rng.below(2) ? v : draw<Value>(rng);
                    const int k = static_cast<int>(rng.below(5)),
                              l = static_cast<int>(rng.below(5));
                    const bool first = v == w ? k <= l : (op == HWMC_SHM_REDUCE_MINLOC) == (v < w);

                    put(a, i, v, k);
                    put(b, i, w, l);
                    put(expected, i, first ? v : w, first ? k : l);
                }
                Bytes &to = place == ON_A ? a : place == ON_B ? b : out;
                hwmc_shm_kernel_of(op, type)(&to[shift], &a[shift], &b[shift], n);
                // Of a long double's bytes some are no part of its value.
                for (size_t i = 0; i < n; i++) {
                    const size_t at = shift + i * sizeof(Pair);

                    ASSERT_EQ(load<Value>(&expected[at]), load<Value>(&to[at])) << i;
                    ASSERT_EQ(load<int>(&expected[at + offsetof(Pair, at)]),
                              load<int>(&to[at + offsetof(Pair, at)]))
                        << i;
                    for (size_t hole = offsetof(Pair, at) + sizeof(int); hole < sizeof(Pair);
                         hole++)
                        ASSERT_EQ(UNTOUCHED, to[at + hole]);
                    for (size_t hole = sizeof(Value); hole < offsetof(Pair, at); hole++)
                        ASSERT_EQ(UNTOUCHED, to[at + hole]);
                }
            }
}

} // namespace

TEST(NodeReduce, Integers)
{
    check_integers<int8_t>(HWMC_SHM_TYPE_INT8);
    check_integers<int16_t>(HWMC_SHM_TYPE_INT16);
    check_integers<int32_t>(HWMC_SHM_TYPE_INT32);
    check_integers<int64_t>(HWMC_SHM_TYPE_INT64);
    check_integers<uint8_t>(HWMC_SHM_TYPE_UINT8);
    check_integers<uint16_t>(HWMC_SHM_TYPE_UINT16);
    check_integers<uint32_t>(HWMC_SHM_TYPE_UINT32);
    check_integers<uint64_t>(HWMC_SHM_TYPE_UINT64);
}

TEST(NodeReduce, FloatingPoint)
{
    check_reals<float>(HWMC_SHM_TYPE_FLOAT);
    check_reals<double>(HWMC_SHM_TYPE_DOUBLE);
    check_reals<long double>(HWMC_SHM_TYPE_LONG_DOUBLE);
}

TEST(NodeReduce, Complex)
{
    check_arithmetic<std::complex<float>>(HWMC_SHM_TYPE_FLOAT_COMPLEX);
    check_arithmetic<std::complex<double>>(HWMC_SHM_TYPE_DOUBLE_COMPLEX);
    check_arithmetic<std::complex<long double>>(HWMC_SHM_TYPE_LONG_DOUBLE_COMPLEX);
}

TEST(NodeReduce, Pairs)
{
    check_pairs<hwmc_shm_short_int>(HWMC_SHM_TYPE_SHORT_INT);
    check_pairs<hwmc_shm_int_int>(HWMC_SHM_TYPE_INT_INT);
    check_pairs<hwmc_shm_long_int>(HWMC_SHM_TYPE_LONG_INT);
    check_pairs<hwmc_shm_float_int>(HWMC_SHM_TYPE_FLOAT_INT);
    check_pairs<hwmc_shm_double_int>(HWMC_SHM_TYPE_DOUBLE_INT);
    check_pairs<hwmc_shm_long_double_int>(HWMC_SHM_TYPE_LONG_DOUBLE_INT);
}

// Which operations there are for which types: MPI's table.
TEST(NodeReduce, NothingIsDefinedBeyondMpi)
{
    for (int t = 0; t < HWMC_SHM_TYPE_NUM; t++) {
        const auto type = static_cast<hwmc_shm_type>(t);
        const bool integer = t <= HWMC_SHM_TYPE_UINT64;
        const bool real = !integer && t <= HWMC_SHM_TYPE_LONG_DOUBLE;
        const bool pair = t >= HWMC_SHM_TYPE_SHORT_INT;

        for (int o = 0; o < HWMC_SHM_REDUCE_NUM; o++) {
            const auto op = static_cast<hwmc_shm_reduce_op>(o);
            bool defined;

            if (o <= HWMC_SHM_REDUCE_PROD)
                defined = !pair;
            else if (o <= HWMC_SHM_REDUCE_MAX)
                defined = integer || real;
            else if (o <= HWMC_SHM_REDUCE_BXOR)
                defined = integer;
            else
                defined = pair;
            EXPECT_EQ(defined, hwmc_shm_kernel_of(op, type) != nullptr)
                << hwmc_shm_reduce_text(op) << " of " << hwmc_shm_type_text(type);
        }
    }
}

TEST(NodeReduce, InPlaceIsAsMpiReduceLocal)
{
    double inout[3] = {1, 2, 3}, in[3] = {10, 20, 30};

    hwmc_shm_kernel_of(HWMC_SHM_REDUCE_SUM, HWMC_SHM_TYPE_DOUBLE)(inout, in, inout, 3);
    EXPECT_EQ(11, inout[0]);
    EXPECT_EQ(33, inout[2]);
    EXPECT_EQ(10, in[0]);
}

// As the header says: of a NaN and a number either.
TEST(NodeReduce, OfNanEitherOperandIsGiven)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();

    for (hwmc_shm_reduce_op op : {HWMC_SHM_REDUCE_MIN, HWMC_SHM_REDUCE_MAX}) {
        std::vector<double> a(19, 1), b(19, nan), out(19, 7);

        hwmc_shm_kernel_of(op, HWMC_SHM_TYPE_DOUBLE)(out.data(), a.data(), b.data(), 19);
        for (double x : out)
            EXPECT_TRUE(x == 1 || std::isnan(x));
    }
}
