"""Reads stream graphs in Graphviz's DOT: with costs as attributes, or StreamIt's, with rates.

Costs: `scalar`, `vector` and `stateful` of nodes, `bytes` of edges; every node needs a
`scalar`, every edge `bytes`. StreamIt's compiler writes what a filter takes and makes in a run into
its label, NAME_pop_8_push_4, and what splitters and joiners do: roundrobin(1, 2), duplicate.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

from evener.graphs.stream_graph import StreamGraph
from evener.io.dataflow.listed import Listed
from evener.io.graphs.dot_statements import BEGINS, Reader, Token
from evener.io.sources import Source

BYTES_PER_ITEM = 4  # StreamIt's int and float
_RATES = re.compile(r"_pop_(\d+)(?:_peek_(\d+))?_push_(\d+)\Z")
_WEIGHTS = re.compile(r"(?i)(?:weighted_?)?roundrobin\s*(?:\(([\d,\s]*)\))?\Z|(duplicate)\b")
_KEYS = {b"scalar", b"vector", b"stateful", b"bytes", b"label"}


def recognises(source: Source) -> bool:
    """Return whether the file begins with `digraph`."""
    return source.is_text and BEGINS.match(source.head) is not None


def read(source: Source) -> StreamGraph:
    """Return the graph. Raises InputError for what has neither costs nor rates."""
    reader = _Attributes(source, directed=True)
    found = reader.read()
    names = [_text(source, name) for name in found.number]
    ends = list(zip(found.u, found.v, strict=True))
    if any(b"scalar" in own for own in reader.of_node.values()):
        return _with_costs(source, names, reader, ends)
    return _with_rates(source, names, reader, ends)


class _Attributes(Reader):
    """Keeps the attributes of nodes and edges that say what they cost."""

    def __init__(self, source: Source, *, directed: bool) -> None:
        super().__init__(source, directed=directed)
        self.of_node: dict[int, dict[bytes, Token]] = {}
        self.of_edge: list[dict[bytes, Token]] = []

    def _describe(self, node: int, own: dict[bytes, Token]) -> None:
        kept = {key: token for key, token in own.items() if key in _KEYS}
        self.of_node.setdefault(node, {}).update(kept)

    def _attributes(self) -> dict[bytes, Token]:
        own = super()._attributes()
        self._last = {**self._defaults[-1][1], **own}
        return {key: token for key, token in own.items() if key != b"weight"}

    def _edges(self, token: Token) -> None:
        before = len(self._found.u)
        super()._edges(token)
        self.of_edge += [self._last] * (len(self._found.u) - before)


def _with_costs(
    source: Source, names: list[str], reader: _Attributes, ends: list[tuple[int, int]]
) -> StreamGraph:
    listed = Listed(source)
    for node, name in enumerate(names):
        own = reader.of_node.get(node, {})
        if b"scalar" not in own:
            raise source.error(f"has no scalar of node {name!r}, and has some of others")
        listed.add_filter(
            name, _number(source, own, b"scalar", 1.0), _number(source, own, b"vector", 1.0)
        )
        if b"stateful" in own and own[b"stateful"].text.lower() in (b"true", b"1", b"yes"):
            listed.stateful.add(name)
    for (tail, head), own in zip(ends, reader.of_edge, strict=True):
        if b"bytes" not in own:
            raise source.error(f"has no bytes of the edge {names[tail]!r} -> {names[head]!r}")
        listed.add_edge(names[tail], names[head], _number(source, own, b"bytes", 0.0))
    return listed.graph()


class _Rates(NamedTuple):
    """Items that a node takes from each edge into it, and makes for each one out, in a run."""

    takes: list[int]
    makes: list[int]


def _with_rates(
    source: Source, names: list[str], reader: _Attributes, ends: list[tuple[int, int]]
) -> StreamGraph:
    """Return StreamIt's graph: runs of nodes in an iteration balance what is made and taken.

    Nothing in the file says how long a filter takes: its instructions in a run are as many as
    the items that it takes and makes, one at least. Its runs in an iteration are its width.
    """
    into: list[list[int]] = [[] for _ in names]
    out: list[list[int]] = [[] for _ in names]
    for e, (tail, head) in enumerate(ends):
        out[tail].append(e)
        into[head].append(e)
    rates = [
        _rates(source, names[v], reader.of_node.get(v, {}), len(into[v]), len(out[v]))
        for v in range(len(names))
    ]
    made = {e: rates[v].makes[i] for v, some in enumerate(out) for i, e in enumerate(some)}
    taken = {e: rates[v].takes[i] for v, some in enumerate(into) for i, e in enumerate(some)}
    runs = _repetitions(source, names, ends, made, taken)
    listed = Listed(source)
    for v, name in enumerate(names):
        work = max(sum(rates[v].takes) + sum(rates[v].makes), 1)
        listed.add_filter(name, float(work), float(runs[v]))
    for e, (tail, head) in enumerate(ends):
        listed.add_edge(names[tail], names[head], float(made[e] * runs[tail] * BYTES_PER_ITEM))
    return listed.graph()


def _rates(source: Source, name: str, own: dict[bytes, Token], into: int, out: int) -> _Rates:
    label = own[b"label"].text.decode(errors="replace") if b"label" in own else name
    found = _RATES.search(label)
    if found is not None:
        pop, push = int(found[1]), int(found[3])
        return _Rates([pop] * into, [push] * out)
    weights = _WEIGHTS.match(label.strip())
    if weights is None:
        raise source.error(
            f"has no rates of node {name!r}",
            hint="Nodes need scalar and edges bytes, or labels as StreamIt's: NAME_pop_1_push_1.",
        )
    if weights[2]:
        return _Rates([1] * into, [1] * out)
    given = [int(word) for word in re.findall(r"\d+", weights[1] or "")]
    if out >= into:
        shares = given if len(given) == out else [given[0] if given else 1] * out
        return _Rates([sum(shares)] * into, shares)
    shares = given if len(given) == into else [given[0] if given else 1] * into
    return _Rates(shares, [sum(shares)] * out)


def _repetitions(
    source: Source,
    names: list[str],
    ends: list[tuple[int, int]],
    made: dict[int, int],
    taken: dict[int, int],
) -> list[int]:
    """Return the least whole numbers of runs for which every edge takes what is made."""
    beside: list[list[tuple[int, Fraction]]] = [[] for _ in names]
    for e, (tail, head) in enumerate(ends):
        if made[e] == 0 or taken[e] == 0:
            raise source.error(
                f"has an edge {names[tail]!r} -> {names[head]!r} on which nothing flows"
            )
        ratio = Fraction(made[e], taken[e])
        beside[tail].append((head, ratio))
        beside[head].append((tail, 1 / ratio))
    runs: list[Fraction | None] = [None] * len(names)
    for first in range(len(names)):
        if runs[first] is not None:
            continue
        runs[first] = Fraction(1)
        group = [first]
        for v in group:
            for u, ratio in beside[v]:
                asked = runs[v] * ratio  # type: ignore[operator]
                if runs[u] is None:
                    runs[u] = asked
                    group.append(u)
                elif runs[u] != asked:
                    raise source.error(
                        f"has rates that never balance: at {names[u]!r}, {runs[u]} or {asked} runs"
                    )
        _whole(runs, group)
    return [int(one) for one in runs if one is not None]


def _whole(runs: list[Fraction | None], group: list[int]) -> None:
    """Scale the runs of a connected group to the least whole numbers, in place."""
    some = [one for v in group if (one := runs[v]) is not None]
    scale = lcm(*(one.denominator for one in some))
    common = gcd(*(int(one * scale) for one in some))
    for v in group:
        value = runs[v]
        if value is not None:
            runs[v] = value * scale / common


def _number(source: Source, own: dict[bytes, Token], key: bytes, default: float) -> float:
    if key not in own:
        return default
    try:
        return float(own[key].text)
    except ValueError as error:
        raise source.error(f"has no number as {key.decode()}", offset=own[key].at) from error


def _text(source: Source, name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError as error:
        raise source.error("has names that are not UTF-8 text") from error
