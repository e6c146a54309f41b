"""Figures of stream plans for --json: what they say of devices and changes."""

import numpy as np

from evener.cli.stream_options import advice_to_dict, stream_figures
from evener.planning.stream import MapOptions, counted, map_filters, problem_of
from evener.planning.stream_advice import advise_on_stream
from tests.streams.twins import small_case


def test_figures_are_the_plans():
    problem = small_case(4, n=5, k=3)
    plan = map_filters(problem.graph, problem.processors.platform, MapOptions("round-robin"))
    found = stream_figures(plan)
    assert {"period", "bound", "bottleneck", "method"} <= found.keys()
    assert max(np.add(found["computing"], found["communicating"])) == found["period"]
    assert found["used"] == len(set(plan.part.tolist()))
    problem = problem_of(plan)
    advice = advise_on_stream(problem, plan.part, counted(plan, problem), plan.bound)
    told = advice_to_dict(advice)
    assert [one["change"] for one in told["changes"]] == [one.text for one in advice.changes]
    assert told["limits"][0].startswith(f"{plan.bottleneck} is busiest")
