"""Times iterations of a user's program, for a balancer or for a trace file."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from evener.errors import InputError
from evener.files.writing import refusal
from evener.platforms.models.samples import Sample


class TimeSink(Protocol):
    """Receives the times of all devices in an iteration [s]: a Balancer, or a TraceLog."""

    def observe(self, times: Sequence[float]) -> Any:
        """Receive one time for each device; return new sizes, or None to keep the present ones."""


class Gathering(Protocol):
    """Gathers the times of all ranks: a communicator of running.comm, or of mpi4py."""

    def allgather(self, value: float) -> list[float]:
        """Return the values of all ranks, in their order."""


class timed:  # noqa: N801 - reads as a verb: with timed(balancer)
    """Time the block, and tell the observer.

        with ev.timed(balancer, comm) as taken:
            compute(my_rows)
        if taken.sizes is not None:
            redistribute(taken.sizes)

    comm: of the ranks whose times belong together, every one of which must get here; without it
    this process is all there is. clock: what is looked at [s]. After the block: `seconds` of this
    rank, and `sizes` as the observer returned them. Where the block raises, nothing is observed.
    """

    def __init__(
        self,
        observer: TimeSink,
        comm: Gathering | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._observer, self._comm, self._clock = observer, comm, clock
        self._began = 0.0
        self.seconds = 0.0
        self.sizes: Any = None

    def __enter__(self) -> Self:
        self._began = self._clock()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.seconds = self._clock() - self._began
        if error is None:
            times = self._comm.allgather(self.seconds) if self._comm else [self.seconds]
            self.sizes = self._observer.observe(times)


class TraceLog:
    """Writes each time to a trace file that `evener measure --trace` reads: JSON lines.

    device: the name this rank's samples go by. load [units]: what it computes now; set it when
    that changes. Lines are added to a file that is there already. Raises InputError for a load or a
    time that is not finite and above zero, and where the file cannot be written.
    """

    def __init__(self, path: str | Path, device: str, load: float) -> None:
        self._path, self.device, self.load = Path(path), device, load

    def observe(self, times: Sequence[float]) -> None:
        """Add a line; of the times of several ranks, only one rank's own is allowed."""
        if len(times) != 1:
            raise InputError(
                f"a TraceLog is one device's, not of {len(times)}",
                hint="Use timed(log) without a communicator; every rank writes its own file.",
            )
        sample = Sample(self.load, times[0])
        line = {"device": self.device, "load": sample.load, "seconds": sample.seconds}
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise refusal(error, self._path) from error
