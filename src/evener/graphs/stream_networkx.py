"""Converts between networkx graphs and stream graphs: attributes of nodes and edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from evener.errors import InputError
from evener.graphs.stream_graph import EdgeRow, FilterRow


def rows_of(graph: Any) -> tuple[list[FilterRow], list[EdgeRow]]:
    """Return the filters and edges of a directed networkx graph, in order.

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
        nodes.append(FilterRow(str(node), scalar, vector, _flag(own, whose), _needs(own, whose)))
    edges = []
    for a, b, own in graph.edges(data=True):
        whose = f"the edge {str(a)[:40]!r} -> {str(b)[:40]!r}"
        nbytes, tokens = _number(own, "bytes", None, whose), _number(own, "tokens", 0.0, whose)
        edges.append(EdgeRow(str(a), str(b), nbytes, tokens))
    return nodes, edges


def networkx_of(nodes: Iterable[FilterRow], edges: Iterable[EdgeRow]) -> Any:
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
