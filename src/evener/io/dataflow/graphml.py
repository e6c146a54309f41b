"""Reads and writes stream graphs in GraphML.

Nodes have `scalar`, `vector`, `stateful` and `needs.NAME`, edges `bytes` and `tokens`.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape, quoteattr

from evener.errors import InputError
from evener.graphs.stream_graph import StreamGraph, refuse_many_needs
from evener.io.dataflow.listed import (
    Attributes,
    Listed,
    add_edge,
    add_node,
    edge_attributes,
    node_attributes,
)
from evener.io.dataflow.workflows import attribute, elements, is_xml, xml_root
from evener.io.machines.toml_syntax import toml_number
from evener.io.sources import Source

_GRAPHML = re.compile(rb"<(\w+:)?graphml\b")
# What XML 1.0 cannot hold: control characters, halves of characters, U+FFFE and U+FFFF.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">"""


def recognises(source: Source) -> bool:
    """Return whether the file has a `graphml` element near its beginning."""
    return is_xml(source) and _GRAPHML.search(source.data[: 1 << 14]) is not None


def read(source: Source) -> StreamGraph:
    """Return the graph. Raises InputError for nodes without `scalar` and edges without `bytes`."""
    root = xml_root(source)
    names, defaults = _keys(root)
    graphs = elements(root, "graph")
    if len(graphs) != 1:
        raise source.error(f"has {len(graphs):,} graphs, not one")
    one_way = graphs[0].get("edgedefault") != "undirected"
    listed = Listed(source)
    nodes, edges = elements(graphs[0], "node"), elements(graphs[0], "edge")
    refuse_many_needs(len(defaults["node"]), len(nodes))  # which each node has
    refuse_many_needs(len(defaults["edge"]), len(edges))
    for node in nodes:
        name = attribute(source, node, "id")
        own = _data(node, names, defaults["node"])
        add_node(listed, name, _attributes(source, own, f"node {name[:40]!r}"))
    for edge in edges:
        tail, head = attribute(source, edge, "source"), attribute(source, edge, "target")
        whose = f"the edge {tail[:40]!r} -> {head[:40]!r}"
        if edge.get("directed", str(one_way)).lower() == "false":
            raise source.error(f"has no direction of {whose}: data flow one way along an edge")
        own = _data(edge, names, defaults["edge"])
        add_edge(listed, tail, head, _attributes(source, own, whose))
    return listed.graph()


def _attributes(source: Source, own: dict[str, str], whose: str) -> Attributes:
    return Attributes(own, whose, lambda _, message: source.error(message))


def _keys(root: ET.Element) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Return the names of keys by id, and the defaults that they state for nodes and edges."""
    names: dict[str, str] = {}
    defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
    for key in elements(root, "key"):
        name = names[key.get("id", "")] = key.get("attr.name", key.get("id", ""))
        for default in elements(key, "default"):
            for kind, own in defaults.items():
                if key.get("for", "all") in (kind, "all"):
                    own[name] = default.text or ""
    return names, defaults


def _data(element: ET.Element, names: dict[str, str], defaults: dict[str, str]) -> dict[str, str]:
    data = elements(element, "data")
    own = {names.get(one.get("key", ""), one.get("key", "")): one.text or "" for one in data}
    return defaults | own


def graphml(graph: StreamGraph) -> str:
    """Return the text of a stream graph in GraphML. Raises InputError for names XML cannot hold."""
    for name in (*graph.names, *graph.needs):
        if _UNWRITABLE.search(name):
            raise InputError(f"the name {name!r} cannot be written in GraphML", hint="TOML can.")
    nodes = [(row.name, node_attributes(row)) for row in graph.filter_rows()]
    edges = [(row.tail, row.head, edge_attributes(row)) for row in graph.edge_rows()]
    lines = [_HEAD]
    ids: dict[tuple[str, str], str] = {}
    for kind, owners in (("node", [own for _, own in nodes]), ("edge", [own for *_, own in edges])):
        for key in dict.fromkeys(key for own in owners for key in own):
            ids[kind, key] = f"d{len(ids)}"
            form = "boolean" if key == "stateful" else "double"
            lines.append(
                f'<key id="{ids[kind, key]}" for="{kind}" attr.name={_quoted(key)} '
                f'attr.type="{form}"/>'
            )
    lines.append('<graph edgedefault="directed">')
    for name, own in nodes:
        data = _written({ids["node", key]: value for key, value in own.items()})
        lines.append(f"<node id={_quoted(name)}>{data}</node>")
    for tail, head, sent in edges:
        data = _written({ids["edge", key]: value for key, value in sent.items()})
        lines.append(f"<edge source={_quoted(tail)} target={_quoted(head)}>{data}</edge>")
    return "\n".join([*lines, "</graph>", "</graphml>", ""])


def _written(own: dict[str, float | bool] | dict[str, float]) -> str:
    texts = {key: "true" if value is True else toml_number(value) for key, value in own.items()}
    return "".join(f'<data key="{key}">{escape(text)}</data>' for key, text in texts.items())


def _quoted(text: str) -> str:
    return quoteattr(text, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
