"""recounted: all stated figures of a partition on a platform, computed independently."""

from __future__ import annotations

import numpy as np

from evener.graphs.graph import Graph
from evener.plans.partition import Contract, Partition
from evener.plans.plan import Certificate, Evaluation, Exchange, Prediction
from evener.plans.recount.blocks import BlockCounts, imbalance_of, kept, recounted_blocks, work_of
from evener.plans.recount.seconds import recounted_seconds
from evener.plans.workload import WEIGHTS, Workload
from evener.platforms.platform import Platform


def recounted(
    graph: Graph,
    partition: Partition,
    platform: Platform,
    contract: Contract,
    *,
    workload: Workload = WEIGHTS,
    constraint: int = 0,
    bound: float = np.nan,
) -> Evaluation:
    """Return certificate, prediction and exchange, with block b on device b; O(n + m).

    graph: as it was read. constraint: index of the vertex weight that is the work if the workload
    states none. bound [s]: lower bound copied to the prediction, not recounted. Arguments are not
    checked; seconds that overflow are infinite or NaN.
    """
    further = [graph.weights(i) for i in range(1, contract.n_constraints)]
    loads = np.column_stack([work_of(graph, workload, constraint), *further])
    blocks = recounted_blocks(
        graph, partition, loads.astype(np.float64, copy=False), of_faces=workload.of_faces
    )
    return judged(blocks, platform, contract, workload, bound)


def judged(
    blocks: BlockCounts,
    platform: Platform,
    contract: Contract,
    workload: Workload = WEIGHTS,
    bound: float = np.nan,
) -> Evaluation:
    """Return certificate, prediction and exchange of counted blocks; arguments: see `recounted`."""
    prediction = _prediction(blocks, platform, workload, bound)
    certificate = Certificate(
        contract=contract,
        weights=blocks.weights[:, 0].copy(),
        vertices=blocks.vertices,
        bytes=blocks.bytes,
        boundary=blocks.boundary,
        components=blocks.components,
        neighbours=blocks.neighbours,
        volumes=blocks.volumes,
        holds=kept(contract, blocks, prediction.ends),
        further=blocks.weights[:, 1:].copy(),
    )
    exchange = Exchange(blocks.sender, blocks.receiver, blocks.values)
    return Evaluation(
        certificate, prediction, exchange, blocks.edge_cut, imbalance_of(contract, blocks)
    )


def _prediction(
    blocks: BlockCounts, platform: Platform, workload: Workload, bound: float
) -> Prediction:
    seconds = recounted_seconds(blocks, platform, workload)
    ideal = platform.relative_ideal(float(blocks.weights[:, 0].sum()))
    return Prediction(bound=bound, interior=blocks.interior, ideal=ideal, **seconds._asdict())
