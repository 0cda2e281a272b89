// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// What the fuzz targets share: the fuzzer's bytes as numbers and messages, taken from the front;
// where none are left, zeros.
#ifndef HWMC_TEST_FUZZ_READER_H_INCLUDED
#define HWMC_TEST_FUZZ_READER_H_INCLUDED

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace fuzz {

using Bytes = std::vector<unsigned char>;

class Reader {
  public:
    Reader(const uint8_t *data, size_t len) : at(data), left(len)
    {
    }

    bool empty() const
    {
        return left == 0;
    }

    uint8_t u8()
    {
        return (uint8_t) number(1);
    }

    uint16_t u16()
    {
        return (uint16_t) number(2);
    }

    uint32_t u32()
    {
        return (uint32_t) number(4);
    }

    uint64_t u64()
    {
        return number(8);
    }

    // Up to `len` of them.
    Bytes bytes(size_t len)
    {
        len = std::min(len, left);
        Bytes b(at, at + len);
        at += len;
        left -= len;
        return b;
    }

    Bytes rest()
    {
        return bytes(left);
    }

  private:
    uint64_t number(size_t len)
    {
        uint64_t n = 0;

        for (; len > 0; len--, left -= left > 0)
            n = n << 8 | (left > 0 ? *at++ : 0);
        return n;
    }

    const uint8_t *at;
    size_t left;
};

// A copy in memory of just its length: the sanitizer sees who reads beyond it.
class Exact {
  public:
    Exact(const unsigned char *data, size_t len) : memory(new unsigned char[len]), len(len)
    {
        if (len > 0)
            memcpy(memory.get(), data, len);
    }

    unsigned char *data() const
    {
        return memory.get();
    }

    size_t size() const
    {
        return len;
    }

  private:
    std::unique_ptr<unsigned char[]> memory;
    size_t len;
};

} // namespace fuzz

// What must hold whatever the bytes are; unlike assert always in force.
#define FUZZ_CHECK(what)                                                                           \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #what);              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif // HWMC_TEST_FUZZ_READER_H_INCLUDED
