"""From graph and platform to a certified plan: reproducible, honest, or refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evener as ev
from evener.cli import main
from evener.errors import InfeasibleError, InputError, NotFoundError, UsageError
from evener.io.plans.manifest import manifest
from evener.partitioning.enforce import Enforced
from evener.partitioning.registry import Result
from evener.planning.evaluate import stage, stage_of
from evener.planning.in_memory import describe
from evener.planning.makespan.search import solve_seconds
from evener.platforms.examples import topo1
from evener.platforms.platform import Device, Level, Link, Platform
from tests.assertions import grid, path, random_graphs
from tests.choosing import slow_but
from tests.examples import with_examples


def bytes_of(plan, tmp_path):
    ev.write_plan(tmp_path / "x.plan", plan)
    return (tmp_path / "x.plan").read_bytes()


@pytest.mark.parametrize("tool", slow_but(["auto", "metis", "hilbert"]))
def test_same_inputs_same_bytes_whatever_the_threads(tool, tmp_path):
    graph, platform = grid(30, 30), topo1(8, 2, 4, units=1000)
    options = ev.PlanOptions(tool=tool, seed=5)
    first = bytes_of(ev.plan(graph, platform, options), tmp_path)
    assert bytes_of(ev.plan(graph, platform, options), tmp_path) == first
    hurried = replace(options, threads=1, time_limit=99.0)
    assert bytes_of(ev.plan(graph, platform, hurried), tmp_path) == first


def unrepaired(graph, partition, contract, **_):
    """Return the partition as a repair that changes nothing and says that all is well."""
    return Enforced(partition, 0, 0.0)


def test_a_plan_that_breaks_its_contract_is_refused(monkeypatch, tmp_path):
    """Two of three equal devices get everything, and the repair is taken out."""
    graph, platform = grid(12, 12), Platform.flat([1, 1, 1])
    monkeypatch.setattr("evener.planning.steps.enforce", unrepaired)
    halves = Result((np.arange(graph.n) % 2).astype(np.int32), "hilbert", "1", 0.0)
    monkeypatch.setattr("evener.planning.steps.partition_with", lambda *_: halves)
    with pytest.raises(NotFoundError, match=r"3 of 3 blocks break .*dev0, dev1, dev2") as caught:
        ev.plan(graph, platform, tool="hilbert")
    assert "above the limit" in caught.value.message
    assert "empty" in caught.value.message
    ev.write_graph(tmp_path / "grid.graph", graph)
    output = tmp_path / "grid.plan"
    words = ["plan", str(tmp_path / "grid.graph"), "--k", "3", "-o", str(output)]
    assert main([*words, "--with", "hilbert"]) == 4
    assert not output.exists()


def test_a_plan_for_seconds_that_overfills_a_memory_is_refused(monkeypatch):
    """The search believes that every block is within its memory, whatever it weighs."""
    graph = grid(20, 20)
    devices = tuple(Device(f"d{i}", 1e6, memory=graph.total_bytes / 2) for i in range(3))
    platform = Platform(devices, levels=(Level("net", Link(1e-6, 1e-9)),))
    assert ev.plan(graph, platform, preset="fast").certificate.all_hold
    found = solve_seconds(graph, platform, ev.PlanOptions(objective="seconds", preset="fast"))
    broken = replace(found, part=np.zeros(graph.n, np.int32))
    monkeypatch.setattr("evener.planning.makespan.search.solve_seconds", lambda *_, **__: broken)
    with pytest.raises(NotFoundError, match=r"1 of 3 blocks break .*d0: over memory"):
        ev.plan(graph, platform, preset="fast")


def test_threads_are_kept_where_they_may_matter():
    pytest.importorskip("mtkahypar")
    graph, platform = grid(12, 12), Platform.flat([1, 2])
    for tool, threads in (("mtkahypar", 2), ("rcb", 1)):
        plan = ev.plan(graph, platform, ev.PlanOptions(tool=tool, threads=2))
        assert plan.options["threads"] == threads


def test_what_a_plan_says():
    graph, platform = grid(20, 20), Platform.flat([1, 1, 2])
    told = []
    plan = ev.plan(
        graph, platform, ev.PlanOptions(tool="metis", seed=3), inputs={"g": "00"},
        reading={"by": "cells"}, notes=("odd",), progress=lambda *step: told.append(step),
    )  # fmt: skip
    assert plan.certificate.all_hold
    assert plan.sizes.tolist() == [100, 100, 200]
    assert plan.options["seed"] == 3
    assert plan.options["reading"] == {"by": "cells"}
    assert plan.graph == describe(graph)
    assert plan.graph["edges"] == 2 * 19 * 20
    assert plan.notes[0] == "odd"
    assert plan.inputs == {"g": "00"}
    assert set(plan.versions) == {"evener", "numpy", "metis"}
    assert plan.verdict().startswith("All 3 blocks hold their contract; slowest device ")
    assert plan.platform.names[plan.prediction.bottleneck] in plan.verdict()
    fractions = [fraction for _, fraction in told]
    assert fractions[0] == 0
    assert fractions[-1] == 1
    assert fractions == sorted(fractions)


def test_nothing_of_this_place_or_time_is_kept(tmp_path):
    text = json.dumps(manifest(ev.plan(grid(9, 9), Platform.flat([1, 2]))))
    assert str(tmp_path.parent.parent) not in text
    assert "/" not in text.replace("units/s", "")


def test_one_device_takes_everything():
    plan = ev.plan(path(5), Platform.flat([3.0]))
    assert plan.partition.part.tolist() == [0] * 5
    assert plan.verdict().startswith("The block holds its contract")
    assert plan.prediction.makespan == pytest.approx(plan.prediction.bound)


def test_as_many_devices_as_vertices():
    plan = ev.plan(path(6), Platform.flat([1, 1, 1, 1, 1, 100]))
    assert sorted(plan.partition.part.tolist()) == list(range(6))
    assert plan.certificate.all_hold


@with_examples(60)
@given(random_graphs(max_n=14), st.integers(1, 4), st.integers(0, 2**32))
def test_plans_keep_the_contract_or_are_refused(graph, k, seed):
    rng = np.random.default_rng([27_182, seed])
    platform = Platform.flat(np.exp(rng.normal(0, 1, k)))
    graph = graph.with_(coords=rng.random((graph.n, 2)))
    try:
        plan = ev.plan(graph, platform, ev.PlanOptions(tool="rcb", epsilon=0.3))
    except InfeasibleError:
        assert k > graph.n or not graph.is_unit
        return
    certificate = plan.certificate
    contract = certificate.contract
    assert certificate.all_hold
    weights = np.bincount(plan.partition.part, weights=graph.weights(), minlength=k)
    slack = 1e-8 * (1 + contract.targets)
    assert (weights >= contract.low - slack).all()
    assert (weights <= contract.high + slack).all()
    assert len(set(plan.partition.part.tolist())) == k


def test_tiny_weighted_blocks_get_their_vertex():
    graph = grid(6, 6, vwgt=np.r_[np.full(35, 2.0), 0.5])
    plan = ev.plan(graph, Platform.flat([1000, 1e-3, 1e-3]), ev.PlanOptions(epsilon=0.1))
    assert plan.certificate.all_hold
    assert (plan.certificate.vertices > 0).all()


def test_memory_is_kept():
    small = Device("small", 100.0, memory=30 * 72.0)
    plan = ev.plan(grid(12, 12), Platform((small, Device("cpu", 1.0))))
    assert plan.saturated.tolist() == [True, False]
    assert plan.certificate.bytes[0] <= 30 * 72
    assert plan.certificate.all_hold


def two_of(**fields):
    return Platform((Device("a", 1.0, **fields), Device("b", 1.0, **fields)))


@pytest.mark.parametrize(
    ("graph", "platform", "message"),
    [
        (path(3), Platform.flat([1] * 4), "4 devices but only 3 vertices"),
        (path(10), Platform.flat([1, 1], memory=100.0), "short: all devices together hold"),
        (path(3, vwgt=[0, 0, 0]), Platform.flat([1, 1]), "weight zero"),
        (path(3, vwgt=[1, 1, 100]), two_of(high_units=60), "vertex 2 weighs 100 units"),
    ],
)
def test_infeasible(graph, platform, message):
    with pytest.raises(InfeasibleError, match=message):
        ev.plan(graph, platform)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"tool": "none"}, UsageError, "no partitioner 'none'"),
        ({"tool": "rcb"}, UsageError, "needs coordinates"),
        ({"objective": "beauty"}, UsageError, "objective"),
        ({"preset": "slow"}, UsageError, "preset"),
        ({"seed": -1}, UsageError, "seed"),
        ({"threads": 0}, UsageError, "threads"),
        ({"epsilon": -0.1}, UsageError, "epsilon"),
        ({"epsilon": 1.0}, UsageError, "epsilon"),
        ({"epsilon": float("nan")}, UsageError, "epsilon"),
        ({"time_limit": 0.0}, UsageError, "time limit"),
        ({"time_limit": 1e300}, UsageError, "time limit"),
        ({"time_limit": float("nan")}, UsageError, "time limit"),
    ],
)
def test_refused_options(changes, error, message):
    with pytest.raises(error, match=message):
        ev.plan(path(20), Platform.flat([1, 2]), ev.PlanOptions(**changes))


def test_blocks_are_mapped_where_links_differ(tmp_path):
    """Along a curve, blocks of a shuffled machine are far apart; every contract is kept."""
    graph, machine = grid(40, 40), topo1(48, 4, 4, links=True)
    shuffled = np.random.default_rng(17).permutation(48)
    platform = replace(machine, devices=tuple(machine.devices[i] for i in shuffled))
    options = ev.PlanOptions(tool="hilbert", seed=5)
    mapped = ev.plan(graph, platform, options)
    left = ev.plan(graph, platform, replace(options, mapping=False))
    assert left.mapping is None
    assert mapped.mapping.moved > 0
    assert mapped.certificate.all_hold
    assert mapped.mapping.before.hop_bytes == pytest.approx(left.prediction.hop_bytes.sum())
    after = mapped.mapping.after
    assert after.hop_bytes == pytest.approx(mapped.prediction.hop_bytes.sum())
    assert after.hop_bytes < 0.8 * left.prediction.hop_bytes.sum()
    assert after.seconds == pytest.approx(mapped.prediction.makespan)
    assert "blocks mapped to other devices" in mapped.notes[-1]
    ev.write_plan(tmp_path / "x.plan", mapped)
    again = ev.read_plan(tmp_path / "x.plan")
    assert (again.mapping.device == mapped.mapping.device).all()
    assert again.mapping.after == after
    assert manifest(again) == manifest(mapped)


def test_without_links_nothing_is_mapped():
    assert ev.plan(grid(9, 9), Platform.flat([1, 2])).mapping is None


def test_stages_tell_how_the_partition_came_to_be():
    graph, platform = grid(60, 60), Platform.flat([8.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    plan = ev.plan(graph, platform, ev.PlanOptions(tool="evener"))
    first, *_, last = plan.stages
    assert (first.name, plan.stages[1].name) == ("placed", "refined")
    assert last.edge_cut == plan.evaluation.edge_cut <= first.edge_cut
    assert (last.max_volume, last.total_volume) == (
        plan.evaluation.max_volume, plan.evaluation.total_volume,
    )  # fmt: skip
    ratios = plan.certificate.weights / plan.certificate.contract.targets
    assert (last.smallest, last.largest) == (ratios.min(), ratios.max())
    assert last.neighbours == plan.certificate.neighbours.max()
    assert plan.cpu_seconds > 0


def test_what_enforcing_changed_is_a_stage():
    """Bisection knows nothing of memory: the large block is cut down afterwards."""
    graph = grid(20, 20)
    platform = Platform((Device("a", 1.0, memory=9000.0), Device("b", 1.0)))
    plan = ev.plan(graph, platform, ev.PlanOptions(tool="metis", epsilon=0.001))
    if not any("moved to keep" in note for note in plan.notes):
        assert plan.stages == ()
        return
    assert [stage.name for stage in plan.stages] == ["as metis made it", "enforced"]
    assert plan.stages[-1].edge_cut == plan.evaluation.edge_cut


def test_a_stage_counts_as_the_certificate_does():
    graph, platform = grid(9, 9), Platform.flat([2.0, 1.0])
    plan = ev.plan(graph, platform, ev.PlanOptions(tool="hilbert"))
    counted = stage("x", graph, plan.partition, plan.certificate.contract)
    judged = stage_of("x", plan.evaluation)
    assert judged.seconds == plan.prediction.makespan
    assert replace(counted, seconds=judged.seconds) == judged


def test_connected_blocks_of_several_components_are_named():
    u = 2 * np.arange(8)
    graph = ev.Graph.from_edges(16, u, u + 1)  # eight components over four devices
    for machine in (4, linked(4)):
        made = ev.plan(graph, machine, connected=True)
        pieces = made.certificate.components
        named = [f"dev{b} ({pieces[b]} pieces)" for b in np.flatnonzero(pieces > 1)]
        said = "not connected, although --connected was given: " + ", ".join(named)
        assert named and said in made.notes
        assert not any("not connected" in note for note in ev.plan(graph, machine).notes)


def linked(k):
    return {
        "device": [{"name": f"dev{b}", "speed": 1e3} for b in range(k)],
        "level": [{"name": "net", "alpha_us": 1.0, "GB_per_s": 10.0}],
    }


def test_a_device_that_is_slow_with_one_vertex_is_named():
    graph = grid(18, 9)
    (said,) = [note for note in ev.plan(graph, [1, 1000]).notes if "advise" in note]
    assert said.startswith(
        "dev0 holds one vertex and takes 1.00 s; the other devices alone need at least 162 ms"
    )
    assert not any("advise" in note for note in ev.plan(graph, [1, 100]).notes)
    assert not any("advise" in note for note in ev.plan(grid(1, 2), [1, 1]).notes)


def test_blocks_counted_from_1():
    with pytest.raises(
        InputError, match=r"vertex 3 is in block 4, but 4 blocks .*from 0"
    ) as raised:
        ev.Partition([1, 2, 3, 4], 4)
    assert raised.value.hint == "If blocks are numbered from 1 to 4, subtract 1."
    with pytest.raises(InputError) as raised:
        ev.Partition([0, 2, 3, 4], 4)
    assert raised.value.hint is None
