"""Converts between networkx graphs and stream graphs: attributes of nodes and edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from evener.errors import InputError

NodeEntry = tuple[
    str, float, float, bool, dict[str, float]
]  # name, scalar, vector, stateful, needs
LinkEntry = tuple[str, str, float, float]  # tail, head, bytes, tokens


def entries_of(graph: Any) -> tuple[list[NodeEntry], list[LinkEntry]]:
    """Return the node and edge entries of a directed networkx graph, in order.

    Raises InputError for undirected graphs and for attributes that are missing or have another
    type.
    """
    if not graph.is_directed():
        raise InputError(
            "the networkx graph is undirected: data flow one way along an edge",
            hint="Make it a networkx.DiGraph or MultiDiGraph.",
        )
    nodes = []
    for node, own in graph.nodes(data=True):
        whose = f"node {str(node)[:40]!r}"
        scalar, vector = _number(own, "scalar", None, whose), _number(own, "vector", 1.0, whose)
        nodes.append((str(node), scalar, vector, _flag(own, whose), _needs(own, whose)))
    edges = []
    for a, b, own in graph.edges(data=True):
        whose = f"the edge {str(a)[:40]!r} -> {str(b)[:40]!r}"
        nbytes, tokens = _number(own, "bytes", None, whose), _number(own, "tokens", 0.0, whose)
        edges.append((str(a), str(b), nbytes, tokens))
    return nodes, edges


def networkx_of(
    nodes: Iterable[tuple[str, float, float, bool, Mapping[str, float]]], edges: Iterable[LinkEntry]
) -> Any:
    """Return a networkx.MultiDiGraph. Raises ImportError if networkx is not installed."""
    from networkx import MultiDiGraph

    graph = MultiDiGraph()
    for name, scalar, vector, stateful, needs in nodes:
        own = {"scalar": scalar, "vector": vector, "stateful": stateful, "needs": dict(needs)}
        graph.add_node(name, **own)
    for tail, head, nbytes, tokens in edges:
        graph.add_edge(tail, head, bytes=nbytes, tokens=tokens)
    return graph


def _number(own: Mapping[Any, Any], name: Any, default: float | None, whose: str) -> float:
    value = own.get(name, default)
    if value is None:
        raise InputError(
            f"{whose} has no attribute {name!r}", hint="Every node needs scalar, every edge bytes."
        )
    wrong = InputError(f"{name!r} of {whose} must be a number")
    if isinstance(value, bool | np.bool_ | str):
        raise wrong
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise wrong from error


def _flag(own: Mapping[Any, Any], whose: str) -> bool:
    value = own.get("stateful", False)
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"'stateful' of {whose} must be True or False")
    return bool(value)


def _needs(own: Mapping[Any, Any], whose: str) -> dict[str, float]:
    value = own.get("needs", {})
    if not isinstance(value, Mapping):
        raise InputError(f"'needs' of {whose} must be a dict of numbers")
    return {str(key): _number(value, key, None, whose) for key in value}
