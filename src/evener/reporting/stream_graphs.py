"""Draw a stream graph in ranks: filters from left to right, in the order of the data flow.

A rank contains the filters whose longest paths from a source have equal length; a rank with many
filters takes several columns. Columns that do not fit next to each other continue in a band below,
like lines of text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.graphs.stream_graph import StreamGraph, topological_order
from evener.wording import plural

WIDTH = 1080.0  # pixels of the drawing
GUTTER = 18.0  # on both sides, for edges between bands
GAP = 26.0  # between bands
LANE = 4.0  # distance of parallel edges from band to band
LANES = 5
WIDEST = 4.0  # cells from a column to the next, if there is space
SWEEPS = 6  # of ordering, each way
CURVE = 0.42  # of the distance: how far an edge leaves its filter level
HEAVY = 0.5  # of the period, from which a filter is marked
WIDTHS = (0.8, 1.6, 2.8, 4.4)  # of edges between devices, by bytes
STREAMIT = re.compile(r"_pop_\d+(?:_peek_\d+)?_push_\d+")
CHARACTER = 6.4  # width of a character of 11 px


class Style(NamedTuple):
    """How filters are drawn: cell, box in it [px], rows of a column, maximum height and filters."""

    cell: tuple[float, float]
    mark: tuple[float, float]
    rows: int
    tallest: float
    most: int


NAMED = Style((104.0, 34.0), (88.0, 24.0), 16, 900.0, 140)
NUMBERED = Style((32.0, 25.0), (25.0, 20.0), 24, 1300.0, 600)


class FilterMark(NamedTuple):
    """A filter: its box [px], colour, text, tooltip, filled part [px]; whether heavy, stateful."""

    x: float
    y: float
    width: float
    height: float
    colour: str
    text: str
    title: str
    filled: float
    is_heavy: bool
    is_stateful: bool


@dataclass(frozen=True)
class StreamDrawing:
    """A drawing `width` x `height`: edges within devices, and others by width; filters.

    feedback: edges with initial data. is_named: whether filters show their names, or the numbers of
    their devices.
    """

    width: int
    height: int
    inner: str
    between: list[tuple[float, str]]
    feedback: str
    marks: list[FilterMark]
    is_named: bool
    caption: str


def draw_stream_graph(
    graph: StreamGraph,
    part: IntArray,
    shares: FloatArray,
    colours: Sequence[str],
    titles: Sequence[str],
) -> StreamDrawing | None:
    """Return the picture of a graph, or None if it has too many filters.

    part (n,): device of each filter; shares (n,): share of the period that it takes; colours (k,):
    of devices; titles (n,): tooltips.
    """
    if not 0 < graph.n <= NUMBERED.most:
        return None
    ranks = ranks_of(graph)
    order = _ordered(graph, ranks, part)
    for style in (NAMED, NUMBERED):
        places, tops, height = _placed(ranks, order, style)
        if graph.n <= style.most and height <= style.tallest:
            break
    else:
        return None
    marks = [
        _mark(graph, v, places[v], int(part[v]), float(shares[v]), style, colours, titles[v])
        for v in range(graph.n)
    ]
    inner, between, feedback = _edges(graph, part, places, tops, style)
    caption = _caption(graph, shares, is_named=style is NAMED)
    return StreamDrawing(
        round(WIDTH), round(height), inner, between, feedback, marks, style is NAMED, caption
    )


def ranks_of(graph: StreamGraph) -> IntArray:
    """Return each filter's rank (n,): the length of the longest path to it.

    A source with readers gets the lowest rank of its readers, minus 1. Edges with initial data
    (tokens) are ignored.
    """
    assert graph.tokens is not None
    bare = graph.tokens == 0
    ahead: list[list[int]] = [[] for _ in range(graph.n)]
    for tail, head in zip(graph.tails[bare].tolist(), graph.heads[bare].tolist(), strict=True):
        ahead[tail].append(head)
    rank = [0] * graph.n
    for v in topological_order(graph).tolist():
        for u in ahead[v]:
            rank[u] = max(rank[u], rank[v] + 1)
    source = np.bincount(graph.heads[bare], minlength=graph.n) == 0
    for v in np.flatnonzero(source).tolist():
        if ahead[v]:
            rank[v] = min(rank[u] for u in ahead[v]) - 1
    return np.array(rank, np.int64)


def short_name(name: str, most: int) -> str:
    """Return a name without StreamIt's rates, shortened in its middle to `most` characters."""
    name = STREAMIT.sub("", name)
    if len(name) <= most:
        return name
    end = most // 3
    return f"{name[: most - end - 1]}…{name[len(name) - end :]}"


def _ordered(graph: StreamGraph, ranks: IntArray, part: IntArray) -> list[IntArray]:
    """Return the filters of each rank from top to bottom, near the filters they are joined to."""
    n, count = graph.n, int(ranks.max()) + 1
    own: list[IntArray] = [np.flatnonzero(ranks == r) for r in range(count)]
    place = np.empty(n)
    for some in own:
        place[some] = (np.arange(some.size) + 0.5) / some.size
    forward = ranks[graph.tails] < ranks[graph.heads]
    tails, heads = graph.tails[forward], graph.heads[forward]
    for sweep in range(SWEEPS):
        to, of = (heads, tails) if sweep % 2 == 0 else (tails, heads)
        degree = np.bincount(to, minlength=n)
        for r in range(count) if sweep % 2 == 0 else reversed(range(count)):
            some = own[r]
            total = np.bincount(to, place[of], n)[some]
            wanted = np.where(degree[some] > 0, total / np.maximum(degree[some], 1), place[some])
            order = np.lexsort((place[some], part[some], np.round(wanted, 6)))
            own[r] = some[order]
            place[own[r]] = (np.arange(some.size) + 0.5) / some.size
    return own


def _placed(
    ranks: IntArray, order: list[IntArray], style: Style
) -> tuple[FloatArray, FloatArray, float]:
    """Return centres (n, 2) of filters, (n,) tops of their bands, and the height [px]."""
    columns = [
        some[start : start + -(-some.size // -(-some.size // style.rows))]
        for some in order
        for start in range(0, some.size, -(-some.size // -(-some.size // style.rows)))
    ]
    width, height = style.cell
    each = int((WIDTH - 2 * GUTTER) // width)
    bands = -(-len(columns) // each)
    each = -(-len(columns) // bands)  # of equal length
    room = WIDTH - 2 * GUTTER
    step = room / each if bands > 1 else min(WIDEST * width, room / each)
    left = GUTTER if bands > 1 else (WIDTH - step * each) / 2
    places, tops, top = np.empty((ranks.size, 2)), np.empty(ranks.size), GAP
    for band in range(bands):
        own = columns[band * each : (band + 1) * each]
        tall = max(column.size for column in own) * height
        for i, column in enumerate(own):
            first = top + (tall - column.size * height) / 2 + height / 2
            places[column, 0] = left + step * (i + 0.5)
            places[column, 1] = first + height * np.arange(column.size)
            tops[column] = top
        top += tall + GAP
    return places, tops, top


def _mark(
    graph: StreamGraph, v: int, place: FloatArray, device: int, share: float, style: Style,
    colours: Sequence[str], title: str,
) -> FilterMark:  # fmt: skip
    assert graph.stateful is not None
    width, height = style.mark
    text = (
        short_name(graph.names[v], int((width - 6) / CHARACTER)) if style is NAMED else f"{device}"
    )
    x, y = float(place[0]) - width / 2, float(place[1]) - height / 2
    filled = round(width * min(share, 1.0), 1)
    return FilterMark(
        round(x, 1), round(y, 1), width, height, colours[device], text, title, filled,
        share >= HEAVY, bool(graph.stateful[v]),
    )  # fmt: skip


def _edges(
    graph: StreamGraph, part: IntArray, places: FloatArray, tops: FloatArray, style: Style
) -> tuple[str, list[tuple[float, str]], str]:
    """Return paths of edges within devices, between devices by width, and with initial data."""
    assert graph.tokens is not None
    inner, feedback = [], []
    between: list[list[str]] = [[] for _ in WIDTHS]
    most = max(float(graph.nbytes.max(initial=0.0)), 1e-300)
    level = np.minimum((np.sqrt(graph.nbytes / most) * len(WIDTHS)).astype(int), len(WIDTHS) - 1)
    half = style.mark[0] / 2
    for e in range(graph.m):
        a, b = int(graph.tails[e]), int(graph.heads[e])
        lane = LANE * (e % LANES - LANES // 2)
        path = _path(places[a], places[b], half, float(tops[b]) - GAP / 2 + lane, lane / 2)
        if graph.tokens[e] > 0:
            feedback.append(path)
        elif part[a] == part[b]:
            inner.append(path)
        else:
            between[level[e]].append(path)
    drawn = [(w, "".join(some)) for w, some in zip(WIDTHS, between, strict=True) if some]
    return "".join(inner), drawn, "".join(feedback)


def _path(tail: FloatArray, head: FloatArray, half: float, above: float, aside: float) -> str:
    """Return the SVG path of an edge: a curve to the right, or around, at the height `above`."""
    x0, y0, x1, y1 = tail[0] + half, tail[1], head[0] - half, head[1]
    start, end = f"M{x0:.0f} {y0:.0f}", f"{x1:.0f} {y1:.0f}"
    if x1 > x0:
        bend = CURVE * (x1 - x0)
        return f"{start}C{x0 + bend:.0f} {y0:.0f} {x1 - bend:.0f} {y1:.0f} {end}"
    return f"{start}H{x0 + 6 + aside:.0f}V{above:.0f}H{x1 - 6 - aside:.0f}V{y1:.0f}H{x1:.0f}"


def _caption(graph: StreamGraph, shares: FloatArray, *, is_named: bool) -> str:
    assert graph.tokens is not None and graph.stateful is not None
    said = ["Data flow from left to right"]
    if is_named:
        said.append("the dark part of a box is the share of the period that the filter takes")
    else:
        said.append("a box is a filter, with the number of its device")
    if (shares >= HEAVY).any():
        said.append("framed: half the period or more")
    if graph.stateful.any():
        said.append("square corners: stateful")
    if (graph.tokens > 0).any():
        said.append(f"dashed: {plural(int((graph.tokens > 0).sum()), 'edge')} with initial data")
    return "; ".join(said) + ". Point at a box for details."
