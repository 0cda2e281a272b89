// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// See fake_xpmem.h.
#include "fake_xpmem.h"

#include <errno.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <set>

extern "C" {
#include "fake_xpmem/xpmem.h"
}

namespace {

std::mutex lock;
fake_xpmem::Rules rules;
std::set<xpmem_segid_t> names;
std::map<xpmem_apid_t, xpmem_segid_t> permits;
std::multimap<uint64_t, size_t> mappings; // bytes by address
long long last = 0;                       // name or permit
unsigned made, got, attached;
std::string trouble;

int refuse(int why)
{
    errno = why;
    return -1;
}

int break_rule(const std::string &what)
{
    trouble += what + "; ";
    return refuse(EINVAL);
}

bool is_page(uint64_t n)
{
    return n % (uint64_t) sysconf(_SC_PAGESIZE) == 0;
}

} // namespace

namespace fake_xpmem {

void reset(const Rules &r)
{
    std::lock_guard guard(lock);

    rules = r;
    made = got = attached = 0;
    trouble.clear();
}

Counts counts()
{
    std::lock_guard guard(lock);
    Counts c = {(unsigned) names.size(),
                (unsigned) permits.size(),
                (unsigned) mappings.size(),
                made,
                got,
                attached,
                0};

    for (const auto &[at, bytes] : mappings)
        c.bytes += bytes;
    return c;
}

bool is_mapped(const void *from, size_t bytes)
{
    std::lock_guard guard(lock);

    for (const auto &[at, mapped] : mappings)
        if ((uintptr_t) from >= at && (uintptr_t) from + bytes <= at + mapped)
            return true;
    return false;
}

std::string wrong()
{
    std::lock_guard guard(lock);

    return trouble;
}

} // namespace fake_xpmem

xpmem_segid_t xpmem_make(void *vaddr, size_t size, int permit_type, void *permit_value)
{
    std::lock_guard guard(lock);

    if (vaddr != nullptr || size != XPMEM_MAXADDR_SIZE || permit_type != XPMEM_PERMIT_MODE ||
        ((uintptr_t) permit_value & ~(uintptr_t) 0777) != 0)
        return break_rule("a name for something else");
    if (rules.no_names)
        return refuse(ENOENT);
    made++;
    names.insert(++last);
    return last;
}

int xpmem_remove(xpmem_segid_t segid)
{
    std::lock_guard guard(lock);

    return names.erase(segid) == 1 ? 0 : break_rule("no such name to remove");
}

xpmem_apid_t xpmem_get(xpmem_segid_t segid, int flags, int permit_type, void *permit_value)
{
    std::lock_guard guard(lock);

    if (flags != XPMEM_RDWR || permit_type != XPMEM_PERMIT_MODE || permit_value != nullptr)
        return break_rule("a permit for something else");
    if (rules.no_permits || names.count(segid) == 0)
        return refuse(EACCES);
    got++;
    permits[++last] = segid;
    return last;
}

int xpmem_release(xpmem_apid_t apid)
{
    std::lock_guard guard(lock);

    return permits.erase(apid) == 1 ? 0 : break_rule("no such permit to release");
}

void *xpmem_attach(struct xpmem_addr addr, size_t size, void *vaddr)
{
    std::lock_guard guard(lock);
    uint64_t from = (uint64_t) addr.offset;

    if (permits.count(addr.apid) == 0 || vaddr != nullptr || !is_page(from) || !is_page(size))
        return (void *) (intptr_t) break_rule("no permit, or not whole pages");
    if (addr.offset < 0 || size == 0 || from > fake_xpmem::kEnd || size > fake_xpmem::kEnd - from)
        return (void *) (intptr_t) refuse(EINVAL);
    if (size > rules.longest || mappings.size() >= rules.most)
        return (void *) (intptr_t) refuse(ENOMEM);
    attached++;
    mappings.insert({from, size});
    return (void *) (uintptr_t) from;
}

int xpmem_detach(void *vaddr)
{
    std::lock_guard guard(lock);
    auto it = mappings.find((uintptr_t) vaddr);

    if (it == mappings.end())
        return break_rule("no such mapping to end");
    mappings.erase(it);
    return 0;
}
