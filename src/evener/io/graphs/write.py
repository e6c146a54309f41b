"""write_graph: writes a Graph in any of the graph formats, whole or not at all."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import InputError, UsageError
from evener.files.writing import atomic_write, is_stdout
from evener.graphs.graph import Graph
from evener.io.formats import FORMATS, Format, format_named
from evener.io.sources import PACKINGS

# Formats without coordinates: those go to a file beside, under a name that `read` looks for.
_COORDINATES_BESIDE = {"metis", "scotch", "edges", "matrixmarket"}


def write_graph(
    path: str | Path,
    graph: Graph,
    format: str | None = None,  # noqa: A002
) -> tuple[str, ...]:
    """Write `graph`; the suffix chooses the format, `.zst`, `.gz`, `.xz`, `.bz2` a packing.

    Coordinates go to a `.xyz` file beside it where the format has no place for them. Returns a
    sentence for everything the format could not hold; raises UsageError for an unknown suffix
    and InputError for what the format cannot express, before anything is written.
    """
    path = Path(path)
    entry = writer_for(path, format)
    content, notes = entry.write(graph)
    pack = _packing(path)
    with atomic_write(path) as file:
        file.write(pack(content))
    if graph.coords is not None and entry.name == "edges" and not _is_numbered(graph):
        notes = [*notes, "Coordinates are not kept: the list does not number all vertices."]
    elif graph.coords is not None and entry.name in _COORDINATES_BESIDE and is_stdout(path):
        notes = [
            *notes,
            "Coordinates are not kept: they lie in a file beside, and stdout has none.",
        ]
    elif graph.coords is not None and entry.name in _COORDINATES_BESIDE:
        beside = coordinates_path(path)
        text = coordinates_text(graph.coords, scotch=entry.name == "scotch")
        with atomic_write(beside) as file:
            file.write(_packing(beside)(text))
        notes = [*notes, f"Coordinates are in {beside.name}."]
    return tuple(notes)


def _is_numbered(graph: Graph) -> bool:
    """Return whether an edge list names all vertices, as 0 to n - 1."""
    return graph.labels is None and bool((graph.degrees > 0).all())


def writer_for(path: Path, name: str | None) -> Format:
    """Return the format to write: the one named, or the one of the suffix."""
    writers = [entry for entry in FORMATS if entry.writes]
    if name is not None:
        entry = format_named(name)
        if not entry.writes:
            known = ", ".join(writer.name for writer in writers)
            raise UsageError(f"{name} is read, not written", hint=f"Written are: {known}.")
        return entry
    if path.is_dir():
        raise UsageError(f"{path} is a folder; a file name is needed")
    plain = _without_packing(path)
    for entry in writers:
        if plain.suffix.lower() in entry.suffixes:
            return entry
    known = ", ".join(writer.suffixes[0] for writer in writers)
    raise UsageError(
        f"the suffix of {path.name} is of no format that is written",
        hint=f"Use one of {known}, or --to.",
    )


def coordinates_path(path: Path) -> Path:
    """Return the file beside `path` in which coordinates are looked for."""
    plain = _without_packing(path)
    return path.with_name(f"{plain.name}.xyz{path.suffix if plain != path else ''}")


def coordinates_text(coords: FloatArray, *, scotch: bool) -> bytes:
    """Return the coordinates as text that reads back to the same bits."""
    numbers = list(map(repr, coords.ravel().tolist()))
    width = coords.shape[1]
    columns = [numbers[i::width] for i in range(width)]
    if not scotch:
        return ("\n".join(map(" ".join, zip(*columns, strict=True))) + "\n").encode()
    ids = map(str, range(len(coords)))
    rows = map(" ".join, zip(ids, *columns, strict=True))
    return "\n".join([str(width), str(len(coords)), *rows, ""]).encode()


def whole(values: npt.NDArray[Any] | None, what: str) -> npt.NDArray[np.int64]:
    """Return the weights as int64, empty where there are none.

    Refuses what would not be read back: fractions, and whole numbers that a double cannot hold.
    """
    if values is None:
        return np.empty(0, np.int64)
    if values.dtype.kind == "f" and (values != np.rint(values)).any():
        raise InputError(
            f"the format holds whole numbers only, but {what} are not all whole",
            hint="`.npz` keeps them as they are.",
        )
    if (values.astype(np.float64).astype(values.dtype) != values).any():
        raise InputError(
            f"the format holds no whole numbers above 2^53 exactly, but {what} are larger",
            hint="`.npz` keeps them as they are.",
        )
    return np.ascontiguousarray(values.ravel(), np.int64)


def table_text(table: npt.NDArray[np.int64], separator: str) -> bytes:
    """Return the (rows, c) table as lines of text."""
    from evener.io import text_kernels as kernels

    step = 2**20
    buffer = np.empty(min(step, len(table)) * table.shape[1] * (kernels.WIDTH + 1) + 1, np.uint8)
    pieces = []
    for first in range(0, len(table), step):
        part = np.ascontiguousarray(table[first : first + step])
        pieces.append(buffer[: kernels.put_columns(part, ord(separator), buffer)].tobytes())
    return b"".join(pieces)


def lists_text(graph: Graph, *, base: int, with_degree: bool, edge_first: bool) -> bytes:
    """Return a line for each vertex: weights, perhaps the degree, neighbours with weights."""
    from evener.io import text_kernels as kernels

    vwgt, adjwgt = whole(graph.vwgt, "vertex weights"), whole(graph.adjwgt, "edge weights")
    n_weights = 0 if graph.vwgt is None else graph.n_constraints
    pieces = []
    for first, last in _ranges(graph):
        numbers = (last - first) * (2 + n_weights) + 2 * int(graph.xadj[last] - graph.xadj[first])
        buffer = np.empty(numbers * (kernels.WIDTH + 1), np.uint8)
        size = kernels.put_lists(
            first,
            last,
            graph.xadj,
            graph.adjncy,
            base,
            with_degree,
            vwgt,
            n_weights,
            adjwgt,
            edge_first,
            buffer,
        )
        pieces.append(buffer[:size].tobytes())
    return b"".join(pieces)


def _ranges(graph: Graph) -> list[tuple[int, int]]:
    """Return ranges of vertices with about 2^20 adjacency entries each, for small buffers."""
    marks = np.arange(0, graph.adjncy.size + graph.n, 2**20)
    cuts = np.unique(np.searchsorted(graph.xadj[:-1] + np.arange(graph.n), marks))
    bounds = [*cuts.tolist(), graph.n]
    return [(a, b) for a, b in pairwise(bounds) if a < b]


def _without_packing(path: Path) -> Path:
    return path.with_suffix("") if path.suffix in PACKINGS else path


def _packing(path: Path) -> Any:
    """Return the function that packs content as the suffix of `path` says."""
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
