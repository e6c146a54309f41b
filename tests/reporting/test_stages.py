"""Stages and rivals as bars and rows."""

from dataclasses import replace

import numpy as np

from evener.plans import Rival, Stage
from evener.reporting.bars import load_bars
from evener.reporting.stages import against, before_and_after

FIRST = Stage("start", 200.0, 40, 100, 5, 0.9, 1.1)
LAST = Stage("refined", 150.0, 30, 100, 4, 0.97, 1.03)


def test_bars_are_as_long_as_their_values_and_the_least_is_marked(small_plan):
    plan, _ = small_plan
    cut, largest, total = before_and_after(replace(plan, stages=(FIRST, LAST))).groups
    assert [(b.name, b.bar, b.text, b.ratio, b.is_least) for b in cut.bars] == [
        ("start", 100.0, "200", "1.00x", False), ("refined", 75.0, "150", "0.75x", True),
    ]  # fmt: skip
    assert [b.ratio for b in largest.bars] == ["1.00x", "0.75x"]
    assert [b.is_least for b in total.bars] == [True, True]


def test_the_steps_of_a_search_for_seconds_are_drawn_by_their_makespan(small_plan):
    plan, _ = small_plan
    bound = plan.prediction.bound
    steps = tuple(replace(FIRST, name=f"step {i}", seconds=(8 - i) * bound) for i in range(6))
    shown = before_and_after(replace(plan, stages=steps))
    (makespan,) = shown.groups
    assert [bar.bar for bar in makespan.bars] == [100.0, 87.5, 75.0, 62.5, 50.0, 37.5]
    assert makespan.bound == 12.5
    assert [bar.ratio for bar in makespan.bars][-1] == "0.38x"
    assert shown.sentence.startswith("From step 0 to step 5: makespan 0.38x, cut 1.00x")
    few = before_and_after(replace(plan, stages=steps[:3]))
    assert [group.title for group in few.groups] == ["cut", "largest volume", "total volume"]
    assert [row.cells[5] for row in few.rows] == [row.cells[5] for row in shown.rows][:3]


def test_without_stages_there_is_nothing(small_plan):
    assert before_and_after(small_plan[0]) is None
    assert against("evener", LAST, 1.0, Rival("metis", note="not installed")) is None


def test_a_rival_comes_first_with_its_time():
    rival = Rival("metis", (FIRST, replace(LAST, name="enforced")), 1.0, 2.0)
    made = against("evener", LAST, None, rival)
    assert [row.name for row in made.rows] == ["metis", "metis, enforced", "evener"]
    assert [row.cells[-1] for row in made.rows] == ["2.00 s", "–", "–"]
    assert made.sentence == (
        "evener over metis: cut 0.75x, largest volume 0.75x, total volume 1.00x."
    )
    assert made.name_width == len("metis, enforced")


def test_nothing_cut_has_no_ratio(small_plan):
    none = Stage("start", 0.0, 0, 0, 0, 1.0, 1.0)
    made = before_and_after(replace(small_plan[0], stages=(none, replace(none, name="refined"))))
    assert made.sentence == "From start to refined: nothing is cut."
    assert {bar.bar for group in made.groups for bar in group.bars} == {0.0}


def test_one_bar_far_beyond_the_others_does_not_make_them_too_short_to_see(small_plan):
    plan, _ = small_plan
    stages = tuple(replace(FIRST, name=str(i), seconds=s) for i, s in enumerate((2, 500, 1, 1, 1)))
    (group,) = before_and_after(replace(plan, stages=stages)).groups
    assert [bar.bar for bar in group.bars] == [66.7, 100.0, 33.3, 33.3, 33.3]


def test_loads_can_be_seen_where_only_memory_binds(small_plan):
    plan, _ = small_plan
    certificate = plan.certificate
    free = replace(
        certificate.contract, low=np.zeros(4), high=np.full(4, certificate.weights.sum())
    )
    judged = replace(plan.evaluation, certificate=replace(certificate, contract=free))
    bars = load_bars(replace(plan, evaluation=judged), np.arange(4))
    assert max(bar.bar for bar in bars) > 95
