"""Times iterations of a user's program, and reads the trace files with such times.

CSV     a first line with the columns device, load, seconds, in any order; then one time per line
JSONL   one object per line: {"device": "rank0", "load": 1000, "seconds": 0.0021}, as by a TraceLog
.prv    traces of Paraver, as by Extrae: the time that each rank computed in an iteration, without
        communication and waiting ([Cla14]_, 3.1.5)

            #Paraver (date):end time_ns:...                    head; without _ns, microseconds
            1:cpu:application:task:thread:begin:end:state      a state; 1 is Running
            2:cpu:application:task:thread:time:type:value:...  events: pairs of type and value

All times of one device at one load become one sample: their mean with Student's interval.
"""

from __future__ import annotations

import bisect
import csv
import io
import json
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from evener.errors import InputError
from evener.files.opening import open_input, read_bytes
from evener.files.writing import refusal
from evener.io.json_text import loads
from evener.measuring.outcomes import summarised
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
            yield (
                line,
                f"the line has {len(row)} fields, but the first line names {len(names)} columns",
            )
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


RUNNING = 1
LONGEST_TIME = 2**63  # ticks: the times of a trace are 64-bit numbers
LONGEST_LINE = 2**24  # characters; a record has about a hundred
Intervals = list[tuple[int, int]]


def read_paraver(
    path: str | Path, *, iterations: int | None = None, event: int | None = None
) -> list[list[float]]:
    """Return the computing times of each rank, one per iteration [s].

    event: type of the event that a rank records when an iteration begins; time before the first and
    after the last does not count. If None, there is one time per rank: its total divided by
    `iterations` (by default 1). Of several threads of a rank, the busiest counts. An incomplete
    last line is ignored. Raises InputError with file and line if the file is not a trace, if a rank
    never computes, or if it has fewer than two such events.
    """
    if iterations is not None and iterations < 1:
        raise InputError(f"iterations must be one or more, not {iterations}")
    unit, states, marks = _records(path, event)
    if not states:
        raise InputError("contains no state of any rank", file=path)
    ranks = sorted({task for task, _ in states})
    times = []
    for task in ranks:
        threads = [states[key] for key in sorted(states) if key[0] == task]
        if event is None:
            ends = [(min(t[0][0] for t in threads), max(t[-1][1] for t in threads))]
            over = iterations or 1
        else:
            begins = sorted(marks.get(task, []))
            if len(begins) < 2:
                raise InputError(
                    f"rank {task - 1} has fewer than two events of type {event}", file=path
                )
            ends, over = list(pairwise(begins)), 1
        found = [max(_within(thread, *end) for thread in threads) * unit / over for end in ends]
        if not min(found) > 0:
            raise InputError(f"rank {task - 1} has an iteration without computing", file=path)
        times.append(found)
    return times


def _records(
    path: str | Path, event: int | None
) -> tuple[float, dict[tuple[int, int], Intervals], dict[int, list[int]]]:
    """Return seconds per tick, running intervals by (task, thread), event times by task."""
    states: dict[tuple[int, int], Intervals] = {}
    marks: dict[int, list[int]] = {}
    try:
        with io.TextIOWrapper(open_input(path), "utf-8", "replace") as file:
            head = file.readline(LONGEST_LINE)
            if not head.startswith("#Paraver"):
                raise InputError("is not a Paraver trace: its first line lacks #Paraver", file=path)
            rows = iter(lambda: file.readline(LONGEST_LINE), "")
            for number, line in enumerate(rows, start=2):
                if len(line) == LONGEST_LINE:
                    raise InputError("is not a Paraver trace: a line is too long", file=path,
                                     line=number)  # fmt: skip
                if not line.endswith("\n"):  # the last one, incomplete; its numbers may be, too
                    break
                try:
                    _take(line, event, states, marks)
                except ValueError as error:
                    raise InputError(
                        f"is not a Paraver record: {line.strip()[:60]!r}", file=path, line=number
                    ) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be read: {reason}", file=path) from error
    unit = 1e-9 if re.search(r"\):\d+_ns:", head) else 1e-6
    return unit, {key: sorted(own) for key, own in states.items()}, marks


def _take(
    line: str,
    event: int | None,
    states: dict[tuple[int, int], Intervals],
    marks: dict[int, list[int]],
) -> None:
    """Add one record. Raises ValueError if the line is not a record."""
    if line.startswith("1:"):
        _, _, _, task, thread, begin, end, state = (int(word) for word in line.split(":"))
        if begin > end or max(-begin, end) > LONGEST_TIME:
            raise ValueError(line)
        if state == RUNNING:
            states.setdefault((task, thread), []).append((begin, end))
    elif line.startswith("2:") and event is not None:
        _, _, _, task, thread, time, *pairs = (int(word) for word in line.split(":"))
        if abs(time) > LONGEST_TIME:
            raise ValueError(line)
        if event in pairs[::2] and thread == 1:
            marks.setdefault(task, []).append(time)


def _within(intervals: Sequence[tuple[int, int]], begin: int, end: int) -> int:
    """Return how much of [begin, end) the intervals cover; they are sorted and disjoint."""
    first = max(bisect.bisect(intervals, (begin,)) - 1, 0)
    covered = 0
    for a, b in intervals[first:]:
        if a >= end:
            break
        covered += max(min(b, end) - max(a, begin), 0)
    return covered
