"""Edge plans: contracts by the devices' speeds, what is recorded, what is refused."""

import numpy as np
import pytest

from evener.errors import InfeasibleError, UsageError
from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.planning.split import SplitOptions, split
from evener.platforms.platform import Device, Platform
from evener.splitting import split_and_connect

EDGES = EdgeList.of_graph(grid((30, 30)))


def test_work_follows_the_speeds():
    made = split(EDGES, [1, 2, 5], SplitOptions(epsilon=0.02))
    assert made.holds.all()
    assert made.metrics.loads == pytest.approx(EDGES.m * np.array([1, 2, 5]) / 8, rel=0.03)
    assert made.metrics.loads.sum() == EDGES.m
    assert made.relative_loads == pytest.approx([1, 1, 1], abs=0.03)
    assert made.graph == {"vertices": 900, "touched": 900, "edges": EDGES.m}
    assert "Every block keeps its contract" in made.verdict()
    assert "1,740 edges" in repr(made)


def test_weights_are_work():
    heavy = EdgeList(EDGES.n, EDGES.tails, EDGES.heads, 1 + np.arange(EDGES.m) % 3)
    made = split(heavy, 4)
    assert made.metrics.loads == pytest.approx(np.full(4, heavy.total_weight / 4), rel=0.04)


def test_memory_bounds_the_edges_of_a_device():
    small = Device("small", 10.0, memory=16.0 * 100)
    made = split(EDGES, Platform((small, Device("large", 1.0))))
    assert made.metrics.loads[0] <= 100


@pytest.mark.parametrize(
    ("edges", "platform", "options", "error", "reason"),
    [
        (EdgeList(3, [], []), 1, {}, InfeasibleError, "no edge"),
        (EdgeList(3, [0], [1]), 2, {}, InfeasibleError, "2 devices but only 1 edge:"),
        (EDGES, 2, {"epsilon": -0.1}, UsageError, "epsilon"),
        (EDGES, 2, {"method": "no"}, UsageError, "method"),
        (EDGES, 2, {"seed": -1}, UsageError, "seed"),
    ],
)
def test_what_cannot_be_is_refused(edges, platform, options, error, reason):
    with pytest.raises(error, match=reason):
        split(edges, platform, SplitOptions(**options))


@pytest.mark.parametrize("method", ["spac-path", "spac-ring"])
def test_dominant_edges_that_weigh_less_are_said_to(monkeypatch, method):
    few = EdgeList.of_graph(grid((6, 6)))
    assert split(few, 2, SplitOptions(method)).notes == ()
    monkeypatch.setattr(split_and_connect, "LARGEST_SUM", 20_000)
    (note,) = split(few, 2, SplitOptions(method)).notes
    assert "a dominant edge weighs 164, not 1,000" in note
