"""The page of `evener compare --stream`: every number is a method's; what failed is named."""

from dataclasses import replace

import numpy as np
import pytest

from evener.planning.compare import StreamComparison
from evener.planning.stream import evaluate_filters
from evener.reporting.stream_report import methods_compared, write_stream_comparison
from evener.wording import duration, ratio
from tests.reporting.pages import parse
from tests.streams.twins import small_case

FAILED = StreamComparison("metis", note="is not installed <b>")


@pytest.fixture(scope="module")
def results():
    problem = small_case(5, n=9, k=4)
    platform = problem.processors.platform
    made = [evaluate_filters(problem.graph, platform, np.arange(9) % k) for k in (1, 2, 4)]
    made = [replace(one, cpu_seconds=0.5 + i) for i, one in enumerate(made)]
    return [StreamComparison(f"by {i}", one) for i, one in enumerate(made)]


def test_a_page_of_methods(results, tmp_path):
    plan = results[0].plan
    write_stream_comparison(
        tmp_path / "x.html", [*results, FAILED], plan.graph, plan.platform,
        options={"seed": 7}, inputs={"app.toml": "0" * 64},
    )  # fmt: skip
    root = parse((tmp_path / "x.html").read_text())
    best = min(results, key=lambda one: one.plan.period)
    assert f"{best.method} has the shortest period, {duration(best.plan.period)}" in root.text
    for one in results:
        assert duration(one.plan.period) in root.text
        assert ratio(one.plan.period / one.plan.bound) in root.text
    for text in ("is not installed <b>", "app.toml", "9 filters", "4 devices", "slowest link"):
        assert text in root.text
    assert "contract" not in root.text
    assert "holds" not in [th.text for th in root.all("th")]


def test_methods_are_in_the_order_of_their_periods(results):
    view = methods_compared([FAILED, *reversed(results)])
    periods = [tool.figures[0].value for tool in view.tools]
    assert periods == [*sorted(one.plan.period for one in results), None]
    assert " follows at " in view.verdict
    equal = methods_compared([results[0], replace(results[0], method="twin")])
    assert "; 1 other method has the same." in equal.verdict
    assert methods_compared([FAILED]).verdict == "No method placed the filters."
