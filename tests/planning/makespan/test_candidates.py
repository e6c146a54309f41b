"""Candidates: how they are made and named, which one is chosen, and the stages of a plan."""

from dataclasses import replace

import numpy as np
import pytest

from evener.planning.makespan.candidates import (
    CandidateMaker,
    candidate_of,
    fastest_baselines,
    least_sending,
    stages_of,
)
from evener.planning.makespan.problem import MakespanProblem
from evener.plans.plan import CHOSEN_STAGE, CUT_STAGE, METIS_STAGE
from evener.plans.workload import WEIGHTS
from evener.platforms.platform import Device, Level, Link, Platform
from tests.assertions import grid

LINKS = (Level("net", Link(1e-9, 1e-9)),)
PROBLEM = MakespanProblem.of(
    grid(6, 6), Platform((Device("a", 1e6), Device("b", 1e6)), levels=LINKS), WEIGHTS
)
HALVES = (np.arange(36) >= 18).astype(np.int32)  # cut: 6 edges
STRIPES = (np.arange(36) % 2).astype(np.int32)  # the same loads, more values sent
UNEVEN = (np.arange(36) >= 12).astype(np.int32)  # 12 and 24 vertices: slower, 6 edges cut


def test_judging_predicts_what_the_slower_device_takes():
    one = candidate_of(PROBLEM, UNEVEN)
    assert one.loads.tolist() == one.targets.tolist() == [12, 24]
    assert (one.sent, one.cut) == (12, 6)
    values = 12 * WEIGHTS.bytes_per_value  # sent and received
    assert one.seconds == pytest.approx(24 / 1e6 + 1e-9 + values * 1e-9)


def test_each_candidate_of_a_judge_has_a_name_of_its_own_and_is_told():
    told = []
    maker = CandidateMaker(
        PROBLEM, progress=lambda step, done: told.append((step.split(":")[0], done))
    )
    names = [maker.make("x", part).name for part in (HALVES, STRIPES, UNEVEN)]
    assert names == ["x", "x (2)", "x (3)"] == [name for name, _ in told]
    assert 0 < told[0][1] < told[1][1] < told[2][1] < 1


def test_blocks_beyond_all_memory_are_no_candidate():
    devices = tuple(replace(d, memory_units=10.0) for d in PROBLEM.platform.devices)
    small = MakespanProblem.of(PROBLEM.graph, replace(PROBLEM.platform, devices=devices), WEIGHTS)
    assert CandidateMaker(small).make("x", HALVES) is None


def test_of_candidates_alike_the_one_that_sends_least_is_chosen():
    halves, stripes, uneven = (candidate_of(PROBLEM, part) for part in (HALVES, STRIPES, UNEVEN))
    assert halves.seconds < stripes.seconds < uneven.seconds
    assert uneven.sent < stripes.sent
    any_time = 10.0  # relative: all times count as equal
    assert least_sending([uneven, stripes], 0.0) is stripes
    assert least_sending([uneven, stripes], any_time) is uneven
    assert least_sending([stripes, halves, uneven], any_time) is halves
    baseline = replace(stripes, role=METIS_STAGE)  # nothing slower is chosen
    assert least_sending([uneven, baseline], any_time) is baseline


def test_the_fastest_of_each_baseline_keeps_its_role():
    halves, uneven = candidate_of(PROBLEM, HALVES), candidate_of(PROBLEM, UNEVEN)
    tried = [
        replace(uneven, name="1", role=METIS_STAGE),
        replace(halves, name="2", role=METIS_STAGE),
        replace(uneven, name="3", role=CUT_STAGE),
        replace(halves, name="4"),
    ]
    assert [one.name for one in fastest_baselines(tried)] == ["2", "3"]
    stages = stages_of(tried, tried[3], np.array([12.0, 24.0]))
    assert [one.role for one in stages] == ["", METIS_STAGE, CUT_STAGE, "", CHOSEN_STAGE]
    assert stages[-1].name == "chosen: 4"
    assert stages[-1].seconds == halves.seconds
    assert (stages[-1].smallest, stages[-1].largest) == (0.75, 1.5)  # of these targets
