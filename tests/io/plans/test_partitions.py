"""Partitions written in every format, read back, and refused where they do not fit."""

import json
import shutil
import subprocess

import meshio
import numpy as np
import pytest

import evener as ev
from evener.errors import InputError, UsageError
from evener.graphs.graph import Graph
from evener.graphs.mesh import HEXAHEDRON, PYRAMID, TETRA, WEDGE, Mesh
from evener.io import read
from evener.io.plans.partitions import PART_FORMATS, read_part, write_part
from tests.io import mesh_samples as samples

PART = np.array([2, 0, 1, 0], np.int32)


@pytest.fixture
def square(put):
    """A mesh of four cells and eight points."""
    return read(put(samples.SQUARE, "square.su2")).mesh


@pytest.mark.parametrize("to", sorted(set(PART_FORMATS) - {"vtu"}))
def test_back_and_forth(tmp_path, square, to):
    path = tmp_path / f"x{PART_FORMATS[to].suffix}"
    write_part(path, PART, to, mesh=square)
    part = read_part(path, 4)
    assert part.dtype == np.int32
    assert part.tolist() == PART.tolist()
    with pytest.raises(InputError) as raised:
        read_part(path, 5)
    assert raised.value.file == str(path)
    assert "4" in raised.value.message
    with pytest.raises(InputError):
        read_part(path, 3)


@pytest.mark.slow
def test_large_parts_go_in_pieces(tmp_path):
    part = np.random.default_rng(7).integers(0, 96, 150_001)
    labels = np.array([f"v{i}" for i in range(part.size)])
    graph = Graph.from_edges(part.size, [], [], labels=labels)
    for to, given in (("metis", None), ("scotch", None), ("csv", None), ("csv", graph)):
        path = tmp_path / f"{to}.part"
        write_part(path, part, to, graph=given)
        assert np.array_equal(read_part(path, part.size, labels=given and labels), part)


def test_rows_block_after_block(tmp_path):
    write_part(tmp_path / "x.npz", PART, "rows", devices=["a", "b", "c", "idle"])
    with np.load(tmp_path / "x.npz") as file:
        found = dict(file)
    assert found.pop("order").tolist() == [1, 3, 2, 0]
    assert found.pop("offsets").tolist() == [0, 2, 3, 4, 4]
    assert found.pop("sizes").tolist() == [2, 1, 1, 0]
    assert found.pop("devices").tolist() == ["a", "b", "c", "idle"]
    assert found.pop("part").tolist() == PART.tolist()
    assert not found
    write_part(tmp_path / "y.npz", PART, "rows")
    with np.load(tmp_path / "y.npz") as file:
        assert sorted(file) == ["offsets", "order", "part", "sizes"]
        assert file["offsets"].tolist() == [0, 2, 3, 4]


def test_as_the_tools_have_them(tmp_path):
    def written(to, **options):
        write_part(tmp_path / "x", PART, to, **options)
        return (tmp_path / "x").read_text()

    assert written("metis") == "2\n0\n1\n0\n"
    assert written("scotch") == "4\n0\t2\n1\t0\n2\t1\n3\t0\n"
    assert written("csv") == "vertex,block\n0,2\n1,0\n2,1\n3,0\n"
    assert json.loads(written("json")) == {"n": 4, "part": [2, 0, 1, 0]}
    names = ["cpu0", "cpu1", "gpu, big"]
    with_names = 'vertex,block,device\n0,2,"gpu, big"\n1,0,cpu0\n2,1,cpu1\n3,0,cpu0\n'
    assert written("csv", devices=names) == with_names
    assert read_part(tmp_path / "x", 4).tolist() == PART.tolist()
    assert json.loads(written("json", devices=names))["devices"] == names
    assert read_part(tmp_path / "x", 4).tolist() == PART.tolist()


@pytest.mark.parametrize(
    ("labels", "numbers"),
    [(None, [0, 1, 2, 3]), ([1, 2, 3, 4], [1, 2, 3, 4]), ([9, 5, 7, 6], [9, 5, 7, 6]),
     (list("abcd"), [0, 1, 2, 3])],
)  # fmt: skip
def test_scotch_mappings_have_the_numbers_of_the_file(tmp_path, labels, numbers):
    graph = Graph.from_edges(4, [0, 1, 2], [1, 2, 3], labels=labels)
    path = tmp_path / "x.map"
    write_part(path, PART, "scotch", graph=graph)
    assert np.loadtxt(path, int, skiprows=1).tolist() == [
        *map(list, zip(numbers, PART.tolist(), strict=True))
    ]
    assert read_part(path, 4, labels=graph.labels).tolist() == PART.tolist()
    plan = ev.plan(graph, 3)
    if graph.first_label is not None or labels == list("abcd"):
        write_part(path, PART, "scotch", first=plan.graph.get("first_label", 0))
        assert np.loadtxt(path, int, skiprows=1)[:, 0].tolist() == numbers
    else:
        with pytest.raises(UsageError, match="needs the graph"):
            write_part(path, PART, "scotch", first=plan.graph["first_label"])


@pytest.mark.integrations
def test_scotch_counts_the_same_cut(tmp_path):
    if shutil.which("gmtst") is None:
        pytest.skip("Scotch's gmtst is not installed: `apt install scotch`")
    ring = "0\n4 8\n1 000\n2 2 4\n2 1 3\n2 2 4\n2 3 1\n"
    (tmp_path / "one.grf").write_text(ring)
    (tmp_path / "two.tgt").write_text("cmplt 2\n")
    plan = ev.plan(tmp_path / "one.grf", 2, objective="cut")
    first = plan.graph["first_label"]
    write_part(tmp_path / "one.map", plan.partition.part, "scotch", first=first)
    names = [tmp_path / name for name in ("one.grf", "two.tgt", "one.map")]
    said = subprocess.run(["gmtst", *names], capture_output=True, text=True, check=True).stdout
    assert f"({plan.evaluation.edge_cut:g})" in said.split("CommCutSz")[0].split("CommExpan")[1]


def test_labels(tmp_path):
    labels = ["a", 'say "b"', "c,d", " e"]
    graph = Graph.from_edges(4, [0, 1, 2], [1, 2, 3], labels=labels)
    write_part(tmp_path / "x.json", PART, "json", graph=graph)
    assert json.loads((tmp_path / "x.json").read_text())["labels"] == labels
    path = tmp_path / "x.csv"
    write_part(path, PART, "csv", graph=graph)
    assert read_part(path, 4, labels=graph.labels).tolist() == PART.tolist()
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], *reversed(lines[1:])]))
    assert read_part(path, 4, labels=graph.labels).tolist() == PART.tolist()
    with pytest.raises(InputError, match="labels"):
        read_part(path, 4)


def test_vtu_by_meshio(tmp_path, square):
    write_part(tmp_path / "x.vtu", PART, "vtu", mesh=square, fields={"work": PART * 0.5})
    found = meshio.read(tmp_path / "x.vtu")
    assert np.array_equal(found.points[:, :2], square.points)
    assert np.concatenate([block.data.ravel() for block in found.cells]).tolist() == (
        square.corners.tolist()
    )
    assert np.concatenate(found.cell_data["part"]).tolist() == PART.tolist()
    assert np.concatenate(found.cell_data["work"]).tolist() == (PART * 0.5).tolist()
    again = read(tmp_path / "x.vtu")
    assert again.mesh.cell_data["part"].tolist() == PART.tolist()
    assert again.mesh.dual_graph().m == square.dual_graph().m


def test_vtu_by_points(tmp_path, square):
    part = np.arange(8) % 3
    write_part(tmp_path / "x.vtu", part, "vtu", mesh=square, by="points")
    found = meshio.read(tmp_path / "x.vtu")
    assert found.point_data["part"].tolist() == part.tolist()
    assert not found.cell_data


def test_vtu_of_every_solid_shape(tmp_path):
    """Wedges turn round on the way out, and back on the way in."""
    points = np.random.default_rng(3).random((23, 3))
    offsets, kinds = [0, 4, 12, 18, 23], [TETRA, HEXAHEDRON, WEDGE, PYRAMID]
    mesh = Mesh(points, offsets, np.arange(23), kinds)
    write_part(tmp_path / "x.vtu", PART, "vtu", mesh=mesh)
    found = meshio.read(tmp_path / "x.vtu")
    assert [block.type for block in found.cells] == ["tetra", "hexahedron", "wedge", "pyramid"]
    assert np.concatenate([block.data.ravel() for block in found.cells]).tolist() == (
        mesh.corners.tolist()
    )


def test_vtu_of_polyhedra(tmp_path):
    folder = tmp_path / "polyMesh"
    folder.mkdir()
    for name, text in samples.FOAM.items():
        (folder / name).write_text(text)
    mesh = read(folder).mesh
    write_part(tmp_path / "x.vtu", [1, 0], "vtu", mesh=mesh)
    found = meshio.read(tmp_path / "x.vtu")
    assert [block.type for block in found.cells] == ["polyhedron8"]
    faces = {frozenset(int(c) for c in face) for cell in found.cells[0].data for face in cell}
    starts = zip(mesh.face_offsets[:-1], mesh.face_offsets[1:], strict=True)
    assert faces == {frozenset(mesh.face_corners[a:b].tolist()) for a, b in starts}
    assert [len(cell) for cell in found.cells[0].data] == [6, 6]
    assert np.concatenate(found.cell_data["part"]).tolist() == [1, 0]


def test_openfoam_manual_decomposition(tmp_path, square):
    write_part(tmp_path / "cellDecomposition", PART, "openfoam", mesh=square)
    text = (tmp_path / "cellDecomposition").read_text()
    header, body = text.split("}\n", 1)
    assert header.startswith("FoamFile\n{\n")
    for entry in ("format ascii", "class labelList", "object cellDecomposition"):
        assert f"{entry};" in " ".join(header.split()).replace(" ;", ";")
    assert body.split() == ["4", "(", "2", "0", "1", "0", ")"]


def test_a_plan_is_a_partition(tmp_path):
    graph = Graph.from_edges(6, range(5), range(1, 6))
    plan = ev.plan(graph, ev.Platform.flat([1.0, 2.0]))
    ev.write_plan(tmp_path / "x.plan", plan)
    assert np.array_equal(read_part(tmp_path / "x.plan", 6), plan.partition.part)
    with pytest.raises(InputError, match="shape"):
        read_part(tmp_path / "x.plan", 7)


def test_refused_to_write(tmp_path, square):
    path = tmp_path / "x"

    def refused(error, words, part=PART, to="metis", **options):
        with pytest.raises(error, match=words):
            write_part(path, part, to, **options)
        assert not path.exists()

    graph = Graph.from_edges(5, [0], [1])
    refused(UsageError, "cannot be exported to 'vtk'", to="vtk")
    refused(UsageError, "vtu needs the mesh", to="vtu")
    refused(UsageError, "needs a mesh, but the file contains a graph", to="openfoam", graph=graph)
    refused(UsageError, "cannot store fields; vtu can", fields={"a": PART})
    refused(UsageError, "divides cells", to="openfoam", mesh=square, by="points", part=[0] * 8)
    refused(UsageError, "not by 'edges'", mesh=square, by="edges")
    refused(InputError, "the mesh has 4 cells", mesh=square, part=[0, 1])
    refused(InputError, "the mesh has 8 points", mesh=square, by="points")
    refused(InputError, "the graph has 5 vertices", graph=graph)
    refused(InputError, "from 0 on", part=[0, -1])
    refused(InputError, "from 0 on", part=[])
    refused(InputError, "from 0 on", part=[2**31])
    refused(InputError, "whole numbers", part=[0.5])
    refused(InputError, "block 2, but there are 2 devices", to="csv", devices=["a", "b"])
    refused(InputError, "'work' is not of 4", to="vtu", mesh=square, fields={"work": [1]})
    refused(
        InputError,
        "cannot be written to VTU",
        to="vtu",
        mesh=square,
        fields={"s": ["a", "b", "c", "d"]},
    )
    bare = Mesh(np.empty((3, 0)), [0, 3], [0, 1, 2], [5])
    refused(InputError, "no coordinates", to="vtu", mesh=bare, part=[0])
