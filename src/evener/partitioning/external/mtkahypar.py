"""Mt-KaHyPar [GHSS24]_: minimises the cut of a graph, or the total volume as a hypergraph.

The hypergraph has one net per vertex, which contains the vertex and its neighbours. The sum over
all nets of (number of blocks in the net - 1) is the total volume.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.partitioning.external.jobs import (
    LIMIT_32,
    Call,
    Job,
    Whole,
    edge_weights,
    heaviest_blocks,
    installed,
    remarks,
    vertex_weights,
)

PRESETS = {"fast": "DEFAULT", "default": "DEFAULT", "strong": "QUALITY"}
# With one thread every preset is deterministic; with several threads only these are.
DETERMINISTIC = {
    "fast": "DETERMINISTIC",
    "default": "DETERMINISTIC",
    "strong": "DETERMINISTIC_QUALITY",
}


def prepare(job: Job, folder: Path) -> Call:  # noqa: ARG001
    """Return the prepared Call of Mt-KaHyPar; its weights have 32 bits."""
    import mtkahypar

    preset = (PRESETS if job.threads == 1 else DETERMINISTIC)[job.preset]
    by_volume = job.objective == "total_volume"
    objective = mtkahypar.Objective.KM1 if by_volume else mtkahypar.Objective.CUT
    vwgt, adjwgt = vertex_weights(job, LIMIT_32), edge_weights(job, LIMIT_32)
    start = mtkahypar.initialize(job.threads)
    mtkahypar.set_seed(job.seed % (2**31 - 1))
    context = start.context_from_preset(getattr(mtkahypar.PresetType, preset))
    context.set_partitioning_parameters(job.k, job.epsilon, objective)
    highest = heaviest_blocks(job, int(vwgt.values.sum()))
    context.set_individual_target_block_weights(highest.tolist())
    graph = (
        _hypergraph(start, context, job, vwgt)
        if by_volume
        else _graph(start, context, job, vwgt, adjwgt)
    )

    def run() -> npt.ArrayLike:
        part: npt.ArrayLike = graph.partition(context).get_partition()
        return part

    return Call(run, installed("mtkahypar"), (f"preset {preset}", *remarks(vwgt, adjwgt)))


def _graph(start: Any, context: Any, job: Job, vwgt: Whole, adjwgt: Whole) -> Any:
    source = np.repeat(np.arange(job.n, dtype=job.adjncy.dtype), np.diff(job.xadj))
    once = source < job.adjncy
    edges = np.column_stack([source[once], job.adjncy[once]])
    if job.vwgt is None and job.adjwgt is None:
        return start.create_graph(context, job.n, len(edges), edges)
    weights = vwgt.values.tolist(), adjwgt.values[once].tolist()
    return start.create_graph(context, job.n, len(edges), edges, *weights)


def _hypergraph(start: Any, context: Any, job: Job, vwgt: Whole) -> Any:
    first, neighbours = job.xadj.tolist(), job.adjncy.tolist()
    nets = [
        [v, *neighbours[first[v] : first[v + 1]]] for v in range(job.n) if first[v] < first[v + 1]
    ]
    if job.vwgt is None:
        return start.create_hypergraph(context, job.n, len(nets), nets)
    weights = vwgt.values.tolist(), [1] * len(nets)
    return start.create_hypergraph(context, job.n, len(nets), nets, *weights)
