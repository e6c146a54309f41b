"""The rows of a file for each rank: of binary CSR files its own range, of others all at rank 0.

So are binary ones with coordinates or weights of other files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from evener.errors import InputError
from evener.io.csr.csr_file import CsrFile
from evener.io.csr.layout import MAGIC
from evener.io.read import read
from evener.running.comm import Comm
from evener.sliced.dealing import bounds_of
from evener.sliced.gathering import agreed
from evener.sliced.given_rows import Passed

OF_RANGES = {"format", "bytes_per_vertex", "bytes_per_edge"}  # options that ranges of rows take
NO_ROWS = Passed([0], np.empty(0, np.int32), None, None, None, None, None)


@dataclass(frozen=True, eq=False)
class ReadRows:
    """The rows of a file that a rank has read, the file's bytes for vertices and edges [B].

    notes: what was odd in the file; inputs: file name -> SHA-256; where it was read as a whole.
    """

    passed: Passed
    bytes_per_vertex: float
    bytes_per_edge: float
    notes: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)


def rows_of_file(comm: Comm, path: str | Path, options: Mapping[str, Any]) -> ReadRows:
    """Return this rank's rows of the graph in a file; all ranks call.

    options: arguments of `evener.read`, the same on all ranks. Raises InputError on all ranks where
    the file cannot be read.
    """
    is_binary = all(comm.allgather(agreed(comm, lambda: _is_binary(path))))
    if is_binary and set(options) <= OF_RANGES and options.get("format") in (None, "ecsr"):
        return agreed(comm, lambda: _own_range(path, comm, options))
    # Whoever reads it, the fault is the file's: no rank is named.
    found = agreed(comm, lambda: _whole(path, options) if comm.rank == 0 else None, named=False)
    if is_binary and found is not None:
        given = ", ".join(sorted(set(options) - OF_RANGES)) or "format"
        note = f"{Path(path).name} was read as a whole at rank 0, for {given}"
        found = replace(found, notes=(*found.notes, note))
    sizes = comm.bcast(None if found is None else (found.bytes_per_vertex, found.bytes_per_edge))
    assert sizes is not None
    return ReadRows(NO_ROWS, *sizes) if found is None else found


def _is_binary(path: str | Path) -> bool:
    try:
        with Path(path).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from error


def _own_range(path: str | Path, comm: Comm, options: Mapping[str, Any]) -> ReadRows:
    with CsrFile(path) as file:
        bounds = bounds_of(comm.size, file.n)
        first, last = bounds[comm.rank : comm.rank + 2].tolist()
        rows = file.rows(first, last)
        points = file.points(first, last) if file.dimension else None
        passed = Passed(rows.xadj, rows.adjncy, bounds, rows.vwgt, rows.adjwgt, points, None)
        vertex, entry = options.get("bytes_per_vertex"), options.get("bytes_per_edge")
        return ReadRows(
            passed,
            file.layout.bytes_per_vertex if vertex is None else float(vertex),
            file.layout.bytes_per_edge if entry is None else float(entry),
        )


def _whole(path: str | Path, options: Mapping[str, Any]) -> ReadRows:
    reading = read(path, **options)
    graph = reading.undirected
    passed = Passed(graph.xadj, graph.adjncy, None, graph.vwgt, graph.adjwgt, graph.coords, None)
    sizes = graph.bytes_per_vertex, graph.bytes_per_edge
    return ReadRows(passed, *sizes, tuple(reading.notes), dict(reading.inputs))
