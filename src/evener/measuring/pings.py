"""Round trips of messages as kernels, whose load is the message's length in bytes.

ThreadPing exchanges messages with a thread of this process, ProcessPing with other processes over
sockets of this computer, RankPing with other ranks by MPI. Copies to a GPU and back are in cuda.py.
"""

from __future__ import annotations

import os
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from evener.errors import ToolError
from evener.measuring.messages import CHUNK, HEADER, receive
from evener.measuring.workers import KernelJob, environment
from evener.running.comm import Comm

PATIENCE = 20.0  # seconds to wait for an answer before the other end counts as lost
Bytes = npt.NDArray[np.uint8]


class ThreadPing:
    """A round trip between two threads of this process, each of which copies what it receives."""

    def __init__(self) -> None:
        self._there: queue.SimpleQueue[Bytes | None] = queue.SimpleQueue()
        self._back: queue.SimpleQueue[Bytes] = queue.SimpleQueue()
        self._buffer = np.empty(0, np.uint8)
        self._thread: threading.Thread | None = None

    def complexity(self, d: int) -> float:  # noqa: ARG002
        """Return 0, as there is no arithmetic."""
        return 0.0

    def initialize(self, d: int) -> None:
        """Start the other thread; allocate buffers of d bytes."""
        self._buffer = np.zeros(d, np.uint8)
        self._thread = threading.Thread(target=self._echo, daemon=True)
        self._thread.start()

    def execute(self) -> None:
        """Pass the buffer to the other thread, wait for the answer, copy it."""
        self._there.put(self._buffer)
        np.copyto(self._buffer, self._back.get(timeout=PATIENCE))

    def finalize(self) -> None:
        """End the other thread."""
        if self._thread is not None:
            self._there.put(None)
            self._thread.join(PATIENCE)
            self._thread = None

    def _echo(self) -> None:
        own = np.empty(0, np.uint8)
        while (got := self._there.get()) is not None:
            if own.size != got.size:
                own = np.empty_like(got)
            np.copyto(own, got)
            self._back.put(own)


class ProcessPing:
    """A round trip of d bytes from this process to each of several others.

    cpus: the core of each other process. here: the core to which this process is bound meanwhile.
    -1 leaves a process unbound. A ProcessPing is a context manager that starts and ends the other
    processes.
    """

    def __init__(self, cpus: tuple[int, ...], here: int = -1) -> None:
        self._cpus, self._here = cpus, here
        self._sockets: list[socket.socket] = []
        self._children: list[subprocess.Popen[bytes]] = []
        self._message = b""
        self._answer = bytearray(CHUNK)
        self._allowed: set[int] | None = None

    def __enter__(self) -> Self:
        if self._here >= 0 and hasattr(os, "sched_setaffinity"):
            self._allowed = os.sched_getaffinity(0)
            os.sched_setaffinity(0, {self._here})
        for cpu in self._cpus:
            self._start(cpu)
        return self

    def __exit__(self, *error: object) -> None:
        for mine in self._sockets:
            mine.close()
        for child in self._children:
            try:
                child.wait(PATIENCE)  # the process ends when its socket closes
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self._sockets, self._children = [], []
        if self._allowed is not None:
            os.sched_setaffinity(0, self._allowed)

    def complexity(self, d: int) -> float:  # noqa: ARG002
        """Return 0, as there is no arithmetic."""
        return 0.0

    def initialize(self, d: int) -> None:
        """Create a message of d bytes, at least eight; the first eight contain its length."""
        length = max(d, HEADER)
        self._message = length.to_bytes(HEADER, "little") + bytes(length - HEADER)
        self._answer.extend(bytes(max(length - len(self._answer), 0)))

    def execute(self) -> None:
        """Send to all, then receive from all. Raises ToolError if one of them has ended."""
        try:
            for mine in self._sockets:
                mine.sendall(self._message)
            received = [receive(mine, self._answer) for mine in self._sockets]
        except OSError as error:
            raise ToolError(f"the process that answers messages has ended: {error}") from error
        if received != [len(self._message)] * len(received):
            raise ToolError("the process that answers messages has ended")

    def finalize(self) -> None:
        """Free the message."""
        self._message = b""

    def _start(self, cpu: int) -> None:
        mine, theirs = socket.socketpair()
        mine.settimeout(PATIENCE)
        command = [sys.executable, "-P", "-m", "evener.measuring.messages"]
        with theirs:
            child = subprocess.Popen(
                [*command, str(theirs.fileno()), str(cpu)],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                env=environment(KernelJob("echo")),
            )
        self._sockets.append(mine)
        self._children.append(child)


class RankPing:
    """A round trip of d bytes from this rank to each of several others, which call `answer`."""

    def __init__(self, comm: Comm, others: Sequence[int]) -> None:
        self._comm, self._others = comm, list(others)
        self._message = self._answer = bytearray(1)

    def complexity(self, d: int) -> float:  # noqa: ARG002
        """Return 0, as there is no arithmetic."""
        return 0.0

    def initialize(self, d: int) -> None:
        """Allocate buffers of d bytes."""
        self._message, self._answer = bytearray(d), bytearray(d)

    def execute(self) -> None:
        """Send to all, then receive from all."""
        for rank in self._others:
            self._comm.send(self._message, rank)
        for rank in self._others:
            self._comm.receive(self._answer, rank)

    def finalize(self) -> None:
        """Release the buffers."""
        self._message = self._answer = bytearray(1)

    def end(self) -> None:
        """Send each other rank an empty message, which makes its `answer` return."""
        for rank in self._others:
            self._comm.send(bytearray(), rank)


def answer(comm: Comm, largest: int, source: int = 0) -> None:
    """Send every message of rank `source` back until an empty one arrives.

    largest [B]: length of the longest message.
    """
    buffer = bytearray(largest)
    while count := comm.receive(buffer, source):
        comm.send(memoryview(buffer)[:count], source)
