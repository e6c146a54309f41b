"""Times iterations of a user's program, and reads the trace files with such times.

CSV     a first line with the columns device, load, seconds, in any order; then one time per line
JSONL   one object per line: {"device": "rank0", "load": 1000, "seconds": 0.0021}, as by a TraceLog
.prv    traces of Paraver: see paraver.py

All times of one device at one load become one sample: their mean with Student's interval.
"""

from __future__ import annotations

import csv
import io
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from evener.errors import InputError
from evener.files.opening import read_bytes
from evener.files.writing import refusal
from evener.io.json_text import loads
from evener.measuring.outcomes import summarised
from evener.measuring.paraver import read_paraver
from evener.platforms.models.samples import DeviceSpeeds, Sample


class TimeSink(Protocol):
    """Receives the times of all devices in an iteration [s]: a Balancer, or a TraceLog."""

    def observe(self, times: Sequence[float]) -> Any:
        """Record one time for each device; return new sizes, or None to keep the present ones."""


class Gathering(Protocol):
    """Gathers the times of all ranks: a communicator of running.comm, or of mpi4py."""

    def allgather(self, value: float) -> list[float]:
        """Return the values of all ranks, by rank."""


class timed:  # noqa: N801 - reads as a verb: with timed(balancer)
    """Context manager that times its block and passes the time to the observer.

        with ev.timed(balancer, comm) as taken:
            compute(my_rows)
        if taken.sizes is not None:
            redistribute(taken.sizes)

    comm: communicator of the ranks whose times belong together; all of them must execute this
    block. If None, only this process is timed. clock: returns the time [s]. After the block:
    `seconds` of this rank, and `sizes` as returned by the observer. If the block raises an error,
    nothing is observed.
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
    """Appends each time to a trace file, as JSON lines, which `evener measure --trace` reads.

    device: name of the samples of this rank. load [units]: the present load; set it when it
    changes. An existing file is continued. Raises InputError if a load or time is not finite and
    above zero, and if the file cannot be written.
    """

    def __init__(self, path: str | Path, device: str, load: float) -> None:
        self._path, self.device, self.load = Path(path), device, load

    def observe(self, times: Sequence[float]) -> None:
        """Append a line. Raises InputError for the times of more than one rank."""
        if len(times) != 1:
            raise InputError(
                f"a TraceLog records one device, not {len(times)}",
                hint="Use timed(log) without a communicator; every rank writes its own file.",
            )
        sample = Sample(self.load, times[0])
        line = {"device": self.device, "load": sample.load, "seconds": sample.seconds}
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise refusal(error, self._path) from error


MAX_BYTES = 1 << 30  # of a CSV or JSONL file, which is read as a whole
KEYS = ("device", "load", "seconds")


@dataclass(frozen=True)
class TracedTime:
    """The time `seconds` [s] that a device once took for a load [units]."""

    device: str
    load: float
    seconds: float


@dataclass(frozen=True)
class Trace:
    """The devices with their samples; notes: a sentence for each omitted line."""

    devices: tuple[DeviceSpeeds, ...]
    notes: tuple[str, ...] = ()


def read_traces(
    paths: Sequence[str | Path],
    loads: Sequence[Sequence[float]] = (),
    *,
    iterations: int | None = None,
    event: int | None = None,
    confidence: float = 0.95,
) -> Trace:
    """Return the samples of all trace files, which may be of several runs or ranks of a program.

    loads [units]: for each Paraver file, the loads of its ranks. iterations, event: define the
    iterations of a Paraver file (see read_paraver). Raises InputError with file and line if a file
    is not a trace, and for times and loads that are not finite and above zero.
    """
    notes: list[str] = []
    taken: list[TracedTime] = []
    remaining = iter(loads)
    for path in paths:
        if Path(path).suffix == ".prv":
            own = next(remaining, None)
            if own is None:
                raise InputError(
                    "a Paraver file does not contain the loads of its ranks",
                    file=path,
                    hint="Give --loads L,L,..., a load for each rank, once for each Paraver file.",
                )
            times = read_paraver(path, iterations=iterations, event=event)
            taken += _of_ranks(path, times, own)
        else:
            taken += _lines(path, notes)
    if next(remaining, None) is not None:
        raise InputError("there are more lists of loads than Paraver files")
    return Trace(_devices(taken, confidence), tuple(notes))


def _devices(taken: Iterable[TracedTime], confidence: float) -> tuple[DeviceSpeeds, ...]:
    groups: dict[str, dict[float, list[float]]] = {}
    for one in taken:
        groups.setdefault(one.device, {}).setdefault(one.load, []).append(one.seconds)
    if not groups:
        raise InputError("no trace file contains times")
    return tuple(
        DeviceSpeeds(
            device,
            tuple(_sample(load, by_load[load], confidence) for load in sorted(by_load)),
            notes={"kernel": "a traced run"},
        )
        for device, by_load in groups.items()
    )


def _sample(load: float, times: Sequence[float], confidence: float) -> Sample:
    found = summarised(times, confidence)
    width = found.half_width if math.isfinite(found.half_width) else 0.0  # no interval
    return Sample(load, found.mean, width, found.kept)


def _of_ranks(
    path: str | Path, times: Sequence[Sequence[float]], loads: Sequence[float]
) -> list[TracedTime]:
    if len(times) != len(loads):
        raise InputError(f"{len(times)} ranks need {len(times)} loads, not {len(loads)}", file=path)
    return [
        TracedTime(f"rank{rank}", _checked(load, "load", path, None), seconds)
        for rank, (load, own) in enumerate(zip(loads, times, strict=True))
        for seconds in own
    ]


def _lines(path: str | Path, notes: list[str]) -> Iterator[TracedTime]:
    text = _text_of(path)
    if not text.strip():
        raise InputError("contains no times", file=path)
    is_json = text.lstrip().startswith("{")
    entries = _json_entries(path, text) if is_json else _csv_entries(path, text)
    whole = text.endswith("\n")
    last = text.rstrip().count("\n") + 1
    for line, entry in entries:
        if isinstance(entry, str):
            if line == last and not whole:  # the program was ended while it wrote
                notes.append(f"{path}: its last line is cut off and was left out")
                continue
            raise InputError(entry, file=path, line=line)
        device = entry["device"]
        if not (isinstance(device, str) and device.strip()):
            raise InputError("device must be a text that is not empty", file=path, line=line)
        load, seconds = (_checked(entry[key], key, path, line) for key in KEYS[1:])
        yield TracedTime(device.strip(), load, seconds)


def _json_entries(path: str | Path, text: str) -> Iterator[tuple[int, dict[str, Any] | str]]:
    del path
    for line, row in enumerate(text.splitlines(), start=1):
        if not row.strip():
            continue
        try:
            entry = loads(row)
        except ValueError as error:
            yield line, f"not JSON: {error}"
            continue
        if not isinstance(entry, dict):
            yield line, "not a JSON object"
            continue
        missing = [key for key in KEYS if key not in entry]
        yield line, f"{missing[0]} is missing" if missing else entry


def _csv_rows(path: str | Path, text: str) -> Iterator[tuple[int, list[str]]]:
    rows = csv.reader(io.StringIO(text))
    try:
        for row in rows:
            yield rows.line_num, row
    except csv.Error as error:
        reason = str(error).split(" - ")[0]
        raise InputError(f"is not CSV: {reason}", file=path, line=rows.line_num) from error


def _csv_entries(path: str | Path, text: str) -> Iterator[tuple[int, dict[str, Any] | str]]:
    rows = _csv_rows(path, text)
    names = [name.strip() for name in next(rows)[1]]
    missing = [key for key in KEYS if key not in names]
    if missing:
        raise InputError(
            f"has no column {missing[0]}", file=path, line=1,
            hint="The first line names the columns: device,load,seconds.",
        )  # fmt: skip
    for line, row in rows:
        if not row:
            continue
        if len(row) != len(names):
            yield line, f"{len(row)} fields, where the first line names {len(names)}"
            continue
        yield line, dict(zip(names, row, strict=True))


def _checked(value: Any, key: str, path: str | Path, line: int | None) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 < number < math.inf:
        raise InputError(
            f"{key} must be finite and above zero, not {value!r}", file=path, line=line
        )
    return number


def _text_of(path: str | Path) -> str:
    raw = read_bytes(path, MAX_BYTES)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InputError("is not text in UTF-8", file=path, line=line) from error
