"""Programs on emulated machines: values as anywhere, a clock that repeats, exact exchanges."""

from dataclasses import replace

import numpy as np
import pytest

import evener as ev
from evener.errors import InputError, UsageError
from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.random_graphs import rmat
from evener.planning.cuts import predicted_on_edges
from evener.plans.edge_partition import EdgePartition
from evener.plans.exchange_costs import quotient
from evener.plans.metrics import prediction_of
from evener.plans.partition import Partition
from evener.plans.workload import Workload
from evener.platforms.platform import Device, Level, Link, Platform
from evener.running.apps.registry import APPS
from evener.running.edge_copies import copies_of
from evener.running.edge_shares import DividedEdges
from evener.running.emulated_run import EMULATED_ACTIVITIES, VirtualMachine
from evener.running.executing import run_program
from tests.running.edge_cases import star

GRAPH = rmat(9, 3, 8)
LEVELS = (Level("net", Link(2e-6, 1e-9), shared=True), Level("node", Link(1e-6, 2e-10)))


def platform(k, terms=None):
    """Two devices a node, one of them four times as fast; nodes share their links."""
    return Platform(
        tuple(
            Device(f"d{i}", (1e6, 4e6)[i % 2], ("cpu", "cuda")[i % 2], at=f"n{i // 2}",
                   fixed_seconds=1e-5, capabilities=terms or {})
            for i in range(k)
        ),
        LEVELS,
    )  # fmt: skip


def blocks(k):
    return Partition(np.random.default_rng(5).integers(0, k, GRAPH.n).astype(np.int32), k)


def test_a_superstep_takes_as_long_as_predicted():
    """Of PageRank every superstep is an exchange of all boundaries: the exact prediction's."""
    k, part = 8, blocks(8)
    found = VirtualMachine(platform(k)).run(APPS["pagerank"].program, GRAPH, part, most=3)
    loads = np.bincount(part.part, GRAPH.degrees, k)
    workload = Workload("arcs", bytes_per_value=4.0)
    between = quotient(GRAPH, part)
    expected = prediction_of(between, loads, np.zeros(k), platform(k), workload, exact=True)
    assert found.step_seconds == pytest.approx([float(expected.ends.max())] * 3, rel=1e-12)
    assert found.computing[0] == pytest.approx(expected.compute + 1e-5)
    assert (found.waiting >= -1e-15).all()


def test_recorded_supersteps_are_those_of_the_virtual_clock():
    found = VirtualMachine(platform(8)).run(APPS["bfs"].program, GRAPH, blocks(8))
    run = found.recorded()
    for name in EMULATED_ACTIVITIES:
        assert np.array_equal(run.of_devices(name), getattr(found, name))
    assert np.array_equal(run.of_devices("sent"), found.run.of_devices("sent"))
    ends = found.step_seconds.cumsum()
    for device in run.steps:
        for step, end in zip(device, ends, strict=True):
            assert sum(step.spans[-1][1:]) == pytest.approx(end)
    assert run.seconds == found.seconds
    assert run.is_emulated


@pytest.mark.parametrize("name", ["pagerank", "bfs", "wcc"])
def test_values_and_clock_do_not_depend_on_the_computer(name):
    app, k = APPS[name], 24
    terms = {"vertex_arcs": 2, "list_share": 0.1, "near_values": 50, "far_factor": 3, "mips": 7}
    machine = VirtualMachine(platform(k, terms))
    runs = [machine.run(app.program, GRAPH, blocks(k), most=app.iterations or 99) for _ in "ab"]
    assert runs[0].step_seconds.tolist() == runs[1].step_seconds.tolist()
    assert runs[0].seconds > 0
    alone = run_program(app.program, GRAPH, Partition(np.zeros(GRAPH.n, np.int32), 1),
                        most=app.iterations or 99)  # fmt: skip
    assert runs[0].values == pytest.approx(alone.values, rel=1e-4)


def test_terms_of_a_superstep():
    """Half of the vertices on each of two devices: each term by hand."""
    part = Partition((np.arange(GRAPH.n) % 2).astype(np.int32), 2)
    program = APPS["pagerank"].program

    def seconds(**terms):
        devices = Device("a", 1e6), Device("b", 1e6, "cuda", capabilities=terms)
        machine = VirtualMachine(Platform(devices))
        return machine.run(program, GRAPH, part, most=1).computing[0]

    arcs = np.bincount(part.part, GRAPH.degrees, 2)
    assert seconds() == pytest.approx(arcs / 1e6)
    assert seconds(vertex_arcs=3.0)[1] == pytest.approx((arcs[1] + 3 * GRAPH.n / 2) / 1e6)
    assert seconds(near_values=0, far_factor=5.0) == pytest.approx(arcs * [1, 5] / 1e6)
    longest = GRAPH.degrees[1::2].max()
    assert seconds(list_share=1e-4)[1] == pytest.approx(longest / 1e-4 / 1e6)


def test_devices_and_blocks_must_be_equally_many():
    with pytest.raises(UsageError, match="has 4 devices, but the plan has 2 blocks"):
        VirtualMachine(platform(4)).run(APPS["bfs"].program, GRAPH, blocks(2))


@pytest.mark.parametrize("terms", [{"vertex_arcs": -1}, {"list_share": 0}, {"far_factor": 0.5}])
def test_terms_that_make_no_sense_are_refused(terms):
    with pytest.raises(InputError, match=r"must not be negative|list_share"):
        VirtualMachine(platform(2, terms)).run(APPS["bfs"].program, GRAPH, blocks(2))


def edges_divided(k):
    part = np.random.default_rng(3).integers(0, k, EdgeList.of_graph(GRAPH).m)
    return DividedEdges(EdgePartition.of(part, k))


def test_on_edges_a_superstep_takes_as_long_as_predicted():
    """Mirrors send sums, masters payloads: from the second superstep on as `choose_cut` counts."""
    k, divided = 4, edges_divided(4)
    program = APPS["pagerank"].program
    found = VirtualMachine(platform(k)).run(program, GRAPH, divided, most=3)
    edges = EdgeList.of_graph(GRAPH)
    both = divided.partition, copies_of(edges, divided.partition)
    workload = Workload("arcs", bytes_per_value=4.0)
    graph = replace(GRAPH, vwgt=GRAPH.degrees)  # units are arcs
    expected = predicted_on_edges(graph, edges, both, platform(k), workload)
    assert found.computing[1] == pytest.approx(expected.compute + 1e-5)
    assert found.communicating[1] == pytest.approx(expected.communicate)
    assert found.step_seconds[1] == found.step_seconds[2] > found.step_seconds[0]
    with pytest.raises(UsageError, match="has 3 devices, but the plan has 4 blocks"):
        VirtualMachine(platform(3)).run(program, GRAPH, divided)


@pytest.mark.parametrize("name", ["bfs", "spmv"])
def test_on_edges_values_are_those_of_blocks_of_vertices(name):
    program, machine = APPS[name].program, VirtualMachine(platform(4))
    most = {"most": 3} if name == "spmv" else {}
    found = machine.run(program, GRAPH, edges_divided(4), **most)
    assert np.allclose(found.values, machine.run(program, GRAPH, blocks(4), **most).values)
    assert found.recorded().seconds == found.seconds > 0


def test_on_edges_the_longest_list_is_that_of_a_device():
    """A star whose arcs are on four devices: each works on a quarter of its middle's."""
    middle = star(400)
    divided = DividedEdges(EdgePartition.of(np.arange(400) % 4, 4))
    terms = {"list_share": 0.01}
    found = VirtualMachine(platform(4, terms)).run(
        APPS["pagerank"].program, middle, divided, most=1
    )
    speeds = np.array([1e6, 4e6] * 2)
    assert found.computing[0] == pytest.approx(100 / 0.01 / speeds + 1e-5)


def test_plans_of_vertices_and_of_edges_run_as_their_partitions():
    machine, program = VirtualMachine(platform(3)), APPS["bfs"].program
    plan, edges = ev.plan(GRAPH, platform(3)), ev.split(GRAPH, platform(3))
    for whole, divided in ((plan, plan.partition), (edges, DividedEdges.by(edges))):
        found, expected = (machine.run(program, GRAPH, one) for one in (whole, divided))
        assert np.array_equal(found.values, expected.values)
        assert found.seconds == expected.seconds
