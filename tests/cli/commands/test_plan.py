"""`evener plan`: the file, the table, the JSON object; refused with nothing written."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from evener.io.plans.plan import read_plan
from tests.assertions import grid, run_evener


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_two_words_make_a_plan(evener, grid_file, tmp_path):
    said = evener("plan", grid_file, "--speeds", "1,1,4", "-o", tmp_path / "x.plan")
    assert said.code == 0
    assert "All 3 blocks hold their contract" in said.out
    assert f"Written: {tmp_path / 'x.plan'}" in said.out
    assert "dev2" in said.out
    part = np.load(tmp_path / "x.plan")["part"]
    assert (
        np.bincount(part).tolist() == read_plan(tmp_path / "x.plan").certificate.vertices.tolist()
    )
    assert len(part) == 120


def test_what_is_odd_about_a_mesh_is_said(evener, tmp_path):
    """Cells with points of their own, as discontinuous Galerkin codes write them."""
    places = [(x + a, b) for x in range(6) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
    points = "".join(f"{x} {y} 0\n" for x, y in places)
    cells = "".join(f"4 {i} {i + 1} {i + 2} {i + 3}\n" for i in range(0, 24, 4))
    path = tmp_path / "dg.off"
    path.write_text(f"OFF\n24 6 0\n{points}{cells}")
    words = ["plan", path, "--k", 2, "-o", tmp_path / "x.plan"]
    said, told = evener(*words), evener("info", path)
    assert "note: 6 vertices have no neighbour." in said.err
    assert "6 vertices have no neighbour" in told.out
    assert "6 vertices have no neighbour." in read_plan(tmp_path / "x.plan").notes
    path.write_text(f"OFF\n24 12 0\n{points}{cells}{cells}")
    assert "6 vertices have the coordinates of another vertex." in evener(*words).err


def test_default_name_is_the_graphs_here(evener, grid_file, tmp_path, monkeypatch):
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert evener("plan", grid_file, "--k", 2).code == 0
    assert files(here) == ["grid.plan"]


def test_json(evener, grid_file, tmp_path):
    said = evener("plan", grid_file, "--k", 3, "-o", tmp_path / "x.plan", "--json")
    found = json.loads(said.out)
    assert found["holds"] is True
    assert found["tool"] == "evener"
    assert [block["device"] for block in found["blocks"]] == ["dev0", "dev1", "dev2"]
    assert found["written"] == [str(tmp_path / "x.plan")]
    assert sum(block["weight"] for block in found["blocks"]) == 120


@pytest.mark.slow
def test_same_bytes_whatever_folder_hour_and_threads(evener, grid_file, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    for name in ("grid.graph", "grid.graph.xyz"):
        (other / name).write_bytes((tmp_path / name).read_bytes())
    words = ["--speeds", "1,2", "--seed", 3]
    evener("plan", grid_file, *words, "-o", tmp_path / "a.plan", "--threads", 1)
    words += ["-o", "b.plan", "--threads", 4, "--time-limit", 50]
    done = run_evener("plan", "grid.graph", *words, cwd=other, TZ="Asia/Tokyo", PYTHONHASHSEED="7")
    assert done.returncode == 0, done.stderr
    content = (other / "b.plan").read_bytes()
    assert (tmp_path / "a.plan").read_bytes() == content
    text = str(np.load(tmp_path / "a.plan")["manifest"])
    assert str(tmp_path) not in text
    assert time.strftime("%Y-%m") not in text


def test_how_it_was_read_is_kept_without_folders(evener, grid_file, tmp_path):
    (tmp_path / "w.csv").write_text("a,b\n" + "1,2\n" * 120)
    (tmp_path / "far.xyz").write_text("0 1\n" * 120)
    said = evener("plan", grid_file, "--k", 2, "-o", tmp_path / "x.plan",
                  "--weights", f"{tmp_path}/w.csv:b", "--coords", tmp_path / "far.xyz")  # fmt: skip
    assert said.code == 0, said.err
    plan = read_plan(tmp_path / "x.plan")
    assert plan.options["reading"] == {"by": "cells", "coords": "far.xyz", "weights": "w.csv:b"}
    assert set(plan.inputs) == {"grid.graph", "far.xyz", "w.csv"}
    assert plan.graph["weight"] == 240


@pytest.mark.slow
def test_a_report_as_well(evener, grid_file, tmp_path):
    page = tmp_path / "x.html"
    said = evener("plan", grid_file, "--k", 2, "-o", tmp_path / "x.plan", "--report", page)
    assert said.code == 0, said.err
    assert "hold their contract" in page.read_text()
    assert str(page) in said.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--k", "121"], "121 devices but only 120 vertices"),
        (["--machine", "small.toml"], "20 units short"),
    ],
)
def test_infeasible_writes_nothing(evener, grid_file, small_machine, tmp_path, monkeypatch,
                                   words, message):  # fmt: skip
    monkeypatch.chdir(tmp_path)
    before = files(tmp_path)
    said = evener("plan", grid_file, *words, "-o", "x.plan", "--report", "x.html")
    assert said.code == 4
    assert message in said.err
    assert said.out == ""
    assert files(tmp_path) == before


@pytest.mark.parametrize("option", ["-o", "--report"])
@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("missing/x", 3, "folder missing does not exist"),
        (".", 3, "is a folder"),
        ("grid.graph", 2, "is also an input"),
        ("grid.graph.xyz", 2, "is also an input"),
    ],
)
def test_outputs_are_refused_before_the_work(evener, grid_file, tmp_path, monkeypatch,
                                             option, name, code, message):  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("evener.planning.in_memory.plan", None)
    before = {file: (tmp_path / file).read_bytes() for file in files(tmp_path)}
    said = evener("plan", "grid.graph", "--k", 2, "--coords", "grid.graph.xyz", option, name)
    assert said.code == code
    assert message in said.err
    assert {file: (tmp_path / file).read_bytes() for file in files(tmp_path)} == before


def test_plan_and_report_of_one_name(evener, grid_file, tmp_path):
    name = tmp_path / "x"
    said = evener("plan", grid_file, "--k", 2, "-o", name, "--report", name)
    assert said.code == 2
    assert not name.exists()


def test_an_old_plan_stays_where_none_can_be_made(evener, grid_file, small_machine, tmp_path):
    (tmp_path / "x.plan").write_text("old")
    said = evener("plan", grid_file, "--machine", small_machine, "-o", tmp_path / "x.plan")
    assert said.code == 4
    assert (tmp_path / "x.plan").read_text() == "old"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "exactly one of --machine, --k and --speeds"),
        (["--k", 2, "--speeds", "1,1"], "exactly one"),
        (["--k", 0], "--k must lie between"),
        (["--speeds", "1,zero"], "entry 2 is 'zero'"),
        (["--k", 2, "--with", "none"], "no partitioner 'none'"),
        (["--k", 2, "--preset", "slow"], "--preset"),
        (["--k", 2, "--objective", "minutes"], "--objective"),
        (["--k", 2, "--epsilon", 1], "does not lie in"),
        (["--k", 2, "--epsilon", "nan"], "is not a share"),
        (["--k", 2, "--epsilon", "much"], "--epsilon"),
        (["--k", 2, "--bytes-per-value", -1], "--bytes-per-value"),
        (["--k", 2, "--bytes-per-value", 1e308], "--bytes-per-value"),
        (["--k", 2, "--seed", -1], "seed"),
        (["--k", 2, "--threads", 0], "threads"),
        (["--k", 2, "--time-limit", "inf"], "time limit"),
        (["--k", 2, "--by", "faces"], "--by"),
    ],
)
def test_refused_as_usage(evener, grid_file, tmp_path, words, message):
    said = evener("plan", grid_file, "-o", tmp_path / "x.plan", *words)
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert not (tmp_path / "x.plan").exists()


def test_a_tool_out_of_time(evener, grid_file, tmp_path):
    said = evener("plan", grid_file, "--k", 2, "--with", "metis", "--time-limit", 1e-3,
                  "-o", tmp_path / "x.plan")  # fmt: skip
    assert said.code == 5
    assert "did not finish within 0.001 s" in said.err
    assert not (tmp_path / "x.plan").exists()


WRITER = """
import sys
from evener.io.plans.plan import read_plan, write_plan
plan = read_plan(sys.argv[1])
print("ready", flush=True)
while True:
    write_plan(sys.argv[2], plan)
"""


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_a_whole_plan(evener, tmp_path):
    from evener.io.write import write_graph

    write_graph(tmp_path / "g.graph", grid(150, 150).with_(coords=None))
    evener("plan", tmp_path / "g.graph", "--k", 5, "-o", tmp_path / "first.plan")
    whole = (tmp_path / "first.plan").read_bytes()
    target, rng = tmp_path / "x.plan", random.Random(29_979)
    for _ in range(6):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, tmp_path / "first.plan", target], stdout=subprocess.PIPE
        ) as writer:
            writer.stdout.readline()
            time.sleep(rng.uniform(0, 0.05))
            writer.send_signal(signal.SIGKILL)
        if target.exists():
            assert target.read_bytes() == whole
            target.unlink()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_leave_to_write(evener, grid_file, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    said = evener("plan", grid_file, "--k", 2, "-o", locked / "x.plan")
    assert said.code == 3
    assert "Permission denied" in said.err
