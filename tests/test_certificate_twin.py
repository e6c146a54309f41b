"""What evaluate states, and a slow twin that was written from the documentation alone.

Counts agree exactly, sums to 1e-12, seconds to 1e-9 of the device's time.
"""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from evener.planning.evaluate import evaluate
from evener.plans.plan import FURTHER_SECONDS
from evener.platforms.models.fitting import fit_device
from tests import slow_certificate as slow
from tests.examples import seeds
from tests.random_cases import random_case, random_curve

# The first 489 cases have all the pairs of features (below) that there are, 416.
CASES, QUICK, SEEN = 1000, 150, 100
COUNTS = ("vertices", "boundary", "components", "neighbours", "volumes", "holds")
SECONDS = ("compute", "communicate", "contention", "fixed", "overlapped", "delay")


def judged(case):
    return evaluate(
        case.graph,
        case.partition,
        case.platform,
        case.contract,
        workload=case.workload,
        constraint=case.constraint,
    )


def recounted_slowly(case):
    part, graph = case.partition.part.tolist(), case.graph
    load = slow.work(graph, case.workload, case.constraint)
    loads = [(one,) for one in load]
    if case.contract.further:
        loads = [(load[v], *map(float, graph.vwgt[v, 1:])) for v in range(graph.n)]
    seconds = slow.seconds(graph, part, case.platform, case.workload, load)
    return slow.certificate(
        graph, part, case.platform.k, loads, case.contract, seconds["ends"],
        case.workload.exchange == "faces",
    ), seconds  # fmt: skip


def agree(seed):
    case = random_case(seed)
    compare(case)
    graph = case.graph
    if graph.adjwgt is not None:
        graph = graph.with_(adjwgt=1 + graph.adjwgt.astype(np.int64))
    compare(replace(case, graph=graph, workload=replace(case.workload, exchange="faces")))


def compare(case):
    found = judged(case)
    blocks, seconds = recounted_slowly(case)
    certificate, prediction, exchange = found.certificate, found.prediction, found.exchange
    for name in COUNTS:
        assert getattr(certificate, name).tolist() == blocks[name], name
    pairs = zip(exchange.sender.tolist(), exchange.receiver.tolist(), strict=True)
    assert dict(zip(pairs, exchange.values.tolist(), strict=True)) == blocks["sends"]
    weights = np.column_stack([certificate.weights, certificate.further])
    np.testing.assert_allclose(weights, blocks["weights"], rtol=1e-12)
    np.testing.assert_allclose(certificate.bytes, blocks["bytes"], rtol=1e-12)
    assert found.edge_cut == pytest.approx(blocks["edge_cut"], rel=1e-12)
    assert found.imbalance + 1 == pytest.approx(blocks["imbalance"] + 1, rel=1e-12)
    np.testing.assert_allclose(prediction.interior, seconds["interior"], rtol=1e-12, atol=1e-12)
    for name in SECONDS:
        wrong = np.abs(getattr(prediction, name) - seconds[name])
        assert (wrong <= 1e-9 * prediction.ends).all(), name
    hops = seconds["hop_bytes"]
    expected = [hops.get(level, 0.0) for level in range(len(case.platform.levels))]
    np.testing.assert_allclose(prediction.hop_bytes, expected, rtol=1e-12)


@pytest.mark.parametrize("seed", seeds(QUICK))
def test_the_twin_agrees(seed):
    agree(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(QUICK, CASES, 50))
def test_the_twin_agrees_on_more(first):
    for seed in range(first, min(first + 50, CASES)):
        agree(seed)


def features(case):
    platform, workload, graph = case.platform, case.workload, case.graph
    sizes = np.bincount(case.partition.part, minlength=platform.k)
    found = judged(case)
    yield from (name for name in FURTHER_SECONDS if getattr(found.prediction, name).any())
    yield from {device.curve.model for device in platform.devices if device.curve is not None}
    yield "all hold" if found.certificate.all_hold else "broken"
    for name, is_so in {
        "one device": platform.k == 1,
        "twelve devices": platform.k == 12,
        "memory": np.isfinite(platform.memories).any(),
        "levels": bool(platform.levels),
        "shared levels": any(level.shared for level in platform.levels),
        "links": bool(platform.connections),
        "shared links": any(one.shared for one in platform.connections),
        "links of their own": any(not one.shared for one in platform.connections),
        "a kernel": any(workload.shares),
        "overlap": workload.overlap,
        "empty blocks": (sizes == 0).any(),
        "isolated vertices": (graph.degrees == 0).any(),
        "weights of zero": (graph.weights() == 0).any(),
        "edge weights": graph.adjwgt is not None,
        "several weights": bool(case.contract.further),
        "another weight": case.constraint > 0,
        "unused": case.contract.may_be_unused and (sizes == 0).any(),
        "late": (found.prediction.ends > case.contract.makespan).any(),
        "in time": found.prediction.makespan < case.contract.makespan < np.inf,
    }.items():
        if is_so:
            yield name


@pytest.mark.slow
def test_the_cases_have_everything():
    """So that agreeing means something."""
    seen = Counter(name for case in map(random_case, range(SEEN)) for name in features(case))
    assert len(seen) == 30
    assert min(seen.values()) >= 5, seen


@pytest.mark.parametrize("seed", seeds(20))
def test_speeds_between_samples(seed):
    draw = np.random.default_rng([11, seed])
    for _ in range(10):
        curve = random_curve(draw, "d", 1e6, 100.0)
        loads = np.concatenate([draw.uniform(0, 2000, 20), [one.load for one in curve.samples]])
        expected = [slow.speed_at(curve, load) for load in loads.tolist()]
        np.testing.assert_allclose(fit_device(curve).speed(loads), expected, rtol=1e-12)
