// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Active messages over sessions, with stand-ins for MPICH (fake_mpich) and for the sessions: what
// this process sends to rank 1 comes back as if from there. In which order messages are handed over
// when what MPICH is told makes progress itself; and memory of a device, in which the stand-ins for
// MPICH's packing alone may read and write.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// What <stdatomic.h> has in C.
using std::atomic_bool, std::atomic_int, std::atomic_uint, std::atomic_load_explicit,
    std::atomic_store_explicit, std::memory_order_relaxed, std::memory_order_release;

extern "C" {
#include "am/am_impl.h"

struct fake_mpidig MPIDIG_global;
struct fake_process MPIR_Process;
struct hwmc_counters hwmc_counters;
}

namespace {

constexpr uint32_t PEER = 1;
constexpr int HANDLER = 3;

// The sessions.
hwmc_sessions_upper upper;
std::deque<std::string> under_way; // frames: head and body
size_t frames_a_poll;

// MPICH.
std::vector<std::string> came;
std::vector<int> complete;                       // numbers of requests
std::function<void(const std::string &)> on_msg; // whatever else is done with a message that came
std::function<void(int)> on_complete;
MPIR_Request *receive; // that takes the next message whose data lie elsewhere

// A device's memory. Whoever else reads or writes there ends the test, or gets an error from the
// kernel.
struct Device {
    static constexpr size_t SIZE = 1 << 20;
    char *bytes;

    Device()
    {
        bytes =
            static_cast<char *>(mmap(nullptr, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        EXPECT_NE(bytes, MAP_FAILED);
        here = this;
    }
    ~Device()
    {
        munmap(bytes, SIZE);
        here = nullptr;
    }
    bool has(const void *p) const
    {
        return p >= bytes && p < bytes + SIZE;
    }
    void open(bool yes) const
    {
        EXPECT_EQ(mprotect(bytes, SIZE, yes ? PROT_READ | PROT_WRITE : PROT_NONE), 0);
    }
    std::string read(size_t len) const
    {
        open(true);
        std::string copy(bytes, len);
        open(false);
        return copy;
    }
    void write(const std::string &text) const
    {
        open(true);
        text.copy(bytes, text.size());
        open(false);
    }
    static Device *here;
};

Device *Device::here;

// MPICH's packing gets everywhere.
void with_device(const std::function<void()> &copy)
{
    if (Device::here)
        Device::here->open(true);
    copy();
    if (Device::here)
        Device::here->open(false);
}

size_t stride(MPI_Datatype datatype)
{
    return datatype == MPI_BYTE ? 1 : 2;
}

int origin(MPIR_Request *sreq)
{
    complete.push_back(sreq->number);
    if (on_complete)
        on_complete(sreq->number);
    return MPI_SUCCESS;
}

int received(MPIR_Request *rreq)
{
    complete.push_back(rreq->number);
    return MPI_SUCCESS;
}

int target(void *hdr, void *data, MPI_Aint size, uint32_t attr, MPIR_Request **rreq)
{
    std::string text = static_cast<char *>(hdr);

    came.push_back(text);
    if (attr & MPIDIG_AM_ATTR__IS_ASYNC)
        *rreq = receive;
    else if (size > 0)
        came.back() += ":" + std::string(static_cast<char *>(data), size);
    if (on_msg)
        on_msg(text);
    return MPI_SUCCESS;
}

std::string text_of(size_t len)
{
    std::string text(len, '\0');

    for (size_t i = 0; i < len; i++)
        text[i] = static_cast<char>('a' + i * 7 % 26 + i / 4096 % 3);
    return text;
}

} // namespace

extern "C" {

bool MPIR_GPU_query_pointer_is_dev(const void *buffer)
{
    return Device::here && Device::here->has(buffer);
}

int MPIR_Typerep_pack(const void *buffer, MPI_Aint count, MPI_Datatype datatype, MPI_Aint offset,
                      void *to, MPI_Aint max, MPI_Aint *packed, uint32_t)
{
    const char *from = static_cast<const char *>(buffer);

    *packed = std::min(count - offset, max);
    with_device([&] {
        for (MPI_Aint i = 0; i < *packed; i++)
            static_cast<char *>(to)[i] = from[(offset + i) * stride(datatype)];
    });
    return MPI_SUCCESS;
}

void MPIDIG_recv_setup(MPIR_Request *rreq)
{
    rreq->am.recv_async.offset = 0;
}

int MPIDIG_recv_copy_seg(void *bytes, MPI_Aint size, MPIR_Request *rreq)
{
    MPI_Aint &offset = rreq->am.recv_async.offset;

    with_device([&] {
        for (MPI_Aint i = 0; i < size; i++)
            static_cast<char *>(rreq->buffer)[(offset + i) * stride(rreq->datatype)] =
                static_cast<char *>(bytes)[i];
    });
    offset += size;
    rreq->status = offset;
    return offset == rreq->count;
}

void hwmc_lock(void)
{
}
void hwmc_unlock(void)
{
}

bool hwmc_world_rank(MPIR_Comm *, int rank, uint32_t *world)
{
    *world = static_cast<uint32_t>(rank);
    return true;
}

bool hwmc_same_host(uint32_t)
{
    return true;
}

void hwmc_sessions_use(struct hwmc_sessions *, uint32_t, const struct hwmc_sessions_upper *u)
{
    upper = *u;
}

uint32_t hwmc_sessions_room(const struct hwmc_sessions *, uint32_t, uint32_t)
{
    return 1;
}

int hwmc_sessions_send(struct hwmc_sessions *, uint32_t, uint32_t peer, const void *head,
                       size_t head_len, const void *body, size_t body_len, const uint64_t *)
{
    EXPECT_EQ(peer, PEER);
    EXPECT_EQ(head_len, sizeof(am_head));
    under_way.push_back(std::string(static_cast<const char *>(head), head_len) +
                        std::string(static_cast<const char *>(body), body_len));
    return HWMC_OK;
}

int hwmc_sessions_poll(struct hwmc_sessions *)
{
    int n = 0;

    for (; !under_way.empty() && static_cast<size_t>(n) < frames_a_poll; n++) {
        std::string frame = under_way.front();

        under_way.pop_front();
        upper.recv(upper.ctx, PEER, frame.data(), sizeof(am_head), frame.data() + sizeof(am_head),
                   frame.size() - sizeof(am_head));
    }
    return n;
}
}

namespace {

class Am : public testing::Test {
  protected:
    Am()
    {
        MPIR_Process = {0, 2};
        MPIDIG_global.origin_cbs[HANDLER] = origin;
        MPIDIG_global.target_msg_cbs[HANDLER] = target;
        hwmc_counters.am = &counts_;
        frames_a_poll = SIZE_MAX;
        came.clear();
        complete.clear();
        under_way.clear();
        on_msg = nullptr;
        on_complete = nullptr;
        EXPECT_TRUE(hwmc_am_open(nullptr, 0, 1));
    }
    ~Am() override
    {
        hwmc_am_close();
    }

    static int progress()
    {
        int events = 0;

        EXPECT_EQ(hwmc_am_progress(false, &events), MPI_SUCCESS);
        return events;
    }
    static void progress_until_idle()
    {
        int calls = 0;

        for (; calls < 1000 && (!under_way.empty() || !hwmc_am_idle()); calls++)
            progress();
        EXPECT_LT(calls, 1000);
    }
    static void send_hdr(const std::string &hdr)
    {
        EXPECT_EQ(hwmc_am_send_hdr(PEER, nullptr, HANDLER, hdr.c_str(), hdr.size() + 1),
                  MPI_SUCCESS);
    }
    void send(const std::string &hdr, const void *data, size_t count, MPI_Datatype datatype,
              int number)
    {
        requests_.push_back(std::make_unique<MPIR_Request>());
        requests_.back()->number = number;
        EXPECT_EQ(hwmc_am_isend(PEER, nullptr, HANDLER, hdr.c_str(), hdr.size() + 1, data,
                                static_cast<MPI_Aint>(count), datatype, requests_.back().get()),
                  MPI_SUCCESS);
    }
    void post(void *buffer, size_t count, MPI_Datatype datatype, int number)
    {
        requests_.push_back(std::make_unique<MPIR_Request>());
        receive = requests_.back().get();
        receive->buffer = buffer;
        receive->count = static_cast<MPI_Aint>(count);
        receive->datatype = datatype;
        receive->number = number;
        receive->req = &receive->am;
        receive->am.target_cmpl_cb = received;
    }

    hwmc_am_counts counts_ = {};
    std::vector<std::unique_ptr<MPIR_Request>> requests_;
};

std::vector<std::string> numbered(int n)
{
    std::vector<std::string> all;

    for (int i = 0; i < n; i++)
        all.push_back(std::to_string(i));
    return all;
}

// MPICH from 4.2 on makes progress when a communicator is deleted, as by the completion of its last
// message.

TEST_F(Am, WhatComesWhileAMessageIsHandedOverDoesNotOvertakeThoseBeforeIt)
{
    for (int i = 0; i < 9; i++)
        send_hdr(std::to_string(i));
    frames_a_poll = 3;
    on_msg = [](const std::string &hdr) {
        if (hdr == "0")
            progress();
    };
    progress_until_idle();
    EXPECT_EQ(came, numbered(9));
}

TEST_F(Am, WhatComesWhileASendIsCompleteDoesNotOvertakeThoseBeforeIt)
{
    std::string data = text_of(AM_CHUNK + 1), in(data.size(), '-');

    post(in.data(), in.size(), MPI_BYTE, 20);
    send("0", data.data(), data.size(), MPI_BYTE, 10); // its receiver reads it, and answers
    progress();
    ASSERT_EQ(complete, std::vector<int>{20});
    send_hdr("1");
    frames_a_poll = 2; // the answer and the first
    send_hdr("2");
    send_hdr("3");
    on_complete = [](int) {
        on_complete = nullptr;
        progress();
    };
    progress_until_idle();
    EXPECT_EQ(complete, (std::vector<int>{20, 10}));
    EXPECT_TRUE(in == data);
    EXPECT_EQ(came, numbered(4));
}

TEST_F(Am, WhoWaitsWhileAMessageIsHandedOverGetsThoseBehindIt)
{
    for (int i = 0; i < 4; i++)
        send_hdr(std::to_string(i));
    on_msg = [](const std::string &hdr) {
        if (hdr != "1")
            return;
        for (int i = 0; i < 10 && came.back() != "3"; i++)
            progress();
        EXPECT_EQ(came.back(), "3");
    };
    progress_until_idle();
    EXPECT_EQ(came, numbered(4));
}

// Each makes progress inside the one before; the stack has an end.
TEST_F(Am, ManyMessagesEachOfWhichMakesProgressDoNotFillTheStack)
{
    constexpr int NUM = 1000;
    int depth = 0, deepest = 0;

    for (int i = 0; i < NUM; i++)
        send_hdr(std::to_string(i));
    on_msg = [&](const std::string &) {
        deepest = std::max(deepest, ++depth);
        progress();
        depth--;
    };
    progress_until_idle();
    EXPECT_EQ(came, numbered(NUM));
    EXPECT_LE(deepest, 20);
}

// Memory of a device.

TEST_F(Am, FramesOfDataInADeviceArePacked)
{
    Device device;
    std::string data = text_of(100);

    device.write(data);
    send("a", device.bytes, data.size(), MPI_BYTE, 1);
    progress_until_idle();
    EXPECT_EQ(came, std::vector<std::string>{"a:" + data});
    EXPECT_EQ(complete, std::vector<int>{1});
}

TEST_F(Am, LongDataInADeviceAreReadWhereTheyWerePacked)
{
    Device device;
    std::string data = text_of(300000), in(data.size(), '-');

    device.write(data);
    post(in.data(), in.size(), MPI_BYTE, 2);
    send("a", device.bytes, data.size(), MPI_BYTE, 1);
    progress_until_idle();
    EXPECT_TRUE(in == data);
    EXPECT_EQ(complete, (std::vector<int>{2, 1}));
    EXPECT_EQ(counts_.am_read, 1u);
}

TEST_F(Am, LongDataAreUnpackedIntoADevice)
{
    Device device;
    std::string data = text_of(300000);

    post(device.bytes, data.size(), MPI_BYTE, 2);
    send("a", data.data(), data.size(), MPI_BYTE, 1);
    progress_until_idle();
    EXPECT_TRUE(device.read(data.size()) == data);
    EXPECT_EQ(complete, (std::vector<int>{2, 1}));
    EXPECT_EQ(receive->status, static_cast<MPI_Aint>(data.size()));
}

TEST_F(Am, FromPiecesInADeviceToPiecesInADevice)
{
    Device device;
    std::string data = text_of(400000), spread(2 * data.size(), '-');
    constexpr size_t TO = Device::SIZE / 2;

    for (size_t i = 0; i < TO / 2; i++)
        spread[2 * i] = data[i];
    device.write(spread.substr(0, TO));
    post(device.bytes + TO, TO / 2, EVERY_SECOND_BYTE, 2);
    send("a", device.bytes, TO / 2, EVERY_SECOND_BYTE, 1);
    progress_until_idle();
    std::string all = device.read(Device::SIZE);
    for (size_t i = 0; i < TO / 2; i++)
        ASSERT_EQ(all[TO + 2 * i], data[i]) << i;
}

} // namespace
