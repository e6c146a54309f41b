"""The steps of a plan, one by one: each hands on what the next one needs."""

from dataclasses import replace

import numpy as np

from evener.planning.options import PlanOptions
from evener.planning.steps import divide, enforced, mapped, named_devices, terms_of
from evener.plans.partition import Partition
from evener.platforms.examples import topo1
from evener.platforms.platform import Device, Platform
from tests.assertions import grid

OPTIONS = PlanOptions(tool="hilbert")


def test_terms_are_the_contract_of_sizes_that_follow_the_speeds():
    terms = terms_of(grid(10, 10), Platform.flat([1.0, 3.0]), OPTIONS)
    assert terms.sizes.sizes.tolist() == terms.contract.targets.tolist() == [25, 75]


def test_the_tool_is_that_of_the_options_or_the_one_named():
    graph = grid(10, 10)
    terms = terms_of(graph, Platform.flat([1.0, 3.0]), OPTIONS)
    assert divide(graph, terms, OPTIONS).tool == "hilbert"
    assert divide(graph, terms, OPTIONS, "rcb").tool == "rcb"


def test_blocks_of_any_weight_are_brought_within_the_contract():
    graph = grid(10, 10)
    terms = terms_of(graph, Platform.flat([1.0, 3.0]), OPTIONS)
    kept = enforced(graph, np.zeros(100, np.int32), terms, OPTIONS)
    weights = np.bincount(kept.partition.part, minlength=2)
    assert (terms.contract.low <= weights).all() and (weights <= terms.contract.high).all()
    assert kept.moved == weights[1]


def test_blocks_are_mapped_only_where_links_are_known_and_blocks_may_move():
    graph, linked = grid(10, 10), topo1(4, 2, 4, links=True)
    partition = Partition(np.arange(100, dtype=np.int32) % 4, 4)
    terms = terms_of(graph, linked, OPTIONS)
    assert mapped(graph, partition, terms, OPTIONS) is not None
    assert mapped(graph, partition, terms, replace(OPTIONS, mapping=False)) is None
    assert (
        mapped(graph, partition, terms_of(graph, Platform.flat([1.0] * 4), OPTIONS), OPTIONS)
        is None
    )
    alone = terms_of(graph, replace(linked, devices=linked.devices[:1]), OPTIONS)
    assert mapped(graph, Partition(np.zeros(100, np.int32), 1), alone, OPTIONS) is None


def test_of_many_devices_eight_are_named():
    platform = Platform(tuple(Device(f"d{i}", 1.0) for i in range(10)))
    assert named_devices(platform, np.arange(10) < 2) == "d0, d1"
    assert named_devices(platform, [3, 1]) == "d3, d1"
    assert named_devices(platform, np.ones(10, bool)).endswith("d6, d7 and 2 more")
