"""Files of stream plans: read back as they were; damaged ones refused."""

import dataclasses

import numpy as np
import pytest

from evener.errors import InputError
from evener.graphs.stream_graph import StreamGraph
from evener.io.plans.kinds import FILTERS, kind_in
from evener.io.plans.plan import read_plan
from evener.io.plans.stream_plan import read_stream_plan, write_stream_plan
from evener.plans.stream_plan import StreamPlan
from evener.platforms.device import Device
from evener.platforms.platform import Platform


@pytest.fixture
def plan():
    devices = tuple(Device(name, 1.0, capabilities={"mips": 1.0}) for name in "ab")
    graph = StreamGraph(
        ("x", "y"),
        [1e6, 2e6],
        [1, 3],
        [0],
        [1],
        [8],
        np.array([True, False]),
        needs={"ram": [0, 1]},
    )
    return StreamPlan(
        np.array([1, 0], np.int32), graph, Platform(devices), 2.0, 1.5, np.array([1.0, 2.0]),
        np.array([0.5, 0.0]), {"a - b": 0.5}, {"method": "greedy", "overlap": False},
        {"f.toml": "0" * 64}, {"evener": "1"}, ("a note",),
    )  # fmt: skip


def test_a_plan_is_read_back_as_it_was(plan, tmp_path):
    write_stream_plan(tmp_path / "x.plan", plan)
    again = read_stream_plan(tmp_path / "x.plan")
    for field in dataclasses.fields(plan):
        if field.name not in ("cpu_seconds", "graph"):
            kept = getattr(again, field.name)
            assert np.array_equal(kept, getattr(plan, field.name)), field.name
    for field in dataclasses.fields(plan.graph):
        kept, was = getattr(again.graph, field.name), getattr(plan.graph, field.name)
        if field.name == "needs":
            kept, was = list(kept), list(was)
        assert np.array_equal(kept, was), field.name
    assert again.graph.needs["ram"].tolist() == [0, 1]
    write_stream_plan(tmp_path / "y.plan", again)
    assert kind_in(tmp_path / "y.plan") == FILTERS
    assert (tmp_path / "x.plan").read_bytes() == (tmp_path / "y.plan").read_bytes()


def test_damaged_files_are_refused(plan, tmp_path):
    write_stream_plan(tmp_path / "x.plan", plan)
    whole = (tmp_path / "x.plan").read_bytes()
    for cut in (0, 10, len(whole) // 2, len(whole) - 5):
        (tmp_path / "y.plan").write_bytes(whole[:cut])
        with pytest.raises(InputError, match=r"y\.plan"):
            read_stream_plan(tmp_path / "y.plan")


@pytest.mark.parametrize("copies", [[0], [0, -1], [0, 2**33]])
def test_copies_of_filters_that_are_not_there_are_refused(plan, tmp_path, copies):
    """A plan of two filters has copies of filters 0 and 1 at most."""
    forged = dataclasses.replace(plan, copy_of=np.array([0, 1]))
    path = tmp_path / "x.plan"
    write_stream_plan(path, forged)
    assert read_stream_plan(path).copy_of.tolist() == [0, 1]
    object.__setattr__(forged, "copy_of", np.array(copies))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(forged), "verdict", lambda _: "")  # which counts them
        write_stream_plan(path, forged)
    with pytest.raises(InputError, match="is a stream plan whose copies do not match its filters"):
        read_stream_plan(path)


def test_where_blocks_of_vertices_are_needed_it_says_what_to_use(plan, tmp_path):
    write_stream_plan(tmp_path / "x.plan", plan)
    with pytest.raises(InputError, match="is a plan of a stream graph") as refused:
        read_plan(tmp_path / "x.plan")
    assert "evener run --stream" in refused.value.hint
