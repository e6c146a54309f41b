"""evener run: values in the file's order, what each device took, refusals."""

import json
import re
import shlex
import socket
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from evener.cli import main
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import barabasi_albert
from evener.io import read_graph, write_graph
from evener.io.plans.plan import read_plan, write_plan
from evener.rebalancing.run_rebalancer import RunRebalancer
from evener.running.apps import bfs
from evener.running.executing import run_program
from tests.assertions import run_evener
from tests.running.engine.parts import LARGEST_FILE
from tests.running.random_runs import RandomMoves

MACHINE = (
    '[[device]]\nname = "old"\ncount = 2\nspeed = 1.0\n[[device]]\nname = "new"\nspeed = 2.0\n'
)


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """A graph, and a plan for three devices."""
    folder = tmp_path_factory.mktemp("run")
    write_graph(folder / "web.graph", barabasi_albert(500, 2, 3))
    (folder / "m.toml").write_text(MACHINE)
    words = ["plan", str(folder / "web.graph"), "--machine", str(folder / "m.toml")]
    assert main([*words, "-o", str(folder / "web.plan"), "--quiet"]) == 0
    return folder


def run(case, *words):
    return main(["run", str(case / "web.plan"), str(case / "web.graph"), *words])


def test_levels_in_the_order_of_the_file(case, capsys, tmp_path):
    output = tmp_path / "levels.npy"
    assert run(case, "--app", "bfs", "--source", "7", "--verify", "--json", "-o", str(output)) == 0
    said = json.loads(capsys.readouterr().out)
    levels = np.load(output)
    graph = read_graph(case / "web.graph")
    assert bfs.verify(graph, np.where(levels < 0, np.iinfo(np.int32).max, levels), 7)
    assert said["verified"] is True
    assert said["supersteps"] == levels.max() + 1
    assert said["seconds"] > 0
    assert [device["name"] for device in said["devices"]] == ["old0", "old1", "new"]
    assert sum(device["edges"] for device in said["devices"]) == said["edges"]


def test_triangles_are_summed_up(case, capsys, tmp_path):
    output = tmp_path / "corners.npy"
    assert run(case, "--app", "triangles", "--verify", "--json", "-o", str(output)) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["verified"] is True
    assert said["summary"] == {"triangles": np.load(output).sum() // 3}
    assert run(case, "--app", "triangles") == 0
    assert f"\nTriangles: {said['summary']['triangles']:,}.\n" in capsys.readouterr().out


def test_products_and_core_numbers(case, capsys):
    more = ["--iterations", "4", "--set", "averaging=0"]
    assert run(case, "--app", "spmv", *more, "--verify", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["verified"], said["supersteps"], said["summary"]) == (True, 4, {})
    assert run(case, "--app", "kcore", "--verify") == 0
    said = capsys.readouterr().out
    assert "\nLargest core number: " in said and "\nVerified by another algorithm.\n" in said


def test_pagerank_for_people(case, capsys):
    assert run(case, "--app", "pagerank", "--set", "damping=0.9", "--verify") == 0
    said = capsys.readouterr().out
    assert "pagerank: 10 supersteps in" in said
    assert "Verified by another algorithm." in said
    assert said.startswith("device")


@pytest.fixture(scope="module")
def largest(case):
    """A user's program, compiled once for all tests that run it."""
    (case / "largest.py").write_text(LARGEST_FILE)
    return str(case / "largest.py")


def test_a_program_of_the_users(case, largest, tmp_path):
    output = tmp_path / "values.npy"
    assert run(case, "--program", largest, "-o", str(output), "--quiet") == 0
    assert np.load(output).tolist() == [499] * 500


@pytest.mark.slow
def test_another_process_runs_a_users_program_from_the_cache(case, largest, tmp_path):
    words = ("--program", largest, "--quiet", "-o")
    assert run(case, *words, str(tmp_path / "first.npy")) == 0
    second = tmp_path / "second.npy"
    done = run_evener("run", case / "web.plan", case / "web.graph", *words, second)
    assert done.returncode == 0, done.stderr
    assert np.load(second).tolist() == [499] * 500


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--app", "bsf"], "did you mean bfs?"),
        (["--app", "bfs", "--source", "500"], "there is no vertex 500 among 500"),
        (["--app", "pagerank", "--source", "1"], "pagerank has no parameter source"),
        (["--app", "pagerank", "--set", "damping"], "is not NAME=VALUE"),
        (["--app", "pagerank", "--set", "damping=nan"], "a number as VALUE"),
        (["--app", "pagerank", "--iterations", "0"], "at least 1, not 0"),
        (["--app", "pagerank", "--devices", "cpu:0"], "has 1 device, but the plan has 3 blocks"),
        (["--app", "pagerank", "--devices", "gpu7"], "'gpu7' is not a device"),
        (["--app", "pagerank", "--program", "x.py"], "not allowed with"),
        ([], "one of --app and --program"),
        (["--program", "absent.py"], "cannot be read"),
        (["--app", "pagerank", "-o", "WEB.GRAPH"], ""),
    ],
)
def test_wrong_words_are_refused(case, capsys, words, reason):
    words = [str(case / "web.graph") if word == "WEB.GRAPH" else word for word in words]
    assert run(case, *words) != 0
    said = capsys.readouterr()
    assert reason in said.err
    assert said.out == ""


def test_vertices_move_while_it_runs(case, capsys, monkeypatch, tmp_path):
    """The values of a run that is not rebalanced; each move is told, and is in page and trace."""
    monkeypatch.setattr(RunRebalancer, "observe", RandomMoves(500, 3, after=(1, 2)).observe)
    monkeypatch.setattr(RunRebalancer, "moved", lambda *_: None)
    records = [str(tmp_path / name) for name in ("a.npy", "b.npy", "p.html", "t.json", "s")]
    assert run(case, "--app", "pagerank", "-o", records[0]) == 0
    assert "Rebalanced" not in capsys.readouterr().out
    words = ["--rebalance", "-o", records[1], "--report", records[2], "--trace", records[3]]
    assert run(case, "--app", "pagerank", "--verify", *words, "--samples", records[4]) == 0
    said = capsys.readouterr().out
    assert said.count("Rebalanced after superstep ") == 2
    assert "Checks whether to rebalance took" in said
    np.testing.assert_allclose(np.load(records[1]), np.load(records[0]), rtol=1e-6)
    assert ">Rebalancings<" in (tmp_path / "p.html").read_text()
    names = [
        event["name"] for event in json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    ]
    assert names.count("rebalancing") == 2 * 3


def test_rebalancings_in_json(case, capsys, monkeypatch):
    monkeypatch.setattr(RunRebalancer, "observe", RandomMoves(500, 3, after=(1,)).observe)
    monkeypatch.setattr(RunRebalancer, "moved", lambda *_: None)
    assert run(case, "--app", "bfs", "--rebalance", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["asking_seconds"] >= 0
    (one,) = said["rebalancings"]
    assert one.keys() == {
        *("step", "kind", "vertices", "began", "seconds", "saving", "cost"),
        *("realized", "share", "trust"),
    }
    assert one["realized"] is None  # judged by a RunRebalancer, which is not asked here
    assert said["checks"] == []  # none of a RunRebalancer


def test_checks_in_json(case, capsys):
    assert run(case, "--app", "pagerank", "--iterations", "40", "--rebalance", "--json") == 0
    first, *_ = json.loads(capsys.readouterr().out)["checks"]
    assert first["decision"] in ("move", "stay")
    assert len(first["seconds"]) == len(first["speeds"]) == 3
    assert first.keys() >= {"step", "lost", "saving", "cost", "reason"}


@pytest.mark.parametrize("words", [["--emulate"], ["--devices", "cuda:0,cuda:0,cuda:0"]])
def test_what_is_not_rebalanced(case, capsys, words):
    assert run(case, "--app", "pagerank", "--rebalance", *words) != 0
    assert capsys.readouterr().out == ""


def test_another_graph_is_refused(case, capsys, tmp_path):
    write_graph(tmp_path / "small.graph", barabasi_albert(50, 2, 3))
    words = ["run", str(case / "web.plan"), str(tmp_path / "small.graph"), "--app", "pagerank"]
    assert main(words) != 0
    assert "500" in capsys.readouterr().err


def test_wrong_values_end_with_exit_code_5(case, capsys, monkeypatch):
    monkeypatch.setattr(bfs, "verify", lambda *_: False)
    assert run(case, "--app", "bfs", "--verify") == 5
    assert "WRONG" in capsys.readouterr().out


NODES = """
[[level]]
name = "net"
alpha_us = 2
GB_per_s = 3.0
[[device]]
name = "cpu"
count = 2
speed = 1e7
[[device]]
name = "gpu"
count = 2
kind = "cuda"
speed = 2e8
memory_GiB = 0.001
capabilities = {vertex_arcs = 1.0}
"""


@pytest.fixture
def nodes(case):
    path = case / "nodes.toml"
    path.write_text(NODES)
    return [str(case / "web.graph"), "--machine", str(path)]


@pytest.mark.parametrize(
    "policy", [["--family", "DP", "--policies", "OH"], ["--policy", "C-PG", "--emulate"]]
)
def test_a_policy_beside_our_plan(nodes, capsys, policy):
    words = ["run", *nodes, *policy, "--app", "pagerank", "--verify"]
    assert main([*words, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    name = policy[-1] if policy[0] != "--policy" else policy[1]
    assert said["by"]["name"].endswith(name)
    assert said["by"]["r"] == pytest.approx([20])
    memory = 0.001 * 2**30
    left = [1 - n_bytes / memory for n_bytes in said["by"]["n_bytes"][2:]]
    assert said["by"]["memory_left"] == [None, None, *map(pytest.approx, left)]
    assert (said["by"]["cpu_share"] is None) == (name == "C-PG")
    assert len(said["by"]["n_bytes"]) == 4
    assert [one["verified"] for one in (said, *said["beside"])] == [True, True]
    emulated = "--emulate" in policy
    assert ("communicating" in said["devices"][0]) == emulated
    assert main([*words, "--no-own"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("10 supersteps") == 1
    assert ("on the emulated machine" in shown) == emulated
    assert ("CPUs' share of arcs" in shown) == (name != "C-PG")
    assert "r 20" in shown
    assert re.search(r"memory left\n", shown)
    assert re.search(rf"gpu0 .* MB  +{left[0]:.1%}\n", shown), shown
    assert re.search(r"cpu0 .* MB  +-\n", shown)


@pytest.mark.parametrize(
    ("words", "said"),
    [([], "stand in for gpu0 and gpu1"), (["--emulate"], ""), (["--emulate", "--no-own"], "")],
)
def test_threads_that_stand_in_for_other_devices_are_named(nodes, capsys, words, said):
    assert main(["run", *nodes, "--app", "pagerank", "--json", *words]) == 0
    printed = capsys.readouterr()
    assert (said in printed.err) and bool(said) == ("stand in for" in printed.err)
    advice = json.loads(printed.out).get("advice")
    if said:
        assert advice["sentence"].endswith("these seconds do not describe gpu0 and gpu1")
        assert advice["command"] == ""


def test_hosts_elsewhere_are_stood_in_for(case, capsys):
    machine = case / "hosts.toml"
    machine.write_text(
        f'[[device]]\nname = "near"\nspeed = 1\nhost = "{socket.gethostname()}"\n'
        '[[device]]\nname = "far"\nspeed = 1\nhost = "n07"\n'
    )
    words = ["run", str(case / "web.graph"), "--machine", str(machine), "--app", "pagerank"]
    assert main(words) == 0
    assert "threads of this computer stand in for far:" in capsys.readouterr().err


def test_emulated_seconds_repeat(nodes, capsys):
    seconds = []
    for _ in "ab":
        assert main(["run", *nodes, "--emulate", "--app", "bfs", "--json"]) == 0
        seconds.append(json.loads(capsys.readouterr().out)["seconds"])
    assert seconds[0] == seconds[1] > 0


def test_page_and_trace_of_an_emulated_run_are_those_of_its_clock(nodes, capsys, tmp_path):
    page, trace = str(tmp_path / "run.html"), str(tmp_path / "run.json")
    words = ["run", *nodes, "--emulate", "--app", "pagerank", "--iterations", "3"]
    assert main([*words, "--report", page, "--trace", trace, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["records"] == [page, trace]
    assert "too short" not in said["advice"]["sentence"]
    shown = (tmp_path / "run.html").read_text()
    assert "Predicted against emulated" in shown
    assert "sending and receiving messages" in shown
    assert "packing" not in shown[shown.index("<main") :]
    events = [
        e for e in json.loads((tmp_path / "run.json").read_text())["traceEvents"] if "dur" in e
    ]
    assert max(e["ts"] + e["dur"] for e in events) == pytest.approx(1e6 * said["seconds"], rel=1e-3)
    assert main([*words, "--samples", str(tmp_path / "run.samples")]) == 2


def test_an_emulated_device_that_is_too_small_is_refused(case, capsys):
    """Before anything is run, with the shortfall; a plan that knows no memory is emulated."""
    machine, plan = case / "nodes.toml", str(case / "small.plan")
    words = ["plan", str(case / "web.graph"), "--machine", str(machine), "-o", plan]
    machine.write_text(NODES.replace("memory_GiB = 0.001\n", ""))
    assert main([*words, "--quiet"]) == 0
    run_words = ["run", plan, str(case / "web.graph"), "--app", "bfs", "--emulate", "--quiet"]
    assert main(run_words) == 0
    known = read_plan(plan)
    small = [
        replace(d, memory=1000.0 if d.kind == "cuda" else None) for d in known.platform.devices
    ]
    write_plan(plan, replace(known, platform=replace(known.platform, devices=tuple(small))))
    assert main(run_words) == 4
    said = capsys.readouterr().err
    assert re.search(r"bfs needs .* on gpu\d, which has 1,000 B: .* too little", said), said


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--family", "DP"], "must be given together"),
        (["--policy", "DP-OH", "--family", "DP"], "which it includes"),
        (["--policy", "DP-XY"], "DP-XY"),
        (["--policy", "C-PG", "--ratio", "many"], "a number, the word paper or a file"),
        (["--policy", "C-PG", "--ratio", "20,paper"], "1 kind of machines but 2 values of r"),
        (["--emulate", "--devices", "cpu:0"], "--emulate does not work with"),
    ],
)
def test_wrong_policies_are_refused(nodes, capsys, words, reason):
    assert main(["run", *nodes, "--app", "bfs", *words]) == 2
    assert reason in capsys.readouterr().err


def test_a_plan_takes_no_policy(case, capsys):
    assert run(case, "--app", "bfs", "--policy", "C-PG") == 2
    assert "does not work with" in capsys.readouterr().err
    assert main(["run", str(case / "web.graph"), "--app", "bfs"]) == 2


@pytest.fixture(scope="module")
def misdescribed(tmp_path_factory):
    """A mesh, and a plan for two devices of which one is said to be twenty times faster."""
    folder = tmp_path_factory.mktemp("misdescribed")
    write_graph(folder / "mesh.graph", grid((300, 300)))
    words = ["plan", str(folder / "mesh.graph"), "--speeds", "1,20", "--quiet"]
    assert main([*words, "-o", str(folder / "mesh.plan")]) == 0
    return folder


def as_many_seconds_as_arcs(program, *given, **how):
    """A run whose devices are alike: each computes 10 ns an arc, and waits for the last one."""
    run = run_program(program, *given, **how)
    seconds = 1e-8 * run.of_devices("edges")
    longest = seconds.max(axis=1)
    steps = tuple(
        tuple(
            replace(step, computing=own, packing=0.0, waiting=last - own, unpacking=0.0)
            for step, own, last in zip(device, of, longest, strict=True)
        )
        for device, of in zip(run.steps, seconds.T, strict=True)
    )
    return replace(run, steps=steps, seconds=float(longest.sum()))


def test_the_printed_command_moves_load_off_a_device_that_was_misdescribed(
    misdescribed, capsys, monkeypatch
):
    monkeypatch.setattr("evener.running.executing.run_program", as_many_seconds_as_arcs)
    monkeypatch.chdir(misdescribed)
    words = ["run", "mesh.plan", "mesh.graph", "--app", "pagerank", "--samples", "run.samples"]
    assert main([*words, "--iterations", "30", "--json"]) == 0
    advice = json.loads(capsys.readouterr().out)["advice"]
    assert advice["sentence"].startswith("dev0 waits")
    assert "--speeds run.samples" in advice["command"]
    assert "--samples" not in advice["sentence"]
    assert main([*words[:-2], "--iterations", "30", "--json"]) == 0
    without = json.loads(capsys.readouterr().out)["advice"]
    assert without["sentence"].endswith(
        "; this run writes these speeds if given --samples run.samples"
    )
    assert main(shlex.split(advice["command"])[1:]) == 0
    first, second = (
        read_plan(name).certificate.weights for name in ("mesh.plan", "mesh.again.plan")
    )
    assert first[1] > 0.9 * 90_000
    assert abs(second[1] - 45_000) < 0.02 * 90_000


def test_page_and_trace_are_written_and_named(case, capsys, tmp_path):
    files = [str(tmp_path / name) for name in ("run.html", "run.samples", "run.json")]
    words = ["--report", files[0], "--samples", files[1], "--trace", files[2]]
    assert run(case, "--app", "bfs", *words, "--json") == 0
    assert json.loads(capsys.readouterr().out)["records"] == files
    assert "Breakdown of a mean superstep" in (tmp_path / "run.html").read_text()
    assert run(case, "--app", "bfs", "--trace", files[2]) == 0
    assert f"Written: {files[2]}" in capsys.readouterr().out


def test_the_command_names_how_the_plan_was_made(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("evener.planning.breakdown.SHORTEST_TOLD", 0.0)
    write_graph("mesh.graph", grid((60, 60)))
    words = ["plan", "mesh.graph", "--speeds", "1,50", "--kernel", "spmv", "--bytes-per-value", "4"]
    assert main([*words, "--format", "metis", "-o", "my mesh.plan", "--quiet"]) == 0
    assert main(["run", "my mesh.plan", "mesh.graph", "--app", "pagerank", "--json"]) == 0
    command = json.loads(capsys.readouterr().out)["advice"]["command"]
    assert "--machine 'my mesh.plan'" in command
    assert "--kernel spmv --bytes-per-value 4 --format metis" in command


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    """A directed list of arcs, its plan for three devices, and the networkx graph of it."""
    folder = tmp_path_factory.mktemp("web")
    graph = nx.gnp_random_graph(200, 0.02, seed=5, directed=True)
    graph.remove_nodes_from(list(nx.isolates(graph)))
    (folder / "web.edges").write_text("".join(f"{u} {v}\n" for u, v in graph.edges))
    words = ["plan", str(folder / "web.edges"), "--directed", "--speeds", "1,1,2"]
    assert main([*words, "-o", str(folder / "web.plan"), "--quiet"]) == 0
    return folder, nx.relabel_nodes(graph, {v: i for i, v in enumerate(sorted(graph))})


def test_programs_follow_the_arcs_that_the_plan_records(web, tmp_path):
    folder, graph = web

    def values_of(*words):
        output = tmp_path / "values.npy"
        words = [str(folder / "web.plan"), str(folder / "web.edges"), *words, "-o", str(output)]
        assert main(["run", *words, "--quiet", "--verify"]) == 0
        return np.load(output)

    levels = nx.single_source_shortest_path_length(graph, 3)
    assert values_of("--app", "bfs", "--source", "3").tolist() == [
        levels.get(v, -1) for v in range(len(graph))
    ]
    assert -1 in values_of("--app", "bfs", "--source", "3")
    smallest = {v: min(c) for c in nx.weakly_connected_components(graph) for v in c}
    assert values_of("--app", "wcc").tolist() == [smallest[v] for v in range(len(graph))]
    ranks = np.full(len(graph), 1 / len(graph))
    links = nx.to_scipy_sparse_array(graph, nodelist=range(len(graph)), dtype=float)
    parts = 1 / np.maximum(links.sum(axis=1), 1)
    for _ in range(10):
        ranks = 0.15 / len(graph) + 0.85 * (links.T @ (ranks * parts))
    assert values_of("--app", "pagerank") == pytest.approx(ranks, rel=1e-4)


def test_plans_of_arcs_are_replayed_distributed_and_judged(web, capsys, tmp_path):
    folder, graph = web
    case = [str(folder / "web.plan"), str(folder / "web.edges")]
    assert main(["replay", *case]) == 0
    assert main(["distribute", *case, "-o", str(tmp_path / "parts"), "--json", "--quiet"]) == 0
    assert main(["evaluate", case[1], case[0], "--as", case[0]]) == 0
    assert main(["report", *case, "-o", str(tmp_path / "x.html")]) == 0
    said = capsys.readouterr()
    assert "Identical" in said.out
    written = json.loads(next(line for line in said.out.splitlines() if line.startswith("{")))
    assert (written["directed"], written["arcs"]) == (True, graph.number_of_edges())
    assert said.err.count("divides arcs as edges") == 1


def test_a_plan_of_edges_runs_on_arcs_where_these_are_asked_for(web, tmp_path):
    folder, _ = web
    plan, output = tmp_path / "edges.plan", tmp_path / "levels.npy"
    assert main(["plan", str(folder / "web.edges"), "--k", "2", "-o", str(plan), "--quiet"]) == 0
    found = []
    words = ["run", str(plan), str(folder / "web.edges"), "--app", "bfs"]
    for more in ([], ["--directed"]):
        assert main([*words, *more, "-o", str(output), "--verify", "--quiet"]) == 0
        found.append(np.load(output))
    assert found[0].min() == 0
    assert found[1].min() == -1


def test_a_run_is_kept_and_continued(case, capsys, tmp_path):
    folder, words = tmp_path / "kept", ["--app", "pagerank", "--verify", "--json", "-o"]
    whole, rest = tmp_path / "whole.npy", tmp_path / "rest.npy"
    assert run(case, *words, str(whole), "--checkpoint", str(folder), "--every", "4") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["checkpoints"] == 2
    assert 0 < said["checkpoint_seconds"] < said["seconds"]
    assert run(case, *words, str(rest), "--resume", str(folder)) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["continued_after"], said["supersteps"], said["verified"]) == (8, 10, True)
    assert np.array_equal(np.load(rest), np.load(whole))
    assert run(case, "--app", "pagerank", "--resume", str(folder), "--checkpoint", str(folder)) == 0
    said = capsys.readouterr().out
    assert "pagerank: 2 supersteps in" in said
    assert "Continued after 8 supersteps." in said
    assert "0 checkpoints written" in said
    assert run(case, "--app", "wcc", "--resume", str(folder)) == 3
    assert "another run: program, pagerank there, wcc here" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--every", "0"], "at least 1"),
        (["--every", "0s"], ""),
        (["--every", "often"], "not a whole number"),
        (["--every", "5"], "works with --checkpoint only"),
        (["--calibrate"], "works with --stream only"),
        (["--no-own"], "does not work with"),
        (["--timeout", "0"], ""),
        (["--resume", "nowhere"], "nowhere: contains no checkpoint"),
        (["--emulate", "--checkpoint", "there"], "need a plan, and do not work with --emulate"),
    ],
)
def test_wrong_words_about_checkpoints_are_refused(case, capsys, words, reason):
    assert run(case, "--app", "pagerank", *words) != 0
    assert reason in capsys.readouterr().err
