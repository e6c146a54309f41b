"""StreamGraph: filters that all run repeatedly at the same time, and the data between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray, IntArray, as_array, as_integers, as_numbers
from evener.errors import InputError
from evener.wording import plural, spread, two_lines

if TYPE_CHECKING:
    from evener.graphs.foreign import NetworkXGraph


MOST_TOKENS = 2.0**53  # on an edge: whole numbers that a float64 represents exactly
# Max. different needs, and beyond it max. filters times needs: a file of n filters, each with
# a different need, would require n x n numbers.
MOST_NEEDS, MOST_NEEDED = 64, 2**22
MOST = 1e100  # instructions, data, bytes: products and sums of all stay finite


class FilterRow(NamedTuple):
    """A filter by name, as in files and `StreamGraph.of`; fields as in StreamGraph."""

    name: str
    scalar: float
    vector: float = 1.0
    stateful: bool = False
    needs: Mapping[str, float] = {}


class EdgeRow(NamedTuple):
    """An edge between two filters, by their names; fields as in StreamGraph."""

    tail: str
    head: str
    nbytes: float
    tokens: float = 0.0


@dataclass(frozen=True, eq=False)
class StreamGraph:
    """A directed graph of filters, which all run at the same time, once per iteration.

    names: of the n filters, all different. scalar (n,): sequential instructions of a filter per
    iteration, T0 of [Muralidharan13]_; vector (n,): the number of data to which each instruction
    applies, T1, at least one. tails, heads (m,): edges tails[e] -> heads[e]; nbytes (m,): bytes per
    iteration on each edge. stateful (n,): filters whose runs each need the previous run, so that T1
    is 1. tokens (m,): the number of iterations whose data are on an edge at the start; every cycle
    needs tokens. needs: further requirements by name, (n,) each, which limit the devices where a
    filter may run.

    Raises InputError for different lengths, equal names, ends out of range, edges from a filter to
    itself, numbers that are negative, not finite or above 1e100, vector below 1, vector above 1 for
    stateful filters, tokens that are not whole, and cycles without tokens.
    """

    names: tuple[str, ...]
    scalar: FloatArray
    vector: FloatArray
    tails: IntArray
    heads: IntArray
    nbytes: FloatArray
    stateful: BoolArray | None = None
    tokens: FloatArray | None = None
    needs: Mapping[str, FloatArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "names", tuple(map(str, self.names)))
        _refuse_equal(self.names)
        put(self, "scalar", self._of_filters(self.scalar, "scalar", 0.0))
        put(self, "vector", self._of_filters(self.vector, "vector", 1.0))
        put(self, "stateful", self._flags())
        for name in ("tails", "heads"):
            put(self, name, self._ends(getattr(self, name), name))
        put(self, "nbytes", self._of_edges(self.nbytes, "bytes"))
        tokens = np.zeros(self.m) if self.tokens is None else self.tokens
        put(self, "tokens", self._whole_tokens(tokens))
        needs = {
            str(key): self._of_filters(value, str(key), 0.0) for key, value in self.needs.items()
        }
        put(self, "needs", needs)
        self._refuse_loops()
        self._refuse_wide_state()
        _refuse_cycles(self)

    def __repr__(self) -> str:
        first = plural(self.n, "filter"), plural(self.m, "edge")
        work = "" if self.n == 0 else f"{spread(self.scalar)} instructions"
        wide = "" if self.n == 0 else f"vectors of {spread(self.vector)}"
        return two_lines("StreamGraph", first, [part for part in (work, wide) if part])

    @property
    def n(self) -> int:
        """Number of filters."""
        return len(self.names)

    @property
    def m(self) -> int:
        """Number of edges."""
        return int(self.tails.size)

    @classmethod
    def of(cls, filters: Iterable[FilterRow], edges: Iterable[EdgeRow]) -> StreamGraph:
        """Return the graph of filters and of edges that name their filters.

        Raises InputError as the class does, and if an edge names an unknown filter.
        """
        rows, links = list(filters), list(edges)
        number = {row.name: i for i, row in enumerate(rows)}
        for edge in links:
            unknown = next((name for name in edge[:2] if name not in number), None)
            if unknown is not None:
                raise InputError(f"an edge ends at {unknown!r}, which is not a filter")
        keys = dict.fromkeys(key for row in rows for key in row.needs)
        refuse_many_needs(len(keys), len(rows))
        return cls(
            tuple(row.name for row in rows),
            np.array([row.scalar for row in rows], np.float64),
            np.array([row.vector for row in rows], np.float64),
            np.array([number[edge.tail] for edge in links], np.int64),
            np.array([number[edge.head] for edge in links], np.int64),
            np.array([edge.nbytes for edge in links], np.float64),
            np.array([row.stateful for row in rows], np.bool_),
            np.array([edge.tokens for edge in links], np.float64),
            {key: np.array([row.needs.get(key, 0.0) for row in rows]) for key in keys},
        )

    @classmethod
    def from_networkx(cls, graph: NetworkXGraph) -> StreamGraph:
        """Convert a directed networkx graph to a stream graph; filters are called str(node).

        Node attributes: scalar, and optionally vector, stateful and needs, a dict; edge attributes:
        bytes, and optionally tokens. Parallel edges are kept. Raises InputError as the class does,
        for undirected graphs, and for attributes that are missing or have another type.
        """
        from evener.graphs.stream_networkx import entries_of

        nodes, edges = entries_of(graph)
        return cls.of((FilterRow(*node) for node in nodes), (EdgeRow(*edge) for edge in edges))

    def to_networkx(self) -> Any:
        """Return a networkx.MultiDiGraph with the attributes that `from_networkx` takes.

        Raises ImportError if networkx is not installed.
        """
        from evener.graphs.stream_networkx import networkx_of

        return networkx_of(self.filter_rows(), self.edge_rows())

    def filter_rows(self) -> Iterator[FilterRow]:
        """Yield each filter in order, with its needs that are not zero."""
        columns = [(key, value.tolist()) for key, value in self.needs.items()]
        assert self.stateful is not None
        rows = zip(self.names, self.scalar.tolist(), self.vector.tolist(), self.stateful.tolist(),
                   strict=True)  # fmt: skip
        for i, row in enumerate(rows):
            yield FilterRow(*row, {key: value[i] for key, value in columns if value[i] != 0})

    def edge_rows(self) -> Iterator[EdgeRow]:
        """Yield each edge in order."""
        assert self.tokens is not None
        columns = (self.tails, self.heads, self.nbytes, self.tokens)
        for a, b, nbytes, tokens in zip(*(c.tolist() for c in columns), strict=True):
            yield EdgeRow(self.names[a], self.names[b], nbytes, tokens)

    def _whole_tokens(self, values: npt.ArrayLike) -> FloatArray:
        tokens = self._of_edges(values, "tokens")
        broken = tokens != np.rint(tokens)
        if broken.any():
            e = int(np.argmax(broken))
            raise InputError(f"tokens of {self._edge(e)} must be whole, not {tokens[e]:g}")
        if tokens.max(initial=0) > MOST_TOKENS:
            e = int(np.argmax(tokens))
            raise InputError(f"tokens of {self._edge(e)} are more than 2^53: {tokens[e]:g}")
        return tokens

    def _of_filters(self, values: npt.ArrayLike, name: str, least: float) -> FloatArray:
        return self._checked(as_numbers(values, name), name, self.n, least, self.names)

    def _of_edges(self, values: npt.ArrayLike, name: str) -> FloatArray:
        return self._checked(as_numbers(values, name), name, self.m, 0.0, None)

    def _checked(
        self, array: FloatArray, name: str, size: int, least: float, of: Sequence[str] | None
    ) -> FloatArray:
        if array.size != size:
            whose = "filters" if of is not None else "edges"
            raise InputError(
                f"{name} must have one entry for each of the {size:,} {whose}, not "
                f"{array.size:,} entries"
            )
        if size and array.min() < least:
            i = int(np.argmin(array))
            whose = f"filter {of[i]!r}" if of is not None else self._edge(i)
            raise InputError(f"{name} of {whose} must be >= {least:g}, not {array[i]:g}")
        if size and array.max() > MOST:
            i = int(np.argmax(array))
            whose = f"filter {of[i]!r}" if of is not None else self._edge(i)
            raise InputError(f"{name} of {whose} must be at most {MOST:g}, not {array[i]:g}")
        return array

    def _ends(self, values: npt.ArrayLike, name: str) -> IntArray:
        ends = as_integers(values, name)
        if ends.size and (ends.min() < 0 or ends.max() >= self.n):
            raise InputError(f"{name} must be numbers of filters, from 0 to {self.n - 1}")
        return ends

    def _flags(self) -> BoolArray:
        if self.stateful is None:
            return np.zeros(self.n, np.bool_)
        flags = as_array(self.stateful, "stateful")
        if flags.shape != (self.n,) or flags.dtype.kind != "b":
            raise InputError("stateful must be true or false for each filter")
        return flags

    def _edge(self, e: int) -> str:
        return f"the edge from {self.names[self.tails[e]]!r} to {self.names[self.heads[e]]!r}"

    def _refuse_loops(self) -> None:
        if self.heads.size != self.tails.size:
            raise InputError(
                f"there are {self.tails.size:,} tails but {self.heads.size:,} heads of edges"
            )
        loops = self.tails == self.heads
        if loops.any():
            name = self.names[self.tails[int(np.argmax(loops))]]
            hint = "Make a filter stateful if each run needs the previous run."
            raise InputError(f"an edge joins filter {name!r} to itself", hint=hint)

    def _refuse_wide_state(self) -> None:
        wide = np.asarray(self.stateful) & (self.vector > 1)
        if wide.any():
            i = int(np.argmax(wide))
            raise InputError(
                f"filter {self.names[i]!r} is stateful, but its vector is {self.vector[i]:g}",
                hint="Runs of a stateful filter follow each other, so its vector must be 1.",
            )


def refuse_many_needs(needs: int, filters: int) -> None:
    """Raise InputError if the table of filters by needs would take too much memory."""
    if needs > MOST_NEEDS and needs * filters > MOST_NEEDED:
        raise InputError(
            f"{needs:,} different needs of {filters:,} filters make a table of more than "
            f"{MOST_NEEDED:,} numbers",
            hint=f"Up to {MOST_NEEDS} different needs are possible for any number of filters.",
        )


def _refuse_equal(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise InputError(f"two filters have the name {name!r}")
            seen.add(name)
    if "" in names:
        raise InputError("a filter has an empty name")
    halves = next((name for name in names if any("\ud800" <= c <= "\udfff" for c in name)), None)
    if halves is not None:
        raise InputError(f"a filter's name must be valid UTF-8, unlike {halves!r}")


def _refuse_cycles(graph: StreamGraph) -> None:
    """Raise InputError if edges without tokens form a cycle: none of its filters could start."""
    cycle = cycle_without_tokens(graph)
    if cycle:
        shown = " -> ".join(repr(graph.names[v]) for v in [*cycle[:4], cycle[0]])
        more = "" if len(cycle) <= 4 else f" ({len(cycle)} filters in all)"
        raise InputError(
            f"filters wait for each other: {shown}{more}",
            hint="Give an edge of the cycle tokens: data that are on it at the start.",
        )


def cycle_without_tokens(graph: StreamGraph) -> list[int]:
    """Return the filters of a cycle of edges without tokens, in order; [] if there is none."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    assert graph.tokens is not None
    bare = graph.tokens == 0
    tails, heads = graph.tails[bare], graph.heads[bare]
    matrix = coo_array((np.ones(tails.size), (tails, heads)), (graph.n, graph.n))
    count, label = connected_components(matrix, directed=True, connection="strong")
    if count == graph.n:
        return []
    chosen = label == np.argmax(np.bincount(label))
    inside = chosen[tails] & chosen[heads]
    # Each filter of a strong component has an edge to another filter in it: follow these.
    ahead = dict(zip(tails[inside].tolist(), heads[inside].tolist(), strict=True))
    walk, place = [next(iter(ahead))], {}
    while walk[-1] not in place:
        place[walk[-1]] = len(walk) - 1
        walk.append(ahead[walk[-1]])
    return walk[place[walk[-1]] : -1]


def topological_order(graph: StreamGraph) -> npt.NDArray[np.int64]:
    """Return the filters (n,), each after those whose data it needs; ignores edges with tokens."""
    assert graph.tokens is not None
    bare = graph.tokens == 0
    tails, heads = graph.tails[bare], graph.heads[bare]
    waiting = np.bincount(heads, minlength=graph.n)
    order = np.argsort(tails, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=graph.n))])
    found: list[Any] = np.flatnonzero(waiting == 0).tolist()
    for v in found:
        for e in order[offsets[v] : offsets[v + 1]].tolist():
            waiting[heads[e]] -= 1
            if waiting[heads[e]] == 0:
                found.append(int(heads[e]))
    return np.array(found, np.int64)
