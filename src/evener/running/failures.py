"""Failures of other ranks: device names for messages, and waits with a timeout.

A wait for another rank ends with an error that names the rank that does not answer. MPI processes
also ask each other who is waiting; the error names the ranks that do not reply within a second.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evener import errors
from evener.errors import EvenerError, ToolError

PATIENCE = 600.0  # seconds that a rank waits by default for another; a superstep takes less
GRACE = 2.0  # seconds in which the other threads must stop after one has failed
# A wait first tests SPINS times in a row, for messages that arrive soon; then it lets other
# threads run for YIELDING seconds; then it sleeps for REST times the time waited so far, at most
# LONGEST seconds, so that a message is noticed at most that much late. Chosen by timing, 2026-11:
# with these SPINS and YIELDING, a message that arrives at once costs no more than in MPI's own
# wait; with these REST and LONGEST, ranks that share a core leave it to each other.
SPINS, YIELDING, REST, LONGEST = 1000, 1e-3, 0.1, 1e-3
ANSWERS = 1.0  # seconds in which other processes must reply that they are waiting, too
# MPI tags: messages; "who is waiting?"; "this rank is waiting"; "this rank has failed".
MESSAGE, ASKED, ANSWERED, FAILED = 0, 32001, 32002, 32003
LONGEST_FAILURE = 1 << 14  # most bytes of an error that a process sends to the others


@dataclass(frozen=True)
class Names:
    """Device names of ranks, for messages such as "rank 2 (gpu0)"."""

    devices: Sequence[str] = ()

    def of(self, rank: int) -> str:
        """Return the name of a rank."""
        known = rank < len(self.devices)
        return f"rank {rank} ({self.devices[rank]})" if known else f"rank {rank}"

    def stalled(self, ranks: Sequence[int], seconds: float) -> ToolError:
        """Return the error that these ranks have not answered for this many seconds."""
        who = " and ".join(self.of(rank) for rank in ranks[:3]) or "a rank"
        more = f" and {len(ranks) - 3} more" if len(ranks) > 3 else ""
        verb = "has" if len(ranks) < 2 else "have"
        return ToolError(
            f"{who}{more} {verb} not answered for {seconds:,.3g} s",
            hint="It has stopped or computes for longer. Use --timeout SECONDS to wait longer.",
        )

    def failed(self, rank: int, error: BaseException) -> EvenerError:
        """Return an EvenerError as it is; for other exceptions, an error that names the rank."""
        if isinstance(error, EvenerError):
            return error
        if isinstance(error, MemoryError):
            return ToolError(f"{self.of(rank)} has run out of memory: {error}")
        return ToolError(f"{self.of(rank)} failed: {type(error).__name__}: {error}")


class MpiWaits:
    """Waits of one process for MPI requests, which end after `timeout` seconds.

    comm: a communicator on which nothing else uses the tags ASKED, ANSWERED and FAILED. names: of
    its ranks.
    """

    def __init__(self, mpi: Any, comm: Any) -> None:
        self._mpi, self._comm = mpi, comm
        self.timeout = PATIENCE
        self.names = Names()
        self._asking = threading.Lock()
        self._replies: list[Any] = []  # requests that MPI may not have completed yet
        self.has_failed = False  # whether another process has reported a failure

    def until(self, is_done: Callable[[], bool], rest: float = 0.0) -> None:
        """Wait until is_done() is true. Raises ToolError if that takes longer than the timeout.

        rest [s]: time to sleep between two calls of is_done; 0: by the constants of this module.
        """
        if rest <= 0:
            for _ in range(SPINS):
                if is_done():
                    return
        began, patience = time.monotonic(), self.timeout
        while not is_done():
            waited = time.monotonic() - began
            if waited < YIELDING and rest <= 0:
                os.sched_yield()
                continue
            time.sleep(rest or min(REST * waited, LONGEST))
            self._reply()
            if waited > patience:
                if self._asking.acquire(blocking=False):
                    try:
                        self._ask(waited)
                    finally:
                        self._asking.release()
                patience = waited + self.timeout

    def fail(self, error: BaseException) -> None:
        """Stop all other processes that wait, with an error that names this process."""
        own = self._comm.Get_rank()
        known = self.names.failed(own, error)
        who = "" if "rank " in known.message else f"{self.names.of(own)}: "
        text = json.dumps([type(known).__name__, who + known.message, known.hint]).encode()
        for rank in range(self._comm.Get_size()):
            if rank != own:
                self._replies.append(self._comm.Isend(bytearray(text), dest=rank, tag=FAILED))

    def _reply(self) -> None:
        """Reply if a process asks who is waiting; raise the error of a process that failed."""
        failed = self._comm.Improbe(source=self._mpi.ANY_SOURCE, tag=FAILED)
        if failed is not None:
            status = self._mpi.Status()
            text = bytearray(LONGEST_FAILURE)
            failed.Recv(text, status=status)
            kind, said, hint = json.loads(text[: status.Get_count()])
            self.has_failed = True
            raise getattr(errors, kind, ToolError)(said, hint=hint)
        asked = self._comm.Improbe(source=self._mpi.ANY_SOURCE, tag=ASKED)
        if asked is None:
            return
        status = self._mpi.Status()
        asked.Recv(bytearray(1), status=status)
        self._replies = [reply for reply in self._replies if not reply.Test()]
        to = status.Get_source()
        self._replies.append(self._comm.Isend(bytearray(1), dest=to, tag=ANSWERED))

    def _ask(self, waited: float) -> None:
        """Ask all other processes whether they wait; raise ToolError if some do not reply."""
        others = set(range(self._comm.Get_size())) - {self._comm.Get_rank()}
        self._replies += [self._comm.Isend(bytearray(1), dest=q, tag=ASKED) for q in others]
        began, status = time.monotonic(), self._mpi.Status()
        while others and time.monotonic() - began < ANSWERS:
            self._reply()
            answer = self._comm.Improbe(source=self._mpi.ANY_SOURCE, tag=ANSWERED)
            if answer is None:
                time.sleep(LONGEST)
                continue
            answer.Recv(bytearray(1), status=status)
            others.discard(status.Get_source())
        if others:
            raise self.names.stalled(sorted(others), waited)
