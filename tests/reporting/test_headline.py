"""The five figures at the head of a report."""

from dataclasses import replace

import pytest

from evener.planning.bottleneck import bottleneck_of
from evener.plans.plan import METIS_STAGE, SAME_DEVICES_STAGE, Rival, Stage
from evener.reporting.headline import against, headline
from evener.wording import duration, percent
from tests.assertions import grid
from tests.reporting.conftest import machine, plan_of, stripes, without_links


def figures(plan):
    limits = None
    if plan.platform.has_links:
        limits = bottleneck_of(plan.evaluation, plan.platform, plan.workload)
    return {one.name: one for one in headline(plan, limits)}


def test_time_bound_and_last_come_first(small_plan):
    plan, _ = small_plan
    found = figures(plan)
    makespan, bound = plan.prediction.makespan, plan.prediction.bound
    names = list(found)
    assert names[0] == "time per iteration"
    assert found[names[0]].value == duration(makespan)
    assert found["above the lower bound"].value == percent(makespan / bound - 1)
    assert duration(bound) in found["above the lower bound"].meaning
    assert found["slowest device"].value == plan.platform.names[plan.prediction.bottleneck]
    assert len(names) == 5


def test_metis_at_the_same_sizes_is_known_by_its_role(small_plan):
    plan, _ = small_plan
    ours = plan.prediction.makespan
    metis = Stage("whatever", 1.0, 1, 1, 1, 1.0, 1.0, 1.25 * ours, METIS_STAGE)
    found = figures(replace(plan, stages=(metis,)))["METIS at the same sizes"]
    assert found.value == duration(1.25 * ours)
    assert found.meaning == "25.0 % slower than this plan"
    near = replace(metis, seconds=1.1 * ours, role=SAME_DEVICES_STAGE)
    found = figures(replace(plan, stages=(metis, near)))  # the nearer one
    assert found["METIS on the same devices"].meaning == "10.0 % slower than this plan"
    assert "METIS at the same sizes" not in found
    named = replace(metis, name="METIS with speeds", role="")
    assert "METIS at the same sizes" not in figures(replace(plan, stages=(named,)))


def test_without_metis_a_rival_or_how_even_the_blocks_are(small_plan):
    plan, _ = small_plan
    assert figures(plan)["imbalance"].value == "0.0 %"
    uneven = plan_of(grid(1, 100), [0] * 55 + [1] * 45, machine(2), epsilon=0.2)
    assert figures(uneven)["imbalance"].value == "+10.0 %"
    whole = Stage("before repair", 1.0, 1, 1, 1, 1.0, 1.0, plan.prediction.makespan / 2)
    rival = Rival("scotch", (whole,), seconds=whole.seconds)
    found = figures(replace(plan, rival=rival))["scotch for the same contract"]
    assert found.meaning == "50.0 % faster than this plan"


@pytest.mark.parametrize(("seconds", "said"), [
    (1.0, "as fast as this plan"), (1.0001, "as fast as this plan"),
    (1.004, "0.4 % slower than this plan"), (3.0, "3 times as slow as this plan"),
])  # fmt: skip
def test_how_a_time_compares(seconds, said):
    assert against(seconds, 1.0) == said


def test_relative_speeds_have_no_seconds():
    graph = grid(3, 40)
    plan = plan_of(graph, stripes(3, 40, 4), machine(4), epsilon=0.5)
    found = figures(without_links(plan))
    assert found["time per iteration"].value.endswith("x")
    last, said = found["slowest device"].value, found["slowest device"].meaning
    assert said.endswith(" finishes at the same time")
    assert last not in said


def test_far_above_the_bound_is_a_ratio(small_plan):
    plan, _ = small_plan
    slow = replace(plan.prediction, bound=plan.prediction.makespan / 3)
    far = replace(plan, evaluation=replace(plan.evaluation, prediction=slow))
    assert figures(far)["of the lower bound"].value == "3.00x"
