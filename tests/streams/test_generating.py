"""Random stream graphs and machines: the paper's parameters."""

import numpy as np
import pytest

from evener.errors import UsageError
from evener.streams.generating import (
    READINGS,
    GraphParameters,
    random_machine,
    random_stream_graph,
)
from evener.streams.period import StreamProblem, work_of


@pytest.mark.parametrize("setting", ["A", "B"])
def test_machines_are_meshes_of_cpus_and_gpus(setting):
    platform = random_machine(128, setting, 1)
    assert len(platform.connections) == 8 * 15 + 7 * 16
    gpus = np.array([device.kind == "gpu" for device in platform.devices])
    assert 0.25 <= gpus.mean() <= 0.75
    width = np.array([device.capabilities["vector_length"] for device in platform.devices])
    mips = np.array([device.capabilities["mips"] for device in platform.devices])
    assert (width[gpus] >= 1e4).all()
    assert (width[~gpus] < 100).all() == (setting == "A")
    assert np.unique(mips).size <= 32
    if setting == "A":
        assert mips[gpus].max() <= 1e4 < mips[~gpus].mean()


@pytest.mark.parametrize("setting", ["A", "B"])
def test_graphs_have_the_parameters_that_are_asked(setting):
    platform = random_machine(64, setting, 1)
    asked = GraphParameters(1024, degree=4, ratio=0.01, shape=1.0, share=25, spread=5)
    graph = random_stream_graph(asked, platform, 3, READINGS[setting])
    assert (graph.tails < graph.heads).all()
    assert graph.m / graph.n == pytest.approx(4, rel=0.1)
    assert np.mean(graph.vector > graph.scalar) == pytest.approx(0.25, abs=0.05)
    seconds = work_of(StreamProblem.of(graph, platform, READINGS[setting]), np.arange(graph.n))
    per_filter = np.mean(1 / (1 / seconds).mean(axis=1))
    bandwidth = np.mean([1 / one.link.beta for one in platform.connections])
    assert graph.nbytes.mean() / bandwidth / per_filter == pytest.approx(0.01, rel=0.2)


@pytest.mark.parametrize("shape", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(("n", "degree"), [(128, 2), (128, 8), (512, 4), (1024, 2)])
def test_the_mean_out_degree_is_what_is_asked(n, degree, shape):
    """Also of few layers, whose last one has no edges out and a large part of the filters."""
    platform = random_machine(4, "A", 1)
    graphs = [random_stream_graph(GraphParameters(n, degree, shape=shape), platform, seed)
              for seed in range(3)]  # fmt: skip
    assert np.mean([graph.m / n for graph in graphs]) == pytest.approx(degree, rel=0.1)


def test_high_graphs_are_narrow():
    platform = random_machine(4, "A", 1)
    heights = []
    for shape in (0.1, 1.0, 10.0):
        graph = random_stream_graph(GraphParameters(400, shape=shape), platform, 1)
        depth = np.zeros(graph.n, int)
        for tail, head in sorted(zip(graph.tails, graph.heads, strict=True)):
            depth[head] = max(depth[head], depth[tail] + 1)
        heights.append(depth.max() + 1)
    assert heights[0] > 100 > heights[1] >= 20 > heights[2] >= 2


def test_the_same_seed_gives_the_same():
    platform = random_machine(16, "A", 5)
    assert platform == random_machine(16, "A", 5)
    one, other = (random_stream_graph(GraphParameters(50), platform, 5) for _ in range(2))
    assert np.array_equal(one.nbytes, other.nbytes)


@pytest.mark.parametrize("wrong", [{"n": 1}, {"shape": 0}, {"share": 101}, {"ratio": -1}])
def test_parameters_that_cannot_be(wrong):
    with pytest.raises(UsageError):
        GraphParameters(**{"n": 10} | wrong)
