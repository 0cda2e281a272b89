/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * xsk: an AF_XDP socket on the first queue of an interface, with memory of its own for frames. It
 * gets the UDP datagrams for one IPv4 group and port, and only it does: a small program in the
 * kernel picks them, and leaves all other frames to the kernel. In copy mode, as veth and most
 * adapters' ordinary drivers have it.
 *
 * Frames are whole: Ethernet, IPv4 and UDP headers, without options, and a payload. A program that
 * includes this ends with a message where the kernel or a privilege is missing.
 */

#ifndef HWMC_LAB_XSK_H_INCLUDED
#define HWMC_LAB_XSK_H_INCLUDED

#include <arpa/inet.h>
#include <err.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define XSK_HEADERS 42u /* of Ethernet, IPv4 and UDP */
#define XSK_FRAME 2048u /* bytes for one; its headers and payload are to fit */
#define XSK_RING 4096u  /* frames to receive, and as many to send */

/* One of the four rings that this process and the kernel share. */
struct xsk_ring {
    uint32_t *producer, *consumer;
    void *entries; /* struct xdp_desc, or 64-bit addresses */
};

struct xsk {
    int fd;
    const char *mode; /* "native" or "generic" */
    unsigned char *memory;
    struct xsk_ring fill, completion, rx, tx;
    uint32_t unsent; /* frames that may be sent: those from XSK_RING on, in turn */
    uint32_t next;   /* of them */
    unsigned char headers[XSK_HEADERS];
};

static inline int xsk_bpf(int command, union bpf_attr *attr)
{
    return (int) syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* The program: IPv4, UDP, that group and port: to the socket of the queue; else to the kernel. */
static inline int xsk_load(int map, uint32_t group, uint16_t port)
{
#define XSK_INSN(CODE, DST, SRC, OFF, IMM)                                                         \
    {                                                                                              \
        .code = (CODE), .dst_reg = (DST), .src_reg = (SRC), .off = (OFF), .imm = (int) (IMM)       \
    }
    const struct bpf_insn program[] = {
        XSK_INSN(BPF_ALU64 | BPF_MOV | BPF_X, 6, 1, 0, 0),
        XSK_INSN(BPF_LDX | BPF_MEM | BPF_W, 2, 1, 0, 0), /* begin of the frame */
        XSK_INSN(BPF_LDX | BPF_MEM | BPF_W, 3, 1, 4, 0), /* its end */
        XSK_INSN(BPF_ALU64 | BPF_MOV | BPF_X, 4, 2, 0, 0),
        XSK_INSN(BPF_ALU64 | BPF_ADD | BPF_K, 4, 0, 0, XSK_HEADERS),
        XSK_INSN(BPF_JMP | BPF_JGT | BPF_X, 4, 3, 13, 0),
        XSK_INSN(BPF_LDX | BPF_MEM | BPF_H, 4, 2, 12, 0),
        XSK_INSN(BPF_JMP | BPF_JNE | BPF_K, 4, 0, 11, htons(ETH_P_IP)),
        XSK_INSN(BPF_LDX | BPF_MEM | BPF_B, 4, 2, 23, 0),
        XSK_INSN(BPF_JMP | BPF_JNE | BPF_K, 4, 0, 9, IPPROTO_UDP),
        XSK_INSN(BPF_LDX | BPF_MEM | BPF_W, 4, 2, 30, 0),
        XSK_INSN(BPF_JMP32 | BPF_JNE | BPF_K, 4, 0, 7, group),
        XSK_INSN(BPF_LDX | BPF_MEM | BPF_H, 4, 2, 36, 0),
        XSK_INSN(BPF_JMP | BPF_JNE | BPF_K, 4, 0, 5, port),
        XSK_INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map),
        XSK_INSN(0, 0, 0, 0, 0),
        XSK_INSN(BPF_LDX | BPF_MEM | BPF_W, 2, 6, 16, 0), /* queue */
        XSK_INSN(BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, XDP_PASS),
        XSK_INSN(BPF_JMP | BPF_JA, 0, 0, 2, 0),
        XSK_INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, XDP_PASS),
        XSK_INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
        XSK_INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map),
        XSK_INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
    };
#undef XSK_INSN
    union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_XDP,
                           .insns = (uintptr_t) program,
                           .insn_cnt = sizeof(program) / sizeof(program[0]),
                           .license = (uintptr_t) "Dual BSD/GPL"};

    return xsk_bpf(BPF_PROG_LOAD, &attr);
}

/* In the driver, or where it has no XDP behind it. Detached when the process ends. */
static inline void xsk_attach(struct xsk *x, int interface, uint32_t group, uint16_t port)
{
    union bpf_attr map = {
        .map_type = BPF_MAP_TYPE_XSKMAP, .key_size = 4, .value_size = 4, .max_entries = 1};
    const int maps = xsk_bpf(BPF_MAP_CREATE, &map);
    const int program = maps < 0 ? -1 : xsk_load(maps, group, port);
    uint32_t key = 0;
    union bpf_attr entry = {.map_fd = (uint32_t) maps,
                            .key = (uintptr_t) &key,
                            .value = (uintptr_t) &x->fd,
                            .flags = BPF_ANY};
    union bpf_attr link = {.link_create = {.prog_fd = (uint32_t) program,
                                           .target_ifindex = (uint32_t) interface,
                                           .attach_type = BPF_XDP,
                                           .flags = XDP_FLAGS_DRV_MODE}};

    if (program < 0 || xsk_bpf(BPF_MAP_UPDATE_ELEM, &entry) != 0)
        err(1, "no program for XDP (CAP_BPF and CAP_NET_ADMIN are needed)");
    x->mode = "native";
    if (xsk_bpf(BPF_LINK_CREATE, &link) >= 0)
        return;
    x->mode = "generic";
    link.link_create.flags = XDP_FLAGS_SKB_MODE;
    if (xsk_bpf(BPF_LINK_CREATE, &link) < 0)
        err(1, "cannot attach a program to the interface");
}

static inline void xsk_map(const struct xsk *x, struct xsk_ring *r, int option,
                           const struct xdp_ring_offset *at, off_t page, size_t entry)
{
    const uint32_t num = XSK_RING;
    unsigned char *p;

    if (setsockopt(x->fd, SOL_XDP, option, &num, sizeof(num)) != 0)
        err(1, "ring");
    p = mmap(NULL, at->desc + num * entry, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, x->fd,
             page);
    if (p == MAP_FAILED)
        err(1, "ring");
    *r = (struct xsk_ring){(uint32_t *) (void *) (p + at->producer),
                           (uint32_t *) (void *) (p + at->consumer), p + at->desc};
}

static inline uint32_t xsk_read(const uint32_t *p)
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static inline void xsk_write(uint32_t *p, uint32_t value)
{
    __atomic_store_n(p, value, __ATOMIC_RELEASE);
}

/* The kernel may put a frame there. */
static inline void xsk_give(struct xsk *x, uint64_t address)
{
    const uint32_t at = *x->fill.producer;

    ((uint64_t *) x->fill.entries)[at % XSK_RING] = address / XSK_FRAME * XSK_FRAME;
    xsk_write(x->fill.producer, at + 1);
}

/* How many frames wait. */
static inline uint32_t xsk_waiting(const struct xsk *x)
{
    return xsk_read(x->rx.producer) - *x->rx.consumer;
}

/* The payload of the first of them, and its bytes; until xsk_taken. */
static inline const unsigned char *xsk_first(const struct xsk *x, uint32_t *bytes)
{
    const struct xdp_desc *d =
        &((const struct xdp_desc *) x->rx.entries)[*x->rx.consumer % XSK_RING];

    *bytes = d->len > XSK_HEADERS ? d->len - XSK_HEADERS : 0;
    return x->memory + d->addr + XSK_HEADERS;
}

static inline void xsk_taken(struct xsk *x)
{
    const uint32_t at = *x->rx.consumer;
    const uint64_t address = ((const struct xdp_desc *) x->rx.entries)[at % XSK_RING].addr;

    xsk_write(x->rx.consumer, at + 1);
    xsk_give(x, address);
}

/* Headers of what is sent: to the group and port, from this interface. */
static inline void xsk_address(struct xsk *x, const char *interface, uint32_t group, uint16_t port)
{
    const int any = socket(AF_INET, SOCK_DGRAM, 0);
    unsigned char *h = x->headers, *ip = h + 14, *udp = h + 34;
    const unsigned char *g = (const unsigned char *) &group;
    struct ifreq r = {.ifr_flags = 0};

    snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", interface);
    if (ioctl(any, SIOCGIFHWADDR, &r) != 0)
        err(1, "hardware address");
    memcpy(h, (unsigned char[]){1, 0, 0x5e, g[1] & 0x7f, g[2], g[3]}, 6);
    memcpy(h + 6, r.ifr_hwaddr.sa_data, 6);
    memcpy(h + 12, (unsigned char[]){8, 0}, 2);
    memset(ip, 0, 28);
    if (ioctl(any, SIOCGIFADDR, &r) != 0)
        err(1, "address");
    ip[0] = 0x45;
    ip[8] = 1; /* hops */
    ip[9] = IPPROTO_UDP;
    memcpy(ip + 12, &((struct sockaddr_in *) (void *) &r.ifr_addr)->sin_addr, 4);
    memcpy(ip + 16, &group, 4);
    memcpy(udp, &port, 2);
    memcpy(udp + 2, &port, 2);
    close(any);
}

/* Opens it, for `group` and `port`, in network order. */
static inline void xsk_open(struct xsk *x, const char *interface, uint32_t group, uint16_t port)
{
    const size_t bytes = (size_t) 2 * XSK_RING * XSK_FRAME;
    struct xdp_umem_reg memory = {.len = bytes, .chunk_size = XSK_FRAME};
    struct sockaddr_xdp where = {.sxdp_family = AF_XDP, .sxdp_flags = XDP_COPY};
    struct xdp_mmap_offsets at;
    socklen_t len = sizeof(at);

    x->fd = socket(AF_XDP, SOCK_RAW, 0);
    x->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    memory.addr = (uintptr_t) x->memory;
    if (x->fd < 0 || x->memory == MAP_FAILED ||
        setsockopt(x->fd, SOL_XDP, XDP_UMEM_REG, &memory, sizeof(memory)) != 0 ||
        getsockopt(x->fd, SOL_XDP, XDP_MMAP_OFFSETS, &at, &len) != 0)
        err(1, "no AF_XDP socket (Linux 4.18 or later and CAP_NET_RAW are needed)");
    xsk_map(x, &x->fill, XDP_UMEM_FILL_RING, &at.fr, (off_t) XDP_UMEM_PGOFF_FILL_RING, 8);
    xsk_map(x, &x->completion, XDP_UMEM_COMPLETION_RING, &at.cr,
            (off_t) XDP_UMEM_PGOFF_COMPLETION_RING, 8);
    xsk_map(x, &x->rx, XDP_RX_RING, &at.rx, XDP_PGOFF_RX_RING, sizeof(struct xdp_desc));
    xsk_map(x, &x->tx, XDP_TX_RING, &at.tx, (off_t) XDP_PGOFF_TX_RING, sizeof(struct xdp_desc));
    where.sxdp_ifindex = if_nametoindex(interface);
    if (bind(x->fd, (struct sockaddr *) &where, sizeof(where)) != 0)
        err(1, "%s", interface);
    x->unsent = XSK_RING;
    x->next = 0;
    for (uint32_t i = 0; i < XSK_RING; i++)
        xsk_give(x, (uint64_t) i * XSK_FRAME);
    xsk_address(x, interface, group, port);
    xsk_attach(x, (int) where.sxdp_ifindex, group, port);
}

static inline uint16_t xsk_sum(const unsigned char *ip)
{
    uint32_t sum = 0;

    for (int i = 0; i < 20; i += 2)
        sum += (uint32_t) ip[i] << 8 | ip[i + 1];
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t) ~sum;
}

/* Where the payload of the next frame to send goes; NULL: all are on their way. */
static inline unsigned char *xsk_room(struct xsk *x)
{
    const uint32_t done = xsk_read(x->completion.producer);

    x->unsent += done - *x->completion.consumer;
    xsk_write(x->completion.consumer, done);
    if (x->unsent == 0)
        return NULL;
    return x->memory + (size_t) (XSK_RING + x->next) * XSK_FRAME + XSK_HEADERS;
}

/* So many bytes are there: the frame is to be sent, with the next xsk_kick. */
static inline void xsk_put(struct xsk *x, uint32_t bytes)
{
    const uint64_t address = (uint64_t) (XSK_RING + x->next) * XSK_FRAME;
    const uint32_t at = *x->tx.producer;
    unsigned char *frame = x->memory + address, *ip = frame + 14;
    uint16_t sum;

    memcpy(frame, x->headers, XSK_HEADERS);
    ip[2] = (unsigned char) ((bytes + 28) >> 8);
    ip[3] = (unsigned char) (bytes + 28);
    sum = xsk_sum(ip);
    ip[10] = (unsigned char) (sum >> 8);
    ip[11] = (unsigned char) sum;
    frame[38] = (unsigned char) ((bytes + 8) >> 8);
    frame[39] = (unsigned char) (bytes + 8);
    ((struct xdp_desc *) x->tx.entries)[at % XSK_RING] =
        (struct xdp_desc){.addr = address, .len = bytes + XSK_HEADERS};
    xsk_write(x->tx.producer, at + 1);
    x->next = (x->next + 1) % XSK_RING;
    x->unsent--;
}

/* The kernel sends what was put. */
static inline void xsk_kick(const struct xsk *x)
{
    while (xsk_read(x->tx.consumer) != *x->tx.producer)
        sendto(x->fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
}

#endif /* HWMC_LAB_XSK_H_INCLUDED */
