"""evener export: a plan's partition in a solver's format, or a refusal and no file."""

import json

import meshio
import numpy as np
import pytest

from evener.cli import main
from evener.cli.precompile.samples import write_samples
from evener.integrations.exports import EXPORTERS
from evener.io import read
from evener.io.plans.partitions import PART_FORMATS, read_part
from tests.io import mesh_samples as samples


@pytest.fixture
def case(tmp_path):
    """A mesh, a machine of two devices, a plan."""
    mesh = tmp_path / "square.su2"
    mesh.write_text(samples.SQUARE)
    machine = tmp_path / "m.toml"
    machine.write_text(
        '[[device]]\nname = "old"\nspeed = 1.0\n[[device]]\nname = "new"\nspeed = 3.0\n'
    )
    plan = tmp_path / "x.plan"
    assert main(["plan", str(mesh), "--machine", str(machine), "-o", str(plan), "--quiet"]) == 0
    return tmp_path


def export(case, to, *more, name="out"):
    return main(["export", str(case / "x.plan"), *more, "--to", to, "-o", str(case / name)])


def test_every_format(case, capsys):
    part = np.load(case / "x.plan")["part"]
    assert np.bincount(part).tolist() == [1, 3]
    for to in PART_FORMATS:
        capsys.readouterr()
        assert export(case, to, str(case / "square.su2"), "--json") == 0
        said = json.loads(capsys.readouterr().out)
        expected = {"written": str(case / "out"), "format": to, "vertices": 4}
        if to in EXPORTERS:
            expected |= {"files": [str(case / "out")], "notes": []}
        assert said == expected
        if to == "vtu":
            (case / "out").rename(case / "out.vtu")
            found = meshio.read(case / "out.vtu")
            assert np.concatenate(found.cell_data["part"]).tolist() == part.tolist()
        else:
            assert read_part(case / "out", 4).tolist() == part.tolist()


def test_devices_by_name(case):
    assert export(case, "json") == 0
    content = json.loads((case / "out").read_text())
    assert content["devices"] == ["old", "new"]
    assert export(case, "csv") == 0
    lines = (case / "out").read_text().splitlines()
    assert lines[0] == "vertex,block,device"
    assert sorted(line.split(",")[2] for line in lines[1:]) == ["new", "new", "new", "old"]


def test_a_plan_by_points_is_exported_by_points(case):
    plan, mesh = str(case / "x.plan"), str(case / "square.su2")
    assert main(["plan", mesh, "--by", "points", "--k", "2", "-o", plan, "--quiet"]) == 0
    assert export(case, "vtu", mesh, name="out.vtu") == 0
    part = meshio.read(case / "out.vtu").point_data["part"]
    assert part.tolist() == np.load(plan)["part"].tolist()
    assert export(case, "openfoam", mesh, name="decomposition") == 2
    assert not (case / "decomposition").exists()


def test_labels_of_the_graph(case):
    graph = case / "friends.csv"
    graph.write_text("ann,bob\nbob,cid\ncid,dan\n")
    assert main(["plan", str(graph), "--k", "2", "-o", str(case / "x.plan"), "--quiet"]) == 0
    assert export(case, "csv", str(graph)) == 0
    rows = [line.split(",") for line in (case / "out").read_text().splitlines()[1:]]
    assert [row[0] for row in rows] == ["ann", "bob", "cid", "dan"]
    labels = read(graph).graph.labels
    assert read_part(case / "out", 4, labels=labels).tolist() == [int(row[1]) for row in rows]


@pytest.mark.parametrize(
    ("to", "mesh", "code", "words"),
    [
        ("vtu", None, 2, "vtu needs the mesh"),
        ("openfoam", None, 2, "openfoam needs the mesh"),
        ("vtu", "4 3\n2\n1 3\n2 4\n3\n", 2, "the file contains a graph"),
        ("vtu", "3 2\n2\n1 3\n2\n", 3, "3 vertices|4 vertices|3|4"),
        ("vtk", None, 2, "cannot be exported to 'vtk'"),
    ],
)
def test_refused(case, capsys, to, mesh, code, words):
    more = []
    if mesh is not None:
        (case / "other.graph").write_text(mesh)
        more = [str(case / "other.graph")]
    assert export(case, to, *more) == code
    error = capsys.readouterr().err
    assert any(word in error for word in words.split("|"))
    assert error.startswith("evener: ")
    assert error.count("\n") <= 3
    assert not (case / "out").exists()


def test_no_plan(case, capsys):
    (case / "x.plan").write_bytes(b"PK\3\4 nothing")
    assert export(case, "metis") == 3
    assert "is not a readable plan file:" in capsys.readouterr().err


def test_an_old_file_stays_when_refused(case):
    (case / "out").write_text("precious")
    assert export(case, "vtu") == 2
    assert (case / "out").read_text() == "precious"
    assert export(case, "metis", name="none/out") == 3


@pytest.mark.parametrize("to", ["metis", "openfoam"])
def test_the_file_that_is_named_is_replaced(case, to):
    (case / "out").write_text("old")
    assert export(case, to, str(case / "square.su2")) == 0
    assert (case / "out").read_text() != "old"
    assert export(case, to, str(case / "square.su2"), name="square.su2") == 2  # its input
    assert (case / "square.su2").read_text() == samples.SQUARE
    assert export(case, to, str(case / "square.su2"), name="x.plan") == 2


@pytest.mark.parametrize("to", ["metis", "openfoam"])
def test_devices_are_written_to(case, to):
    words = ["export", str(case / "x.plan"), str(case / "square.su2"), "--to", to]
    assert main([*words, "-o", "/dev/null"]) == 0


def test_a_target_is_needed(case, capsys):
    assert main(["export", str(case / "x.plan"), "--to", "metis"]) == 2
    assert "required: -o/--output" in capsys.readouterr().err


def test_polyhedra_are_not_for_meshio(tmp_path, capsys):
    write_samples(tmp_path)
    plan, mesh = str(tmp_path / "x.plan"), str(tmp_path / "foam")
    assert main(["plan", mesh, "--k", "2", "-o", plan, "--quiet"]) == 0
    for to, said in (("vtu", True), ("metis", False)):
        assert main(["export", plan, mesh, "--to", to, "-o", str(tmp_path / to)]) == 0
        assert ("contains polyhedra" in capsys.readouterr().err) == said
