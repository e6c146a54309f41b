"""read: the graph in a file of any known format, with coordinates and weights that go with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from evener.errors import InputError, UsageError
from evener.files.steps import LoggedSteps
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.io.coordinates import read_coordinates
from evener.io.formats import Format, format_named, format_of, why_taken
from evener.io.graphs.streams import both_ways
from evener.io.sources import Source, open_source
from evener.io.weights import (
    DEGREE,
    balanced_each,
    degree_weights,
    find_weights,
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

    graph: a Graph, or a DirectedGraph where that was asked for; mesh: what it was made from, or
    None. notes say, a sentence each, what was odd or left out. inputs holds the SHA-256 of every
    file read, by name without folder; asked the options of `read` that were given, files without
    their folders.
    """

    graph: Graph | DirectedGraph
    mesh: Mesh | None
    format: str
    notes: tuple[str, ...] = ()
    inputs: dict[str, str] = field(default_factory=dict)
    asked: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def undirected(self) -> Graph:
        """The graph that is divided: of a directed one that of its arcs as edges."""
        return self.graph.undirected()

    @property
    def exchange(self) -> str:
        """What solvers send that divide this graph, as Workload.exchange."""
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
    bytes_per_vertex: float | None = None,
    bytes_per_edge: float | None = None,
    progress: Progress | None = None,
) -> Reading:
    """Read a graph, matrix or mesh; its format is found from its content.

    path: a file's name, or what `open_source` returned.
    by: whether the vertices are a mesh's cells (dual graph) or its points (nodal graph).
    coords: file with coordinates; those lying beside the file are found without it.
    weights: file with the work per vertex (`FILE` or `FILE:COLUMN`); `degree`, a unit for
    each neighbour; `cell:NAME`, a field of the mesh file; or `type:NAME=WEIGHT,...`,
    `region:NAME=WEIGHT,...`, of cells by type or region.
    balance_each: add a weight for the cells of each "region" or "type".
    constraint: which of several weights counts, from 0; all where None.
    directed: return a DirectedGraph: lines and entries are arcs, with weights where the file has
    them; edges of formats and meshes that have no direction are two arcs each.
    couplings: whether cells that periodic or cyclic faces couple are neighbours.
    bytes_per_vertex, bytes_per_edge [B]: as of Graph. progress: called with (step, fraction).

    Raises InputError for anything wrong in a file, UsageError for a wrong option.
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
    """Return the graph alone; options as of `read`."""
    return read(path, **options).graph


def _parse(entry: Format, source: Source, *, directed: bool, sure: bool) -> Any:
    """Return what the file holds. sure: whether the format was named, not recognised."""
    if entry.what == "coords" and _WHOLE_NUMBERS.search(source.head):
        raise source.error(
            "contains an array of whole numbers, not a graph or mesh",
            hint="Graph.from_edges(n, u, v) takes arrays; a file of edges has two numbers a line.",
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
    """Return a graph whose edges have no direction with two arcs for each."""
    source.notes.append(both_ways(graph.m))
    return DirectedGraph.of_edges(graph)


@contextmanager
def _said_of(source: Source) -> Iterator[None]:
    """Add the file's name to errors that the check of an array raises."""
    try:
        yield
    except InputError as error:
        if error.file is not None:
            raise
        raise source.error(error.message, line=error.line, hint=error.hint) from error
    except MemoryError as error:
        raise source.error("needs more memory than there is") from error


def _coupled_as_asked(source: Source, mesh: Mesh, by: str, couplings: bool) -> Mesh:
    """Return the mesh with or without its couplings; a note says what became of them."""
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
    """Take the coordinates at `path`, or those lying beside the file, for the graph."""
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
    """Return file names for coordinates of the graph file `name`, the most specific first."""
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
    """Take the weights asked for, and of several the one asked for."""
    vwgt = graph.vwgt
    if weights is not None and str(weights) == DEGREE:
        vwgt = changes["vwgt"] = degree_weights(graph)
    elif weights is not None:
        vwgt = changes["vwgt"] = find_weights(source, graph.n, mesh, by, str(weights))
    if constraint is None:
        return
    columns = 1 if vwgt is None or vwgt.ndim == 1 else vwgt.shape[1]
    if not 0 <= constraint < columns:
        raise UsageError(f"there is no weight {constraint}: numbers are 0 to {columns - 1}")
    if vwgt is not None and vwgt.ndim == 2:
        changes["vwgt"] = vwgt[:, constraint].copy()
