"""Whatever people pass for a graph, a machine or a partition is taken, or refused with the way."""

import os
import typing
from dataclasses import fields

import meshio
import numpy as np
import pytest
import scipy.sparse as sp

import evener as ev
from evener.cli import main
from evener.errors import InputError, UsageError
from evener.graphs.generating.delaunay import triangle_mesh
from evener.io.accept import as_graph, as_partition, as_platform, take_graph
from evener.planning import compare
from evener.planning.options import PlanKeywords, options_with
from tests.assertions import grid, path

TOML = """
[[level]]
name = "cluster"
alpha_us = 1.7
GB_per_s = 12.3

[[device]]
name = "gpu"
speed = 4.5
memory_GiB = 0.1

[[device]]
name = "cpu"
count = 2
speed = 1
"""
QUICK = {"tool": "rcb", "objective": "cut"}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A mesh, a graph and a machine in the current folder."""
    monkeypatch.chdir(tmp_path)
    assert main(["generate", "triangles", "--n", "300", "-o", "wing.su2", "--quiet"]) == 0
    ev.write_graph("wing.graph", grid(9, 9, coords=np.random.default_rng(5).random((81, 2))))
    (tmp_path / "machine.toml").write_text(TOML)
    return tmp_path


def same(a, b):
    return np.array_equal(a.xadj, b.xadj) and np.array_equal(a.adjncy, b.adjncy)


@pytest.mark.slow
def test_names_of_files_make_the_plan_of_the_command_line(files):
    for name in ("wing.su2", "wing.graph"):
        words = f"plan {name} --machine machine.toml --epsilon 0.02 --seed 3 -o cli.plan --quiet"
        assert main(words.split()) == 0
        ev.write_plan("own.plan", ev.plan(name, "machine.toml", epsilon=0.02, seed=3))
        assert (files / "own.plan").read_bytes() == (files / "cli.plan").read_bytes()
        assert main(["replay", "own.plan", name, "--quiet"]) == 0


def test_options_of_reading_are_kept_with_the_plan(files):
    np.savetxt("work.txt", np.arange(1, 1 + ev.read("wing.su2", by="points").graph.n), fmt="%d")
    options = {"by": "points", "weights": str(files / "work.txt"), "bytes_per_vertex": 8.0}
    reading = ev.read(files / "wing.su2", **options)
    assert reading.asked == {"by": "points", "bytes_per_vertex": 8.0, "weights": "work.txt"}
    plan = ev.plan(reading, [1, 2], **QUICK)
    assert plan.options["reading"] == reading.asked
    assert plan.inputs == reading.inputs
    assert set(plan.inputs) == {"wing.su2", "work.txt"}
    ev.write_plan("own.plan", plan)
    assert main(["replay", "own.plan", "wing.su2", "--quiet"]) == 0


def test_paths_of_any_kind(files):
    graph = ev.read_graph("wing.graph")
    for name in ("wing.graph", files / "wing.graph", os.fspath(files / "wing.graph")):
        assert same(as_graph(name), graph)
        assert take_graph(name).reading == {"by": "cells"}


def test_meshes_stand_for_the_graph_of_their_cells(files):
    reading = ev.read("wing.su2")
    taken = take_graph(reading.mesh)
    assert same(taken.graph, reading.graph)
    assert taken.mesh is reading.mesh
    assert not taken.inputs


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
def test_sparse_matrices_and_arrays(form):
    graph = grid(5, 7)
    n = graph.n
    pattern = sp.csr_matrix((np.full(graph.adjncy.size, -1.0), graph.adjncy, graph.xadj), (n, n))
    laplacian = (pattern + sp.diags(np.full(n, 4.0))).asformat(form)
    for matrix in (laplacian, sp.csr_array(laplacian).asformat(form)):
        taken = take_graph(matrix)
        assert same(taken.graph, graph)
        assert "its values and diagonal are ignored." in taken.notes[0]


def test_a_plan_says_what_was_not_used():
    matrix = sp.eye_array(6) + sp.eye_array(6, k=1) + sp.eye_array(6, k=-1)
    notes = ev.plan(matrix, 2, tool="metis").notes
    assert "its values and diagonal are ignored." in notes[0]


def test_networkx_graphs():
    nx = pytest.importorskip("networkx")
    graph = nx.grid_2d_graph(5, 7)
    assert same(as_graph(graph), grid(5, 7))
    assert take_graph(graph).notes == ()
    graph.edges[(0, 0), (0, 1)]["weight"] = 3
    assert "from_networkx" in take_graph(graph).notes[0]


def test_meshio_meshes(files):
    own = triangle_mesh(60, seed=2)
    mesh = meshio.Mesh(own.points, [("triangle", own.corners.reshape(-1, 3))])
    taken = take_graph(mesh)
    assert same(taken.graph, own.dual_graph())
    assert taken.mesh.n_cells == own.n_cells


@pytest.mark.parametrize(
    ("given", "speeds"),
    [(3, [1, 1, 1]), (np.int32(2), [1, 1]), ([1, 2, 4.5], [1, 2, 4.5]), ((2,), [2]),
     (np.array([3, 1]), [3, 1]), (ev.Platform.flat([7.0]), [7])],
)  # fmt: skip
def test_machines_without_a_file(given, speeds):
    assert as_platform(given).speeds.tolist() == speeds


def test_devices_and_tables_are_machines(files):
    devices = [ev.Device("a", 2.0), ev.Device("b", 1.0)]
    assert as_platform(devices) == ev.Platform(tuple(devices))
    link = {"name": "cluster", "alpha_us": 1.7, "GB_per_s": 12.3}
    gpu = {"name": "gpu", "speed": 4.5, "memory_GiB": 0.1}
    tables = {"level": [link], "device": [gpu, {"name": "cpu", "count": 2, "speed": 1}]}
    assert as_platform(tables) == as_platform("machine.toml") == ev.read_platform("machine.toml")


@pytest.mark.parametrize(
    ("given", "what", "hint"),
    [
        (None, "None is not a graph", "A graph is a file's name"),
        (3, "3 is not a graph", "a SciPy sparse matrix"),
        ([[1], [0]], "a list is not a graph", "a networkx graph"),
        (np.array([[0, 1], [1, 2], [2, 3]]), "a numpy.ndarray is not a graph", "(n, *edges.T)"),
        (np.array([[0, 1, 2], [1, 2, 3]]), "a numpy.ndarray is not a graph", "(n, *edges) makes"),
        (np.eye(3), "a numpy.ndarray is not a graph", "scipy.sparse.csr_array(matrix)"),
        ("none.su2", "none.su2", "A graph is a file's name"),
        ("", "", "A graph is a file's name"),
        ("a\0b", "", "A graph is a file's name"),
        (ev.Graph, "is not a graph", "a Mesh"),
    ],
)
def test_what_is_no_graph_is_refused(given, what, hint):
    with pytest.raises(InputError) as caught:
        ev.plan(given, 2)
    assert what in str(caught.value)
    assert hint in (caught.value.hint or "") or given == ""


@pytest.mark.parametrize(
    ("given", "what", "hint"),
    [
        (0, "between 1 and 2,000,000, not 0", ""),
        (-3, "not -3", ""),
        (10**30, "not 1000", ""),
        (True, "True is not a machine", "a number of equal devices"),
        (2.0, "2.0 is not a machine", "a number of equal devices"),
        (None, "None is not a machine", "a machine file's name"),
        ([], "the list of speeds is empty", "a list of speeds"),
        ([1, float("nan")], "entry 1 is not", "a list of speeds"),
        ([1, -2], "'dev1' must be finite and above zero, not -2", ""),
        ([0], "above zero", ""),
        (["a", "b"], "speeds must hold numbers", "a list of speeds"),
        ([[1, 2], [3]], "lists differ in length", "a list of speeds"),
        (np.ones((2, 2)), "1 dimension", "a list of speeds"),
        ("none.toml", "none.toml", "a Platform"),
        ("3", "3", "For 3 equal devices, give the number itself, not a text."),
        ("1, 2,4.5", "1, 2,4.5", "Speeds are a list, not a text: [1, 2,4.5]."),
        ({}, "no [[device]] table", ""),
        ({"device": [{"name": "a", "sped": 1}]}, "did you mean speed?", ""),
        (
            {"device": [{"name": "a", "speed": None}]},
            "these are not the tables of a machine file:",
            "",
        ),
        ({"device": {3: 4}}, "", ""),
    ],
)
def test_what_is_no_machine_is_refused(given, what, hint):
    with pytest.raises((InputError, UsageError)) as caught:
        ev.plan(path(6), given)
    assert what in str(caught.value)
    assert hint in (caught.value.hint or "")


def test_a_machine_file_that_is_wrong_keeps_its_own_hint(files):
    (files / "wrong.toml").write_text("[[device]]\nname = 'a'\nsped = 1\n")
    with pytest.raises(InputError, match="did you mean speed") as caught:
        as_platform("wrong.toml")
    assert caught.value.line == 3
    assert "A machine is" not in caught.value.hint


def test_partitions(files):
    graph = path(4)
    (files / "p.part").write_text("0\n0\n1\n1\n")
    for given in ([0, 0, 1, 1], np.array([0, 0, 1, 1]), "p.part", ev.Partition([0, 0, 1, 1], 3)):
        assert as_partition(given, graph, 3).part.tolist() == [0, 0, 1, 1]
        assert as_partition(given, graph, 3).k == 3
    for wrong in ([0, 1], [0, 0, 0, 3], [0, 0, 0, -1], [0, 0, 0, 0.5], "none.part"):
        with pytest.raises(InputError):
            as_partition(wrong, graph, 3)


@pytest.mark.slow
def test_every_public_function_takes_them(files, monkeypatch):
    plan = ev.plan("wing.graph", "machine.toml", **QUICK)
    part = plan.partition.part
    np.savetxt("wing.part", part, fmt="%d")
    contract, sizes = ev.contract_for("wing.graph", "machine.toml")
    assert sizes.sizes.tolist() == plan.sizes.tolist()
    judged = ev.evaluate("wing.graph", "wing.part", "machine.toml", contract)
    assert judged.edge_cut == plan.evaluation.edge_cut
    assert judged.certificate.holds.tolist() == plan.certificate.holds.tolist()
    assert ev.enforce("wing.graph", part, contract).moved == 0
    assert ev.refine("wing.graph", "wing.part").before == judged.edge_cut
    assert ev.refine("wing.graph", part, contract).before == judged.edge_cut
    assert ev.map_blocks("wing.graph", part, "machine.toml", contract).device.size == 3
    compared = ev.compare("wing.graph", "machine.toml", "rcb", epsilon=0.1)
    assert [one.tool for one in compared] == ["rcb"]
    monkeypatch.setattr(compare, "available_tools", lambda *given: ["hilbert"])
    assert [one.tool for one in ev.compare("wing.graph", 2)] == ["hilbert"]
    assert ev.advise("wing.graph", 2, seed=3).best.devices.size > 0
    request = ev.PlanOptions().request(contract)
    assert ev.partition_with("rcb", "wing.graph", request).part.size == 81
    ev.write_report("own.html", plan, "wing.graph")
    assert b"<svg" in (files / "own.html").read_bytes()


def test_without_a_contract_it_is_the_one_a_plan_would_have(files):
    graph, part = ev.read_graph("wing.graph"), np.arange(81) % 3
    linked, flat = as_platform("machine.toml"), ev.Platform.flat([4.5, 1, 1])
    assert ev.evaluate(graph, part, linked).certificate.contract.may_be_unused
    contract = ev.evaluate(graph, part, flat).certificate.contract
    assert contract.low.tolist() == ev.contract_for(graph, flat)[0].low.tolist()
    workload = ev.WORKLOADS["spmv"]
    work = ev.evaluate(graph, part, flat, workload=workload).certificate.contract
    assert work.targets.tolist() == (
        ev.contract_for(workload.weighted(graph), flat)[0].targets.tolist()
    )


def test_a_tool_that_is_none_is_refused_before_any_runs():
    with pytest.raises(UsageError, match="did you mean metis"):
        ev.compare(path(6), 2, ["rcb", "mets"])


def test_keywords_are_the_fields_of_the_options():
    assert set(PlanKeywords.__annotations__) == {one.name for one in fields(ev.PlanOptions)}
    own, theirs = typing.get_type_hints(PlanKeywords), typing.get_type_hints(ev.PlanOptions)
    assert {name for name in own if own[name] != theirs[name]} == {"workload"}


def test_keywords_replace_what_options_say():
    options = ev.PlanOptions(epsilon=0.1, seed=5)
    made = options_with(options, {"epsilon": 0.02, "workload": "spmv"})
    assert (made.epsilon, made.seed, made.workload) == (0.02, 5, ev.WORKLOADS["spmv"])
    assert options_with(options, {}) is options
    assert options_with(None, {}) == ev.PlanOptions()
    keywords = ev.plan(grid(6, 6), 2, tool="metis", epsilon=0.1)
    whole = ev.plan(grid(6, 6), ev.Platform.flat([1, 1]), ev.PlanOptions("metis", epsilon=0.1))
    assert keywords.options == whole.options


@pytest.mark.parametrize(
    ("keywords", "told"),
    [
        ({"epsilom": 0.1}, "did you mean epsilon?"),
        ({"method": "gpa"}, "did you mean sizing?"),
        ({"zzz": 1}, "There are: tool, preset"),
        ({"by": "points"}, "ev.read(FILE, by=...)"),
        ({"workload": "spm"}, "did you mean spmv?"),
        ({"preset": "stong"}, "did you mean strong?"),
    ],
)
def test_keywords_that_are_none(keywords, told):
    for function in (ev.plan, ev.advise, ev.compare):
        with pytest.raises(UsageError) as caught:
            function(path(6), 2, **keywords)
        assert told in str(caught.value)


def test_options_by_position_must_be_options():
    with pytest.raises(UsageError, match=r"options must be PlanOptions, not 0\.02") as caught:
        ev.plan(path(6), 2, 0.02)
    assert "epsilon=0.02" in caught.value.hint


def test_arcs_are_divided_as_edges_and_a_note_says_so(tmp_path):
    arcs = ev.DirectedGraph.from_arcs(6, [0, 1, 2, 3, 4, 5, 1], [1, 2, 3, 4, 5, 0, 0])
    edges = arcs.undirected()
    plan, same = (ev.plan(graph, 2, tool="metis", objective="cut") for graph in (arcs, edges))
    assert np.array_equal(plan.partition.part, same.partition.part)
    assert plan.notes[0] == "Evener divides arcs as edges: 7 arcs join 6 pairs of vertices"
    assert plan.notes[1:] == same.notes
    judged = (ev.evaluate(graph, plan.partition, 2) for graph in (arcs, edges))
    assert len({one.edge_cut for one in judged}) == 1
    assert len(ev.compare(arcs, 2, ["metis"])) == 1
    assert repr(ev.advise(arcs, 2)) == repr(ev.advise(edges, 2))
    ev.write_graph(tmp_path / "a.csv", arcs)
    reading = ev.read(tmp_path / "a.csv", directed=True)
    assert (
        sum(
            "divides arcs as edges" in note
            for note in ev.plan(reading, 2, tool="metis", objective="cut").notes
        )
        == 1
    )
    parts = ev.distribute(reading, plan)
    assert sum(part.out.ends.size for part in parts) == 7
