"""The other end of a ProcessPing, which sends every message back. Imports little, to start fast.

    python -m evener.measuring.echo SOCKET CPU

The first eight bytes of a message are its length. It ends when the socket closes.
"""

from __future__ import annotations

import os
import socket
import sys
import time

HEADER = 8  # bytes: the shortest message
CHUNK = 1 << 16
SPIN = 50e-6  # seconds of looking again and again, as MPI does, before sleeping


def receive(source: socket.socket, buffer: bytearray) -> int:
    """Read one message into `buffer`, made longer where needed; return its length, 0 at the end."""
    got = _first(source, memoryview(buffer))
    if got == 0:
        return 0
    while got < HEADER:
        got += _more(source, memoryview(buffer)[got:])
    length = int.from_bytes(buffer[:HEADER], "little")
    if length > len(buffer):
        buffer.extend(bytes(length - len(buffer)))
    view = memoryview(buffer)
    while got < length:
        got += _more(source, view[got:length])
    return length


def _first(source: socket.socket, view: memoryview) -> int:
    end = time.perf_counter() + SPIN
    while time.perf_counter() < end:
        try:
            return source.recv_into(view, 0, socket.MSG_DONTWAIT)
        except BlockingIOError:
            continue
    return source.recv_into(view)


def _more(source: socket.socket, view: memoryview) -> int:
    got = source.recv_into(view)
    if got == 0:
        raise ConnectionError("the other end has closed in the middle of a message")
    return got


def main(number: int, cpu: int) -> None:
    """Send back what comes."""
    if cpu >= 0 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {cpu})
    buffer = bytearray(CHUNK)
    with socket.socket(fileno=number) as own:
        while length := receive(own, buffer):
            own.sendall(memoryview(buffer)[:length])


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
