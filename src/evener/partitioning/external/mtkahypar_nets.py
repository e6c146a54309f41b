"""Mt-KaHyPar on a given hypergraph: minimises the sum of (number of blocks in a net - 1) (km1)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from evener.partitioning.external.jobs import (
    LIMIT_32,
    Call,
    Job,
    Whole,
    heaviest_blocks,
    installed,
    remarks,
    whole_weights,
)
from evener.partitioning.external.mtkahypar import PRESETS


def prepare(job: Job, folder: Path) -> Call:  # noqa: ARG001
    """Return the prepared Call: net v has the vertices adjncy[xadj[v]:xadj[v + 1]], and not v."""
    import mtkahypar

    m = job.adjncy.size // 2
    work = Whole(np.ones(m, np.int64), 1.0, None)
    if job.vwgt is not None:
        work = whole_weights(job.vwgt, LIMIT_32)
    start = mtkahypar.initialize(job.threads)
    mtkahypar.set_seed(job.seed % (2**31 - 1))
    context = start.context_from_preset(getattr(mtkahypar.PresetType, PRESETS[job.preset]))
    context.set_partitioning_parameters(job.k, job.epsilon, mtkahypar.Objective.KM1)
    highest = heaviest_blocks(job, int(work.values.sum()))
    context.set_individual_target_block_weights(highest.tolist())
    first, listed = job.xadj.tolist(), job.adjncy.tolist()
    nets = [listed[first[v] : first[v + 1]] for v in range(job.n) if first[v + 1] - first[v] > 1]
    weights = work.values.tolist(), [1] * len(nets)
    graph = start.create_hypergraph(context, m, len(nets), nets, *weights)

    def run() -> npt.ArrayLike:
        part: npt.ArrayLike = graph.partition(context).get_partition()
        return part

    return Call(run, installed("mtkahypar"), (f"preset {job.preset}", *remarks(work)))
