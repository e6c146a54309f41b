"""`evener run` with an edge plan: values in the file's order, the page, what is refused."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from evener.cli import main
from evener.cli.divisions import edge_division
from evener.cli.graph_options import ReadOptions
from evener.cli.output import Output
from evener.cli.run_records import edge_commands
from evener.graphs.generating.random_graphs import barabasi_albert
from evener.io.plans.edge_plan import read_edge_plan
from evener.io.read import read_graph
from evener.io.write import write_graph
from evener.running.apps import pagerank
from evener.running.edge_shares import dealt_edges

MACHINE = '[[device]]\nname = "old"\ncount = 2\nspeed = 1.0\n[[device]]\nname = "new"\nspeed = 2\n'


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """A graph, and an edge plan for three devices."""
    folder = tmp_path_factory.mktemp("edges")
    write_graph(folder / "web.graph", barabasi_albert(300, 2, 3))
    (folder / "m.toml").write_text(MACHINE)
    words = ["split", str(folder / "web.graph"), "--machine", str(folder / "m.toml")]
    assert main([*words, "--method", "dbh", "-o", str(folder / "web.plan"), "--quiet"]) == 0
    return folder


def test_the_order_of_clones_and_what_a_buffer_is_for_are_in_the_json(case, capsys, tmp_path):
    words = ["split", str(case / "web.graph"), "--k", "2", "-o", str(tmp_path / "x.plan"), "--json"]
    assert main([*words, "--method", "spac-contracted", "--order", "block"]) == 0
    assert json.loads(capsys.readouterr().out)["order"] == "block"
    np.savetxt(tmp_path / "x.el", np.random.default_rng(4).integers(0, 90, (300, 2)), fmt="%d")
    words[1] = str(tmp_path / "x.el")
    assert main([*words, "--stream", "--buffer", "20"]) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert any("the other edges waited in a buffer of 20 edges" in note for note in notes)


def run(case, *words):
    return main(["run", str(case / "web.plan"), str(case / "web.graph"), *words])


def test_values_in_the_order_of_the_file_and_what_was_sent(case, capsys, tmp_path):
    output = tmp_path / "ranks.npy"
    assert run(case, "--app", "pagerank", "--verify", "--json", "-o", str(output)) == 0
    said = json.loads(capsys.readouterr().out)
    assert pagerank.verify(read_graph(case / "web.graph"), np.load(output), 10)
    assert said["verified"] is True
    assert said["supersteps"] == 10
    copies = json.loads(str(np.load(case / "web.plan")["manifest"]))["copies"]
    assert sum(device["sent"] for device in said["devices"]) == 4 * 19 * copies


def test_checkpoints_and_an_emulated_machine(case, capsys, tmp_path):
    kept, words = str(tmp_path / "kept"), ["--app", "bfs", "--verify", "--json"]
    assert run(case, *words, "--checkpoint", kept, "--every", "2") == 0
    steps = json.loads(capsys.readouterr().out)["supersteps"]
    assert run(case, *words, "--resume", kept) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["verified"], again["supersteps"]) == (True, steps)
    assert again["continued_after"] >= 2
    assert run(case, *words, "--emulate", "--report", str(tmp_path / "x.html")) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verified"], found["supersteps"]) == (True, steps)
    assert {"computing", "communicating", "waiting"} < found["devices"][0].keys()


def test_page_samples_and_trace(case, tmp_path):
    names = [str(tmp_path / name) for name in ("run.html", "run.samples", "run.json")]
    words = ["--report", names[0], "--samples", names[1], "--trace", names[2], "--quiet"]
    assert run(case, "--app", "wcc", *words) == 0
    assert "wcc on web.graph, 3 devices" in Path(names[0]).read_text()
    assert Path(names[1]).read_text().count("[[device]]") == 3


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--app", "cg"], "cg runs on blocks of vertices only"),
        (["--app", "bfs", "--rebalance"], "--rebalance works with blocks of vertices"),
        (["--app", "bfs", "--locality", "on"], "--locality works with blocks of vertices"),
    ],
)
def test_what_goes_with_vertices_alone_is_refused(case, capsys, words, reason):
    assert run(case, *words) == 2
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["general", "symmetric"])
def test_entries_of_a_matrix(case, kind, capsys):
    entries = [
        "1 1 4",
        "2 1 3",
        "3 2 2",
        "4 4 1",
        "4 3 5",
        *(["1 4 2"] if kind == "general" else []),
    ]
    head = f"%%MatrixMarket matrix coordinate real {kind}\n4 4 {len(entries)}\n"
    names = [str(case / name) for name in ("a.mtx", "a.plan")]
    (case / "a.mtx").write_text(head + "\n".join(entries) + "\n")
    words = ["split", names[0], "--k", "2", "--as", "matrix", "--epsilon", "0.5", "-o", names[1]]
    assert main([*words, "--quiet"]) == 0
    for app in ("spmv", "pagerank"):
        assert main(["run", names[1], names[0], "--app", app, "--verify", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["edges"] == 10 * (4 if kind == "general" else 6)


def test_what_does_not_fit_is_refused(case, capsys):
    lines = MACHINE.replace("speed = 2", "speed = 2\nmemory_GiB = 12e-6")
    (case / "small.toml").write_text(lines)
    words = ["split", str(case / "web.graph"), "--machine", str(case / "small.toml")]
    assert main([*words, "--method", "dbh", "-o", str(case / "small.plan"), "--quiet"]) == 0
    words = ["run", str(case / "small.plan"), str(case / "web.graph"), "--app", "pagerank"]
    assert main(words) != 0
    assert "new" in capsys.readouterr().err


@pytest.mark.parametrize("of", ["graph", "arcs"])
def test_lines_that_repeat_an_edge_or_join_a_vertex_to_itself(case, of, capsys):
    (case / "few.txt").write_text("0 1\n1 2\n0 1\n2 2\n2 3\n3 0\n1 0\n")
    names = [str(case / name) for name in ("few.txt", "few.plan")]
    assert main(["split", names[0], "--k", "2", "--as", of, "-o", names[1], "--quiet"]) == 0
    assert main(["run", names[1], names[0], "--app", "pagerank", "--verify", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["edges"] == 10 * (8 if of == "graph" else 5)


@pytest.fixture(scope="module")
def streamed(tmp_path_factory):
    """A list of lines that repeat, turn and close, with a gap in its numbers; its array; plans."""
    folder = tmp_path_factory.mktemp("streamed")
    ends = np.random.default_rng(4).integers(0, 40, (300, 2))
    ends[ends == 17] = 18
    np.savetxt(folder / "s.el", ends, fmt="%d")
    np.save(folder / "s.npy", ends)
    for name in ("s.el", "s.npy"):
        words = ["split", str(folder / name), "--stream", "--method", "hdrf", "--k", "3"]
        assert main([*words, "-o", str(folder / f"{name}.plan"), "--quiet"]) == 0
    return folder


@pytest.mark.parametrize("more", [[], ["--directed"]])
@pytest.mark.parametrize("app", ["pagerank", "bfs"])
def test_plans_of_lines_run_on_the_graph_that_the_lines_make(streamed, app, more, tmp_path, capsys):
    values = []
    for name in ("s.el", "s.npy"):
        file = str(streamed / name)
        words = ["run", f"{file}.plan", file, "--app", app, *more, "--verify", "--json"]
        assert main([*words, "-o", str(tmp_path / "x.npy")]) == 0
        assert json.loads(capsys.readouterr().out)["verified"] is True
        values.append(np.load(tmp_path / "x.npy"))
    assert values[0].size == 39
    assert np.array_equal(*values)


def test_each_edge_is_where_its_first_line_is(streamed):
    none = dict.fromkeys(("emulate", "rebalance", "checkpoint", "resume"))
    file = str(streamed / "s.el")
    options = SimpleNamespace(graph=file, reading=ReadOptions(), locality="off", **none)
    graph, division = edge_division(f"{file}.plan", options, Output(quiet=True), is_rank=False)
    listed, part = dealt_edges(graph, division.edges.divided)
    lines, blocks = np.loadtxt(streamed / "s.el", dtype=int), division.edges.plan.partition.part
    first = {}
    for (u, v), block in zip(lines.tolist(), blocks.tolist(), strict=True):
        first.setdefault((min(u, v), max(u, v)), block)
    named = zip(graph.labels[listed.tails], graph.labels[listed.heads], strict=True)
    assert [first[ends] for ends in named] == part.part.tolist()


def test_a_matrix_whose_rows_have_names(streamed, capsys):
    names = [str(streamed / name) for name in ("s.el", "m.plan")]
    words = ["split", names[0], "--k", "2", "--as", "matrix", "-o", names[1], "--quiet"]
    assert main([*words, "--method", "dbh"]) == 0
    assert main(["run", names[1], names[0], "--app", "spmv", "--verify", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verified"] is True


def test_a_rectangular_matrix_is_no_graph(tmp_path, capsys):
    names = [str(tmp_path / name) for name in ("r.mtx", "r.plan")]
    head = "%%MatrixMarket matrix coordinate pattern general\n3 5 4\n"
    (tmp_path / "r.mtx").write_text(head + "1 1\n2 3\n3 5\n1 4\n")
    words = ["split", names[0], "--k", "2", "--as", "matrix", "-o", names[1], "--quiet"]
    assert main(words) == 0
    assert main(["run", names[1], names[0], "--app", "spmv"]) == 3
    assert "Programs run on square matrices" in capsys.readouterr().err


def test_a_plan_of_another_graph_is_refused(case, capsys):
    write_graph(case / "other.graph", barabasi_albert(40, 2, 3))
    words = ["run", str(case / "web.plan"), str(case / "other.graph"), "--app", "bfs"]
    assert main(words) == 3
    assert "edges" in capsys.readouterr().err


def test_the_command_that_helps_splits_again_with_the_measured_speeds(case):
    plan = read_edge_plan(case / "web.plan")
    options = SimpleNamespace(
        plan="web.plan", graph="web.graph", samples=None, reading=ReadOptions()
    )
    words = edge_commands(options, plan)["loads"]
    expected = "evener split web.graph --machine web.plan --speeds run.samples --method dbh"
    assert words == [*expected.split(), "-o", "web.again.plan"]
    stream = {"stream": True, "method": "hep", "memory": 2.0**29, "buffer": None, "seed": 7}
    lines = replace(plan, of="file", options=stream)
    found = edge_commands(options, lines)["loads"][7:-2]
    assert found == ["--stream", "--method", "hep", "--memory", "536870912"]
    options.reading = ReadOptions(together="x/groups", coords="x/c.npy")
    read = {"by": "cells", "couplings": False, "directed": True, "together": "groups"}
    groups = replace(plan, options=plan.options | {"reading": read})
    assert edge_commands(options, groups)["loads"][9:-2] == [
        "--no-couplings", "--directed", "--together", "x/groups", "--coords", "x/c.npy"
    ]  # fmt: skip
    options.reading = ReadOptions()
    arcs = replace(plan, of="arcs", options={"weighted": True, "seed": 3})
    assert edge_commands(options, arcs)["loads"][7:-2] == [
        "--as",
        "arcs",
        "--weighted",
        "--seed",
        "3",
    ]
