"""Copies of filters: each does a range of the data that one iteration has for its filter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.errors import InputError
from evener.graphs.stream_graph import StreamGraph

LEAST = 1.0  # data of a copy, at least


@dataclass(frozen=True, eq=False)
class FilterCopies:
    """Of c copies: of (c,) the filter of each; low, high (c,) its data, from low to below high.

    The copies of a filter follow each other, and their ranges are its vector T1 in all: they share
    one iteration's data.
    """

    of: IntArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def single(cls, graph: StreamGraph) -> FilterCopies:
        """Return one copy of each filter."""
        return cls(np.arange(graph.n), np.zeros(graph.n), graph.vector.copy())

    @property
    def counts(self) -> IntArray:
        """(n,) copies of each filter."""
        return np.bincount(self.of)

    def divided(self, copy: int, at: float) -> FilterCopies:
        """Return the copies with one more: that of data from `at` on leaves `copy`."""
        new = copy + 1
        high = np.insert(self.high, copy, at)
        return FilterCopies(
            np.insert(self.of, new, self.of[copy]), np.insert(self.low, new, at), high
        )

    def merged(self, part: IntArray) -> tuple[FilterCopies, IntArray]:
        """Return copies, and their processors, of which no two of a filter are on the same one."""
        order = np.lexsort((self.low, part, self.of))
        first = np.ones(order.size, np.bool_)
        same = (np.diff(self.of[order]) == 0) & (np.diff(part[order]) == 0)
        first[1:] = ~same
        at = np.cumsum(first) - 1
        size = np.bincount(at, (self.high - self.low)[order])
        of, processors = self.of[order][first], part[order][first]
        ends = np.cumsum(size)
        begins = np.concatenate([[0.0], ends[:-1]])
        start = begins[np.searchsorted(of, of)]
        return FilterCopies(of, begins - start, ends - start), processors


def with_copies(graph: StreamGraph, copies: FilterCopies) -> StreamGraph:
    """Return the graph whose filters are the copies; copy 2 of 3 of "f" is called "f 2/3".

    Bytes of an edge are divided as the data of its ends are: a copy sends to and receives from
    those of which it has the same part of the iteration. Raises InputError where a filter of
    state has copies, and where one has no whole datum.
    """
    counts = copies.counts
    many = counts > 1
    stateful = np.asarray(graph.stateful)
    if (many & stateful).any():
        name = graph.names[int(np.argmax(many & stateful))]
        raise InputError(f"filter {name!r} is stateful, and has copies")
    size = copies.high - copies.low
    if size.min(initial=LEAST) < LEAST:
        raise InputError(
            f"a copy of filter {graph.names[copies.of[int(np.argmin(size))]]!r} is idle"
        )
    first = np.concatenate([[0], np.cumsum(counts)])
    number = np.arange(copies.of.size) - first[copies.of]
    names = tuple(
        f"{graph.names[i]} {j + 1}/{counts[i]}" if counts[i] > 1 else graph.names[i]
        for i, j in zip(copies.of.tolist(), number.tolist(), strict=True)
    )
    edges, tails, heads = _pairs(graph, counts, first)
    low, high = copies.low / graph.vector[copies.of], copies.high / graph.vector[copies.of]
    common = np.minimum(high[tails], high[heads]) - np.maximum(low[tails], low[heads])
    kept = common > 0
    edges, tails, heads, common = edges[kept], tails[kept], heads[kept], common[kept]
    assert graph.tokens is not None
    return StreamGraph(
        names, graph.scalar[copies.of], size, tails, heads, graph.nbytes[edges] * common,
        stateful=stateful[copies.of], tokens=graph.tokens[edges],
        needs={key: value[copies.of] for key, value in graph.needs.items()},
    )  # fmt: skip


def _pairs(
    graph: StreamGraph, counts: IntArray, first: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return, for each edge and each pair of copies of its ends: the edge, and the two copies."""
    times = counts[graph.tails] * counts[graph.heads]
    edges = np.repeat(np.arange(graph.m), times)
    within = np.arange(edges.size) - np.repeat(np.cumsum(times) - times, times)
    heads_of = counts[graph.heads[edges]]
    tails = first[graph.tails[edges]] + within // np.maximum(heads_of, 1)
    return edges, tails, first[graph.heads[edges]] + within % np.maximum(heads_of, 1)
