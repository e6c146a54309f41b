"""Which devices are worth using: sets of devices worth a plan, the best estimate first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray
from evener.costs import Costs
from evener.graphs import Graph
from evener.partitions import Partition
from evener.solving.estimates import Estimator
from evener.solving.searching import search
from evener.solving.surfaces import fit_surface

IntVector = npt.NDArray[np.int64]


def estimate_seconds(
    graph: Graph, costs: Costs, subset: npt.ArrayLike, *, work: float | None = None
) -> tuple[float, FloatArray]:
    """Return the seconds per iteration [s] that the devices `subset` would take, and loads (k,)."""
    estimator = _estimator(graph, costs, work, None, None, 7, 1)
    mask = np.zeros((1, costs.k), np.bool_)
    mask[0, np.asarray(subset, np.int64)] = True
    found = estimator.of(mask)
    return float(found.seconds[0]), found.loads[0]


def promising_subsets(
    graph: Graph,
    costs: Costs,
    *,
    work: float | None = None,
    partition: Partition | None = None,
    high: FloatArray | None = None,
    needed: BoolArray | None = None,
    most: int = 8,
    seed: int = 7,
    threads: int = 1,
) -> list[IntVector]:
    """Return sets of devices worth a plan, the best estimate first; all devices are among them.

    work [units]: of the whole graph, by default its vertex weight. partition: of this graph into
    many blocks, to fit the surface law to; one is made where it says too little. high (k,)
    [units]: what devices can hold. needed (k,): devices that must be used. most: sets beside
    that of all devices.
    """
    estimator = _estimator(graph, costs, work, partition, high, seed, threads)
    everyone = np.arange(costs.k)
    if costs.k == 1:
        return [everyone]
    found = search(estimator, costs, needed=needed).promising(most)
    chosen = [one.devices for one in found]
    return chosen if any(one.size == costs.k for one in chosen) else [*chosen, everyone]


def _estimator(
    graph: Graph,
    costs: Costs,
    work: float | None,
    partition: Partition | None,
    high: FloatArray | None,
    seed: int,
    threads: int,
) -> Estimator:
    surface = fit_surface(graph, partition, seed=seed, threads=threads)
    return Estimator(surface, costs, graph.total_weight if work is None else work, high)
