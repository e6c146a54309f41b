"""AdjacencyLists: the common base of Graph and DirectedGraph, validated on construction."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from evener.arrays import (
    FloatArray,
    IntArray,
    NumberArray,
    as_array,
    as_integers,
    as_weights,
)
from evener.errors import InputError
from evener.graphs import graph_checks as arrays
from evener.wording import number

# Memory of one row and one entry of a sparse CSR matrix in double precision, with one
# input and one output vector: indptr, x and y; column index and value.
BYTES_PER_VERTEX = 24.0
BYTES_PER_EDGE = 12.0


class Arcs(NamedTuple):
    """Lists of arcs in CSR form: those of vertex v are adjncy[xadj[v]:xadj[v + 1]], ascending.

    xadj (n + 1,) int64; adjncy (arcs,) int32 or int64, the vertices at the other ends; adjwgt
    (arcs,) int64 or float64, or None if all arcs weigh 1.
    """

    xadj: IntArray
    adjncy: IntArray
    adjwgt: NumberArray | None


@dataclass(frozen=True, eq=False)
class AdjacencyLists:
    """Vertices, each with a list of other vertices; Graph and DirectedGraph define its meaning.

    The constructor sorts every list in ascending order, and its weights with it. Raises InputError
    for loops, parallel entries, indices out of range, negative or non-finite weights and
    coordinates, and for asymmetric lists if the graph must be symmetric.
    """

    xadj: IntArray
    adjncy: IntArray
    vwgt: NumberArray | None = None
    adjwgt: NumberArray | None = None
    coords: FloatArray | None = None
    bytes_per_vertex: float = BYTES_PER_VERTEX
    bytes_per_edge: float = BYTES_PER_EDGE
    labels: npt.NDArray[np.generic] | None = field(default=None, repr=False)
    together: IntArray | None = field(default=None, repr=False)

    symmetric: ClassVar[bool]

    def __post_init__(self) -> None:
        put = object.__setattr__  # the dataclass is frozen for everyone but its constructor
        xadj = as_integers(self.xadj, "xadj")
        arrays.check_offsets(xadj, as_array(self.adjncy, "adjncy").size)
        n = xadj.size - 1
        put(self, "xadj", xadj)
        put(self, "adjncy", arrays.narrow(self.adjncy, n))
        if self.adjwgt is not None:
            weights = as_weights(self.adjwgt, "adjwgt")
            arrays.same_length(weights, self.adjncy.size, "adjwgt", "adjacency entries")
            put(self, "adjwgt", weights)
        adjncy, adjwgt = arrays.sorted_entries(
            xadj, self.adjncy, self.adjwgt, symmetric=self.symmetric
        )
        put(self, "adjncy", adjncy)
        put(self, "adjwgt", adjwgt)
        self._check_vertices()
        if self.labels is not None:
            put(self, "labels", np.atleast_1d(as_array(self.labels, "labels")))
            arrays.same_length(self.labels, n, "labels", "vertices")
        for name in ("bytes_per_vertex", "bytes_per_edge"):
            put(self, name, arrays.cost(getattr(self, name), name))
        if not np.isfinite(self.total_bytes):
            raise InputError("bytes_per_vertex and bytes_per_edge add up to more than 1e308")

    @property
    def n(self) -> int:
        """Number of vertices."""
        return int(self.xadj.size - 1)

    @property
    def n_constraints(self) -> int:
        """Number of weights per vertex."""
        return 1 if self.vwgt is None or self.vwgt.ndim == 1 else int(self.vwgt.shape[1])

    @property
    def is_unit(self) -> bool:
        """Whether every vertex weighs exactly 1."""
        return self.vwgt is None or bool((self.vwgt == 1).all())

    @property
    def degrees(self) -> npt.NDArray[np.int64]:
        """Number of entries in each list, (n,)."""
        return np.diff(self.xadj)

    @property
    def total_weight(self) -> float:
        """Sum of the vertex weights [units]; if vertices have several weights, of the first."""
        return float(self.n) if self.vwgt is None else float(self.weights().sum())

    @property
    def total_bytes(self) -> float:
        """Memory that all vertices and adjacency entries need together [B]."""
        return self.n * self.bytes_per_vertex + self.adjncy.size * self.bytes_per_edge

    def weights(self, constraint: int = 0) -> NumberArray:
        """Return the vertex weights (n,) [units]; ones if there are none."""
        if self.vwgt is None:
            return np.ones(self.n, np.int64)
        return self.vwgt if self.vwgt.ndim == 1 else self.vwgt[:, constraint].copy()

    def edge_weights(self) -> NumberArray:
        """Return the weights of the entries of all lists, (entries,); ones if there are none."""
        return np.ones(self.adjncy.size, np.int64) if self.adjwgt is None else self.adjwgt

    def vertex_bytes(self) -> FloatArray:
        """Return the memory of each vertex with its adjacency entries, (n,) [B]."""
        return np.asarray(self.bytes_per_vertex + self.bytes_per_edge * self.degrees, np.float64)

    def arcs_out(self) -> Arcs:
        """Return the arcs that leave each vertex."""
        return Arcs(self.xadj, self.adjncy, self.adjwgt)

    def with_(self, **changes: object) -> Self:
        """Return a copy with some fields replaced; the new values are validated."""
        if not changes.keys() <= {"vwgt", "coords", "together"}:
            return replace(self, **changes)  # type: ignore[arg-type]
        made = copy(self)
        for name, value in changes.items():
            object.__setattr__(made, name, value)
        made._check_vertices()  # noqa: SLF001
        return made

    def _check_vertices(self) -> None:
        """Check and convert the vertices' weights, coordinates and groups."""
        put = object.__setattr__
        if self.vwgt is not None:
            put(self, "vwgt", arrays.vertex_weights(self.vwgt, self.n))
        if self.coords is not None:
            put(self, "coords", arrays.coordinates(self.coords, self.n))
        if self.together is not None:
            put(self, "together", as_integers(self.together, "together"))
            arrays.same_length(self.together, self.n, "together", "vertices")

    def _said_of_vertices(self) -> list[str]:
        """Return descriptions of weights and coordinates, for `repr`."""
        weights = (
            "weight 1 each" if self.is_unit else f"weight {number(self.total_weight)} in total"
        )
        if self.n_constraints > 1:
            weights = f"{self.n_constraints} weights each"
        coords = (
            "no coordinates" if self.coords is None else f"coordinates in {self.coords.shape[1]}-D"
        )
        return [weights, coords]
