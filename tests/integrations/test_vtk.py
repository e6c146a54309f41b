"""VTK: the pieces that meshio reads are the mesh, each cell once, with numbers of the mesh."""

import xml.etree.ElementTree as ET

import meshio
import numpy as np
import pytest

import evener as ev
from evener.cli import main
from evener.cli.precompile.samples import write_samples
from evener.io.meshes.vtu import vtu
from tests.cli.test_full_disks import limited
from tests.graphs import test_pieces as shapes
from tests.io import mesh_samples as samples


@pytest.fixture
def square(tmp_path):
    """A mesh of triangles and quads, and its plan for two devices."""
    path = tmp_path / "square.su2"
    path.write_text(samples.SQUARE)
    assert planned(path, "1,3") == 0
    return path


def planned(path, speeds, *more):
    plan = str(path.parent / "x.plan")
    return main(["plan", str(path), "--speeds", speeds, *more, "-o", plan, "--quiet"])


def exported(mesh, *more, name="out.pvtu"):
    words = ["export", str(mesh.parent / "x.plan"), str(mesh), "--to", "pvtu"]
    return main([*words, "-o", str(mesh.parent / name), *more])


def listed(index):
    """The pieces that an index names."""
    root = ET.parse(index).getroot()
    assert root.get("type") == "PUnstructuredGrid"
    return [index.parent / piece.get("Source") for piece in root.iter("Piece")]


def fields_of(index, tag):
    element = next(ET.parse(index).getroot().iter(tag))
    arrays = [child for child in element if child.tag in ("DataArray", "PDataArray")]
    return element.get("GlobalIds"), {a.get("Name"): a.get("type") for a in arrays}


def cells_by_number(file, numbered):
    """Points in the mesh of each cell that a file holds, by the cell's number in the mesh."""
    found = meshio.read(file)
    points = found.point_data["GlobalPointIds"]
    numbers = found.cell_data_dict["GlobalCellIds"]
    for block in found.cells:
        chosen = numbers[block.type] if len(found.cells_dict) == len(found.cells) else None
        assert chosen is not None
        numbered |= dict(zip(chosen.tolist(), points[block.data].tolist(), strict=True))
    return points, found


def test_the_pieces_are_the_mesh(square):
    assert exported(square) == 0
    mesh, part = ev.read(square).mesh, np.load(square.parent / "x.plan")["part"]
    pieces = listed(square.parent / "out.pvtu")
    assert [piece.name for piece in pieces] == ["out_0.vtu", "out_1.vtu"]
    cells = {}
    for block, piece in enumerate(pieces):
        points, found = cells_by_number(piece, cells)
        assert np.array_equal(found.points[:, :2], mesh.points[points])
        assert sum(len(c.data) for c in found.cells) == np.count_nonzero(part == block)
        assert {int(b) for bs in found.cell_data["part"] for b in bs} == {block}
    assert cells == dict(enumerate(c.tolist() for c in np.split(mesh.corners, mesh.offsets[1:-1])))


@pytest.mark.slow
def test_wedges_are_in_vtks_order(tmp_path):
    mesh = shapes.wedge_mesh()
    (tmp_path / "w.vtu").write_bytes(b"".join(vtu(mesh, {}, {})))
    assert planned(tmp_path / "w.vtu", "1,1", "--with", "rcb") == 0
    assert exported(tmp_path / "w.vtu") == 0
    cells = {}
    for piece in listed(tmp_path / "out.pvtu"):
        cells_by_number(piece, cells)
    whole = meshio.read(tmp_path / "w.vtu")
    assert [cells[i] for i in range(2)] == whole.cells[0].data.tolist()


def test_the_index_declares_what_each_piece_holds(square):
    assert exported(square) == 0
    index = square.parent / "out.pvtu"
    for piece in listed(index):
        for tag in ("Points", "PointData", "CellData"):
            assert fields_of(index, f"P{tag}") == fields_of(piece, tag)
    assert fields_of(index, "PCellData") == (
        "GlobalCellIds",
        {"part": "Int32", "GlobalCellIds": "Int64"},
    )


@pytest.mark.slow
@pytest.mark.parametrize("latency_us", [0.001, 1e6])
def test_devices_without_cells_have_no_file(tmp_path, capsys, latency_us):
    """A network that is too slow leaves all cells to one device."""
    mesh = tmp_path / "m.su2"
    assert main(["generate", "triangles", "--n", "100", "-o", str(mesh), "--quiet"]) == 0
    devices = "".join(f'[[device]]\nname = "d{i}"\nspeed = 1e6\n' for i in range(5))
    network = f'[[level]]\nname = "net"\nalpha_us = {latency_us}\nGB_per_s = 100\n'
    (tmp_path / "m.toml").write_text(network + devices)
    words = ["plan", str(mesh), "--machine", str(tmp_path / "m.toml")]
    assert main([*words, "-o", str(tmp_path / "x.plan"), "--quiet"]) == 0
    assert exported(mesh) == 0
    said = capsys.readouterr()
    pieces = listed(tmp_path / "out.pvtu")
    assert all(piece.exists() for piece in pieces)
    assert len(pieces) == (5 if latency_us < 1 else 1)
    assert ("which have no cells" in said.err) == (latency_us > 1)
    assert ("Written: 5 more files in" in said.out) == (latency_us < 1)


def test_polyhedra(tmp_path, capsys):
    write_samples(tmp_path)
    assert planned(tmp_path / "foam", "1,1") == 0
    assert exported(tmp_path / "foam") == 0
    assert "contain polyhedra" in capsys.readouterr().err
    mesh = ev.read(tmp_path / "foam").mesh
    sizes = 0
    for piece in listed(tmp_path / "out.pvtu"):
        root = ET.parse(piece).getroot()
        sizes += int(next(root.iter("Piece")).get("NumberOfCells"))
        assert {a.get("Name") for a in next(root.iter("Cells"))} >= {"faces", "faceoffsets"}
    assert sizes == mesh.n_cells


@pytest.mark.parametrize(
    ("name", "more", "words"),
    [("out", [], "must end in .pvtu"), ("out.pvtu", ["there"], "already exists")],
)
def test_refused(square, capsys, name, more, words):
    if more:
        (square.parent / "out").mkdir()
        (square.parent / "out" / "out_1.vtu").write_text("precious")
    assert exported(square, name=name) == 2
    assert words in capsys.readouterr().err
    assert not (square.parent / "out.pvtu").exists()
    assert not (square.parent / "out" / "out_0.vtu").exists()


def test_points_are_for_vtu(square, capsys):
    assert planned(square, "1,3", "--by", "points") == 0
    assert exported(square) == 2
    assert "--to vtu writes" in capsys.readouterr().err


def test_a_mesh_without_coordinates(tmp_path, capsys):
    path = tmp_path / "metis.mesh"
    path.write_text(samples.METIS)
    assert planned(path, "1,1") == 0
    assert exported(path) == 3
    assert "no coordinates" in capsys.readouterr().err


@pytest.mark.slow
def test_a_full_disk_leaves_nothing(square):
    before = sorted(square.parent.iterdir())
    done = limited("export x.plan square.su2 --to pvtu -o out.pvtu", 500, square.parent)
    assert done.returncode == 6
    assert "evener: out/out_0.vtu: cannot be written: File too large" in done.stderr
    assert sorted(square.parent.iterdir()) == before
