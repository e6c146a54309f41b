"""What is sent: a value for each vertex and neighbouring block, or for each face."""

from dataclasses import replace

import numpy as np
import pytest

import evener as ev
from evener.cli import main
from evener.errors import InputError, UsageError
from evener.graphs.generating.grid import grid
from evener.planning.evaluate import misstated
from evener.plans import metrics
from evener.plans.workload import WEIGHTS
from tests.io.meshes.test_couplings import case, msh_2

FACES = replace(WEIGHTS, exchange="faces")
MACHINE = {
    "device": [{"name": f"d{speed:g}", "speed": speed} for speed in (1e6, 2e6, 3e6)],
    "level": [{"name": "net", "alpha_us": 1.0, "GB_per_s": 0.01}],
}  # fmt: skip


def test_a_vertex_is_sent_once_its_faces_each():
    graph = grid((4, 4))
    corner = ev.Partition([0 if v in (0, 1, 4, 5) else 1 for v in range(16)], 2)
    for workload, volumes in ((WEIGHTS, [3, 4]), (FACES, [4, 4])):
        judged = ev.evaluate(graph, corner, 2, workload=workload)
        assert judged.certificate.volumes.tolist() == volumes
        assert judged.edge_cut == 4
        between = metrics.quotient(graph, corner, of_faces=workload.of_faces)
        assert metrics.comm_volumes(between).tolist() == volumes


@pytest.mark.parametrize("objective", ["cut", "total_volume", "seconds"])
def test_plans_send_what_they_cut(objective):
    graph = grid((30, 20))
    plan = ev.plan(graph, MACHINE, workload=FACES, objective=objective)
    assert plan.workload.exchange == "faces"
    assert plan.evaluation.total_volume == 2 * plan.evaluation.edge_cut
    assert not misstated(plan, graph)
    assert all(one.total_volume == 2 * one.edge_cut for one in plan.stages)


@pytest.mark.parametrize("weights", [0.5, 0, 2**30])
def test_faces_are_whole_numbers(weights):
    graph = ev.Graph.from_edges(4, [0, 1, 2], [1, 2, 3], weights=[1, weights, 1])
    for call in (ev.plan, ev.advise):
        with pytest.raises(InputError, match="counting faces needs edge weights"):
            call(graph, MACHINE, workload=FACES)


def test_the_largest_volume_is_of_vertices():
    with pytest.raises(UsageError, match="not faces"):
        ev.plan(grid((4, 4)), 2, workload=FACES, objective="max_volume")


def test_openfoam_and_pyfr_send_faces(tmp_path):
    ring = ev.read(case(tmp_path / "ring"))
    (tmp_path / "fluid.msh").write_text(msh_2(names='2 9 "fluid"'))
    (tmp_path / "solid.msh").write_text(msh_2(names='2 9 "solid"'))
    expected = [(ring, "faces"), (ev.read(tmp_path / "fluid.msh"), "faces"),
                (ev.read(tmp_path / "solid.msh"), "vertices"),
                (ev.read(tmp_path / "ring", by="points"), "vertices")]  # fmt: skip
    for reading, exchange in expected:
        assert ev.plan(reading, 2).workload.exchange == exchange
    assert ev.plan(ring.mesh, 2).workload.exchange == "faces"
    assert ev.plan(ring.graph, 2).workload.exchange == "vertices"
    assert ev.plan(ring, 2, workload=replace(WEIGHTS, exchange="vertices")).evaluation.edge_cut == 4
    judged = ev.evaluate(ring, np.arange(16) % 8 // 4, 2)
    assert (judged.edge_cut, judged.total_volume) == (4, 8)


def test_the_command_line_says_so(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    case(tmp_path / "ring")
    assert main(["plan", "ring", "--k", "2", "-o", "x.plan"]) == 0
    said = "Edge cut 4, total volume 8, largest volume 4, with one value per face."
    assert said in capsys.readouterr().out
    for words in (["ring", "x.plan"], ["ring", "x.plan", "--exchange", "vertices"]):
        assert main(["evaluate", *words]) == 0
        assert "blocks within contract" in capsys.readouterr().out
    assert main(["plan", "ring", "--k", "2", "--exchange", "vertices", "-o", "y.plan"]) == 0
    assert "per face" not in capsys.readouterr().out
    assert main(["replay", "x.plan", "ring"]) == 0
    assert main(["compare", "ring", "--k", "2", "--with", "evener"]) == 0
    assert main(["report", "x.plan", "ring", "-o", "x.html"]) == 0
    assert "items for which values are sent" in (tmp_path / "x.html").read_text()
    capsys.readouterr()
    words = ["refine", "ring", "x.plan", "--k", "2", "--objective", "max_volume", "-o", "z.part"]
    assert main(words) == 2
    assert "--exchange vertices" in capsys.readouterr().err
    assert main([*words, "--exchange", "vertices"]) == 0
