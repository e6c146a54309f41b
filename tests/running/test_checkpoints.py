"""Checkpoints: an ended run continues on any devices; damaged and foreign ones are refused."""

import json
import shutil

import numpy as np
import pytest

from evener.errors import InputError, ToolError
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.running.apps import bfs, pagerank, sssp, wcc
from evener.running.checkpoints import INDEX_FILE, LOCK, Checkpoints, read_checkpoint
from evener.running.executing import run_program
from evener.running.on_device import RunWatch
from tests.running import edge_cases
from tests.running.engine.parts import random_graph

APPS = {"pagerank": pagerank, "bfs": bfs, "wcc": wcc, "sssp": sssp}


def divided(graph, k, seed=0):
    return Partition(np.random.default_rng(seed).integers(0, k, graph.n).astype(np.int32), k)


def path_with_chords():
    """A graph on which all apps take many supersteps: a path of which few vertices are joined."""
    draw, n = np.random.default_rng(3), 400
    chords = draw.integers(0, n, (2, 12))
    ends = np.concatenate([[np.arange(n - 1), np.arange(1, n)], chords], axis=1)
    return Graph.from_edges(n, *ends, weights=draw.integers(1, 31, ends.shape[1]))


class EndedError(Exception):
    """As if the run had been killed."""


def ended_after(step):
    def tell(done):
        if done > step:
            raise EndedError

    return tell


def kept(folder, program, graph, k, step, cut=divided, **how):
    """Run until one superstep after a checkpoint at `step`, and fail; return the checkpoint."""
    watch = RunWatch(ended_after(step), checkpoints=Checkpoints(folder, steps=step))
    with pytest.raises(ToolError, match="rank 0 failed: EndedError"):
        run_program(program, graph, cut(graph, k), watch=watch, **how)
    found = read_checkpoint(folder)
    assert found.state.step == step
    return found


@pytest.mark.parametrize("name", APPS)
@pytest.mark.parametrize("first", ["edges", "vertices"])
def test_a_run_on_edges_continues_on_edges_and_on_vertices(tmp_path, name, first):
    program, how = APPS[name].PROGRAM, {"most": 8} if name == "pagerank" else {}
    graph, cuts = path_with_chords(), {"edges": edge_cases.divided, "vertices": divided}
    whole = run_program(program, graph, edge_cases.divided(graph, 3), **how)
    found = kept(tmp_path, program, graph, 4, 1, cuts[first], **how)
    for cut in cuts.values():
        for k in (1, 3):
            again = run_program(program, graph, cut(graph, k), watch=RunWatch(resume=found), **how)
            assert again.first == 1
            if name == "pagerank":
                assert np.allclose(again.values, whole.values, rtol=1e-5)
                assert again.supersteps == 8
            else:
                assert np.array_equal(again.values, whole.values)


@pytest.mark.parametrize("name", ["pagerank", "bfs", "sssp"])
def test_a_run_continued_on_the_same_edges_is_the_same_run(tmp_path, name):
    program, how = APPS[name].PROGRAM, {"most": 8} if name == "pagerank" else {}
    graph = path_with_chords()
    given = edge_cases.divided(graph, 3)
    whole = run_program(program, graph, given, **how)
    step = 1 if name == "sssp" else 5
    found = kept(tmp_path, program, graph, 3, step, edge_cases.divided, **how)
    again = run_program(program, graph, given, watch=RunWatch(resume=found), **how)
    assert np.array_equal(again.values, whole.values)
    assert (again.first, again.supersteps) == (step, whole.supersteps)


@pytest.mark.parametrize("name", APPS)
@pytest.mark.parametrize(("step", "k"), [(1, 3), (2, 1), (3, 4)])
def test_a_run_continues_on_any_number_of_devices(tmp_path, name, step, k):
    program, how = APPS[name].PROGRAM, {"most": 8} if name == "pagerank" else {}
    graph = path_with_chords()
    alone = run_program(program, graph, divided(graph, 5), **how)
    if name in ("wcc", "sssp") and k == 1:
        return  # one device needs no second superstep
    found = kept(tmp_path / "kept", program, graph, k, step, **how)
    for other in (1, 2, 3, 5):
        again = run_program(
            program, graph, divided(graph, other, 7), watch=RunWatch(resume=found), **how
        )
        assert np.array_equal(again.values, alone.values)
        assert again.first == step
        assert name != "pagerank" or again.supersteps == 8
        assert name != "bfs" or again.supersteps == alone.supersteps


def test_a_run_continues_from_where_it_pulls(tmp_path):
    graph = random_graph(300, 3000)
    alone = run_program(bfs.PROGRAM, graph, divided(graph, 3))
    found = kept(tmp_path / "kept", bfs.PROGRAM, graph, 3, 2)
    again = run_program(bfs.PROGRAM, graph, divided(graph, 2), watch=RunWatch(resume=found))
    assert found.state.numbers["direction"] == 1
    assert np.array_equal(again.values, alone.values)
    assert again.supersteps == alone.supersteps


def test_the_last_checkpoint_alone_stays(tmp_path):
    graph, asked = random_graph(50, 100), Checkpoints(tmp_path / "kept", steps=2)
    for _ in range(2):  # the second run begins where the first has left files
        run_program(
            pagerank.PROGRAM, graph, divided(graph, 3), most=9, watch=RunWatch(checkpoints=asked)
        )
        names = sorted(path.name for path in (tmp_path / "kept").iterdir() if path.name != LOCK)
        assert names == [INDEX_FILE, *(f"step-8-device-{rank}.npz" for rank in range(3))]
    assert asked.written == 8


def test_two_runs_do_not_write_to_one_folder(tmp_path):
    """The second one is refused while the first runs; once that has ended, it may."""
    graph, tried = random_graph(50, 100), []

    def run(tell=None):
        watch = RunWatch(tell, checkpoints=Checkpoints(tmp_path, steps=2))
        run_program(pagerank.PROGRAM, graph, divided(graph, 3), most=4, watch=watch)

    def run_beside(done):
        with pytest.raises(InputError, match="another run writes its checkpoints to this folder"):
            run()
        tried.append(done)

    run(run_beside)
    assert tried
    run()
    assert read_checkpoint(tmp_path).state.step == 4


def test_checkpoints_by_seconds_take_a_tenth_of_the_time_at_most(tmp_path):
    graph = random_graph(50, 100)
    for seconds, least, most in ((1e-9, 2, 100), (1e9, 0, 0)):
        asked = Checkpoints(tmp_path / f"{seconds}", seconds=seconds)
        run_program(
            pagerank.PROGRAM, graph, divided(graph, 2), most=1000, watch=RunWatch(checkpoints=asked)
        )
        assert least <= asked.written <= most


def damaged(folder, what):
    """Damage a folder in one way."""
    index = json.loads((folder / INDEX_FILE).read_text())
    file = folder / index["files"][1]
    if what == "a file is gone":
        file.unlink()
    elif what == "a bit is wrong":
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 8
        file.write_bytes(content)
    elif what == "a file is short":
        file.write_bytes(file.read_bytes()[:-40])
    elif what == "a file of another device":
        shutil.copy(folder / index["files"][0], file)
    elif what == "no index":
        (folder / INDEX_FILE).unlink()
    elif what == "half an index":
        (folder / INDEX_FILE).write_text((folder / INDEX_FILE).read_text()[:200])
    elif what == "another index":
        (folder / INDEX_FILE).write_text('{"format": "a plan"}')
    else:
        changes = {"vertices": ("identity", {**index["identity"], "n": 10**17}), "a later": (
            "format_version", 99), "elsewhere": ("files", ["../x"] * 2), "too few": (
            "files", index["files"][:1])}  # fmt: skip
        key, value = changes[what]
        (folder / INDEX_FILE).write_text(json.dumps({**index, key: value}))


@pytest.mark.parametrize(
    "what",
    ["a file is gone", "a bit is wrong", "a file is short", "a file of another device", "no index",
     "half an index", "another index", "vertices", "a later", "elsewhere", "too few"],
)  # fmt: skip
def test_damaged_checkpoints_are_refused(tmp_path, what):
    graph = random_graph(60, 200)
    kept(tmp_path / "kept", bfs.PROGRAM, graph, 2, 1)
    damaged(tmp_path / "kept", what)
    with pytest.raises(InputError) as refusal:
        read_checkpoint(tmp_path / "kept")
    assert "kept" in refusal.value.file
    assert refusal.value.hint is not None


def test_checkpoints_of_other_runs_are_refused(tmp_path):
    graph = path_with_chords()
    found = kept(tmp_path / "kept", sssp.PROGRAM, graph, 2, 1)
    other = random_graph(400, 20, 4)
    cases = [
        (bfs.PROGRAM, graph, {}, "program, sssp there, bfs here"),
        (sssp.PROGRAM, graph, {"source": 3}, "parameters"),
        (sssp.PROGRAM, other, {}, "arcs or weights"),
        (sssp.PROGRAM, random_graph(30, 20), {}, "number of vertices, 400 there, 30 here"),
    ]
    for program, of, parameters, reason in cases:
        watch = RunWatch(resume=found)
        with pytest.raises(InputError, match=reason):
            run_program(program, of, divided(of, 2), watch=watch, parameters=parameters)


def test_folders_of_other_files_are_not_written_to(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    graph, asked = random_graph(50, 100), Checkpoints(tmp_path, steps=2)
    with pytest.raises(InputError, match=r"not checkpoints, such as thesis\.tex"):
        run_program(
            pagerank.PROGRAM, graph, divided(graph, 2), most=9, watch=RunWatch(checkpoints=asked)
        )
