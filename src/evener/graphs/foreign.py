"""Converts SciPy's sparse matrices and networkx graphs to edge arrays; recognises meshio meshes.

Objects are recognised without importing these packages: by the members that the protocols below
list.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeGuard

import numpy as np
import numpy.typing as npt

from evener.errors import InputError


class SparseMatrix(Protocol):
    """A SciPy sparse matrix or array, of any format."""

    @property
    def shape(self) -> Any:
        """Numbers of rows and columns."""

    @property
    def nnz(self) -> Any:
        """Number of stored entries."""

    def tocoo(self) -> Any:
        """Return the matrix in coordinate form."""


class NetworkXGraph(Protocol):
    """A networkx graph."""

    @property
    def nodes(self) -> Any:
        """The nodes, in order."""

    @property
    def edges(self) -> Any:
        """The edges."""

    def is_directed(self) -> bool:
        """Whether edges have a direction."""

    def is_multigraph(self) -> bool:
        """Whether edges may be parallel."""


class MeshioMesh(Protocol):
    """A meshio mesh."""

    @property
    def points(self) -> Any:
        """The points."""

    @property
    def cells(self) -> Any:
        """The blocks of cells."""

    @property
    def cells_dict(self) -> Any:
        """The cells by kind."""


def is_matrix(given: object) -> TypeGuard[SparseMatrix]:
    """Return whether the object is a SciPy sparse matrix or array."""
    return _offers(given, "shape", "nnz", "tocoo")


def is_networkx(given: object) -> TypeGuard[NetworkXGraph]:
    """Return whether the object is a networkx graph."""
    return _offers(given, "nodes", "edges", "is_directed", "is_multigraph")


def is_meshio(given: object) -> TypeGuard[MeshioMesh]:
    """Return whether the object is a meshio mesh."""
    return _offers(given, "cells_dict") and hasattr(given, "points") and hasattr(given, "cells")


def _offers(given: object, *names: str) -> bool:
    # Checked on the type, because access to the object would compute properties.
    return not isinstance(given, type) and all(hasattr(type(given), name) for name in names)


class MatrixEdges(NamedTuple):
    """The edges of a matrix of n rows: u[i], v[i] (p,), with weights (p,) or None."""

    n: int
    u: npt.NDArray[np.int64]
    v: npt.NDArray[np.int64]
    weights: npt.NDArray[Any] | None


def pairs_of_matrix(matrix: Any, *, symmetrize: bool, weights: bool) -> MatrixEdges:
    """Return the edges of a square sparse matrix, without the diagonal; O(entries log entries).

    All stored entries count, including zeros, as in a Matrix Market file. Raises InputError if only
    one of (i, j) and (j, i) is stored, or, with weights, if they differ. With symmetrize, pattern
    and weights are those of A + A^T.
    """
    from scipy.sparse import coo_array

    n, rows, columns, values = arcs_of_matrix(matrix, weights=weights)
    if not symmetrize:
        _check_symmetric(n, rows, columns, values)
    elif values is not None:
        # Matrices are not added, because that drops entries whose sum is zero.
        ends = np.concatenate([rows, columns]), np.concatenate([columns, rows])
        both = coo_array((np.concatenate([values, values]), ends), shape=(n, n))
        both.sum_duplicates()
        rows, columns, values = both.row.astype(np.int64), both.col.astype(np.int64), both.data
    upper = rows < columns
    if symmetrize and values is None:
        return MatrixEdges(n, rows, columns, None)  # Graph.from_edges joins (i, j) and (j, i)
    return MatrixEdges(n, rows[upper], columns[upper], None if values is None else values[upper])


def arcs_of_matrix(matrix: Any, *, weights: bool) -> MatrixEdges:
    """Return entries (i, j) of a square sparse matrix as arcs from i to j, without the diagonal.

    All stored entries count, including zeros; repeated entries are added. Raises InputError for
    other shapes, and, with weights, for entries that are not valid weights.
    """
    from scipy.sparse import coo_array

    shape = tuple(matrix.shape)
    if len(shape) != 2 or shape[0] != shape[1]:
        size = " x ".join(f"{one:,}" for one in shape)
        raise InputError(
            f"a matrix of {size}: only a square matrix is a graph",
            hint="Use A A^T or A^T A, depending on the computation.",
        )
    # A copy, because adding repeated entries changes a matrix in place.
    own = coo_array(matrix.tocoo(), copy=True)
    own.sum_duplicates()
    off = own.row != own.col
    values = _weights_of(own.data[off]) if weights else None
    ends = own.row[off].astype(np.int64), own.col[off].astype(np.int64)
    return MatrixEdges(int(shape[0]), *ends, values)


def _weights_of(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if values.dtype.kind not in "biuf":
        raise InputError(
            f"entries of {values.dtype} are not edge weights",
            hint="Use only the pattern, or abs(matrix).",
        )
    if values.size and not values.min() >= 0:  # also if one is NaN
        raise InputError(
            "an entry off the diagonal is negative or NaN, so it is not an edge weight",
            hint="Use only the pattern, or abs(matrix).",
        )
    return values.astype(np.int64) if values.dtype.kind in "bu" else values


def _check_symmetric(
    n: int,
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    values: npt.NDArray[Any] | None,
) -> None:
    """Raise InputError unless each entry (i, j) has an equal entry (j, i)."""
    here, there = rows * n + columns, columns * n + rows
    order, mirror = np.argsort(here), np.argsort(there)
    same = here[order] == there[mirror]
    if not same.all():
        i = int(np.flatnonzero(np.isin(here, there, invert=True))[0])
        raise InputError(
            f"entry ({rows[i]}, {columns[i]}) is stored, but ({columns[i]}, {rows[i]}) is not: the "
            "pattern is not symmetric",
            hint="ev.Graph.from_scipy(matrix, symmetrize=True) uses the pattern of A + A^T.",
        )
    if values is not None and (values[order] != values[mirror]).any():
        i = int(order[np.flatnonzero(values[order] != values[mirror])[0]])
        raise InputError(
            f"entries ({rows[i]}, {columns[i]}) and ({columns[i]}, {rows[i]}) differ, so they are "
            "not the weight of one edge",
            hint="ev.Graph.from_scipy(matrix, weights=True, symmetrize=True) adds them up.",
        )


class Nodes(NamedTuple):
    """The content of a networkx graph: n nodes in its order, its edges, and their attributes.

    u, v (p,) int64: node numbers; weights (p,) of edges, vwgt (n,) of nodes, coords (n, d), each
    None if not requested; labels (n,): the nodes' names, None if they are 0 to n - 1.
    """

    n: int
    u: npt.NDArray[np.int64]
    v: npt.NDArray[np.int64]
    weights: npt.NDArray[Any] | None
    vwgt: npt.NDArray[Any] | None
    coords: npt.NDArray[Any] | None
    labels: npt.NDArray[np.generic] | None

    @property
    def of_vertices(self) -> dict[str, Any]:
        """The vertex fields of a graph, by name."""
        return {"vwgt": self.vwgt, "coords": self.coords, "labels": self.labels}


def nodes_of_graph(
    graph: Any,
    *,
    weight: str | None,
    node_weight: str | None,
    coords: str | None,
    directed: bool = False,
) -> Nodes:
    """Return nodes and edges of a networkx graph; if `directed`, arcs, two per undirected edge.

    weight, node_weight, coords: names of attributes that every edge or node must have. Raises
    InputError for multigraphs, for missing or non-numeric attributes, and for directed graphs
    unless `directed`.
    """
    if graph.is_directed() and not directed:
        raise InputError(
            "the networkx graph is directed; edges of a Graph have no direction",
            hint="Use G.to_undirected(), or ev.DirectedGraph.from_networkx(G), which keeps "
            "directions.",
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
    if directed and not graph.is_directed():
        ends = np.concatenate([ends, ends[:, ::-1]])
        weights = None if weights is None else np.concatenate([weights, weights])
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
                hint=f"Every {what} needs this attribute.",
            )


def _labels(nodes: list[Any]) -> npt.NDArray[np.generic] | None:
    """Return the nodes' names: unchanged if all are whole numbers or all text, else as text."""
    if all(_is_whole(node) and -(2**63) <= node < 2**63 for node in nodes):
        names = np.array(nodes, np.int64)
        return None if np.array_equal(names, np.arange(names.size)) else names
    if all(isinstance(node, str) for node in nodes):
        return np.array(nodes, np.str_)
    return np.array([repr(node) for node in nodes], np.str_)


def _is_whole(node: Any) -> bool:
    return isinstance(node, int | np.integer) and not isinstance(node, bool)
