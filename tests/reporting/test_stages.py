"""Stages and rivals as bars and rows."""

from dataclasses import replace

import pytest

from evener.plans.plan import CHOSEN_STAGE, CUT_STAGE, METIS_STAGE, Rival, Stage
from evener.reporting.stages import against, beside, compared, compared_with, in_words, steps
from evener.wording import count, duration

FIRST = Stage("start", 200.0, 40, 100, 5, 0.9, 1.1)
LAST = Stage("refined", 150.0, 30, 100, 4, 0.97, 1.03)


def test_bars_are_as_long_as_their_values_and_the_least_is_marked(small_plan):
    plan, _ = small_plan
    cut, largest, total = steps(replace(plan, stages=(FIRST, LAST))).groups
    assert [(b.name, b.bar, b.text, b.ratio, b.is_least) for b in cut.bars] == [
        ("start", 100.0, "200", "1.00x", False), ("refined", 75.0, "150", "0.75x", True),
    ]  # fmt: skip
    assert [b.ratio for b in largest.bars] == ["1.00x", "0.75x"]
    assert [b.is_least for b in total.bars] == [True, True]


def searched(plan, *seconds):
    """The plan with steps of a search for seconds, the last of which is what was chosen."""
    names = ["plain plan", "METIS with speeds", *(f"step {i}" for i in range(len(seconds) - 2))]
    roles = [CUT_STAGE, METIS_STAGE, *[""] * (len(seconds) - 2)]
    steps = [
        replace(FIRST, name=name, role=role, seconds=s, edge_cut=100.0 * s)
        for name, role, s in zip(names, roles, seconds, strict=True)
    ]
    best = min(steps, key=lambda one: one.seconds)
    return replace(plan, stages=(*steps, replace(best, name="chosen: x", role=CHOSEN_STAGE)))


def test_the_plan_is_compared_with_metis_and_the_minimum_cut_plan(small_plan):
    plan, _ = small_plan
    ours = plan.prediction.makespan
    rows = compared(searched(plan, 1.25 * ours, 1.004 * ours, 3 * ours, ours))
    assert [(row.name, row.cells[1], row.is_chosen) for row in rows] == [
        ("METIS at the same sizes", "+0.4 %", False),
        ("Evener's minimum-cut plan", "+25.0 %", False), ("this plan", "", True),
    ]  # fmt: skip
    assert rows[0].cells[0] == duration(1.004 * ours)
    assert rows[2].cells[2] == count(100 * ours)
    assert compared(replace(plan, stages=(FIRST, LAST))) == []


def test_the_steps_of_a_search_are_in_plain_words_and_the_winner_once(small_plan):
    plan, _ = small_plan
    bound = plan.prediction.bound
    shown = steps(searched(plan, 8 * bound, 7 * bound, 6 * bound, 4 * bound))
    (times,) = shown.groups
    assert [bar.name for bar in times.bars] == [
        "Evener's minimum-cut plan", "METIS at the same sizes", "step 0", "this plan"
    ]  # fmt: skip
    assert [bar.bar for bar in times.bars] == [100.0, 87.5, 75.0, 50.0]
    assert [bar.is_least for bar in times.bars] == [False, False, False, True]
    assert times.bound == 12.5
    assert shown.sentence.startswith("4 partitions were tried")
    assert [row.is_chosen for row in shown.rows] == [False, False, False, True]


@pytest.mark.parametrize(("name", "said"), [
    ("8 devices, slabs, sizes 1 (2)",
     "8 devices, strips side by side, sizes adjusted once, attempt 2"),
    ("8 devices, sketched (2), refined",
     "8 devices, planned on a coarser graph, attempt 2, refined for time"),
    ("plain plan, mapped", "minimum-cut plan, moved to better devices"),
    ("as rcb made it", "as rcb made it"),
])  # fmt: skip
def test_steps_in_words(name, said):
    assert in_words(name) == said


def test_the_rivals_of_a_plan_in_one_sentence(small_plan):
    ours = small_plan[0].prediction.makespan
    metis, cut = 1.5 * ours, 3 * ours
    assert beside(searched(small_plan[0], cut, metis, ours)) == (
        f"For comparison: METIS at the same sizes {duration(metis)} (+50.0 %); "
        f"Evener's minimum-cut plan {duration(cut)} (3.00 times as long)."
    )
    assert beside(small_plan[0]) == ""


def test_without_stages_there_is_nothing(small_plan):
    assert steps(small_plan[0]) is None
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


@pytest.mark.parametrize(("seconds", "named"), [
    ((5.0, 2.0), "metis, on the plan's 2 devices"), ((2.0, 5.0), "metis"),
])  # fmt: skip
def test_a_rival_on_the_plan_s_devices_is_compared_where_it_is_nearer(seconds, named):
    near = replace(LAST, name="on the plan's 2 devices", seconds=seconds[1])
    rival = Rival("metis", (replace(FIRST, seconds=seconds[0]), near), min(seconds), 2.0)
    made = against("evener", replace(LAST, seconds=1.0), None, rival)
    assert made.sentence.startswith(f"evener over {named}: time 0.50x, ")
    assert [row.name for row in made.rows] == ["metis", "metis, on the plan's 2 devices", "evener"]


def test_nothing_cut_has_no_ratio(small_plan):
    none = Stage("start", 0.0, 0, 0, 0, 1.0, 1.0)
    made = steps(replace(small_plan[0], stages=(none, replace(none, name="refined"))))
    assert made.sentence == "From start to refined: nothing is cut."
    assert {bar.bar for group in made.groups for bar in group.bars} == {0.0}


def test_one_bar_far_beyond_the_others_is_cut_off_and_marked(small_plan):
    plan, _ = small_plan
    stages = tuple(replace(FIRST, name=str(i), seconds=s) for i, s in enumerate((2, 500, 3, 2, 1)))
    (group,) = steps(replace(plan, stages=stages)).groups
    assert [bar.bar for bar in group.bars] == [33.3, 100.0, 50.0, 33.3, 16.7]
    assert [bar.is_cut for bar in group.bars] == [False, True, False, False, False]


def test_a_plan_that_is_not_the_fastest_is_said_to_be_as_fast(small_plan):
    """Among those that differ by less than `alike`, the one that sends less is chosen."""
    plan = replace(small_plan[0], options={**small_plan[0].options, "alike": 0.01})
    fastest = replace(LAST, name="4 devices, slabs", seconds=141.5e-6, total_volume=120)
    twin = replace(fastest, name="4 devices, slabs", seconds=150e-6)
    chosen = replace(LAST, name="chosen: x", role=CHOSEN_STAGE, seconds=142.5e-6)
    shown = steps(replace(plan, stages=(fastest, twin, chosen)))
    assert shown.sentence == (
        f"3 partitions were tried; the fastest took {duration(141.5e-6)}, 0.7 % faster than this "
        "plan, which sends less: a difference of up to 1.0 % counts as equal."
    )
    assert [row.name for row in shown.rows] == [
        "4 devices, strips side by side", "4 devices, strips side by side (2)", "this plan",
    ]  # fmt: skip
    exact = replace(plan, options={**plan.options, "alike": 0.0})
    assert "counts as equal" not in steps(replace(exact, stages=(fastest, chosen))).sentence


def test_the_heading_names_what_the_plan_is_compared_with(small_plan):
    whole = searched(small_plan[0], 3.0, 2.0, 1.0)
    assert compared_with(whole) == "METIS at the same sizes"
    sliced = replace(whole, stages=[one for one in whole.stages if one.role != METIS_STAGE])
    assert compared_with(sliced) == "Evener's minimum-cut plan"
