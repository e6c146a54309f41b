"""`evener plan FILE --memory`: plans of files read slice by slice, and what cannot go with it."""

import json
import re

import numpy as np
import pytest

from evener.cli import main, plan_in_slices
from evener.errors import OutputError
from evener.files import abandoned
from evener.graphs.generating.delaunay import delaunay
from evener.io import write_graph
from evener.io.plans.plan import read_plan
from evener.planning import plan_file
from evener.planning.plan_file import peak_bytes
from evener.wording import memory as shown_memory


@pytest.fixture
def graph(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole = delaunay(1500, 2)
    write_graph(tmp_path / "a.graph", whole)
    write_graph(tmp_path / "a.ecsr", whole)
    return whole


def run(capsys, *words):
    code = main([str(word) for word in words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_plan_its_report_and_json(graph, tmp_path, capsys):
    words = ["plan", "a.graph", "--speeds", "4,2,1,1", "--memory", "2GiB"]
    code, shown, _ = run(capsys, *words, "--report", "a.html", "-o", "text.plan")
    assert code == 0
    assert "All 4 blocks hold their contract" in shown
    assert "Written: text.plan, a.html" in shown
    code, shown, _ = run(capsys, "plan", "a.ecsr", *words[2:], "--json")
    assert code == 0
    assert json.loads(shown)["written"] == ["a.plan"]
    one, other = read_plan(tmp_path / "a.plan"), read_plan(tmp_path / "text.plan")
    assert (one.partition.part == other.partition.part).all()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.ecsr", "a.graph", "a.graph.xyz", "a.html", "a.plan", "text.plan",
    ]  # fmt: skip
    code, shown, _ = run(capsys, "evaluate", "a.graph", "text.plan", "--speeds", "4,2,1,1")
    assert code == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--versus", "metis"], "does not work with --versus"),
        (["--cut", "edges"], "does not work with --cut"),
        (["--constraint", "1"], "there is no weight 1"),
        (["--directed"], "does not work with --directed"),
        (["--by", "points"], "does not work with --by points"),
        (["--with", "metis"], "not graphs in slices"),
        (["--connected"], "connected"),
        (["--memory", "20MB"], "at least"),
    ],
)
def test_what_does_not_go_with_it_is_refused(graph, tmp_path, capsys, words, why):
    code, _, said = run(capsys, "plan", "a.ecsr", "--k", "3", "--memory", "2GiB", *words)
    assert code == 2
    assert why in said
    assert not (tmp_path / "a.plan").exists()


def test_chosen_by_itself_where_the_graph_would_not_fit(graph, capsys, monkeypatch):
    monkeypatch.setattr(plan_in_slices, "NEVER_LARGE", 0)
    words = ["plan", "a.ecsr", "--k", "3"]
    assert "slice by slice" not in run(capsys, *words)[2]
    monkeypatch.setattr(plan_in_slices, "AN_ENTRY", 1e12)
    code, shown, said = run(capsys, *words)
    assert code == 0
    assert "more than this computer's memory; Evener divides it slice by slice" in said
    assert "All 3 blocks hold their contract" in shown
    # What needs the graph whole is tried as a whole.
    assert "slice by slice" not in run(capsys, *words, "--connected")[2]


def test_the_plan_is_made_again(graph, tmp_path, capsys):
    code, _, _ = run(capsys, "plan", "a.graph", "--k", "3", "--memory", "2GiB", "--seed", "3")
    assert code == 0
    code, shown, said = run(capsys, "replay", "a.plan", "a.graph")
    assert (code, said) == (0, "note: Coordinates are from a.graph.xyz.\n")
    assert "identical" in shown.lower()
    code, _, said = run(capsys, "replay", "a.plan", "a.ecsr")
    assert code == 3
    assert "input files differ" in said


def test_verbose_says_a_line_for_each_pass(graph, capsys):
    code, _, said = run(capsys, "plan", "a.ecsr", "--k", "3", "--memory", "2GiB", "--verbose")
    assert code == 0
    passes = [line.partition(" s  ")[2] for line in said.splitlines() if ": pass " in line]
    assert len(passes) > 2
    assert len(passes) == len(set(passes))


def test_a_plan_of_a_binary_file_removes_what_a_killed_one_left(
    graph, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(abandoned, "_swept", set())  # as in a new process
    left = tmp_path / "evener-private-0"
    left.mkdir()
    (left / "owner").touch()
    (left / "graph.ecsr").touch()
    code, _, _ = run(capsys, "plan", "a.ecsr", "--k", "2", "--memory", "20MB")
    assert code == 2  # removed before, as the disk may lack the room
    assert not left.exists()


def test_other_weights_than_those_of_a_binary_file(graph, tmp_path, capsys):
    weights = np.arange(graph.n) % 7 + 1
    np.savetxt("w.txt", weights, fmt="%d")
    words = ["plan", "a.ecsr", "--k", "3", "--weights", "w.txt"]
    assert run(capsys, *words, "--memory", "2GiB")[0] == 0
    made = read_plan(tmp_path / "a.plan")
    assert made.certificate.weights.sum() == weights.sum()
    assert set(made.inputs) == {"a.ecsr", "w.txt"}
    assert not list(tmp_path.glob("evener-private-*"))
    assert run(capsys, "replay", "a.plan", "a.ecsr")[0] == 0
    assert run(capsys, "evaluate", "a.ecsr", "a.plan")[0] == 0


def test_one_of_several_weights(graph, tmp_path, capsys):
    several = np.stack([np.ones(graph.n, np.int64), np.arange(graph.n) % 5 + 1], axis=1)
    for name in ("b.graph", "b.ecsr"):
        write_graph(tmp_path / name, graph.with_(vwgt=several, coords=None))
        words = ["plan", name, "--k", "3", "--memory", "2GiB"]
        code, _, said = run(capsys, *words)
        assert code == 3
        assert "--constraint I selects one weight" in said
        assert run(capsys, *words, "--constraint", "1")[0] == 0
        assert read_plan(tmp_path / "b.plan").certificate.weights.sum() == several[:, 1].sum()


@pytest.mark.parametrize("memory", [[], ["--memory", "2GiB"]])
def test_notes_on_the_file_are_on_stderr_once(graph, capsys, memory):
    code, shown, said = run(capsys, "plan", "a.graph", "--k", "3", *memory)
    assert code == 0
    assert said.count("Coordinates are from a.graph.xyz.") == 1
    assert "Coordinates" not in shown
    assert "Coordinates are from a.graph.xyz." in read_plan("a.plan").notes


@pytest.mark.parametrize("memory", [[], ["--memory", "2GiB"]])
def test_the_cut_and_the_memory_are_told(graph, capsys, memory):
    code, shown, _ = run(capsys, "plan", "a.graph", "--k", "3", "--objective", "cut", *memory)
    assert code == 0
    made = read_plan("a.plan").evaluation
    assert f"Edge cut {made.edge_cut:,.6g}, total volume {made.total_volume:,}, " in shown
    if memory:
        assert re.search(r"Memory: .* at most, of 2\.00 GiB allowed\.", shown)
        assert peak_bytes() < 2**40


def test_a_disk_without_room_for_the_binary_copy(graph, tmp_path, capsys, monkeypatch):
    def full(*_, **__):
        raise OutputError("cannot be written: No space left on device", file="x/graph.ecsr")

    monkeypatch.setattr(plan_file, "convert_to_csr", full)
    code, _, said = run(capsys, "plan", "a.graph", "--k", "3", "--memory", "2GiB")
    assert code == 6
    size = shown_memory((tmp_path / "a.ecsr").stat().st_size - 2 * 8 * graph.n)  # coordinates
    first, hint = said.splitlines()
    assert first == (
        f"evener: a.graph: its binary copy of about {size} in the folder {tmp_path} cannot be "
        "written: No space left on device"
    )
    assert "Choose -o X.plan in a folder with room" in hint
