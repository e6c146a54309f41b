"""METIS k-way and recursive bisection [KK98]_, through pymetis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.partitioning.external.jobs import (
    LIMIT_32,
    LIMIT_64,
    Call,
    Job,
    edge_weights,
    installed,
    remarks,
    vertex_weights,
)

# ncuts: how many partitions are made, the best of which is kept; niter: refinement passes.
PRESETS: dict[str, dict[str, int]] = {
    "fast": {},
    "default": {},
    "strong": {"ncuts": 10, "niter": 50},
}


def prepare(job: Job, folder: Path) -> Call:  # noqa: ARG001
    """Return METIS made ready; its tolerance is a whole number of thousandths."""
    import pymetis

    index = np.dtype(pymetis.zero_copy_dtype())
    limit = LIMIT_64 if index.itemsize == 8 else LIMIT_32
    vwgt, adjwgt = vertex_weights(job, limit), edge_weights(job, limit)
    graph = pymetis.CSRAdjacency(_indices(job.xadj, index), _indices(job.adjncy, index))
    shares = job.targets / job.targets.sum()

    def run() -> npt.ArrayLike:
        return pymetis.part_graph(
            job.k,
            graph,
            vweights=None if job.vwgt is None else _indices(vwgt.values, index),
            eweights=None if job.adjwgt is None else _indices(adjwgt.values, index),
            tpwgts=(shares / shares.sum()).tolist(),
            recursive=job.tool == "metis-recursive",
            options=_options(job),
        ).vertex_part

    return Call(run, installed("pymetis"), remarks(vwgt, adjwgt))


def _options(job: Job) -> Any:
    import pymetis

    options = {
        # A seed of -1 means "default" to METIS, and it reads the others as 32 bits.
        "seed": job.seed % (2**31 - 1),
        "ufactor": max(1, round(1000 * job.epsilon)),
        **PRESETS[job.preset],
    }
    if job.objective == "total_volume":
        options["objtype"] = int(pymetis.ObjType.VOL)
    return pymetis.Options(**options)


def _indices(values: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    # A copy in memory even where the type fits already: pymetis wants arrays it may write to.
    return np.array(values, dtype=dtype)
