"""A plan in a few lines, and as a DataFrame: the figures of the certificate."""

import numpy as np
import pytest

from evener.planning.bottleneck import bottleneck_of
from evener.reporting.headline import bottleneck_sentence, change_rows
from tests.assertions import grid
from tests.reporting.conftest import machine, plan_of, stripes


def test_what_is_slowest_and_what_would_help():
    plan = plan_of(grid(12, 12), stripes(12, 12, 3), machine(3, speeds=(4.0, 1.0)))
    slowest = bottleneck_of(plan.evaluation, plan.platform, plan.workload)
    lines = plan.explain().split("\n")
    assert lines[0] == plan.verdict()
    assert bottleneck_sentence(slowest) in lines
    change, seconds, saved = change_rows(slowest)[0]
    assert f"  {change}: {seconds} ({saved})" in lines
    assert f"Edge cut 24, total volume 48, largest volume {plan.evaluation.max_volume}." in lines
    assert lines[-1] == plan.notes[-1]


def test_a_data_frame():
    pytest.importorskip("pandas")
    plan = plan_of(grid(12, 12), stripes(12, 12, 3), machine(3, memory=1e6))
    table = plan.to_pandas()
    assert table.index.tolist() == plan.platform.names
    assert table["weight"].sum() == 144
    assert table["volume"].tolist() == plan.certificate.volumes.tolist() == [12, 24, 12]
    assert np.array_equal(table["seconds"], plan.prediction.ends)
    assert table["cap"].tolist() == [1e6] * 3
    assert table["holds"].all()
