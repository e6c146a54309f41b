"""Opens a graph file whose arcs are read in pieces; reports why a file cannot be read so."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evener.errors import InputError
from evener.files.opening import MOST, open_input
from evener.io.formats import format_named, format_of
from evener.io.graphs.streams import ArcStream, WholeNeeded, Window, head_of

# Read options that concern only vertices, which a device's part does not contain.
_OF_VERTICES = {"coords", "weights", "constraint", "bytes_per_vertex", "bytes_per_edge", "by"}


def open_stream(path: str | Path, n: int, options: Mapping[str, Any]) -> ArcStream:
    """Return the arcs of a graph file of n vertices, as a stream that is read in pieces.

    options: as in `evener.read`. Raises InputError if the file is wrong or has another number of
    vertices; WholeNeeded, with the reason, if the file must be read whole.
    """
    asked = {key: value for key, value in options.items() if value is not None}
    directed, name = bool(asked.pop("directed", False)), asked.pop("format", None)
    if unknown := set(asked) - _OF_VERTICES:
        raise WholeNeeded(f"the option {min(unknown)} needs the whole graph")
    head = head_of(path)
    entry = format_of(head) if name is None else format_named(name)
    stream = _stream_of(entry.name, head, n, directed=directed)
    if stream.n != n:
        raise InputError(
            f"the partition has {n:,} entries, but the graph has {stream.n:,} vertices"
        )
    stream.vertices_weigh = stream.vertices_weigh or "weights" in asked
    return stream


def _stream_of(name: str, head: Window, n: int, *, directed: bool) -> ArcStream:
    """Open the stream of a file in the format `name`."""
    from evener.io.graphs import ecsr, edges, matrixmarket, metis, npz

    if name == "edges":
        return edges.stream(head, directed=directed, n=n)
    known = {
        "ecsr": ecsr.stream,
        "metis": metis.stream,
        "matrixmarket": matrixmarket.stream,
        "npz": npz.stream,
    }
    if name not in known:
        raise WholeNeeded(f"Evener reads the format {name} only as a whole")
    return known[name](head, directed=directed)


def digest_of(path: str | Path, most: int = MOST) -> str:
    """Return the SHA-256 of a file, read in pieces. Raises InputError above `most` bytes."""
    with open_input(path, most) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
