"""Edge plans at the shell: made again, evaluated, exported, reported, compared; what is refused."""

import json
import shutil

import numpy as np
import pytest

from evener.cli import main
from evener.graphs.generating.random_graphs import barabasi_albert
from evener.io.archives import write_arrays
from evener.io.write import write_graph


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A graph g.npz, other.npz, a weighted matrix m.npz, and edge plans g.plan and m.plan."""
    sparse = pytest.importorskip("scipy.sparse")
    folder = tmp_path_factory.mktemp("edges")
    write_graph(folder / "g.npz", barabasi_albert(120, 1, 2))
    write_graph(folder / "other.npz", barabasi_albert(120, 2, 2))
    matrix = sparse.random(30, 50, 0.2, random_state=1, format="csr")
    sparse.save_npz(folder / "m.npz", matrix)
    words = ["--preset", "fast", "--speeds", "1,2", "--quiet"]
    assert main(["split", str(folder / "g.npz"), *words, "-o", str(folder / "g.plan")]) == 0
    more = ["--as", "matrix", "--weighted", "-o", str(folder / "m.plan")]
    assert main(["split", str(folder / "m.npz"), *words, *more]) == 0
    return folder


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path / "x")
    monkeypatch.chdir(tmp_path / "x")
    return tmp_path / "x"


def changed(name, **entries):
    """Change entries of a plan's record."""
    with np.load(name) as file:
        arrays = {key: file[key] for key in file.files}
    text = json.loads(str(arrays["manifest"]))
    text.update(entries)
    with open(name, "wb") as file:  # noqa: PTH123
        write_arrays(file, arrays | {"manifest": np.array(json.dumps(text))}, 1)


@pytest.mark.parametrize("name", ["g", "m"])
def test_replay_makes_the_same_plan(evener, here, name):
    said = evener("replay", f"{name}.plan", f"{name}.npz", "--json")
    assert (said.code, json.loads(said.out)) == (0, {"identical": True, "differences": []})


def test_plans_of_files_read_in_pieces(evener, here):
    lines = "".join(f"{i % 7} {i * i % 11}\n" for i in range(200))
    (here / "s.el").write_text(lines)
    assert evener("split", "s.el", "--stream", "--k", "3", "-o", "s.plan").code == 0
    assert json.loads(evener("replay", "s.plan", "s.el", "--json").out)["identical"]
    assert json.loads(evener("evaluate", "s.el", "s.plan", "--json").out)["n_edges"] == 200
    assert evener("report", "s.plan", "s.el").code == 0
    words = ["--edges", "--as", "file", "--k", "3"]
    assert evener("export", "s.plan", "--to", "metis", "-o", "s.part").code == 0
    assert "Every block keeps" in evener("evaluate", "s.el", "s.part", *words).out
    judged = evener("evaluate", "s.el", "s.plan", "--json")
    assert json.loads(judged.out)["judged_by"] == "the plan's own contract"
    assert evener("evaluate", "s.el", "s.part", *words, "--weighted").code == 2
    assert evener("evaluate", "s.el", "s.part", *words[:-1], "201").code == 4
    (here / "s.el").write_text(lines + "0 1\n")
    assert evener("replay", "s.plan", "s.el").code == 3
    said = evener("evaluate", "s.el", "s.plan")
    assert (said.code, "(201,) is needed" in said.err) == (3, True)


def test_replay_tells_what_differs(evener, here):
    said = evener("replay", "g.plan", "other.npz")
    assert (said.code, "SHA-256" in said.err) == (3, True)
    changed("g.plan", notes=["another"])
    said = evener("replay", "g.plan", "g.npz")
    assert (said.code, "notes" in said.err) == (5, True)
    changed("g.plan", options={"method": "none"})
    assert evener("replay", "g.plan", "g.npz").code == 3
    said = evener("replay", "m.plan")
    assert (said.code, "the file that the plan was made from" in said.err) == (2, True)


def test_a_plan_is_judged_by_its_own_contract(evener, here):
    for name in ("g", "m"):
        said = evener("evaluate", f"{name}.npz", f"{name}.plan", "--json")
        found = json.loads(said.out)
        assert (said.code, found["holds"], found["judged_by"]) == (
            0,
            True,
            "the plan's own contract",
        )
        assert found["largest"] <= 1.03


def test_blocks_of_any_tool_are_judged(evener, here):
    part = np.load("m.plan")["part"]
    np.save("p.npy", part)
    np.savetxt("p.txt", part, fmt="%d")
    words = ["--edges", "--as", "matrix", "--weighted", "--speeds", "1,2", "--json"]
    own = json.loads(evener("evaluate", "m.npz", "m.plan", "--json").out)
    for file in ("p.npy", "p.txt"):
        found = json.loads(evener("evaluate", "m.npz", file, *words).out)
        assert {key: own[key] for key in own if key != "judged_by"} == {
            key: found[key] for key in found if key != "judged_by"
        }
    by_plan = evener("evaluate", "m.npz", "p.txt", "--as", "m.plan", "--bytes-per-value", "4")
    assert "Judged by the plan's own contract." in by_plan.out
    said = evener("evaluate", "m.npz", "p.txt", "--edges", "--as", "matrix", "--k", "1")
    assert (said.code, "p.txt: edge" in said.err) == (3, True)
    assert evener("evaluate", "g.npz", "p.txt", "--edges", "--machine", "g.plan").code == 3


def test_exports(evener, here):
    part = np.load("g.plan")["part"]
    assert evener("export", "g.plan", "--to", "npy", "-o", "p.npy").code == 0
    assert np.array_equal(np.load("p.npy"), part)
    said = evener("export", "g.plan", "g.npz", "--to", "lists", "-o", "lists", "--json")
    files = json.loads(said.out)["files"]
    assert [len(np.loadtxt(name)) for name in files] == np.bincount(part).tolist()
    for words, reason in (
        (["--to", "lists"], "need the graph"),
        (["other.npz", "--to", "lists"], "SHA-256"),
        (["--to", "vtu"], "cannot be exported"),
    ):
        said = evener("export", "g.plan", *words, "-o", "new")
        assert said.code in (2, 3)
        assert reason in said.err


def test_reports(evener, here):
    assert evener("report", "g.plan", "g.npz", "-o", "a.html").code == 0
    assert "Copied vertices" in (here / "a.html").read_text()
    said = evener("report", "g.plan")
    assert (said.code, "not recounted" in said.err) == (0, True)
    changed("g.plan", copies=1)
    said = evener("report", "g.plan", "g.npz")
    assert (said.code, "stored figures do not match" in said.err) == (3, True)


def test_methods_side_by_side(evener, here):
    words = ["compare", "g.npz", "--edges", "--k", "4", "--with", "order,hdrf"]
    found = json.loads(evener(*words, "--json").out)["methods"]
    assert [one["method"] for one in found] == ["order", "hdrf"]
    assert all(one["holds"] and one["largest"] <= 1.03 for one in found)
    said = evener(*words, "--report", "x.html")
    names = ["method", "order", "hdrf", "Written:"]
    assert [line.split()[0] for line in said.out.splitlines()] == names
    assert "Both methods end within the contract" in (here / "x.html").read_text()


@pytest.mark.parametrize(
    ("command", "words", "reason"),
    [
        ("compare", ["--edges", "--objective", "max_volume"], "--objective applies to blocks of v"),
        ("compare", ["--edges", "--no-map"], "--no-map"),
        ("compare", ["--edges", "--bytes-per-value", "64"], "--bytes-per-value applies to blocks"),
        ("compare", ["--edges", "--with", "metis"], "method"),
        ("compare", ["--as", "arcs"], "--as works with --edges only"),
        ("compare", ["--weighted"], "--weighted works with --edges only"),
        ("evaluate", ["--edges", "--kernel", "spmv"], "--kernel applies to blocks of vertices"),
        ("evaluate", ["--edges", "--constraints", "speed"], "--constraints applies to blocks of v"),
        (
            "evaluate",
            ["--edges", "--as", "file", "--no-couplings"],
            "--no-couplings applies to vertices",
        ),
        ("evaluate", ["--weighted"], "--weighted works with --edges only"),
    ],
)
def test_options_of_another_kind_are_refused(evener, here, command, words, reason):
    (here / "g.part").write_text("0\n1\n")
    files = ["g.npz", *(["g.part"] if command == "evaluate" else [])]
    said = evener(command, *files, "--k", "2", *words)
    assert (said.code, reason in said.err) == (2, True)


@pytest.mark.parametrize(
    "words",
    [
        ["export", "g.plan", "g.npz", "--to", "npz", "-o", "g.npz"],
        ["export", "g.plan", "--to", "npy", "-o", "g.plan"],
        ["report", "g.plan", "g.npz", "-o", "g.npz"],
        ["compare", "g.npz", "--edges", "--k", "2", "--report", "g.npz"],
    ],
)
def test_inputs_are_not_written_over(evener, here, words):
    before = (here / words[-1]).read_bytes()
    said = evener(*words)
    assert (said.code, "is also an input" in said.err) == (2, True)
    assert (here / words[-1]).read_bytes() == before


def test_other_commands_say_what_an_edge_plan_is(evener, here):
    said = evener("distribute", "g.plan", "g.npz", "-o", "parts")
    assert (said.code, "a plan that divides edges" in said.err) == (3, True)
    assert "--to lists" in said.err
