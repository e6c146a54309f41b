"""Makes stream graphs from the DOT files of StreamIt's compiler, whose labels state rates.

A filter's label ends with the items it consumes and produces per run, as in NAME_pop_8_push_4;
labels of splitters and joiners state how items are distributed: roundrobin(1, 2), duplicate.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

from evener.errors import InputError
from evener.graphs.stream_graph import EdgeRow, FilterRow, StreamGraph
from evener.io.dataflow.listed import Listed
from evener.io.sources import Source

BYTES_PER_ITEM = 4  # size of StreamIt's int and float
DIGITS = 15  # max. digits of a rate
MOST = 2**53  # max. items per run, and runs per iteration
_RATES = re.compile(r"_pop_(\d{1,15})(?:_peek_(\d{1,15}))?_push_(\d{1,15})\Z")
_WEIGHTS = re.compile(r"(?i)(?:weighted_?)?round_?robin\s*(?:\(([\d,\s]*)\))?\Z|(duplicate)\b")


class RatedGraph(NamedTuple):
    """Nodes with names and labels, edges as pairs of nodes, and the tokens of each edge."""

    names: list[str]
    labels: list[str]
    ends: list[tuple[int, int]]
    tokens: list[float]


class _Rates(NamedTuple):
    """Items per run that a node takes from each incoming edge and puts on each outgoing edge."""

    takes: list[int]
    makes: list[int]


class _Flow(NamedTuple):
    """Items on an edge: produced per run of its tail, consumed per run of its head."""

    tail: int
    head: int
    made: int
    taken: int


def graph_of(source: Source, graph: RatedGraph) -> StreamGraph:
    """Return the graph; each node's runs per iteration balance produced and consumed items.

    The file does not state how long a filter takes: its instructions per run are taken as the
    number of items it consumes and produces, at least one. Its runs per iteration are its vector
    width. Edges that never carry items have 0 bytes. Raises InputError for labels without rates,
    and for rates that never balance.
    """
    names, n = graph.names, len(graph.names)
    into: list[list[int]] = [[] for _ in range(n)]
    out: list[list[int]] = [[] for _ in range(n)]
    for e, (tail, head) in enumerate(graph.ends):
        out[tail].append(e)
        into[head].append(e)
    rates = [_rates(source, names[v], graph.labels[v], len(into[v]), len(out[v])) for v in range(n)]
    made = {e: rates[v].makes[i] for v, some in enumerate(out) for i, e in enumerate(some)}
    taken = {e: rates[v].takes[i] for v, some in enumerate(into) for i, e in enumerate(some)}
    flows = [_Flow(a, b, made[e], taken[e]) for e, (a, b) in enumerate(graph.ends)]
    runs = _repetitions(source, names, flows)
    listed = Listed(source)
    for v, name in enumerate(names):
        work = max(sum(rates[v].takes) + sum(rates[v].makes), 1)
        listed.filters.append(FilterRow(name, float(work), float(runs[v])))
    for flow, tokens in zip(flows, graph.tokens, strict=True):
        nbytes = float(flow.made * runs[flow.tail] * BYTES_PER_ITEM)
        listed.edges.append(EdgeRow(names[flow.tail], names[flow.head], nbytes, tokens))
    return listed.graph()


def _rates(source: Source, name: str, label: str, into: int, out: int) -> _Rates:
    """Return the rates that the label states, for a node with these numbers of edges.

    into: incoming edges; out: outgoing edges.
    """
    found = _RATES.search(label)
    if found is not None:
        return _Rates([int(found[1])] * into, [int(found[3])] * out)
    weights = _WEIGHTS.match(label.strip())
    if weights is None:
        raise source.error(
            f"has no rates for node {name[:60]!r}",
            hint="Nodes need scalar and edges bytes, or labels as StreamIt's: NAME_pop_1_push_1.",
        )
    if weights[2]:
        return _Rates([1] * into, [1] * out)
    words = re.findall(r"\d+", weights[1] or "")
    if any(len(word) > DIGITS for word in words):
        raise source.error(f"gives node {name[:60]!r} a weight of more than {DIGITS} digits")
    given = list(map(int, words))
    dealt = max(into, out)
    if len(given) not in (0, 1, dealt):
        raise source.error(
            f"has {len(given):,} weights for node {name[:60]!r}, which has {into:,} incoming and "
            f"{out:,} outgoing edges"
        )
    shares = given if len(given) == dealt else (given or [1]) * dealt
    whole = [sum(shares)]
    return _Rates(whole * into, shares) if out >= into else _Rates(shares, whole * out)


def _repetitions(source: Source, names: list[str], flows: list[_Flow]) -> list[int]:
    """Return the least whole numbers of runs that balance the items on all edges."""
    beside: list[list[tuple[int, Fraction]]] = [[] for _ in names]
    for flow in flows:
        if flow.made == 0 and flow.taken == 0:
            continue
        if flow.made == 0 or flow.taken == 0:
            end = f"{names[flow.tail][:40]!r} -> {names[flow.head][:40]!r}"
            raise source.error(f"has rates that never balance: items move at only one end of {end}")
        ratio = Fraction(flow.made, flow.taken)
        beside[flow.tail].append((flow.head, ratio))
        beside[flow.head].append((flow.tail, 1 / ratio))
    runs: list[Fraction] = [Fraction(0)] * len(names)
    for first in range(len(names)):
        if not runs[first]:
            _balance(source, names, beside, runs, first)
    return [int(one) for one in runs]


def _balance(
    source: Source,
    names: list[str],
    beside: list[list[tuple[int, Fraction]]],
    runs: list[Fraction],
    first: int,
) -> None:
    """Set the runs of all nodes that are connected with the node `first`."""
    runs[first] = Fraction(1)
    group = [first]
    for v in group:
        for u, ratio in beside[v]:
            asked = runs[v] * ratio
            if max(asked.numerator, asked.denominator) > MOST:
                raise _too_many(source, names[u])
            if not runs[u]:
                runs[u] = asked
                group.append(u)
            elif runs[u] != asked:
                raise source.error(
                    f"has rates that never balance: {names[u][:60]!r} would run {runs[u]} or "
                    f"{asked} times"
                )
    scale = 1
    for v in group:
        scale = lcm(scale, runs[v].denominator)
        if scale > MOST:
            raise _too_many(source, names[v])
    common = gcd(*(int(runs[v] * scale) for v in group))
    for v in group:
        runs[v] = runs[v] * scale / common
        if runs[v] > MOST:
            raise _too_many(source, names[v])


def _too_many(source: Source, name: str) -> InputError:
    return source.error(
        f"has rates by which {name[:60]!r} would run more than 2^53 times an iteration"
    )
