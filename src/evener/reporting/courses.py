"""Times of devices over iterations, and what was lost, as charts: lines, moves, ticks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.durations import duration

MOST_LINES = 7  # devices drawn each by itself: those that took longest
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 900.0, 58.0, 10.0, 22.0, 26.0
HEIGHTS = (250.0, 170.0)
MOST_POINTS = 1200  # of a line: of more, the least and the largest of each few
TICKS = 5  # at most, on either axis


@dataclass(frozen=True, eq=False)
class Course:
    """What the lines hold, as arrays: times (n, k) [s], NaN where untold; regret, price (n,) [s].

    span (n,): seconds of the slowest device. moves: the line index of each.
    """

    times: FloatArray
    span: FloatArray
    regret: FloatArray
    price: FloatArray
    moves: list[int]


@dataclass(frozen=True)
class Line:
    """A line: what it is, the CSS class that colours it, its path."""

    name: str
    kind: str
    path: str


@dataclass(frozen=True)
class Chart:
    """One chart of `width` x `height`: its lines, where moves were, ticks (place, text)."""

    title: str
    width: float
    height: float
    left: float
    right: float
    top: float
    floor: float
    lines: list[Line]
    moves: list[float]
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]


@dataclass(frozen=True)
class Charts:
    """Times above, regret and price of moving below; drawn: devices that have a line."""

    times: Chart
    lost: Chart
    drawn: int


def draw_course(names: list[str], course: Course) -> Charts:
    """Return the charts of a program's course; names (k,) of its devices."""
    totals = np.nan_to_num(course.times).sum(axis=0)
    slowest = np.sort(np.argsort(-totals, kind="stable")[:MOST_LINES]).tolist()
    times = [(names[b], f"c{i}", course.times[:, b]) for i, b in enumerate(slowest)]
    lost = [("regret", "regret", course.regret), ("price of moving", "price", course.price)]
    return Charts(
        _chart("Time of each device in an iteration", times, course.moves, HEIGHTS[0]),
        _chart("Lost since the imbalance began, and the price of moving", lost, course.moves,
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
        [Line(name, kind, _path(values, across, up, floor)) for name, kind, values in series],
        [x(i + 1) for i in moves],
        [(x(value), f"{value:,.0f}") for value in _ticks(n, whole=True) if 1 <= value <= n],
        [(round(floor - up * value, 1), duration(value)) for value in _ticks(1.05 * most)],
    )  # fmt: skip


def _path(values: FloatArray, across: float, up: float, floor: float) -> str:
    """The line through all values that are numbers; it breaks where one is none."""
    number = _extremes(values) if values.size > MOST_POINTS else np.arange(values.size)
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
    """Indices, ascending, of the least and the largest value of each of a few hundred parts."""
    chosen = []
    for part in np.array_split(np.arange(values.size), MOST_POINTS // 2):
        own = values[part]
        if np.isfinite(own).any():
            chosen += [part[np.nanargmin(own)], part[np.nanargmax(own)]]
        else:
            chosen.append(part[0])
    return np.unique(np.array(chosen, np.int64))


def _ticks(most: float, *, whole: bool = False) -> list[float]:
    """Round numbers from zero up to `most`."""
    least = most / TICKS
    power = 10.0 ** np.floor(np.log10(least))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least * (1 - 1e-9))
    if whole:
        step = max(step, 1.0)
    return [float(step * i) for i in range(int(most / step * (1 + 1e-9)) + 1)]
