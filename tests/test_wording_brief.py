"""repr of whatever holds arrays: two lines with counts, never the arrays, never an error."""

from dataclasses import replace

import numpy as np
import pytest

import evener as ev
from evener.graphs.generating.delaunay import triangle_mesh
from evener.graphs.polymesh import PolyMesh
from evener.wording import brief, number, spread
from tests.assertions import grid

GRAPH = grid(30, 40, coords=np.random.default_rng(5).random((1200, 2)))
PLATFORM = ev.Platform(
    (ev.Device("gpu", 4.0, memory=1e9), *(ev.Device(f"cpu{i}", 1.0) for i in range(40))),
    (ev.Level("node", ev.Link(1e-6, 1e-9)),),
)
PLAN = ev.plan(GRAPH, PLATFORM, tool="rcb", objective="cut")
MESH = triangle_mesh(500, seed=3)
CURVE = ev.DeviceSpeeds("gpu", tuple(ev.Sample(float(d), d / 7.0) for d in range(1, 90)))


def things():
    contract, sizes = ev.contract_for(GRAPH, PLATFORM)
    models = [ev.fit_model(CURVE.samples, kind) for kind in ("piecewise", "akima")]
    part = PLAN.partition
    return [
        GRAPH, GRAPH.with_(vwgt=np.ones((1200, 3))), MESH, PLATFORM, ev.Platform.flat([1, 2, 3]),
        contract, sizes, part, PLAN, PLAN.certificate, PLAN.prediction, PLAN.evaluation,
        PLAN.evaluation.exchange, CURVE, *models, ev.solve_sizes(models, 7),
        ev.enforce(GRAPH, part, contract), ev.refine(GRAPH, part),
        ev.map_blocks(GRAPH, part, PLATFORM, contract), ev.tile([1.0, 2.0], (40, 50)),
        ev.tile([1.0, 2.0], (40, 50)).tiling, *ev.compare(GRAPH, PLATFORM, "rcb"),
        ev.advise(GRAPH, 2), ev.advise(GRAPH, 2).best,
    ]  # fmt: skip


@pytest.mark.slow
def test_two_lines_whatever_is_held():
    for thing in things():
        text = repr(thing)
        assert text.startswith(f"{type(thing).__name__}("), text
        assert text.endswith(")"), text
        assert text.count("\n") <= 1, text
        assert max(map(len, text.split("\n"))) <= 110, text
        assert "array" not in text, text


def test_what_stands_there():
    assert repr(GRAPH) == (
        "Graph(1,200 vertices, 2,330 edges, 2 to 4 neighbours each,\n"
        "      weight 1 each, edges weigh 1 each, coordinates in 2-D)"
    )
    assert repr(ev.Platform.flat([1, 2.5])) == (
        "Platform(2 devices, 'dev0' to 'dev1',\n"
        "         speeds 1 to 2.5, no memory stated, no links)"
    )
    assert repr(ev.Partition([0, 1, 1], 3)) == (
        "Partition(3 vertices, 3 blocks,\n          1 to 2 vertices in each, 1 of them empty)"
    )
    assert repr(ev.Contract([4, 2], [3, 2], [5, 2], [1e9, np.inf], makespan=0.25)) == (
        "Contract(2 blocks, targets 2 to 4, memory of 1 capped,\n"
        "         low 2 to 3, high 2 to 5, done within 250 ms)"
    )
    assert "41 devices" in repr(PLAN)
    assert f"edge cut {PLAN.evaluation.edge_cut:,.0f}" in repr(PLAN)
    assert "41 of 41 contracts kept" in repr(PLAN)


def test_files_are_named(tmp_path):
    ev.write_graph(tmp_path / "g.graph", GRAPH.with_(coords=None))
    assert repr(ev.read(tmp_path / "g.graph")) == (
        "Reading(metis, Graph, 1,200 vertices,\n        from g.graph, 0 notes)"
    )


@pytest.mark.parametrize("graph", [ev.Graph([0], []), ev.Graph([0, 0], [])])
def test_nothing_in_it(graph):
    assert repr(graph).startswith(f"Graph({graph.n} vert")


def test_polyhedra():
    assert "2-D" in repr(MESH)
    corners = [0, 1, 2, 0, 1, 3, 0, 2, 3, 1, 2, 3]
    cell = PolyMesh(np.eye(4, 3), [0, 3, 6, 9, 12], corners, [0, 0, 0, 0], [])
    assert repr(cell).count("\n") == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "True"), (4012, "4,012"), (2.0, "2"), (0.125, "0.125"), (10**20, "about 10^20"),
     (float("inf"), "inf"), (float("nan"), "nan"), (np.int64(7), "7")],
)  # fmt: skip
def test_numbers(value, text):
    assert number(value) == text


def test_ranges():
    assert spread(np.array([1, 1])) == "1"
    assert spread(np.array([], float)) == "none"
    assert spread(np.array([1.0, np.inf])) == "1 to inf"


def test_long_ones_are_cut_short():
    text = brief(replace(ev.PlanOptions(), shares="x" * 0))
    assert text.count("\n") == 1
    assert text.endswith("...)")
