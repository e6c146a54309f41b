"""Nodes with GPUs: table 5.3, both levels of sizes, messages; verdicts follow the numbers."""

from dataclasses import replace

import numpy as np
import pytest

from papers.cla14.hybrid import (
    BLOCK,
    ELEMENT,
    LIMITS,
    WAYS,
    divided,
    general,
    hybrid_row,
    limits,
    nodes_of_grenoble,
    reliable,
    sent,
    sliced,
    slowest,
)
from papers.findings import FindingVerdict

NODES = nodes_of_grenoble()
NAMED = {node.name: node for node in NODES}
# A node with a GPU that has most of the speed, but little memory; three without.
FEW = (NAMED["adonis-7c-c2050"], NAMED["edel-8c"], NAMED["edel-7c"], NAMED["genepi-8c"])
LARGE = 32768  # at which the part of the C2050 in a product on FEW is beyond its memory


def test_the_nodes_are_those_of_table_5_3():
    assert len(NODES) == 90
    assert sum(len(node.cores) for node in NODES) == 432
    assert sum(node.gpu is not None for node in NODES) == 12
    assert sum(node.name.endswith("c2050") for node in NODES) == 2
    assert [sum(node.name.startswith(name) for node in NODES)
            for name in ("adonis", "edel", "genepi")] == [12, 50, 28]  # fmt: skip
    assert sum(node.name == "edel-1c" for node in NODES) == 6
    assert sum(node.name == "adonis-0c-t10" for node in NODES) == 2


def test_a_gpu_takes_no_more_than_its_memory_and_a_full_node_pages():
    node = NAMED["adonis-2c-t10"]
    fits = int(node.gpu.memory / ELEMENT / 10000) - 1000
    seconds = node.seconds(10000, np.array([10, 10, fits]))
    assert np.isfinite(seconds).all()
    assert np.isinf(node.seconds(10000, np.array([10, 10, fits + 1000]))[2])
    small = replace(node, memory=3 * ELEMENT * 10000 * 19.0)
    assert small.seconds(10000, np.array([10, 9, 0])) == pytest.approx(
        node.seconds(10000, np.array([10, 9, 0]))
    )
    assert small.seconds(10000, np.array([10, 10, 0])).max() > 20 * seconds[0]


def test_devices_of_a_node_finish_together_by_partial_models():
    node = NAMED["adonis-7c-c2050"]
    columns, seconds = sliced(node, 8000, 8000, "FPM", lambda *where: where[0].seconds(*where[1:]))
    assert columns.sum() == 8000
    assert seconds.max() <= 1.05 * seconds.min()
    assert columns[-1] > 10 * columns[0]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_covers_the_matrix(way):
    found = divided(FEW, 50 * BLOCK, way)
    assert found.tiling.areas.sum() == 2500
    assert found.makespan > 0
    assert found.steps <= {"homogeneous": 0, "single CPM": 1}.get(way, 20)


def test_the_functional_model_stays_within_the_memory_of_gpus():
    by_way = {way: divided(FEW, LARGE, way) for way in WAYS}
    assert np.isfinite(by_way["FPM"].seconds).all()
    assert by_way["FPM"].makespan <= 0.9 * by_way["multiple CPM"].makespan
    assert np.isinf(by_way["single CPM"].makespan)
    assert by_way["FPM"].makespan < by_way["homogeneous"].makespan


def row(n, single=0.01, multiple=0.01, fpm=0.01, last="edel-1c"):
    spreads = {"homogeneous": 7.0, "single CPM": single, "multiple CPM": multiple, "FPM": fpm}
    shares = {"sent_2": 0.05, "waited_2": 0.02, "sent_4": 0.03, "waited_4": 0.02}
    found = {"n": n, "last": last} | shares
    for way in WAYS:
        found |= {f"{way}_gflops": 1.0, f"{way}_blocks": 0.0, f"{way}_spread": spreads[way]}
    return found


def met(finding):
    return [criterion.met for criterion in finding.criteria]


def test_limits_are_the_theses_only_where_all_below_and_none_beyond_are_balanced():
    as_said = [row(n, *(0.01 if n <= most else 0.5 for most in LIMITS.values()))
               for n in (30000, 60000, 75000, 90000)]  # fmt: skip
    assert met(limits(as_said)) == [True] * 4
    assert met(limits([*as_said[:3], row(90000, 0.5, 0.01)])) == [True, True, True, False]
    assert met(limits([row(30000, 0.5, 0.01), *as_said[1:]])) == [False, True, True, True]


def test_all_wait_for_the_slowest_node_only_where_it_is_last():
    assert met(slowest([row(1)])) == [True]
    found = slowest([row(1), row(2, last="genepi-1c")])
    assert met(found) == [False]
    assert "for another at N = 2" in found.seen


def test_what_is_said_of_constant_speeds_and_of_functional_ones_can_fail():
    assert met(general([row(1)])) == [False, False]
    assert met(general([row(1), row(2, 0.9)])) == [True, False]
    assert met(reliable([row(1), row(2)])) == [True, True]
    assert met(reliable([row(1), row(2, fpm=0.2) | {"FPM_gflops": 0.9}])) == [False, False]


def test_a_share_of_messages_is_judged_between_both_networks():
    assert met(sent([row(150000)])) == [True]
    assert met(sent([row(150000) | {"sent_4": 0.05}])) == [False]
    assert met(sent([row(150000) | {"sent_2": 0.03}])) == [False]
    assert sent([row(60000)]).verdict is FindingVerdict.NOT_TRIED


def test_without_limits_of_memory_constant_speeds_suffice():
    """The counter-example of the statements on CPM."""
    endless = [
        replace(node, memory=np.inf, gpu=node.gpu and replace(node.gpu, memory=np.inf))
        for node in FEW
    ]
    found = general([hybrid_row(endless, LARGE)])
    assert found.verdict is FindingVerdict.NOT_HELD
    assert general([hybrid_row(FEW, LARGE)]).verdict is FindingVerdict.PARTLY
