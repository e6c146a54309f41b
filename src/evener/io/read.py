"""read: reads the graph in a file of any known format, with its coordinates and weights."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from evener.errors import InputError, UsageError
from evener.files.steps import LoggedSteps
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.graphs.joined import groups_of_pairs
from evener.io.coordinates import read_coordinates
from evener.io.formats import Format, format_named, format_of, why_taken
from evener.io.graphs.streams import both_ways
from evener.io.sources import Source, open_source
from evener.io.weights import (
    COUPLED,
    DEGREE,
    ORDER,
    balanced_each,
    degree_weights,
    find_groups,
    find_weights,
    flux_points,
    without_folder,
)
from evener.wording import plural, printable, two_lines

if TYPE_CHECKING:
    from evener.graphs.mesh import Mesh

Progress = Callable[[str, float], None]
_WHOLE_NUMBERS = re.compile(rb"'descr': '[<>|][iu]\d")  # in the header of an .npy file


@dataclass(frozen=True, eq=False)
class Reading:
    """The result of reading a file.

    graph: a Graph, or a DirectedGraph if requested. mesh: the mesh from which the graph was made,
    or None. notes: one sentence for each thing that was unusual or left out. inputs: the SHA-256 of
    every file read, by file name without folder. asked: the options of `read` that were given; file
    names are without folders.
    """

    graph: Graph | DirectedGraph
    mesh: Mesh | None
    format: str
    notes: tuple[str, ...] = ()
    inputs: dict[str, str] = field(default_factory=dict)
    asked: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def undirected(self) -> Graph:
        """The graph to be divided: if `graph` is directed, its arcs become undirected edges."""
        return self.graph.undirected()

    @property
    def exchange(self) -> str:
        """What solvers send if this graph divides their work, as in Workload.exchange."""
        by_cells = self.mesh is not None and self.asked.get("by") != "points"
        return self.mesh.exchange if self.mesh is not None and by_cells else "vertices"

    def __repr__(self) -> str:
        made = self.graph if self.mesh is None else self.mesh
        what = f"{self.format}, {type(made).__name__}, {self.graph.n:,} vertices"
        files = f"from {', '.join(self.inputs)}" if self.inputs else "from no file"
        return two_lines("Reading", [what], [files, plural(len(self.notes), "note")])


def read(  # noqa: PLR0913 - public: one keyword for each thing that a file may need
    path: str | Path | Source,
    *,
    by: Literal["cells", "points"] = "cells",
    coords: str | Path | None = None,
    weights: str | Path | None = None,
    balance_each: Literal["region", "type"] | None = None,
    format: str | None = None,  # noqa: A002
    constraint: int | None = None,
    directed: bool = False,
    couplings: bool = True,
    together: str | Path | None = None,
    bytes_per_vertex: float | None = None,
    bytes_per_edge: float | None = None,
    progress: Progress | None = None,
) -> Reading:
    """Read a graph, matrix or mesh, in a format that is detected from the content.

    path: a file name, or the result of `open_source`.
    by: whether the vertices are a mesh's cells (dual graph) or its points (nodal graph).
    coords: file with coordinates; files next to the input are found without this option.
    weights: file with the work per vertex (`FILE` or `FILE:COLUMN`); `degree`, the number of
    neighbours; `cell:NAME`, a field of the mesh file; `type:NAME=WEIGHT,...` or
    `region:NAME=WEIGHT,...`, the weights of cells by type or region; or `order:P`, the number of
    solution points of each cell for polynomials of order P.
    balance_each: add one weight per vertex for each cell "region" or each cell "type".
    format: the name of the format, instead of detecting it.
    constraint: which of several weights is used, from 0; None uses all.
    directed: return a DirectedGraph: lines and entries are arcs, with weights if the file has
    them; edges of formats and meshes without directions become two arcs each.
    couplings: whether cells coupled by periodic or cyclic faces are neighbours.
    together: which vertices must share a block: a file (`FILE` or `FILE:COLUMN`) with the number
    of each vertex's group, negative for none; or `coupled`, the cells coupled by periodic or cyclic
    faces. None: coupled cells if the format's solvers need it (PyFR), else none.
    bytes_per_vertex, bytes_per_edge [B]: as in Graph. progress: called with (step, fraction).

    Raises InputError for any fault in a file, UsageError for a wrong option.
    """
    if balance_each not in (None, "region", "type"):
        raise UsageError(f"--balance-each takes region or type, not {balance_each!r}")
    if by not in ("cells", "points"):
        raise UsageError(f"a mesh is divided by cells or by points, not by {by!r}")
    name = path.name if isinstance(path, Source) else Path(path).name
    tell = progress or LoggedSteps(f"reading {printable(name)}")
    tell("reading", 0.0)
    source = path if isinstance(path, Source) else open_source(path)
    entry = format_of(source) if format is None else format_named(format)
    tell("parsing", 0.2)
    with _said_of(source):
        held = _parse(entry, source, directed=directed, sure=format is not None)
        mesh = held if entry.what == "mesh" else None
        whole = mesh
        if mesh is not None:
            tell("making the graph", 0.5)
            mesh = _coupled_as_asked(source, mesh, by, couplings)
        graph: Graph | DirectedGraph = held if mesh is None else _graph_of(mesh, by)
        if directed and isinstance(graph, Graph):
            graph = _both_ways(source, graph)
        tell("finding coordinates and weights", 0.9)
        changes: dict[str, Any] = {}
        _find_coordinates(source, graph, coords, changes)
        _find_weights(source, graph, mesh, by, weights, constraint, changes)
        _find_groups(source, graph, whole, by, together, changes)
        if balance_each is not None:
            vwgt = changes.get("vwgt", graph.vwgt)
            changes["vwgt"] = balanced_each(source, mesh, by, balance_each, vwgt)
    sizes = {"bytes_per_vertex": bytes_per_vertex, "bytes_per_edge": bytes_per_edge}
    changes |= {name: size for name, size in sizes.items() if size is not None}
    if changes:
        graph = graph.with_(**changes)
    tell("done", 1.0)
    inputs = {source.path.name if not source.folder else source.name: source.sha256}
    asked = {
        "by": by,
        "format": format,
        "constraint": constraint,
        "directed": directed or None,
        "balance_each": balance_each,
        "couplings": None if couplings else False,
        "together": None if together is None else without_folder(str(together)),
        **sizes,
        "coords": None if coords is None else Path(coords).name,
        "weights": None if weights is None else without_folder(str(weights)),
    }
    asked = {key: value for key, value in asked.items() if value is not None}
    return Reading(graph, mesh, entry.name, tuple(source.notes), inputs | source.beside, asked)


@overload
def read_graph(path: str | Path, *, directed: Literal[False] = ..., **options: Any) -> Graph: ...
@overload
def read_graph(path: str | Path, *, directed: Literal[True], **options: Any) -> DirectedGraph: ...
def read_graph(path: str | Path, **options: Any) -> Graph | DirectedGraph:
    """Like `read`, but return only the graph."""
    return read(path, **options).graph


def _parse(entry: Format, source: Source, *, directed: bool, sure: bool) -> Any:
    """Return the content of the file. sure: whether the user named the format."""
    if entry.what == "coords" and _WHOLE_NUMBERS.search(source.head):
        raise source.error(
            "contains an array of whole numbers, not a graph or mesh",
            hint="Graph.from_edges(n, u, v) takes arrays; a file of edges has two numbers per "
            "line.",
        )
    if entry.what == "coords":
        raise source.error(
            "contains coordinates, not a graph or mesh",
            hint="--coords FILE gives a graph its coordinates.",
        )
    try:
        return entry.read(source, directed=directed)
    except InputError as error:
        if not sure and error.file in (None, str(source.path)):
            hints = (error.hint, why_taken(entry, source))
            error.hint = " ".join(hint for hint in hints if hint)
        raise


def _both_ways(source: Source, graph: Graph) -> DirectedGraph:
    """Convert an undirected graph to a directed one with two arcs for each edge, and add a note."""
    source.notes.append(both_ways(graph.m))
    return DirectedGraph.of_edges(graph)


@contextmanager
def _said_of(source: Source) -> Iterator[None]:
    """Context manager: add the file's name to errors that are raised without one."""
    try:
        yield
    except InputError as error:
        if error.file is not None:
            raise
        raise source.error(error.message, line=error.line, hint=error.hint) from error
    except MemoryError as error:
        raise source.error("needs more memory than is available") from error


def _coupled_as_asked(source: Source, mesh: Mesh, by: str, couplings: bool) -> Mesh:
    """Return the mesh with or without its couplings, and add a note that says which."""
    n = len(mesh.coupled)
    if not n:
        return mesh
    pairs = f"{plural(n, 'pair')} of periodic or cyclic faces"
    if by == "points":
        source.notes.append(f"{pairs} couple cells; the graph of points does not contain them.")
    elif couplings:
        source.notes.append(
            f"{pairs} couple cells like inner faces (--no-couplings leaves them out)."
        )
    else:
        source.notes.append(f"{pairs} are left out (--no-couplings).")
    return mesh if couplings else replace(mesh, coupled=mesh.coupled[:0])


def _graph_of(mesh: Mesh, by: str) -> Graph:
    return mesh.dual_graph() if by == "cells" else mesh.nodal_graph()


def _find_coordinates(
    source: Source, graph: Graph | DirectedGraph, path: str | Path | None, changes: dict[str, Any]
) -> None:
    """Set the graph's coordinates from `path`, or from a file next to the input."""
    if path is not None:
        given = open_source(path)
        source.beside[given.path.name] = given.sha256
        changes["coords"] = read_coordinates(given, graph.n)
        return
    if graph.coords is not None or source.folder:
        return
    for name in names_beside(source.name):
        found = source.open_beside(name)
        if found is not None:
            changes["coords"] = read_coordinates(found, graph.n)
            source.notes.append(f"Coordinates are from {found.path.name}.")
            return


def names_beside(name: str) -> list[str]:
    """Return the file names under which coordinates of graph file `name` are searched, in order."""
    stem = Path(name).stem
    return [f"{name}.xyz", f"{stem}.xyz", f"{stem}_coord.mtx"]


def _find_weights(
    source: Source,
    graph: Graph | DirectedGraph,
    mesh: Mesh | None,
    by: str,
    weights: str | Path | None,
    constraint: int | None,
    changes: dict[str, Any],
) -> None:
    """Set the requested vertex weights; if there are several, keep only `constraint`.

    For a polynomial order, also set edge weights if faces have different numbers of flux points.
    """
    vwgt = graph.vwgt
    if weights is not None and str(weights) == DEGREE:
        vwgt = changes["vwgt"] = degree_weights(graph)
    elif weights is not None:
        vwgt = changes["vwgt"] = find_weights(source, graph.n, mesh, by, str(weights))
        if str(weights).startswith(ORDER) and isinstance(graph, Graph) and mesh is not None:
            faces = flux_points(graph, mesh, str(weights))
            if faces is not None:
                changes["adjwgt"] = faces
    if constraint is None:
        return
    columns = 1 if vwgt is None or vwgt.ndim == 1 else vwgt.shape[1]
    if not 0 <= constraint < columns:
        raise UsageError(f"there is no weight {constraint}: numbers are 0 to {columns - 1}")
    if vwgt is not None and vwgt.ndim == 2:
        changes["vwgt"] = vwgt[:, constraint].copy()


def _find_groups(
    source: Source,
    graph: Graph | DirectedGraph,
    mesh: Mesh | None,
    by: str,
    together: str | Path | None,
    changes: dict[str, Any],
) -> None:
    """Set the groups of vertices that must share a block; mesh: with all its couplings."""
    is_bound = mesh is not None and mesh.together and by == "cells" and len(mesh.coupled) > 0
    if together is None and not is_bound:
        return
    if together is not None and str(together) != COUPLED:
        changes["together"] = find_groups(source, graph.n, str(together))
        return
    if mesh is None or by == "points" or not len(mesh.coupled):
        raise UsageError(
            "--together coupled needs a mesh with periodic or cyclic faces, divided by cells"
        )
    changes["together"] = groups = groups_of_pairs(graph.n, mesh.coupled)
    count = plural(len(np.unique(groups[groups >= 0])), "group")
    pairs = plural(len(mesh.coupled), "pair")
    source.notes.append(f"Coupled cells share a block: {count} of {pairs}.")
