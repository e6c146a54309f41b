"""Reads Paraver traces (.prv): the computing time of each rank, from the states of its threads.

Follows section 3.1.5 of [Cla14]_: a run of the application is traced (for example by Extrae), and
the time that each rank computed in an iteration, without communication and waiting, is a sample.

    #Paraver (date):end time_ns:...                      head; without _ns, microseconds
    1:cpu:application:task:thread:begin:end:state        a state; 1 is Running
    2:cpu:application:task:thread:time:type:value:...    events: pairs of type and value
"""

from __future__ import annotations

import bisect
import io
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from evener.errors import InputError
from evener.files.opening import open_input

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
