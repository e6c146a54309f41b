"""Counts of blocks, and the evaluation of counted blocks on a platform.

counted_blocks counts a graph in memory, evener.sliced.recounting one that is read slice by slice.
tests/slow_certificate.py computes the same figures in plain Python, from docs/prediction.md alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntVector, NumberArray
from evener.graphs.graph import Graph
from evener.plans import metrics
from evener.plans.exchange_costs import Quotient
from evener.plans.partition import Contract, Partition
from evener.plans.plan import Certificate, Evaluation, Exchange
from evener.plans.workload import WEIGHTS, Workload
from evener.platforms.platform import Platform


class BlockCounts(NamedTuple):
    """Counts of k blocks; arrays (k,) unless stated otherwise, in the blocks' order.

    weights (k, c) [units]; vertices, components: numbers; bytes [B]; interior: share of the first
    weight at vertices without a neighbour in another block. between: which blocks send each other
    how many values, and the vertices at their boundary. edge_cut: weight of the edges cut.
    """

    weights: FloatArray
    vertices: IntVector
    bytes: FloatArray
    components: IntVector
    interior: FloatArray
    between: Quotient
    edge_cut: float


def counted_blocks(
    graph: Graph, partition: Partition, loads: NumberArray, *, of_faces: bool = False
) -> BlockCounts:
    """Return the counts of the blocks; loads (n, c) [units]: the vertices' weights. O(n + m).

    of_faces: whether values are sent for cut edges, as many as their weight.
    """
    between = metrics.quotient(graph, partition, of_faces=of_faces)
    weights = np.column_stack([metrics.summed(one, partition) for one in loads.T])
    outside = metrics.boundary_weights(graph, partition, np.asarray(loads[:, 0], np.float64))
    return BlockCounts(
        weights=weights,
        vertices=metrics.block_sizes(partition),
        bytes=metrics.block_bytes(graph, partition),
        components=metrics.block_components(graph, partition),
        interior=np.clip(1 - outside / np.maximum(weights[:, 0], 1e-300), 0, 1),
        between=between,
        edge_cut=metrics.edge_cut(between),
    )


def judged(
    blocks: BlockCounts,
    platform: Platform,
    contract: Contract,
    workload: Workload = WEIGHTS,
    bound: float = np.nan,
) -> Evaluation:
    """Return certificate, prediction and exchange of counted blocks, with block b on device b.

    bound [s]: lower bound, copied to the prediction. Arguments are not checked; seconds that
    overflow are infinite or NaN.
    """
    between, weights = blocks.between, blocks.weights
    with np.errstate(over="ignore", invalid="ignore"):
        prediction = metrics.prediction_of(
            between, weights[:, 0], blocks.interior, platform, workload, bound=bound, exact=True
        )
        targets = contract.table("targets")
        imbalance = max(metrics.imbalance(*pair) for pair in zip(weights.T, targets.T, strict=True))
        holds = contract.keeps(weights, blocks.vertices, blocks.bytes)
    certificate = Certificate(
        contract=contract,
        weights=weights[:, 0].copy(),
        vertices=blocks.vertices,
        bytes=blocks.bytes,
        boundary=between.boundary,
        components=blocks.components,
        neighbours=metrics.neighbours(between),
        volumes=metrics.comm_volumes(between),
        holds=holds & contract.in_time(prediction.ends),
        further=weights[:, 1:].copy(),
    )
    exchange = Exchange(between.block, between.other, between.sent)
    return Evaluation(certificate, prediction, exchange, blocks.edge_cut, imbalance)


def in_its_makespan(found: Evaluation) -> Evaluation:
    """Return the evaluation under its contract with the predicted makespan as a further limit."""
    makespan = max(found.prediction.makespan, float(np.nextafter(0, 1)))
    contract = replace(found.certificate.contract, makespan=makespan)
    return replace(found, certificate=replace(found.certificate, contract=contract))
