"""Every compiled part on a thousand small random graphs of every unpleasant kind.

`make test-bounds` runs this file with bounds checked, `make test-nojit` without the compiler on
fewer graphs.
"""

from functools import cache

import numba
import numpy as np
import pytest

from evener.errors import EvenerError, InfeasibleError, NotFoundError
from evener.partitioning.enforce import enforce
from evener.partitioning.geographer import georef_blocks
from evener.partitioning.hierarchical import hierarchical_blocks
from evener.partitioning.initial.bisection import DEALS, cut_of, recursive_bisection
from evener.partitioning.initial.diffusion import AGAIN, THOROUGH, diffused_blocks
from evener.partitioning.initial.geometric import hilbert_blocks, rcb_blocks, rib_blocks
from evener.partitioning.initial.kmeans import kmeans_blocks
from evener.partitioning.label_propagation.propagation import propagation_blocks
from evener.partitioning.levels.levels import finest, shrink
from evener.partitioning.multilevel.multilevel import edge_weights, multilevel_blocks, vertex_order
from evener.partitioning.refine import refine
from evener.partitioning.refinement.fm import FMEffort, boundary_flags, refine_level
from evener.partitioning.refinement.fm_kernels import BlockState, WeightLimits
from evener.partitioning.refinement.volumes import AIMS, connectivity_tables, refine_volumes
from evener.partitioning.requests import OBJECTIVES, PRESETS
from evener.plans.partition import Partition
from tests.partitioning.by_hand import any_contract, any_graph, any_k, any_part, faults

pytestmark = pytest.mark.slow

COMPILED = not numba.config.DISABLE_JIT
MANY = 1000 if COMPILED else 25
SEEDS = range(MANY)
HAIR = 1e-9


@cache
def inputs(seed):
    """The same for all parts: to make them takes as long as to search them."""
    graph = any_graph(seed, coords=seed % 2 == 0)
    k = any_k(graph, seed)
    return graph, k, any_part(graph, k, seed), any_contract(graph, k, seed)


class FuzzCase:
    """What a seed stands for: a graph, k, a partition that may break the contract, a level."""

    def __init__(self, seed, threads=1):
        self.seed, self.threads = seed, threads
        self.graph, self.k, part, self.contract = inputs(seed)
        self.part = part.copy()
        self.preset, self.objective = PRESETS[seed % 3], OBJECTIVES[seed // 3 % 3]

    @property
    def level(self):
        graph = self.graph
        order = vertex_order(graph)
        return finest(graph, order, graph.weights(), edge_weights(graph), self.threads)

    def limits(self, level):
        slack = np.maximum(0.01 * self.contract.targets, level.vwgt.max())
        low, high = self.contract.low, self.contract.high
        return WeightLimits(low, high, low - slack, high + slack)


def check_blocks(case, part):
    assert part.shape == (case.graph.n,), case.seed
    assert part.dtype == np.int32, case.seed
    assert part.min() >= 0, case.seed
    assert part.max() < case.k, case.seed
    return part


def weights_of(level, part, k):
    return np.bincount(part, level.vwgt, k).astype(float)


def outside(weight, limits):
    off = np.maximum(weight - limits.high, 0) + np.maximum(limits.low - weight, 0)
    return off.sum()


def shrinking(case):
    level, rng = case.level, np.random.default_rng(case.seed)
    caps = np.full(case.k, level.vwgt.sum() * rng.random() + 1e-9)
    shrunk = shrink(level, case.part, caps, case.threads)
    coarse, of = shrunk.level, shrunk.coarse_of
    assert np.bincount(of, level.vwgt) == pytest.approx(coarse.vwgt)
    assert (shrunk.part[of] == case.part).all()
    heavy = coarse.vwgt > caps[0] * (1 + HAIR)
    assert (np.bincount(of)[heavy] == 1).all()
    blocks = rng.integers(0, 3, coarse.n).astype(np.int32)
    assert cut_of(coarse, blocks) == cut_of(level, blocks[of])
    return of


def searching(case):
    """The gain is what the priced cut falls by, and balance is no worse."""
    level, part = case.level, case.part.copy()
    rng = np.random.default_rng(case.seed)
    price, limits = rng.integers(8, 20, case.k), case.limits(level)
    weight = weights_of(level, part, case.k)
    before, off = priced_cut(level, part, price), outside(weight, limits)
    gain = refine_level(
        level, BlockState(part, weight, price, limits), boundary_flags(level, part, 1), 3,
        FMEffort(), case.seed, case.threads,
    )  # fmt: skip
    assert before - priced_cut(level, part, price) == gain >= 0
    assert weight == pytest.approx(
        weights_of(level, part, case.k), rel=1e-6, abs=1e-6 * sum(weight)
    )
    assert outside(weights_of(level, part, case.k), limits) <= off + HAIR * weight.sum()
    return part


def priced_cut(level, part, price):
    rows = np.repeat(np.arange(level.n), np.diff(level.xadj.astype(np.int64)))
    between = part[rows] != part[level.adjncy]
    costs = np.ones(level.adjncy.size, np.int64) if not level.adjwgt.size else level.adjwgt
    return int((costs * price[part[rows]])[between].sum())


def searching_volumes(case):
    """Neither the volumes nor the balance get worse; the tables are those of a new count."""
    level, part = case.level, case.part.copy()
    weight, limits = weights_of(level, part, case.k), case.limits(level)
    name = sorted(AIMS)[case.seed % 2]
    flag = boundary_flags(level, part, 1)
    before, off = connectivity_tables(level, part, case.k, flag).volumes, outside(weight, limits)
    tables = refine_volumes(level, part, weight, limits, AIMS[name], flag, case.seed)
    again = connectivity_tables(level, part.copy(), case.k, boundary_flags(level, part, 1))
    assert (tables.volumes == again.volumes).all()
    assert (tables.sent == again.sent).all()
    if name == "total_volume":
        assert again.volumes.sum() <= before.sum()
    else:
        assert again.volumes.max() <= before.max()
    assert outside(weights_of(level, part, case.k), limits) <= off + HAIR * weight.sum()
    return part


def bisecting(case):
    if not case.graph.total_weight > 0:
        return case.part
    deal = DEALS[case.seed % len(DEALS)]
    return recursive_bisection(case.level, case.contract.targets, 0.03, case.seed, deal)


def diffusing(case):
    spread = AGAIN if case.seed % 2 else THOROUGH
    return diffused_blocks(case.level, case.contract.targets, case.part, spread)


def clustering_points(case):
    graph = any_graph(case.seed, coords=True)
    if not graph.total_weight > 0:
        return case.part
    return kmeans_blocks(graph.coords, graph.weights(), case.contract.targets, threads=case.threads)


def cutting_boxes(case):
    graph = any_graph(case.seed, coords=True)
    if not graph.total_weight > 0:
        return case.part
    divide = (rcb_blocks, rib_blocks, hilbert_blocks)[case.seed % 3]
    weights = np.asarray(graph.weights(), float)
    return divide(graph.coords, weights, case.contract.targets)


def refining_pairs(case):
    graph = any_graph(case.seed, coords=True)
    if not graph.total_weight > 0:
        return case.part
    return georef_blocks(graph, case.contract, preset=case.preset, threads=case.threads)


def propagating(case):
    begin = None if case.seed % 4 else case.part
    if begin is None and not case.graph.total_weight > 0:
        return case.part
    return propagation_blocks(
        case.graph, case.contract, edge_weights(case.graph), preset=case.preset,
        objective=case.objective, seed=case.seed, given=begin,
    )  # fmt: skip


def enforcing(case, connected=False):
    try:
        kept = enforce(case.graph, Partition(case.part, case.k), case.contract, connected=connected)
    except (InfeasibleError, NotFoundError):
        return case.part
    assert faults(case.graph, kept.partition.part, case.contract) == []
    return kept.partition.part


def connecting(case):
    return enforcing(case, connected=True)


def refining(case):
    found = refine(
        case.graph, Partition(case.part, case.k), case.contract, objective=case.objective,
        preset=case.preset, threads=case.threads,
    )  # fmt: skip
    assert found.after <= found.before
    if not faults(case.graph, case.part, case.contract):
        assert not faults(case.graph, found.partition.part, case.contract)
    return found.partition.part


def the_whole(case):
    """All of it, and then its contract or an error of ours that says why not."""
    try:
        part = multilevel_blocks(
            case.graph, case.contract, preset=case.preset, objective=case.objective,
            seed=case.seed, threads=case.threads,
        ).part  # fmt: skip
    except EvenerError:
        assert not case.graph.total_weight > 0
        return case.part
    case.part = part
    return enforcing(case)


def along_a_tree(case):
    if not case.graph.total_weight > 0:
        return case.part
    tree = np.arange(case.k)[None, :] // 2
    return hierarchical_blocks(
        case.graph, case.contract, tree, preset=case.preset, objective=case.objective,
        seed=case.seed, threads=case.threads,
    )  # fmt: skip


PARTS = {
    part.__name__: part
    for part in (
        searching, searching_volumes, bisecting, diffusing, clustering_points, cutting_boxes,
        refining_pairs, propagating, enforcing, connecting, refining, the_whole, along_a_tree,
    )
}  # fmt: skip


@pytest.fixture(autouse=True)
def small_slices(monkeypatch):
    """Slices and groups of blocks in graphs as small as these."""
    monkeypatch.setattr("evener.threads.SLICE", 5)
    monkeypatch.setattr("evener.partitioning.refinement.fm.WORTH_GROUPS", 4)
    monkeypatch.setattr("evener.partitioning.refinement.fm.GROUPS", 2)
    with np.errstate(all="warn" if COMPILED else "ignore"):  # compiled code does not warn
        yield


@pytest.mark.parametrize("name", PARTS)
def test_a_thousand_graphs(name):
    for seed in SEEDS:
        case = FuzzCase(seed)
        check_blocks(case, PARTS[name](case))


def test_a_thousand_graphs_are_shrunk():
    for seed in SEEDS:
        shrinking(FuzzCase(seed))


@pytest.mark.parametrize(
    "name", ["searching", "clustering_points", "refining_pairs", "refining", "the_whole"]
)
def test_threads_change_nothing(name):
    for seed in range(MANY // 20):
        once, more = (
            PARTS[name](FuzzCase(seed)),
            PARTS[name](FuzzCase(seed, threads=(2, 4)[seed % 2])),
        )
        assert (once == more).all(), seed


def test_the_graphs_are_of_all_kinds():
    graphs = [any_graph(seed) for seed in range(200)]
    assert {graph.n for graph in graphs} >= set(range(1, 31))
    assert any((graph.degrees == 0).all() for graph in graphs)
    assert any(graph.degrees.max() == graph.n - 1 > 5 for graph in graphs)
    assert any(graph.components()[0] not in (1, graph.n) for graph in graphs)
    for weights in ("vwgt", "adjwgt"):
        found = [getattr(g, weights) for g in graphs if getattr(g, weights) is not None]
        found = [w for w in found if w.size]
        assert any((w == 0).all() for w in found)
        assert any((w == 0).any() and (w > 0).any() for w in found)
        assert any(w.max() > 1e11 for w in found)
        assert any(w.dtype.kind == "f" for w in found)
