"""Converts what public functions accept as a graph, machine or partition to the package's types."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evener.arrays import as_numbers
from evener.errors import InputError, UsageError, shown
from evener.graphs.directed import DirectedGraph, said_of_division
from evener.graphs.foreign import (
    MeshioMesh,
    NetworkXGraph,
    SparseMatrix,
    is_matrix,
    is_meshio,
    is_networkx,
)
from evener.graphs.graph import Graph
from evener.graphs.mesh import Mesh
from evener.graphs.polymesh import PolyMesh
from evener.io.machines.platforms import platform_of_tables, read_platform
from evener.io.read import Reading, read
from evener.io.sources import find_file
from evener.plans.partition import Partition
from evener.platforms.platform import MAX_DEVICES, Device, Platform

GraphLike: TypeAlias = (
    Graph
    | DirectedGraph
    | Reading
    | Mesh
    | PolyMesh
    | str
    | os.PathLike[str]
    | SparseMatrix
    | NetworkXGraph
    | MeshioMesh
)
PlatformLike: TypeAlias = (
    Platform
    | str
    | os.PathLike[str]
    | int
    | Sequence[float]
    | Sequence[Device]
    | npt.NDArray[Any]
    | Mapping[str, Any]
)
PartitionLike: TypeAlias = Partition | str | os.PathLike[str] | Sequence[int] | npt.NDArray[Any]

_GRAPHS = (
    "A graph is a file's name, what ev.read returns, a Graph, a DirectedGraph, a Mesh, a SciPy "
    "sparse matrix, a networkx graph or a meshio mesh."
)
_MACHINES = (
    "A machine is a machine file's name, a Platform, a number of equal devices, a list of speeds "
    "or of Devices, or a machine file's tables as a dict."
)


@dataclass(frozen=True, eq=False)
class Taken:
    """A graph, and facts about its origin that a plan records.

    inputs: file name -> SHA-256; reading: the options it was read with; both are empty if the graph
    was not read from a file. mesh: the mesh from which the graph was made, or None. notes:
    sentences on unusual and on omitted data. exchange: what solvers that divide this graph send, as
    in Workload.exchange.
    """

    graph: Graph
    mesh: Mesh | PolyMesh | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    exchange: str = "vertices"


def take_graph(given: GraphLike) -> Taken:
    """Convert a file name, graph, matrix or mesh to a graph; a mesh becomes the graph of its cells.

    A directed graph becomes the undirected graph whose edges are its arcs, and a note says so.
    Raises InputError for anything else, with a list of what is accepted.
    """
    if isinstance(given, Graph | DirectedGraph):
        edges = given.undirected()
        return Taken(edges, notes=_of_arcs(given, edges))
    if isinstance(given, str | os.PathLike):
        with _told(Path(given), _GRAPHS):
            return _of_reading(read(Path(given)))
    if isinstance(given, Reading):
        return _of_reading(given)
    if isinstance(given, Mesh | PolyMesh):
        return Taken(given.dual_graph(), given, exchange=given.exchange)
    if is_matrix(given):
        return Taken(Graph.from_scipy(given), notes=_of_matrix(given))
    if is_networkx(given):
        return Taken(Graph.from_networkx(given), notes=_of_networkx(given))
    if is_meshio(given):
        from evener.io.meshes.meshio import mesh_of

        mesh, notes = mesh_of(given)
        return Taken(mesh.dual_graph(), mesh, notes=tuple(notes))
    hint = _GRAPHS
    if isinstance(given, np.ndarray) and given.ndim == 2 and 2 in given.shape:
        ends = "*edges" if given.shape[0] == 2 else "*edges.T"
        hint = f"Graph.from_edges(n, {ends}) makes a graph of n vertices from the ends of edges."
    elif isinstance(given, np.ndarray) and given.ndim == 2:
        hint = "For a dense matrix, use scipy.sparse.csr_array(matrix)."
    raise InputError(f"{_kind(given)} is not a graph", hint=hint)


def as_graph(given: GraphLike) -> Graph:
    """Convert like take_graph, but return only the Graph."""
    return given if isinstance(given, Graph) else take_graph(given).graph


def as_graph_or_arcs(given: GraphLike) -> Graph | DirectedGraph:
    """Return a DirectedGraph, or a Reading's graph, unchanged; convert other types to a Graph."""
    if isinstance(given, Reading):
        return given.graph
    return given if isinstance(given, DirectedGraph) else as_graph(given)


def as_platform(given: PlatformLike) -> Platform:
    """Convert a file name, a number of equal devices or a list of speeds to a Platform.

    A Platform is returned unchanged. Raises InputError and UsageError for anything else, with a
    list of what is accepted.
    """
    if isinstance(given, Platform):
        return given
    if isinstance(given, str | os.PathLike):
        with _told(Path(given), _instead_of(str(given))):
            return read_platform(Path(given))
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        if not 1 <= given <= MAX_DEVICES:
            raise UsageError(
                f"a number of devices must lie between 1 and {MAX_DEVICES:,}, not {shown(given)}"
            )
        return Platform.flat([1.0] * int(given))
    if isinstance(given, Mapping):
        return platform_of_tables(given)
    if isinstance(given, Sequence | np.ndarray):
        return _of_sequence(given)
    raise UsageError(f"{_kind(given)} is not a machine", hint=_MACHINES)


def as_partition(given: PartitionLike, graph: Graph, k: int) -> Partition:
    """Convert a file name, or a list of each vertex's block, to a Partition into k blocks.

    Raises InputError if the length differs from the number of vertices, or if a block lies outside
    0 to k - 1.
    """
    if isinstance(given, Partition):
        return given.checked_for(graph.n)
    if isinstance(given, str | os.PathLike):
        from evener.io.plans.partitions import read_part

        return Partition(read_part(Path(given), graph.n, labels=graph.labels), k)
    return Partition(given, k).checked_for(graph.n)  # type: ignore[arg-type]


@contextmanager
def _told(path: Path, hint: str) -> Iterator[None]:
    """Context manager: add a hint to the InputError for a file that does not exist."""
    try:
        yield
    except InputError as error:
        if find_file(path) is None and not path.is_dir():
            error.hint = hint
        raise


def _instead_of(text: str) -> str:
    """Return a hint for a text that names no machine file: what the user may have meant."""
    if re.fullmatch(r"\s*\d+\s*", text):
        return f"For {text.strip()} equal devices, give the number itself, not a text."
    if re.fullmatch(r"[\d\s.,eE+-]+", text):
        return f"Speeds are a list, not a text: [{text.strip()}]."
    return _MACHINES


def _kind(given: object) -> str:
    """Return how errors name a value: by its type, or by the value itself if it is short."""
    plain = given is None or isinstance(given, bool | int | float | np.bool_)
    kind = type(given)
    named = (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )
    return shown(given) if plain else f"a {named}"


def _of_reading(reading: Reading) -> Taken:
    notes = (*_of_arcs(reading.graph, reading.undirected), *reading.notes)
    return Taken(
        reading.undirected, reading.mesh, reading.inputs, reading.asked, notes, reading.exchange
    )


def _of_arcs(given: Graph | DirectedGraph, edges: Graph) -> tuple[str, ...]:
    return (said_of_division(given, edges),) if isinstance(given, DirectedGraph) else ()


def _of_matrix(matrix: SparseMatrix) -> tuple[str, ...]:
    return (f"A matrix of {int(matrix.nnz):,} entries: its values and diagonal are ignored.",)


def _of_networkx(graph: NetworkXGraph) -> tuple[str, ...]:
    """Return a note that edge weights are not used, if edges have the usual attribute."""
    if any("weight" in data for _, _, data in graph.edges(data=True)):
        return ("The edge attribute weight is ignored; ev.Graph.from_networkx reads it.",)
    return ()


def _of_sequence(given: Sequence[Any] | npt.NDArray[Any]) -> Platform:
    if len(given) and all(isinstance(one, Device) for one in given):
        return Platform(tuple(given))
    if not len(given):
        raise UsageError("the list of speeds is empty", hint=_MACHINES)
    if len(given) > MAX_DEVICES:
        raise UsageError(f"{len(given):,} speeds; at most {MAX_DEVICES:,} devices are possible")
    try:
        speeds = as_numbers(given, "speeds")
    except InputError as error:
        raise InputError(error.message, hint=_MACHINES) from error
    return Platform.flat(speeds.tolist())
