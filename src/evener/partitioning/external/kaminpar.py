"""KaMinPar [GHSS21]_: its Python interface reads graphs only from files in ParHIP's format."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.partitioning.external.jobs import (
    LIMIT_32,
    LIMIT_64,
    Call,
    Job,
    Whole,
    edge_weights,
    heaviest_blocks,
    remarks,
    vertex_weights,
)

HEADER = 24  # bytes: version, n, number of adjacency entries, as uint64
# Bits of the version word: each one set means that something is absent or 32 bits wide.
NO_EDGE_WEIGHTS, NO_VERTEX_WEIGHTS, NARROW_OFFSETS, NARROW_VERTICES = 1, 2, 4, 8
NARROW_VERTEX_WEIGHTS, NARROW_EDGE_WEIGHTS = 16, 32


def prepare(job: Job, folder: Path) -> Call:
    """Return the prepared Call of KaMinPar: the graph is written to `folder` and read from it."""
    kaminpar: Any = importlib.import_module("kaminpar")  # its type stubs leave out what we ask
    wide = bool(kaminpar.__64bit__)
    limit = LIMIT_64 if wide else LIMIT_32
    vwgt, adjwgt = vertex_weights(job, limit), edge_weights(job, limit)
    path = folder / "graph.parhip"
    write_parhip(path, job, vwgt, adjwgt, wide=wide)
    graph = kaminpar.load_graph(str(path), kaminpar.GraphFileFormat.PARHIP)
    path.unlink(missing_ok=True)
    solver = kaminpar.KaMinPar(job.threads, kaminpar.context_by_name(job.preset))
    highest = heaviest_blocks(job, int(vwgt.values.sum())).tolist()

    def run() -> npt.ArrayLike:
        kaminpar.reseed(job.seed % (2**31 - 1))
        part: npt.ArrayLike = solver.compute_partition(graph, max_block_weights=highest)
        return part

    notes = remarks(vwgt, adjwgt)
    if job.threads > 1:
        notes += ("with several threads, KaMinPar's result may differ from run to run",)
    return Call(run, f"kaminpar {kaminpar.__version__}", notes)


def write_parhip(path: Path, job: Job, vwgt: Whole, adjwgt: Whole, *, wide: bool) -> None:
    """Write the graph in ParHIP's format. wide: whether the reader uses 64-bit numbers.

    Offsets count bytes from the beginning of the file.
    """
    offset = np.dtype(np.uint64 if wide else np.uint32)
    vertex = job.adjncy.dtype
    flags = 0 if wide else NARROW_OFFSETS | NARROW_VERTEX_WEIGHTS | NARROW_EDGE_WEIGHTS
    flags |= NARROW_VERTICES if vertex.itemsize == 4 else 0
    flags |= NO_VERTEX_WEIGHTS if job.vwgt is None else 0
    flags |= NO_EDGE_WEIGHTS if job.adjwgt is None else 0
    first = HEADER + offset.itemsize * (job.n + 1)
    weight = np.dtype(np.int64 if wide else np.int32)
    parts: list[npt.NDArray[Any]] = [
        np.array([flags, job.n, job.adjncy.size], np.uint64),
        (job.xadj * vertex.itemsize + first).astype(offset),
        job.adjncy,
    ]
    if job.vwgt is not None:
        parts.append(vwgt.values.astype(weight))
    if job.adjwgt is not None:
        parts.append(adjwgt.values.astype(weight))
    with path.open("wb") as file:
        for part in parts:
            part.tofile(file)
