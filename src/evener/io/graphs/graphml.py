"""Reads graphs in GraphML, as networkx, igraph and Gephi write them.

The attribute `weight` of an edge or a node is its weight; names of nodes become labels. A directed
graph is refused unless `directed` is requested.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import numpy as np
import numpy.typing as npt

from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.io.entries import whole_where_all_are
from evener.io.sources import Source
from evener.io.xml_tree import attribute, elements, xml_tree

_ROOT = re.compile(rb"<(\w+:)?graphml\b")
_WHOLE = re.compile(r"\d{1,18}", re.ASCII)


def recognises(source: Source) -> bool:
    """Return whether the file has the element <graphml> near its beginning."""
    return source.is_xml and _ROOT.search(source.data[: 1 << 14]) is not None


class GraphmlNode(NamedTuple):
    """A node: its id, and its own attributes by name."""

    name: str
    own: dict[str, str]


class GraphmlEdge(NamedTuple):
    """An edge between two nodes, and its own attributes; directed: None if not stated."""

    tail: str
    head: str
    directed: bool | None
    own: dict[str, str]


class GraphmlFile(NamedTuple):
    """Nodes and edges in file order; default attributes of each kind, "node" and "edge"."""

    nodes: list[GraphmlNode]
    edges: list[GraphmlEdge]
    defaults: dict[str, dict[str, str]]


def parsed(source: Source) -> GraphmlFile:
    """Return the nodes and edges of a file with one graph; nodes of nested graphs are included."""
    root = xml_tree(source.data, None, source.path)
    graphs = elements(root, "graph")
    if len(graphs) != 1:
        raise source.error(f"has {len(graphs):,} graphs; one is needed")
    names: dict[str, str] = {}
    found = GraphmlFile([], [], {"node": {}, "edge": {}})
    for key in elements(root, "key"):
        name = names[key.get("id", "")] = key.get("attr.name", key.get("id", ""))
        for default in elements(key, "default"):
            for kind, own in found.defaults.items():
                if key.get("for", "all") in (kind, "all"):
                    own[name] = (default.text or "").strip()
    directions = {"directed": True, "undirected": False}
    usual = directions.get(graphs[0].get("edgedefault", ""))
    for element in graphs[0].iter():
        tag = element.tag.rpartition("}")[2]
        if tag == "node":
            found.nodes.append(
                GraphmlNode(attribute(element, "id", source.path), _own(element, names))
            )
        elif tag == "edge":
            tail, head = (attribute(element, end, source.path) for end in ("source", "target"))
            stated = {"true": True, "false": False}.get(element.get("directed", "").lower(), usual)
            found.edges.append(GraphmlEdge(tail, head, stated, _own(element, names)))
    return found


def _own(element: ET.Element, names: dict[str, str]) -> dict[str, str]:
    data = elements(element, "data")
    return {
        names.get(one.get("key", ""), one.get("key", "")): (one.text or "").strip() for one in data
    }


def read(source: Source, *, directed: bool = False) -> Graph | DirectedGraph:
    """Return the graph; loops are dropped and repeated edges merged, with notes.

    directed: read a directed graph as a DirectedGraph; otherwise it is refused.
    """
    file = parsed(source)
    if not file.nodes:
        raise source.error("has no node")
    if not directed and any(edge.directed for edge in file.edges):
        raise source.error(
            "is a directed graph; edges of a Graph have no direction",
            hint="--directed (directed=True) reads its edges as arcs.",
        )
    unread = {key for node in file.nodes for key in node.own} - {"weight"}
    unread |= {key for edge in file.edges for key in edge.own} - {"weight"}
    if unread:
        source.notes.append(f"Attributes are not read: {', '.join(sorted(unread)[:5])}.")
    order, labels = _numbered(source, [node.name for node in file.nodes])
    number = {file.nodes[i].name: place for place, i in enumerate(order.tolist())}
    if len(number) < len(file.nodes):
        twice, _ = Counter(node.name for node in file.nodes).most_common(1)[0]
        raise source.error(f"has two nodes with the id {twice[:40]!r}")
    loads = _weights(source, [file.nodes[i] for i in order.tolist()], file.defaults["node"])
    weights = _weights(source, file.edges, file.defaults["edge"], missing=1.0)
    u, v, kept = [], [], []
    for i, edge in enumerate(file.edges):
        if (lost := [end for end in (edge.tail, edge.head) if end not in number]) != []:
            raise source.error(f"an edge ends at node {lost[0][:40]!r}, which does not exist")
        tail, head = number[edge.tail], number[edge.head]
        for a, b in (
            ((tail, head),) if edge.directed or not directed else ((tail, head), (head, tail))
        ):
            u.append(a)
            v.append(b)
            kept.append(i)
    make = DirectedGraph.from_arcs if directed else Graph.from_edges
    tails, heads = np.array(u, np.int64), np.array(v, np.int64)
    graph = make(
        len(number), tails, heads, labels=labels, vwgt=loads,
        weights=None if weights is None else weights[kept],
    )  # fmt: skip
    loops = int(np.count_nonzero(tails == heads))
    if loops:
        source.notes.append(f"{loops:,} edges join a node to itself and are left out.")
    if merged := tails.size - loops - graph.m:
        which = "; the first weight counts" if weights is not None else ""
        source.notes.append(f"{merged:,} edges repeat others and are merged{which}.")
    return graph


def _numbered(
    source: Source, names: list[str]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.generic] | None]:
    """Return the order of the nodes, and their labels or None if these are 0 to n - 1.

    Whole numbers are sorted; names keep the file order.
    """
    if all(_WHOLE.fullmatch(name) for name in names):
        numbers = np.array([int(name) for name in names], np.int64)
        if np.unique(numbers).size == numbers.size:  # false for names such as 7 and 07
            order = np.argsort(numbers, kind="stable")
            ids = numbers[order]
            return order, None if np.array_equal(ids, np.arange(ids.size)) else ids
    # An array of text takes, for every name, four bytes times the length of the longest name.
    if 4 * max(map(len, names)) * len(names) > 2**26 + 40 * len(source.data):
        raise source.error("has a name that is too long")
    labels = np.array(names)
    source.notes.append(f"Vertices have names, such as {names[0]!r}: they become labels.")
    return np.arange(len(names)), labels


def _weights(
    source: Source,
    rows: list[GraphmlNode] | list[GraphmlEdge],
    defaults: dict[str, str],
    missing: float | None = None,
) -> npt.NDArray[Any] | None:
    """Return the weight of each row, or None if no row has a weight.

    missing: the weight of rows without one; None: raise InputError if only some rows have weights.
    """
    texts = [row.own.get("weight", defaults.get("weight")) for row in rows]
    if all(text is None for text in texts):
        return None
    values = []
    for row, text in zip(rows, texts, strict=True):
        if text is None and missing is None:
            raise source.error(
                f"node {str(row[0])[:40]!r} has no weight, but other nodes have weights",
                hint="A <default> of the key `weight` sets the weight of such nodes.",
            )
        try:
            value = float(missing if text is None else text)  # type: ignore[arg-type]
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf"):
            raise source.error(f"a weight must be a number >= 0, not {str(text)[:24]!r}")
        values.append(value)
    return whole_where_all_are(np.array(values))
