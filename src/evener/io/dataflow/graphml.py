"""Reads and writes stream graphs in GraphML.

Nodes have `scalar`, `vector`, `stateful` and `needs.NAME`, edges `bytes` and `tokens`.
"""

from __future__ import annotations

import re
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
from evener.io.graphs.graphml import parsed, recognises
from evener.io.machines.toml_syntax import toml_number
from evener.io.sources import Source

__all__ = ["graphml", "read", "recognises"]

# What XML 1.0 cannot hold: control characters, unpaired surrogates, U+FFFE and U+FFFF.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">"""


def read(source: Source) -> StreamGraph:
    """Return the graph. Raises InputError if a node has no `scalar` or an edge no `bytes`."""
    file = parsed(source)
    nodes, edges = file.defaults["node"], file.defaults["edge"]
    refuse_many_needs(len(nodes), len(file.nodes))  # every node gets the defaults
    refuse_many_needs(len(edges), len(file.edges))
    listed = Listed(source)
    for name, own in file.nodes:
        add_node(listed, name, _attributes(source, nodes | own, f"node {name[:40]!r}"))
    for tail, head, directed, own in file.edges:
        whose = f"the edge {tail[:40]!r} -> {head[:40]!r}"
        if directed is False:
            raise source.error(
                f"does not give {whose} a direction: data flow one way along an edge"
            )
        add_edge(listed, tail, head, _attributes(source, edges | own, whose))
    return listed.graph()


def _attributes(source: Source, own: dict[str, str], whose: str) -> Attributes:
    return Attributes(own, whose, lambda _, message: source.error(message))


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
