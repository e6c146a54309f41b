"""Reads stream graphs in GraphML: nodes with `scalar`, `vector`, `stateful`, edges with `bytes`."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from evener.graphs.stream_graph import StreamGraph
from evener.io.dataflow.listed import Listed
from evener.io.dataflow.workflows import attribute, elements, number, xml_root
from evener.io.sources import Source

_GRAPHML = re.compile(rb"<(\w+:)?graphml\b")


def recognises(source: Source) -> bool:
    """Return whether the file has a `graphml` element near its beginning."""
    return _GRAPHML.search(source.data[: 1 << 14]) is not None


def read(source: Source) -> StreamGraph:
    """Return the graph. Raises InputError for nodes without `scalar` and edges without `bytes`."""
    root = xml_root(source)
    names = {key.get("id", ""): key.get("attr.name", "") for key in elements(root, "key")}
    graphs = elements(root, "graph")
    if len(graphs) != 1:
        raise source.error(f"has {len(graphs):,} graphs, not one")
    listed = Listed(source)
    for node in elements(graphs[0], "node"):
        name, own = attribute(source, node, "id"), _data(node, names)
        scalar = number(source, own.get("scalar"), f"scalar of node {name!r}")
        vector = number(source, own.get("vector", "1"), f"vector of node {name!r}")
        listed.add_filter(name, scalar, vector)
        if own.get("stateful", "").strip().lower() in ("true", "1"):
            listed.stateful.add(name)
    for edge in elements(graphs[0], "edge"):
        tail, head = attribute(source, edge, "source"), attribute(source, edge, "target")
        what = f"bytes of the edge {tail!r} -> {head!r}"
        listed.add_edge(tail, head, number(source, _data(edge, names).get("bytes"), what))
    return listed.graph()


def _data(element: ET.Element, names: dict[str, str]) -> dict[str, str]:
    data = elements(element, "data")
    return {names.get(one.get("key", ""), one.get("key", "")): one.text or "" for one in data}
