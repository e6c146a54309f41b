"""Reads and writes graphs in Graphviz's DOT: nodes, edges, their attributes, groups.

Read are names of all kinds but HTML, chains `a -- b -- c`, attributes, defaults (`node [...]`),
subgraphs as groups of statements, ports (left out), comments. Edges may have `weight`; nodes
`weight` and `pos`. Subgraphs as an edge's end are refused, and directed graphs unless asked for.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.errors import InputError
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.io.graphs.dot_statements import BEGINS, Found, Reader
from evener.io.sources import Source
from evener.io.text import shown, whole

_SUFFIXES = (".dot", ".gv")
_WHOLE = re.compile(rb"\d{1,18}")
# Names that read back as others: a backslash joins lines and escapes quotes.
_UNWRITABLE = re.compile(r'\\(?=["\n]|\Z)|\0')


def recognises(source: Source) -> bool:
    """Return whether the file begins with `graph NAME {`, or has the suffix and a brace."""
    if source.folder or not source.is_text:
        return False
    if source.suffix in _SUFFIXES and b"{" in source.head:
        return True
    return BEGINS.match(source.head) is not None


def read(source: Source, *, directed: bool = False) -> Graph | DirectedGraph:
    """Return the graph; loops are dropped and repeated edges merged, and notes say so.

    directed: a `digraph` is read as a DirectedGraph; without it, it is refused.
    """
    return graph_of(source, Reader(source, directed=directed).read())


def graph_of(source: Source, found: Found) -> Graph | DirectedGraph:
    """Return the graph of the nodes and edges found; notes say what was left out or merged."""
    if found.unread:
        unread = sorted(name.decode("utf-8", "replace") for name in found.unread)
        source.notes.append(f"Attributes are not read: {', '.join(unread[:5])}.")
    n = len(found.number)
    if n == 0:
        raise source.error("has no node")
    names = list(found.number)
    order, labels = _numbered(source, names)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    u, v = place[np.array(found.u, np.int64)], place[np.array(found.v, np.int64)]
    weights = _whole(found.weights) if found.any_weight else None
    fields: dict[str, Any] = {"labels": labels}
    if found.loads:
        _all_have(source, found, found.loads, names, "weight")
        fields["vwgt"] = _whole([found.loads[i] for i in order.tolist()])
    if found.places:
        fields["coords"] = _coords(source, found, order)
    make = DirectedGraph.from_arcs if found.directed else Graph.from_edges
    graph = make(n, u, v, weights=weights, **fields)
    _note(source, graph, u, v, weighted=weights is not None)
    return graph


def _numbered(
    source: Source, names: list[bytes]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.generic] | None]:
    """Return the order of the nodes and their labels, None where these are 0 to n - 1.

    Whole numbers go in ascending order, names as they appear.
    """
    if all(_WHOLE.fullmatch(name) for name in names):
        numbers = np.array([int(name) for name in names], np.int64)
        if np.unique(numbers).size == numbers.size:  # not so for the names 7 and 07
            order = np.argsort(numbers, kind="stable")
            ids = numbers[order]
            return order, None if np.array_equal(ids, np.arange(ids.size)) else ids
    # An array of text takes four bytes times the longest name for every name.
    if 4 * max(map(len, names)) * len(names) > 2**26 + 40 * len(source.data):
        raise source.error("has a name too long to be one")
    try:
        labels = np.array([name.decode() for name in names])
    except UnicodeDecodeError as error:
        raise source.error("has names that are not UTF-8 text") from error
    source.notes.append(f"Vertices have names, {str(labels[0])!r} the first: labels keep them.")
    return np.arange(len(names)), labels


def _all_have(
    source: Source, found: Found, given: dict[int, Any], names: list[bytes], what: str
) -> None:
    for i, name in enumerate(names):
        if i not in given:
            raise source.error(
                f"node {shown(name)} has no {what}, and others have",
                offset=found.at[i],
                hint=f"node [{what}=1] at the beginning says what those have that state none.",
            )


def _coords(
    source: Source, found: Found, order: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64] | None:
    """Return the nodes' coordinates; None, with a note, unless all nodes have equally many."""
    widths = {len(place) for place in found.places.values()}
    if len(found.places) < order.size or len(widths) > 1 or not widths <= {2, 3}:
        source.notes.append("Some nodes have no pos of two or three numbers: coordinates left out.")
        return None
    return np.array([found.places[i] for i in order.tolist()])


def _whole(values: list[float]) -> npt.NDArray[Any]:
    array = np.array(values)
    whole = bool((array == np.rint(array)).all() and (array < 2.0**53).all())
    return array.astype(np.int64) if whole else array


def _note(
    source: Source,
    graph: Graph | DirectedGraph,
    u: npt.NDArray[np.int64],
    v: npt.NDArray[np.int64],
    *,
    weighted: bool,
) -> None:
    loops = int(np.count_nonzero(u == v))
    merged = u.size - loops - graph.m
    if loops:
        source.notes.append(f"{loops:,} edges join a node with itself: they are left out.")
    if merged:
        which = "; the first weight counts" if weighted else ""
        source.notes.append(f"{merged:,} edges repeat others: merged{which}.")


def write(graph: Graph | DirectedGraph) -> tuple[bytes, list[str]]:
    """Return a statement for each vertex and for each edge or arc, with weights and places."""
    names = _names_of(graph)
    kind, mark = ("graph", "--") if graph.symmetric else ("digraph", "->")
    notes, own = [], [list[str]() for _ in names]
    if graph.n_constraints > 1:
        notes.append("The vertices' several weights are not kept by this format.")
    elif graph.vwgt is not None:
        for words, weight in zip(own, _numbers_of(graph.vwgt, "vertex weights"), strict=True):
            words.append(f"weight={weight}")
    if graph.coords is not None:
        for words, place in zip(own, graph.coords.tolist(), strict=True):
            words.append(f'pos="{",".join(map(repr, place))}"')
    lines = [
        f"{name} [{' '.join(words)}];" if words else f"{name};"
        for name, words in zip(names, own, strict=True)
    ]
    u = np.repeat(np.arange(graph.n), graph.degrees)
    kept = (u < graph.adjncy) if graph.symmetric else np.ones(u.size, np.bool_)
    ends = zip(u[kept].tolist(), graph.adjncy[kept].tolist(), strict=True)
    edges = [f"{names[a]} {mark} {names[b]}" for a, b in ends]
    if graph.adjwgt is None:
        lines += [f"{edge};" for edge in edges]
    else:
        weights = _numbers_of(graph.adjwgt[kept], "edge weights")
        lines += [f"{edge} [weight={w}];" for edge, w in zip(edges, weights, strict=True)]
    return "\n".join([f"{kind} {{", *lines, "}", ""]).encode(), notes


def _numbers_of(values: npt.NDArray[Any], what: str) -> list[str]:
    """Return weights as they read back; InputError for whole numbers that a double cannot hold."""
    if values.dtype.kind == "f":
        # In quotes, as DOT knows no exponents.
        return [f'"{value!r}"' for value in values.tolist()]
    return list(map(str, whole(values, what).tolist()))


def _names_of(graph: Graph | DirectedGraph) -> list[str]:
    """Return the vertices' labels as names in DOT; InputError for one that cannot be such."""
    if graph.labels is None:
        return list(map(str, range(graph.n)))
    labels = graph.labels.tolist()
    if len(set(labels)) < len(labels):
        raise InputError(
            "two vertices have the same name, which DOT takes for one",
            hint="`.npz` keeps names as they are.",
        )
    return [str(label) if isinstance(label, int) else quoted_name(str(label)) for label in labels]


def quoted_name(name: str) -> str:
    """Return a name in quotes; InputError for one that DOT cannot hold."""
    if _UNWRITABLE.search(name):
        raise InputError(
            f"the name {name!r} cannot be written in DOT", hint="Other formats keep it as it is."
        )
    return '"' + name.replace('"', '\\"') + '"'
