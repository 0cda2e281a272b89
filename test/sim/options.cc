// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// options: see options.h. One table says how every option is written, what it takes and what it is
// for.
#include "options.h"

#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <functional>

#include "chance.h"

extern "C" {
#include "core/exchange/exchange.h"
#include "core/model/reduce_way.h"
}

namespace sim {

namespace {

const struct {
    Collective value;
    const char *name;
    std::vector<Algorithm> by; // the first one is the default
} collectives[] = {
    {Collective::BCAST,
     "bcast",
     {Algorithm::STRIPED, Algorithm::TWO_STAGE, Algorithm::MULTILANE, Algorithm::CHAIN,
      Algorithm::BINARY, Algorithm::BINOMIAL, Algorithm::VANDEGEIJN}},
    {Collective::BARRIER,
     "barrier",
     {Algorithm::STRIPED, Algorithm::TWO_STAGE, Algorithm::MULTILANE, Algorithm::DISSEMINATION}},
    {Collective::REDUCE, "reduce", {Algorithm::EXCHANGE}},
    {Collective::ALLREDUCE,
     "allreduce",
     {Algorithm::STRIPED, Algorithm::TWO_STAGE, Algorithm::MULTILANE, Algorithm::DISSEMINATION}},
    {Collective::SCAN, "scan", {Algorithm::EXCHANGE}},
    {Collective::ALLGATHER,
     "allgather",
     {Algorithm::STRIPED, Algorithm::TWO_STAGE, Algorithm::EXCHANGE}},
    {Collective::ALLTOALL, "alltoall", {Algorithm::EXCHANGE}},
    {Collective::REDUCE_SCATTER, "reduce_scatter", {Algorithm::EXCHANGE}},
};

const struct {
    Algorithm value;
    const char *name;
} algorithms[] = {
    {Algorithm::CHAIN, "chain"},
    {Algorithm::BINARY, "binary"},
    {Algorithm::BINOMIAL, "binomial"},
    {Algorithm::VANDEGEIJN, "vandegeijn"},
    {Algorithm::DISSEMINATION, "dissemination"},
    {Algorithm::MULTILANE, "multilane"},
    {Algorithm::TWO_STAGE, "two_stage"},
    {Algorithm::STRIPED, "striped"},
    {Algorithm::EXCHANGE, "exchange"},
};

// A whole number, with K, M or G (2^10, 2^20, 2^30) after it where `binary`; at most `most`.
bool number(const char *text, bool binary, uint64_t most, uint64_t *value)
{
    char *end = nullptr;
    uint32_t shift = 0;

    if (*text < '0' || *text > '9')
        return false;
    *value = strtoull(text, &end, 10);
    if (binary && *end != '\0') {
        shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
        end += shift > 0;
    }
    if (*end != '\0' || *value > most >> shift)
        return false;
    *value <<= shift;
    return true;
}

// Microseconds, with a fraction if wished: ns.
bool micros(const char *text, uint64_t *ns)
{
    char *end = nullptr;
    double us = strtod(text, &end);

    if (*text < '0' || *text > '9' || *end != '\0' || !(us <= 1e9))
        return false;
    *ns = (uint64_t) (us * 1000 + 0.5);
    return true;
}

bool rates(const char *text, std::vector<uint32_t> *mbit)
{
    std::string all = text, one;
    uint64_t value;

    mbit->clear();
    for (size_t at = 0; at <= all.size(); at += one.size() + 1) {
        one = all.substr(at, all.find(',', at) - at);
        if (!number(one.c_str(), false, 1000000, &value) || value == 0)
            return false;
        mbit->push_back((uint32_t) value);
    }
    return true;
}

struct Reader {
    Options *o;
    bool algorithm = false; // it is said
    uint64_t rails = 0;     // 0: as many as there are rates
};

// How an option is read: false when the value is none for it.
using Read = std::function<bool(Reader *, const char *)>;

Read u32(uint32_t Options::*field, uint32_t most, bool binary = false)
{
    return [=](Reader *r, const char *text) {
        uint64_t value;

        if (!number(text, binary, most, &value))
            return false;
        r->o->*field = (uint32_t) value;
        return true;
    };
}

Read u64(uint64_t Options::*field, uint64_t most, bool binary)
{
    return [=](Reader *r, const char *text) { return number(text, binary, most, &(r->o->*field)); };
}

Read us(uint64_t Options::*field)
{
    return [=](Reader *r, const char *text) { return micros(text, &(r->o->*field)); };
}

bool read_collective(Reader *r, const char *text)
{
    for (const auto &c : collectives)
        if (strcmp(c.name, text) == 0) {
            r->o->collective = c.value;
            return true;
        }
    return false;
}

bool read_operation(Reader *r, const char *text)
{
    r->o->ordered = strcmp(text, "ordered") == 0;
    return r->o->ordered || strcmp(text, "sum") == 0;
}

bool read_algorithm(Reader *r, const char *text)
{
    r->algorithm = true;
    for (const auto &a : algorithms)
        if (strcmp(a.name, text) == 0) {
            r->o->algorithm = a.value;
            return true;
        }
    return false;
}

bool read_repair(Reader *r, const char *text)
{
    r->o->push = strcmp(text, "push") == 0;
    return r->o->push || strcmp(text, "pull") == 0;
}

struct Option {
    const char *name;
    const char *takes;
    const char *text; // what it is, its unit, its default
    Read read;
};

const std::vector<Option> &options()
{
    static const std::vector<Option> all = {
        {"--collective", "C",
         "bcast, barrier, reduce, allreduce, scan, allgather, alltoall or\n"
         "reduce_scatter; default bcast",
         read_collective},
        {"--algorithm", "A",
         "chain, binary, binomial, vandegeijn (references),\n"
         "multilane, two_stage (multicast on rail 0), striped (on all rails); default striped.\n"
         "Of a barrier and an allreduce: the last three, which broadcast the result, or\n"
         "dissemination (reference). Of an allgather: two_stage, striped (multicasts in turn),\n"
         "exchange. Of the others: exchange",
         read_algorithm},
        {"--ranks", "N", "ranks, one a host, 2 to 16777216; default 32",
         u32(&Options::ranks, 1u << 24)},
        {"--bytes", "B",
         "of one broadcast, vector, or block from rank to rank; K, M, G may follow; default 8",
         u64(&Options::bytes, UINT64_C(1) << 40, true)},
        {"--count", "K", "calls in a row; default 1", u32(&Options::count, 1000000)},
        {"--rails", "R", "rails, 1 to 8; default as many as there are rates",
         [](Reader *r, const char *text) {
             return number(text, false, HWMC_RAIL_BITS, &r->rails) && r->rails > 0;
         }},
        {"--rates", "M,..", "Mbit/s of each rail; one is for all of them; default 1000",
         [](Reader *r, const char *text) { return rates(text, &r->o->mbit); }},
        {"--latency-us", "T", "us, inside a site; default 20", us(&Options::latency_ns)},
        {"--sites", "N", "sites that the ranks are dealt to in blocks; default 1",
         u32(&Options::sites, 1u << 20)},
        {"--site-latency-us", "T", "us, between two sites; default 10000",
         us(&Options::site_latency_ns)},
        {"--site-connection-mbit", "M",
         "Mbit/s of one connection between sites; default 0: as the rail",
         u32(&Options::site_connection_mbit, 1000000)},
        {"--overhead", "B", "bytes of headers a packet; default 66 (UDP on Ethernet, with gap)",
         u32(&Options::overhead, 1u << 20)},
        {"--packet", "B", "bytes that a packet carries; default 1472",
         u32(&Options::packet, 1u << 30, true)},
        {"--host-ns", "T", "ns of host time a message, at each end; default 1000",
         u64(&Options::host_ns, 1000000000, false)},
        {"--loss-ppm", "N", "datagrams lost in a million, at each receiver; default 0",
         u32(&Options::loss_ppm, 1000000)},
        {"--loss-mask", "N",
         "of the first 64 multicasts those that nobody gets, a bit each; default 0",
         u64(&Options::loss_mask, UINT64_MAX, false)},
        {"--late-us", "T", "us, up to which members come late to their first call; default 0",
         us(&Options::late_ns)},
        {"--root-late-us", "T", "us, which the root comes late; default 0",
         us(&Options::root_late_ns)},
        {"--segment", "B",
         "bytes in which messages along trees are passed on; 0: whole; default 8K",
         u64(&Options::segment, UINT64_C(1) << 40, true)},
        {"--window", "N",
         "segments of a tree that a rank takes ahead of what has come; default 8, or twice "
         "bandwidth times round trip",
         u32(&Options::window, 1u << 20)},
        {"--trees", "T", "of multilane, 1 to 8; default as many as rails, and 2 at least",
         u32(&Options::trees, HWMC_TREES_MAX)},
        {"--frag", "B", "payload bytes of a multicast datagram; default 1432",
         u32(&Options::frag, 1u << 16, true)},
        {"--repair", "push|pull", "of two_stage and striped; default pull", read_repair},
        {"--channels", "N", "broadcasts that a root may be ahead, 1 to 64; default 16",
         u32(&Options::channels, HWMC_CHANNELS_MAX)},
        {"--piece", "B",
         "bytes of a channel; longer messages go as several; default 64K, or what "
         "all channels need to hold twice bandwidth times round trip",
         u32(&Options::piece, 1u << 24)},
        {"--fanout", "K", "of the tree that frees channels, 1 to 16; default 4",
         u32(&Options::fanout, HWMC_FANOUT_MAX)},
        {"--degree", "K",
         "of the tree along which ranks combine, 1 (a chain) to 32; default by\n"
         "the core's model, which may take two trees",
         u32(&Options::degree, HWMC_REDUCE_FANOUT_MAX)},
        {"--operation", "sum|ordered", "of reduce and allreduce: whether it commutes; default sum",
         read_operation},
        {"--root", "N", "of a reduce; default 0", u32(&Options::root, 1u << 24)},
        {"--queue", "B", "bytes that may wait at a root on each rail; default 64K",
         u32(&Options::queue, 1u << 30, true)},
        {"--seed", "S", "of all chance; default 1", u64(&Options::seed, UINT64_MAX, false)},
        {"--repeat", "K", "runs, with seeds from S on; default 1", u32(&Options::repeat, 1000000)},
        {"--deadline-s", "T", "simulated s after which a run has failed; default 3600",
         u32(&Options::deadline, 1000000)},
    };

    return all;
}

const Option *find(const std::string &name)
{
    for (const Option &option : options())
        if (name == option.name)
            return &option;
    return nullptr;
}

} // namespace

const char *name_of(Collective c)
{
    for (const auto &known : collectives)
        if (known.value == c)
            return known.name;
    return "?";
}

const char *name_of(Algorithm a)
{
    for (const auto &known : algorithms)
        if (known.value == a)
            return known.name;
    return "?";
}

std::string help()
{
    std::string text = "hwmc_sim: how long a collective of M bytes takes on a modelled network\n"
                       "usage: hwmc_sim [--option VALUE]...\n\n";

    for (const Option &option : options()) {
        std::string left = std::string("  ") + option.name + " " + option.takes;

        left.resize(std::max<size_t>(left.size() + 1, 29), ' ');
        text += left;
        for (const char *c = option.text; *c; c++)
            text += *c == '\n' ? "\n" + std::string(29, ' ') : std::string(1, *c);
        text += '\n';
    }
    text +=
        "  --csv                      a line of names, then one of values for each run\n"
        "  --help                     this\n\n"
        "Exit status: 0 every rank got what it should in every call; 1 not so; 2 the command is\n"
        "wrong. The model: docs/simulator.md.\n";
    return text;
}

namespace {

// Of other collectives than a broadcast: empty, or what is wrong.
std::string check_collective(const Options &o)
{
    const bool combines = o.collective == Collective::BARRIER ||
                          o.collective == Collective::REDUCE ||
                          o.collective == Collective::ALLREDUCE;

    for (const auto &c : collectives)
        if (c.value == o.collective &&
            std::find(c.by.begin(), c.by.end(), o.algorithm) == c.by.end())
            return std::string("there is no --algorithm ") + name_of(o.algorithm) + " of " + c.name;
    if (o.root > 0 && (o.collective != Collective::REDUCE || o.root >= o.ranks))
        return "--root is a rank, and of a reduce";
    if ((o.degree > 0 || o.ordered) && !combines)
        return "--degree and --operation are of barrier, reduce and allreduce";
    if (o.collective != Collective::BCAST && (o.bytes == 0 || o.bytes > 1u << 30))
        return std::string("--bytes of ") + name_of(o.collective) + " is from 1 to 1G";
    if (o.algorithm == Algorithm::EXCHANGE && !combines && o.collective != Collective::SCAN &&
        o.ranks > HWMC_EXCHANGE_BLOCKS)
        return "--ranks with a block for each is 32767 at most";
    return "";
}

} // namespace

std::string check(const Options &o)
{
    bool machines = o.algorithm == Algorithm::MULTILANE || o.algorithm == Algorithm::TWO_STAGE ||
                    o.algorithm == Algorithm::STRIPED || o.algorithm == Algorithm::EXCHANGE;
    uint64_t segment = o.segment > 0 && o.segment < o.bytes ? o.segment : o.bytes + 1;
    auto between = [](const char *what, uint64_t value, uint64_t least, uint64_t most) {
        return value < least || value > most
                   ? std::string(what) + " is from " + std::to_string(least) + " to " +
                         std::to_string(most)
                   : std::string();
    };

    for (const std::string &wrong :
         {between("--ranks", o.ranks, 2, 1u << 24), between("--count", o.count, 1, 1000000),
          between("--repeat", o.repeat, 1, 1000000), between("--sites", o.sites, 1, o.ranks),
          between("--packet", o.packet, 1, 1u << 30), between("--frag", o.frag, 1, 1u << 16),
          between("--channels", o.channels, 1, HWMC_CHANNELS_MAX),
          between("--fanout", o.fanout, 1, HWMC_FANOUT_MAX),
          between("--piece", o.piece, 0, UINT64_C(32768) * o.frag),
          between("--queue", o.queue, 2 * (o.frag + 64 + (o.frag / o.packet + 2) * o.overhead),
                  1u << 30)})
        if (!wrong.empty())
            return wrong;
    if (o.algorithm == Algorithm::MULTILANE && o.bytes == 0)
        return "multilane broadcasts 1 byte or more";
    if (!machines && ((o.bytes - (o.bytes > 0)) / segment + 1) * o.count >= UINT32_MAX)
        return "more segments than can be counted: a longer --segment is needed";
    if (o.algorithm == Algorithm::VANDEGEIJN && (uint64_t) o.ranks * o.count >= UINT32_MAX)
        return "more blocks than can be counted: fewer --ranks or a lower --count are needed";
    return check_collective(o);
}

Parsed parse(int argc, const char *const *argv, Options *o, std::string *error)
{
    Reader reader = {o};

    for (int i = 1; i < argc; i++) {
        std::string name = argv[i], value;
        size_t equals = name.find('=');
        const Option *option = find(name.substr(0, equals));

        if (name == "--help" || name == "-h")
            return Parsed::HELP;
        if (name == "--csv") {
            o->csv = true;
            continue;
        }
        if (!option) {
            *error = "there is no option " + name;
            return Parsed::WRONG;
        }
        if (equals == std::string::npos && i + 1 == argc) {
            *error = name + " takes a value: " + option->takes;
            return Parsed::WRONG;
        }
        value = equals != std::string::npos ? name.substr(equals + 1) : argv[++i];
        if (!option->read(&reader, value.c_str())) {
            *error = std::string(option->name) + " cannot be '" + value + "': " + option->text;
            return Parsed::WRONG;
        }
    }
    for (const auto &c : collectives)
        if (c.value == o->collective && !reader.algorithm)
            o->algorithm = c.by[0];
    if (o->collective == Collective::BARRIER)
        o->bytes = 1;
    if (reader.rails > 0 && o->mbit.size() == 1)
        o->mbit.resize(reader.rails, o->mbit[0]);
    if (o->mbit.size() > HWMC_RAIL_BITS)
        *error = "there are 8 rails at most";
    else if (reader.rails > 0 && o->mbit.size() != reader.rails)
        *error = "--rates has " + std::to_string(o->mbit.size()) + " rates for " +
                 std::to_string(reader.rails) + " rails";
    else
        *error = check(*o);
    return error->empty() ? Parsed::RUN : Parsed::WRONG;
}

} // namespace sim
