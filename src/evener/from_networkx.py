"""The edges of a networkx graph: its nodes in their order, their names and weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.errors import InputError


class Nodes(NamedTuple):
    """What a networkx graph holds: n nodes in its order, its edges, and their attributes.

    u, v (p,) int64 numbers of nodes; weights (p,) of edges, vwgt (n,) of nodes, coords (n, d), or
    None where nobody asked; labels (n,) the nodes' names, None where they are 0 to n - 1.
    """

    n: int
    u: npt.NDArray[np.int64]
    v: npt.NDArray[np.int64]
    weights: npt.NDArray[Any] | None
    vwgt: npt.NDArray[Any] | None
    coords: npt.NDArray[Any] | None
    labels: npt.NDArray[np.generic] | None


def nodes_of_graph(
    graph: Any, *, weight: str | None, node_weight: str | None, coords: str | None
) -> Nodes:
    """Return the nodes and edges of an undirected networkx graph.

    weight, node_weight, coords: names of attributes that every edge or node must have. Raises
    InputError for directed graphs, multigraphs, and attributes that are missing or no numbers.
    """
    if graph.is_directed():
        raise InputError(
            "the networkx graph is directed: an edge of ours goes both ways",
            hint="G.to_undirected() joins what either direction joins.",
        )
    if graph.is_multigraph():
        raise InputError(
            "the networkx graph may have parallel edges", hint="networkx.Graph(G) merges them."
        )
    nodes = list(graph.nodes)
    number = {node: i for i, node in enumerate(nodes)}
    edges = list(graph.edges)
    ends = np.array([(number[a], number[b]) for a, b in edges], np.int64).reshape(-1, 2)
    weights = vwgt = places = None
    if weight is not None:
        weights = _numbers([graph.edges[edge].get(weight) for edge in edges], weight, "edge", edges)
    if node_weight is not None:
        found = [graph.nodes[node].get(node_weight) for node in nodes]
        vwgt = _numbers(found, node_weight, "node", nodes)
    if coords is not None:
        places = _places([graph.nodes[node].get(coords) for node in nodes], coords, nodes)
    return Nodes(len(nodes), ends[:, 0], ends[:, 1], weights, vwgt, places, _labels(nodes))


def _numbers(values: list[Any], name: str, what: str, owners: list[Any]) -> npt.NDArray[Any]:
    _check_all(values, name, what, owners)
    array = np.asarray(values) if values else np.empty(0, np.int64)
    if array.dtype.kind not in "biuf" or array.ndim != 1:
        raise InputError(f"attribute {name!r} of {what}s must hold numbers, not {array.dtype}")
    return array


def _places(values: list[Any], name: str, nodes: list[Any]) -> npt.NDArray[Any]:
    _check_all(values, name, "node", nodes)
    try:
        return np.array([[float(x) for x in value] for value in values])
    except (TypeError, ValueError) as error:
        raise InputError(
            f"attribute {name!r} of nodes must hold two or three numbers each"
        ) from error


def _check_all(values: list[Any], name: str, what: str, owners: list[Any]) -> None:
    for value, owner in zip(values, owners, strict=True):
        if value is None:
            raise InputError(
                f"{what} {str(owner)[:40]!r} has no attribute {name!r}",
                hint=f"Every {what} needs one: it is not guessed.",
            )


def _labels(nodes: list[Any]) -> npt.NDArray[np.generic] | None:
    """Names as they are where all are whole numbers, or all text; else as Python writes them."""
    if all(_is_whole(node) and -(2**63) <= node < 2**63 for node in nodes):
        names = np.array(nodes, np.int64)
        return None if np.array_equal(names, np.arange(names.size)) else names
    if all(isinstance(node, str) for node in nodes):
        return np.array(nodes, np.str_)
    return np.array([repr(node) for node in nodes], np.str_)


def _is_whole(node: Any) -> bool:
    return isinstance(node, int | np.integer) and not isinstance(node, bool)
