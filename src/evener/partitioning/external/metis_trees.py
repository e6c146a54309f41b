"""METIS on many small graphs in one process: along a tree of blocks, or bisecting into a tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.partitioning.external.jobs import LIMIT_32, LIMIT_64, Call, Job, whole_weights
from evener.partitioning.external.metis import (
    N_OPTIONS,
    PLACES,
    MetisLibrary,
    WholeGraph,
    _is_newer,
)
from evener.partitioning.external.trees import Weighted, along_tree, bisected

CLUSTERS, TREE = "metis-clusters", "metis-tree"


def prepare(job: Job, folder: Path) -> Call:  # noqa: ARG001
    """Return METIS made ready: `metis-clusters` returns a tree (depth, n), `metis-tree` blocks."""
    metis = MetisLibrary.loaded()
    limit = LIMIT_64 if metis.index.itemsize == 8 else LIMIT_32
    vwgt = np.asarray(job.vwgt)
    columns = [whole_weights(np.asarray(column), limit, least=1).values for column in vwgt.T]
    adjwgt = np.asarray(job.adjwgt)
    edges = whole_weights(adjwgt, limit, least=1).values if adjwgt.size else adjwgt
    graph = Weighted(job.xadj, job.adjncy, np.stack(columns, axis=1), edges)
    options = np.full(N_OPTIONS, -1, np.int64)
    options[PLACES[_is_newer(metis.functions)]["seed"]] = job.seed % (2**31 - 1)

    def divide(part: Weighted, shares: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        lists = WholeGraph(part.xadj, part.adjncy, part.vwgt, part.adjwgt)
        return metis.divided(lists, shares, None, options, recursive=True)

    def run() -> npt.ArrayLike:
        if job.tool == CLUSTERS:
            return bisected(graph, divide)
        assert job.tree is not None
        return along_tree(graph, job.targets, np.asarray(job.tree), divide)

    return Call(run, f"libmetis {metis.version}")
