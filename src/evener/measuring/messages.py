"""Messages between processes: JSON lines read from a pipe, and bytes sent back over a socket.

    python -m evener.measuring.messages SOCKET CPU

is the other end of a ProcessPing: it sends every message back until the socket closes. The first
eight bytes of a message are its length. This module imports little, so that processes start fast.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import sys
import time
from typing import Any

CHUNK = 1 << 16  # bytes read at once


class Inbox:
    """Reads JSON objects from a pipe."""

    def __init__(self, fileno: int) -> None:
        self._fileno = fileno
        self._buffer = b""

    @property
    def has_message(self) -> bool:
        """Whether `receive` would return an object without reading from the pipe."""
        return b"\n" in self._buffer

    def receive(self, seconds: float | None = None) -> dict[str, Any] | None:
        """Return the next object, or None if none arrives within `seconds` (None: no limit).

        Raises EOFError if the other end is closed and all objects have been returned.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        while not self.has_message:
            if deadline is not None and not self.is_readable(deadline - time.monotonic()):
                return None
            more = os.read(self._fileno, CHUNK)
            if not more:
                raise EOFError
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def is_readable(self, seconds: float = 0.0) -> bool:
        """Return whether, within `seconds`, there is data to read or the other end is closed."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._fileno, selectors.EVENT_READ)
            return bool(selector.select(max(seconds, 0.0)))


def as_line(message: Any) -> bytes:
    """Return an object as the line of text to send."""
    return json.dumps(message).encode() + b"\n"


HEADER = 8  # bytes; also the length of the shortest message
SPIN = 50e-6  # seconds of polling, as in MPI, before sleeping


def receive(source: socket.socket, buffer: bytearray) -> int:
    """Read one message into `buffer`, enlarged if needed; return its length, or 0 at the end."""
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
    """Send every message back."""
    if cpu >= 0 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {cpu})
    buffer = bytearray(CHUNK)
    with socket.socket(fileno=number) as own:
        while length := receive(own, buffer):
            own.sendall(memoryview(buffer)[:length])


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
