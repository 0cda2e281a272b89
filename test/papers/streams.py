#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""streams: how fast several TCP connections together are.

  streams.py receive PORT CONNECTIONS BUFFER           on one host: says "ready", then what came
  streams.py send ADDRESS PORT CONNECTIONS SECONDS BUFFER    on another

BUFFER: bytes of each connection's socket buffers; 0: what the kernel finds good. The receiver prints "BYTES SECONDS" of
the second half of the sender's time, when windows have grown.
"""

import selectors
import socket
import sys
import time

CHUNK = 1 << 18


def bounded(sock, room):
    if room > 0:
        for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            sock.setsockopt(socket.SOL_SOCKET, option, room // 2)  # the kernel doubles it
    return sock


def receive(port, connections, room):
    listener = bounded(socket.socket(), room)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("", port))
    listener.listen(connections)
    print("ready", flush=True)
    ends = selectors.DefaultSelector()
    for _ in range(connections):
        ends.register(listener.accept()[0], selectors.EVENT_READ)
    seconds = float(next(iter(ends.get_map().values())).fileobj.recv(16, socket.MSG_WAITALL))
    begin, came, buffer = time.monotonic() + seconds / 2, 0, bytearray(CHUNK)
    while True:
        for key, _ in ends.select():
            got, now = key.fileobj.recv_into(buffer), time.monotonic()
            if now >= begin + seconds / 2:
                print("%d %g" % (came, now - begin), flush=True)
                return
            came += got if now >= begin else 0


def send(address, port, connections, seconds, room):
    ends, buffer = selectors.DefaultSelector(), bytes(CHUNK)
    socks = [bounded(socket.socket(), room) for _ in range(connections)]
    for sock in socks:
        sock.connect((address, port))
        ends.register(sock, selectors.EVENT_WRITE)
    socks[0].sendall(b"%-16g" % seconds)
    for sock in socks:
        sock.setblocking(False)
    try:
        while True:
            for key, _ in ends.select():
                key.fileobj.send(buffer)
    except (ConnectionError, BrokenPipeError):
        return  # the receiver has its figure


if __name__ == "__main__":
    if sys.argv[1] == "receive":
        receive(*(int(word) for word in sys.argv[2:]))
    else:
        send(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]), int(sys.argv[6]))
