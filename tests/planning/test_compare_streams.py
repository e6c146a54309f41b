"""Methods of placing filters side by side: sorted, failures named."""

import pytest

from evener.errors import UsageError
from evener.partitioning.external import metis
from evener.planning.compare import compare_filters
from evener.planning.stream import MapOptions, evaluate_filters
from evener.streams.readings import CostReading
from tests.streams.twins import small_case


def test_the_shortest_period_is_first_and_failures_are_last():
    problem = small_case(3, n=3, k=4)
    graph, platform = problem.graph, problem.processors.platform
    found = compare_filters(
        graph,
        platform,
        ["random", "metis", "list", "exact"],
        MapOptions(seed=3),
        CostReading("max1"),
    )
    assert found[0].plan.period == min(one.plan.period for one in found if one.method == "exact")
    assert found[-1].method == "metis"  # fewer filters than processors
    why = "cannot make 4 blocks" if metis.library() else "libmetis is not installed"
    assert why in found[-1].note
    periods = [one.plan.period for one in found[:-1]]
    assert periods == sorted(periods)
    for one in found[:-1]:
        assert one.plan.options["compute"] == "max1"
        again = evaluate_filters(graph, platform, one.plan.part, CostReading("max1"))
        assert again.period == one.plan.period
    with pytest.raises(UsageError, match="did you mean"):
        compare_filters(graph, platform, ["hmop"])
