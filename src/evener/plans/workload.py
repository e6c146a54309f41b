"""Workload: the cost of an iteration per vertex and per edge, and what it sends.

A vertex represents a matrix row with its nonzeros, so its work counts both. Work is scaled so that
its sum is the graph's weight: speeds keep their unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from evener.arrays import FloatArray
from evener.errors import InputError
from evener.graphs.graph import Graph

MAX_FACES = 2**31  # of the weights of all adjacency entries: searches count in 32 bits
EXCHANGES = ("auto", "vertices", "faces")
BYTES_PER_VALUE = 8.0  # in double precision
MAX_NUMBER = 1e18  # of any field: times the size of any graph it does not overflow


@dataclass(frozen=True)
class Workload:
    """The cost of one iteration per vertex and per adjacency entry (an edge has two).

    flops; bytes [B] moved between memory and processor; bytes_per_value [B]: of each value sent;
    fixed_seconds [s]: of every device that takes part, for example a kernel launch or a collective;
    overlap: whether interior vertices are computed while values are exchanged. exchange:
    "vertices": a boundary vertex sends a value to each other block that holds a neighbour; "faces":
    each cut edge carries one value in each direction, or as many as its weight; "auto": like
    "vertices", until `settled` replaces it.

    Raises InputError for an empty name, numbers that are negative, not finite or above 1e18, and an
    unknown exchange.
    """

    name: str
    flops_per_vertex: float = 0.0
    flops_per_edge: float = 0.0
    bytes_per_vertex: float = 0.0
    bytes_per_edge: float = 0.0
    bytes_per_value: float = BYTES_PER_VALUE
    fixed_seconds: float = 0.0
    overlap: bool = False
    exchange: str = "auto"

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name.strip()):
            raise InputError("a kernel needs a name")
        for key in NUMBERS:
            value = getattr(self, key)
            if not _is_number(value) or not 0 <= value <= MAX_NUMBER:
                huge = isinstance(value, int) and value > MAX_NUMBER
                found = "not more" if huge else f"not {value}"
                raise InputError(
                    f"{key} of kernel {self.name!r} must lie between 0 and {MAX_NUMBER:g}, {found}"
                )
            object.__setattr__(self, key, float(value))
        if not isinstance(self.overlap, bool):
            raise InputError(
                f"overlap of kernel {self.name!r} must be true or false, not {self.overlap}"
            )
        if self.exchange not in EXCHANGES:
            raise InputError(
                f"exchange of kernel {self.name!r} must be one of {', '.join(EXCHANGES)}, "
                f"not {self.exchange!r:.60}"
            )

    @property
    def of_faces(self) -> bool:
        """Whether values are sent for faces, rather than for vertices and neighbouring blocks."""
        return self.exchange == "faces"

    def settled(self, exchange: str) -> Workload:
        """Return the workload with this exchange in place of "auto"."""
        return replace(self, exchange=exchange) if self.exchange == "auto" else self

    def refuse_parts_of_faces(self, graph: Graph) -> None:
        """Raise InputError if faces are counted but edge weights are not whole numbers of faces."""
        if not self.of_faces or graph.adjwgt is None:
            return
        parts = np.flatnonzero((graph.adjwgt != np.rint(graph.adjwgt)) | (graph.adjwgt < 1))
        if parts.size or graph.adjwgt.sum() >= MAX_FACES:
            what = (
                f"an edge weighs {graph.adjwgt[parts[0]]:g}" if parts.size else "edges weigh more"
            )
            raise InputError(
                f"{what}: counting faces needs edge weights that are whole numbers above zero, "
                "with a sum below 2^31",
                hint="--exchange vertices does not depend on edge weights.",
            )

    @property
    def shares(self) -> tuple[float, float]:
        """Work of a vertex and of an adjacency entry: bytes, or flops if no bytes are stated.

        Bytes have priority, as sparse kernels are limited by memory. (0, 0): vertex weights are the
        work.
        """
        moved = self.bytes_per_vertex, self.bytes_per_edge
        return moved if any(moved) else (self.flops_per_vertex, self.flops_per_edge)

    def work(self, graph: Graph) -> FloatArray:
        """Return the work of each vertex, (n,) [units]; the sum is the graph's total weight.

        Proportional to per_vertex + per_edge x degree, or the vertex weights if the workload states
        neither. Raises InputError if only edges have a cost and there are none.
        """
        vertex, edge = self.shares
        if not (vertex or edge):
            return np.asarray(graph.weights(), np.float64)
        own = vertex + edge * graph.degrees
        total = float(own.sum())
        if graph.n and not total > 0:
            raise InputError(
                f"kernel {self.name!r} has no work on a graph without edges",
                hint="Give it bytes_per_vertex or flops_per_vertex.",
            )
        return np.asarray(own * (graph.total_weight / max(total, 1e-300)), np.float64)

    def without_work(self) -> Workload:
        """Return the workload without its work, for a graph whose weights are the work."""
        return replace(
            self, flops_per_vertex=0, flops_per_edge=0, bytes_per_vertex=0, bytes_per_edge=0
        )

    def weighted(self, graph: Graph) -> Graph:
        """Return the graph with its first vertex weight replaced by the work.

        Functions that take a workload expect the graph as it was read, not this one.
        """
        if not any(self.shares):
            return graph
        work = self.work(graph)
        if graph.vwgt is None or graph.vwgt.ndim == 1:
            return graph.with_(vwgt=work)
        return graph.with_(vwgt=np.column_stack([work, graph.vwgt[:, 1:]]))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


NUMBERS = tuple(field.name for field in fields(Workload) if field.type == "float")
WEIGHTS = Workload("weights")
# flops and bytes per vertex and per entry of CSR rows with a diagonal entry, in double precision
# with indices of four bytes. A gathered value is counted per vertex, as in meshes it stays in the
# cache; in PageRank's graphs per entry.
WORKLOADS: Mapping[str, Workload] = {
    one.name: one
    for one in (
        WEIGHTS,
        Workload("spmv", 2.0, 2.0, 36.0, 12.0),
        Workload("jacobi", 2.0, 2.0, 40.0, 12.0),
        Workload("pagerank", 3.0, 1.0, 32.0, 12.0),
    )
}


def workload_from_dict(data: Any) -> Workload:
    """Return the Workload from the output of dataclasses.asdict. Raises InputError if invalid.

    Dictionaries of older versions have no exchange: then it is "vertices".
    """
    known = {field.name for field in fields(Workload)}
    if not isinstance(data, Mapping) or "name" not in data or not set(data) <= known:
        raise InputError("a workload must be a table of numbers with a name")
    return Workload(**{"exchange": "vertices", **data})
