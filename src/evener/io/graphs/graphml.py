"""Reads graphs in GraphML, as networkx, igraph and Gephi write them.

The key `weight` is that of edges, of nodes their work; names of nodes become labels. A graph whose
edges have a direction is refused unless asked for, as in DOT.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.io.graphs.dot import graph_of
from evener.io.graphs.dot_statements import Found
from evener.io.machines.xml_tree import xml_tree
from evener.io.sources import Source

_ROOT = re.compile(rb"<graphml\b")


def recognises(source: Source) -> bool:
    """Return whether the head has the element <graphml>."""
    return source.is_text and _ROOT.search(source.head) is not None


def read(source: Source, *, directed: bool = False) -> Graph | DirectedGraph:
    """Return the graph; loops are dropped and repeated edges merged, and notes say so.

    directed: a graph of arcs is read as a DirectedGraph; without it, it is refused.
    """
    root = xml_tree(source.data, "graphml", source.path)
    graphs = root.findall("graph")
    if len(graphs) != 1:
        raise source.error(f"has {len(graphs):,} graphs, not one")
    names = {key.get("id", ""): key.get("attr.name", key.get("id", "")) for key in root.iter("key")}
    found, unread = Found(directed=directed), set[str]()
    for node in graphs[0].iter("node"):
        name = _attribute(source, node, "id")
        if name in found.number:
            raise source.error(f"has two nodes of the name {node.get('id', '')[:40]!r}")
        number = found.number[name] = len(found.number)
        found.at.append(0)
        own = _data(node, names)
        if "weight" in own:
            found.loads[number] = _number(source, own.pop("weight"))
        unread |= set(own)
    one_way = graphs[0].get("edgedefault") == "directed"
    for edge in graphs[0].iter("edge"):
        arc = edge.get("directed", str(one_way)).lower() == "true"
        if arc and not directed:
            raise source.error(
                "is a directed graph; edges have no direction here",
                hint="--directed takes them as arcs.",
            )
        ends = [_attribute(source, edge, end) for end in ("source", "target")]
        if (lost := [end for end in ends if end not in found.number]) != []:
            raise source.error(f"an edge ends at {lost[0].decode()[:40]!r}, which is no node")
        own = _data(edge, names)
        found.any_weight |= "weight" in own
        weight = _number(source, own.pop("weight", "1"))
        unread |= set(own)
        u, v = (found.number[end] for end in ends)
        for tail, head in ((u, v),) if arc or not directed else ((u, v), (v, u)):
            found.u.append(tail)
            found.v.append(head)
            found.weights.append(weight)
    found.unread = {name.encode("utf-8", "surrogatepass") for name in unread}
    return graph_of(source, found)


def _attribute(source: Source, element: ET.Element, name: str) -> bytes:
    value = element.get(name)
    if not value:
        raise source.error(f"has a {element.tag} without {name!r}")
    return value.encode("utf-8", "surrogatepass")


def _data(element: ET.Element, names: dict[str, str]) -> dict[str, str]:
    return {
        names.get(data.get("key", ""), data.get("key", "")): (data.text or "").strip()
        for data in element.findall("data")
    }


def _number(source: Source, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise source.error(f"a weight must be a number, 0 or more, not {text[:24]!r}")
    return value
