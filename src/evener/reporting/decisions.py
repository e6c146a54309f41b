"""The report of a decision log: times, regret, moves with predicted and measured gains."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.files.writing import write_text
from evener.rebalancing.decision_log import Decisions, replay
from evener.rebalancing.regret import ENOUGH
from evener.reporting.html import render
from evener.wording import count, duration, percent, plural

MAX_LINES = 7  # devices with a line: the slowest
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 900.0, 58.0, 10.0, 22.0, 26.0
HEIGHTS = (250.0, 170.0)
MAX_POINTS = 1200  # of a line; of more, the smallest and largest in each interval
TICKS = 5  # at most, on either axis


@dataclass(frozen=True, eq=False)
class Course:
    """The data of the lines: times (n, k) [s], NaN if not measured; regret, price (n,) [s].

    span (n,): seconds of the slowest device. moves: the index in these arrays of each move.
    """

    times: FloatArray
    span: FloatArray
    regret: FloatArray
    price: FloatArray
    moves: list[int]


@dataclass(frozen=True)
class CourseLine:
    """A line: name, CSS class of its colour, SVG path."""

    name: str
    kind: str
    path: str


@dataclass(frozen=True)
class Chart:
    """A chart of `width` x `height`: lines, places of moves, ticks (place, text)."""

    title: str
    width: float
    height: float
    left: float
    right: float
    top: float
    floor: float
    lines: list[CourseLine]
    moves: list[float]
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]


@dataclass(frozen=True)
class Charts:
    """Two charts: times; regret and price of moving. drawn: number of devices with a line."""

    times: Chart
    lost: Chart
    drawn: int


def draw_course(names: list[str], course: Course) -> Charts:
    """Return the charts of a program's course; names (k,) of its devices."""
    totals = np.nan_to_num(course.times).sum(axis=0)
    slowest = np.sort(np.argsort(-totals, kind="stable")[:MAX_LINES]).tolist()
    times = [(names[b], f"c{i}", course.times[:, b]) for i, b in enumerate(slowest)]
    lost = [("regret", "regret", course.regret), ("price of moving", "price", course.price)]
    return Charts(
        _chart("Time of each device in an iteration", times, course.moves, HEIGHTS[0]),
        _chart("Time lost since the imbalance began, and the price of moving", lost, course.moves,
               HEIGHTS[1]),
        len(slowest),
    )  # fmt: skip


def _chart(
    title: str, series: list[tuple[str, str, FloatArray]], moves: list[int], height: float
) -> Chart:
    n = max(series[0][2].size, 1)
    finite = [values[np.isfinite(values)] for _, _, values in series]
    most = max([float(values.max()) for values in finite if values.size] or [0.0]) or 1.0
    floor = height - BOTTOM
    across = (WIDTH - LEFT - RIGHT) / max(n - 1, 1)
    up = (floor - TOP) / (1.05 * most)

    def x(number: float) -> float:
        return round(LEFT + across * (number - 1), 1)

    return Chart(
        title, WIDTH, height, LEFT, WIDTH - RIGHT, TOP, floor,
        [CourseLine(name, kind, _path(values, across, up, floor)) for name, kind, values in series],
        [x(i + 1) for i in moves],
        [(x(value), f"{value:,.0f}") for value in ticks(n, whole=True) if 1 <= value <= n],
        [(round(floor - up * value, 1), duration(value)) for value in ticks(1.05 * most)],
    )  # fmt: skip


def _path(values: FloatArray, across: float, up: float, floor: float) -> str:
    """Return the SVG path through all values; NaN interrupts it."""
    number = _extremes(values) if values.size > MAX_POINTS else np.arange(values.size)
    words, is_down = [], False
    for i in number.tolist():
        value = float(values[i])
        if not np.isfinite(value):
            is_down = False
            continue
        words.append(f"{'L' if is_down else 'M'}{LEFT + across * i:.1f} {floor - up * value:.1f}")
        is_down = True
    return "".join(words)


def _extremes(values: FloatArray) -> IntArray:
    """Return, ascending, the indices of the smallest and largest value of each interval."""
    chosen = []
    for part in np.array_split(np.arange(values.size), MAX_POINTS // 2):
        own = values[part]
        if np.isfinite(own).any():
            chosen += [part[np.nanargmin(own)], part[np.nanargmax(own)]]
        else:
            chosen.append(part[0])
    return np.unique(np.array(chosen, np.int64))


def ticks(most: float, *, whole: bool = False) -> list[float]:
    """Return round numbers from zero to `most`."""
    least = most / TICKS
    power = 10.0 ** np.floor(np.log10(least))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least * (1 - 1e-9))
    if whole:
        step = max(step, 1.0)
    return [float(step * i) for i in range(int(most / step * (1 + 1e-9)) + 1)]


# Iterations after a move over which its gain is measured, and last iterations in which a device
# without a measurement counts as silent.
NEAR = 10
MAX_ROWS = 200  # moves listed


@dataclass(frozen=True)
class MoveRow:
    """A move as text: when, how, predicted and measured gain."""

    iteration: str
    kind: str
    moved: str
    regret: str
    price: str
    took: str
    predicted: str
    measured: str


def write_decisions(path: str | Path, log: Decisions) -> str:
    """Write the report of a decision log, and return its verdict; equal logs give equal bytes."""
    course, rows = course_of(log), move_rows(log)
    verdict = verdict_of(log, course)
    page = render(
        "decisions.html.j2",
        verdict=verdict,
        names=log.names,
        charts=draw_course(log.names, course),
        rows=rows[:MAX_ROWS],
        n_moves=len(course.moves),
        silent=_silent(log.names, course),
        replayed=replay(log),
        enough=ENOUGH,
    )
    write_text(path, page)
    return verdict


def course_of(log: Decisions) -> Course:
    """Return the lines as arrays."""
    lines = _decided(log)
    times = np.array([[np.nan if t is None else t for t in line["times"]] for line in lines])
    times = times.reshape(len(lines), log.state.k).astype(np.float64)
    span = np.where(np.isnan(times), 0.0, times).max(axis=1) if len(lines) else np.zeros(0)
    regret, price = (
        np.array([line["decided"][key] for line in lines], np.float64) for key in ("regret", "cost")
    )
    moves = [i for i, line in enumerate(lines) if line["decided"]["move"] is not None]
    return Course(times, span, regret, price, moves)


def verdict_of(log: Decisions, course: Course) -> str:
    """Return a sentence on the whole log."""
    n, moves = len(course.span), len(course.moves)
    what = f"{plural(n, 'iteration')} on {plural(log.state.k, 'device')}"
    if not moves:
        return f"{what}: nothing was moved"
    took = sum(_took(log).values())
    saved = sum(s * min(after, n) for s, after in _obtained(course) if s is not None)
    words = f"{what}: data moved {'once' if moves == 1 else f'{moves} times'}"
    return f"{words}, {duration(took)} in total, and saved about {duration(max(saved, 0.0))} since"


def move_rows(log: Decisions) -> list[MoveRow]:
    """Return a row for each move."""
    course, lines = course_of(log), _decided(log)
    took = _took(log)
    obtained = _obtained(course)
    totals = _totals(log)
    rows = []
    for number, (i, (saving, _)) in enumerate(zip(course.moves, obtained, strict=True)):
        decided = lines[i]["decided"]
        chosen = lines[i]["proposals"][decided["choice"]]
        total = max(totals[i], 1e-300)
        rows.append(
            MoveRow(
                count(lines[i]["iteration"]),
                str(decided["move"]),
                percent(chosen["moved"] / total),
                duration(decided["regret"]),
                duration(decided["cost"]),
                duration(took.get(number)),
                duration(decided["saving"]),
                duration(saving) if saving is None or saving > 0 else f"−{duration(-saving)}",
            )
        )
    return rows


def _decided(log: Decisions) -> list[dict[str, Any]]:
    return [line for line in log.lines if "decided" in line]


def _totals(log: Decisions) -> list[float]:
    """Return the total work of each iteration [units]; it varies if weights change."""
    found, total = [], float(log.state.loads.sum())
    for line in _decided(log):
        if line.get("state") is not None:
            total = float(sum(line["state"]["loads"]))
        found.append(total)
    return found


def _took(log: Decisions) -> dict[int, float]:
    """Return the measured duration [s] of each move, by its number.

    If several records contain a duration, the last one counts.
    """
    found: dict[int, float] = {}
    number = -1
    for line in log.lines:
        if "took" in line:
            found[number] = float(line["took"])
        elif line["decided"]["move"] is not None:
            number += 1
    return found


def _obtained(course: Course) -> list[tuple[float | None, int]]:
    """Return, for each move, the time saved per iteration [s], and how many iterations followed."""
    ends = [*[i + 1 for i in course.moves], len(course.span)][1:]
    found: list[tuple[float | None, int]] = []
    before = 0
    for i, end in zip(course.moves, ends, strict=True):
        # Up to three iterations before the move in which regret grew, that is, with the imbalance.
        first = i
        while first > max(before, i - 2) and 0 < course.regret[first - 1] < course.regret[first]:
            first -= 1
        earlier = course.span[first : i + 1]
        later = course.span[i + 1 : min(i + 1 + NEAR, end)]
        saving = float(np.mean(earlier) - np.mean(later)) if later.size else None
        found.append((saving, end - i - 1))
        before = i + 1
    return found


def _silent(names: list[str], course: Course) -> list[str]:
    """Return the devices that were not measured in the last iterations."""
    gone = np.isnan(course.times[-NEAR:]).all(axis=0) if len(course.span) else np.zeros(0)
    return [names[b] for b in np.flatnonzero(gone)]
