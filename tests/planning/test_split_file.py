"""Edge plans of files that are read in pieces."""

import numpy as np
import pytest

from evener.errors import InfeasibleError, NotFoundError, UsageError
from evener.io.plans.edge_plan import read_edge_plan, write_edge_plan
from evener.planning import split_file as module
from evener.planning.split_file import StreamOptions, split_file
from evener.platforms.platform import Device, Platform

LINES = np.random.default_rng(2).integers(0, 40, (300, 2))


@pytest.fixture
def listed(tmp_path):
    np.savetxt(tmp_path / "some.edges", LINES, fmt="%d")
    return tmp_path / "some.edges"


def test_a_plan_has_an_entry_for_each_line(listed, tmp_path):
    plan = split_file(listed, [1, 1, 2], part_file=tmp_path / "part")
    assert (plan.of, plan.partition.m) == ("file", 300)
    assert plan.metrics.loads.tolist() == [75, 75, 150]
    assert plan.graph == {"vertices": 40, "touched": 40, "edges": 300}
    write_edge_plan(tmp_path / "x.plan", plan, level=0)
    read = read_edge_plan(tmp_path / "x.plan")
    assert read.partition.part.tolist() == plan.partition.part.tolist()
    assert read.of == "file"
    in_memory = split_file(listed, [1, 1, 2])
    assert in_memory.partition.part.tolist() == read.partition.part.tolist()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"method": "spac"}, "method of streams"),
        ({"buffer": 0}, "buffer"),
        ({"epsilon": 1.0}, "epsilon"),
        ({"seed": -1}, "seed"),
    ],
)
def test_wrong_options_are_refused(options, reason):
    with pytest.raises(UsageError, match=reason):
        StreamOptions(**options)


def test_more_devices_than_lines_are_refused(listed):
    with pytest.raises(InfeasibleError, match="301 devices but only 300 edges"):
        split_file(listed, [1] * 301)


def test_too_little_memory_is_refused(listed):
    small = Platform((Device("a", 1.0), Device("b", 1.0, memory=2500)))
    with pytest.raises(NotFoundError, match=r"needs 3\.\d+ KiB with its copies of vertices"):
        split_file(listed, small)


def test_a_block_outside_of_its_limits_is_named(monkeypatch, listed):
    real = module.split_pieces

    def skewed(*given, **named):
        found = real(*given, **named)
        found[0].loads[:] = [150, 150]
        return found

    monkeypatch.setattr(module, "split_pieces", skewed)
    with pytest.raises(NotFoundError, match="'dev0' has 150 edges instead of 97 to 103"):
        split_file(listed, [1, 2])
