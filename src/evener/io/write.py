"""write_graph and write_mesh: each writes a file completely or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evener.arrays import FloatArray
from evener.errors import UsageError
from evener.files.writing import atomic_write, is_stdout
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.io.formats import FORMATS, Format, format_named
from evener.io.sources import without_packing

if TYPE_CHECKING:
    from evener.graphs.mesh import Mesh

# Formats without coordinates, which go to a separate file that `read` finds by its name.
_COORDINATES_BESIDE = {"metis", "scotch", "edges", "matrixmarket"}


def _su2(mesh: Mesh) -> Iterable[bytes]:
    from evener.io.meshes.su2 import su2_text

    return [su2_text(mesh)]


def _vtu(mesh: Mesh) -> Iterable[bytes]:
    from evener.io.meshes.vtu import vtu

    return vtu(mesh, mesh.cell_data, mesh.point_data)


# Suffixes of meshes, and functions that return the pieces of such a file.
MESH_WRITERS: dict[str, Callable[[Mesh], Iterable[bytes]]] = {".su2": _su2, ".vtu": _vtu}


def write_graph(
    path: str | Path,
    graph: Graph | DirectedGraph,
    format: str | None = None,  # noqa: A002
) -> tuple[str, ...]:
    """Write `graph` in the format of the suffix; `.zst`, `.gz`, `.xz` or `.bz2` compresses it.

    If the format cannot hold coordinates, they go to a `.xyz` file in the same folder. Returns a
    sentence for everything the format could not hold. Before anything is written, raises UsageError
    for an unknown suffix and InputError for data that the format cannot express. A DirectedGraph is
    written as arcs; UsageError if the format has no arcs.
    """
    path = Path(path)
    entry = writer_for(path, format, directed=isinstance(graph, DirectedGraph))
    content, notes = entry.write(graph)
    pack = packing_of(path)
    with atomic_write(path) as file:
        file.write(pack(content))
    if graph.coords is not None and entry.name == "edges" and not _is_numbered(graph):
        notes = [
            *notes,
            "Coordinates are not written: the edge list does not contain all vertices.",
        ]
    elif graph.coords is not None and entry.name in _COORDINATES_BESIDE and is_stdout(path):
        notes = [
            *notes,
            "Coordinates are not written: they need a second file, which stdout does not have.",
        ]
    elif graph.coords is not None and entry.name in _COORDINATES_BESIDE:
        beside = coordinates_path(path)
        text = coordinates_text(graph.coords, scotch=entry.name == "scotch")
        with atomic_write(beside) as file:
            file.write(packing_of(beside)(text))
        notes = [*notes, f"Coordinates are in {beside.name}."]
    if graph.together is not None:
        notes = [
            *notes,
            "Groups of vertices that share a block are not written: no format stores them.",
        ]
    return tuple(notes)


def write_mesh(path: str | Path, mesh: Mesh, suffix: str | None = None) -> None:
    """Write `mesh` as .su2 or .vtu, according to `suffix` or the suffix of `path`.

    Raises UsageError for another suffix and InputError for data that the format cannot express; an
    existing file then stays unchanged.
    """
    path = Path(path)
    pieces = MESH_WRITERS.get((suffix or path.suffix).lower())
    if pieces is None:
        known = ", ".join(MESH_WRITERS)
        raise UsageError(
            f"{path.name}: Evener does not write meshes to such files", hint=f"Use {known}."
        )
    with atomic_write(path) as file:
        for piece in pieces(mesh):
            file.write(piece)


def _is_numbered(graph: Graph | DirectedGraph) -> bool:
    """Return whether all vertices have edges and are named 0 to n - 1 in an edge list."""
    return graph.labels is None and not graph.isolated.size


def writer_for(path: Path, name: str | None, *, directed: bool = False) -> Format:
    """Return the format to write: the format called `name`, or the suffix's format.

    Raises UsageError if there is none, or if the graph is `directed` and the format has no arcs.
    """
    entry = _writer_of(path, name)
    if directed and not entry.directed:
        known = ", ".join(writer.name for writer in FORMATS if writer.writes and writer.directed)
        raise UsageError(
            f"{entry.name} stores edges without direction",
            hint=f"Write directed graphs as {known}.",
        )
    return entry


def _writer_of(path: Path, name: str | None) -> Format:
    writers = [entry for entry in FORMATS if entry.writes]
    if name is not None:
        entry = format_named(name)
        if not entry.writes:
            known = ", ".join(writer.name for writer in writers)
            raise UsageError(
                f"Evener reads {name} but does not write it", hint=f"Evener writes {known}."
            )
        return entry
    if path.is_dir():
        raise UsageError(f"{path} is a folder; a file name is needed")
    plain = without_packing(path)
    for entry in writers:
        if plain.suffix.lower() in entry.suffixes:
            return entry
    known = ", ".join(writer.suffixes[0] for writer in writers)
    raise UsageError(
        f"Evener writes no format with the suffix of {path.name}",
        hint=f"Use one of {known}, or --to.",
    )


def coordinates_path(path: Path) -> Path:
    """Return the file next to graph file `path` in which `read` looks for coordinates."""
    plain = without_packing(path)
    return path.with_name(f"{plain.name}.xyz{path.suffix if plain != path else ''}")


def coordinates_text(coords: FloatArray, *, scotch: bool) -> bytes:
    """Return the coordinates as text from which the same bits are read back."""
    numbers = list(map(repr, coords.ravel().tolist()))
    width = coords.shape[1]
    columns = [numbers[i::width] for i in range(width)]
    if not scotch:
        return ("\n".join(map(" ".join, zip(*columns, strict=True))) + "\n").encode()
    ids = map(str, range(len(coords)))
    rows = map(" ".join, zip(ids, *columns, strict=True))
    return "\n".join([str(width), str(len(coords)), *rows, ""]).encode()


def packing_of(path: Path) -> Any:
    """Return the function that compresses content according to the suffix of `path`."""
    if path.suffix == ".zst":
        import zstandard

        return zstandard.ZstdCompressor(level=9).compress
    if path.suffix == ".gz":
        import gzip

        return lambda content: gzip.compress(content, 6, mtime=0)
    if path.suffix == ".bz2":
        import bz2

        return bz2.compress
    if path.suffix == ".xz":
        import lzma

        return lzma.compress
    return bytes
