"""Small files of every mesh format: what they hold, and what is refused with which words."""

import subprocess
import sys

import numpy as np
import pytest

from evener.errors import EvenerError, InputError, UsageError
from evener.graphs.mesh import HEXAHEDRON, POLYGON, QUAD, TETRA, TRIANGLE
from evener.io import read
from evener.io.meshes import meshio, meshio_child
from tests.io import mesh_samples as samples


@pytest.mark.parametrize("name", samples.TEXTS)
def test_read(put, name):
    text, form, n_cells, n_points, dual, nodal = samples.TEXTS[name]
    path = put(text, name)
    by_cells, by_points = read(path), read(path, by="points")
    assert by_cells.format == form
    assert (by_cells.graph.n, by_cells.graph.m) == (n_cells, dual)
    assert (by_points.graph.n, by_points.graph.m) == (n_points, nodal)
    assert list(by_cells.inputs) == [name]
    for dressed in (text.replace("\n", "\r\n"), text + "\n\n"):
        again = read(put(dressed, name)).mesh
        assert np.array_equal(again.corners, by_cells.mesh.corners)
        assert np.array_equal(again.points, by_cells.mesh.points)


def test_fields_come_along(put):
    assert read(put(samples.GMSH_2, "a.msh")).mesh.cell_data["physical"].tolist() == [5, 6]
    assert read(put(samples.GMSH_41, "a.msh")).mesh.cell_data["physical"].tolist() == [5, 6]
    assert read(put(samples.MEDIT, "a.mesh")).mesh.cell_data["ref"].tolist() == [10, 20]
    assert read(put(samples.FORT14, "a.14")).mesh.point_data["depth"].tolist() == [5, 6, 7, 8.5]


def test_a_cell_field_is_the_work(put):
    path = put(samples.MEDIT, "a.mesh")
    assert read(path, weights="cell:ref").graph.vwgt.tolist() == [10, 20]
    with pytest.raises(InputError, match="ref"):
        read(path, weights="cell:work")
    with pytest.raises(UsageError, match="divided by its points"):
        read(path, weights="cell:ref", by="points")
    negative = samples.MEDIT.replace("4 10", "4 -10")
    with pytest.raises(InputError, match="negative"):
        read(put(negative, "a.mesh"), weights="cell:ref")


def test_weights_of_a_metis_mesh(put):
    path = put("2 2\n7 1 1 2 3\n9 2 2 3 4\n", "w.mesh")
    reading = read(path, weights="cell:weight0")
    assert reading.graph.vwgt.tolist() == [7, 9]
    assert reading.mesh.cell_data["weight1"].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("2 1\n1 2 3\n2 3 4\n", TRIANGLE),
        ("1 2\n1 2 3 4\n", TETRA),
        ("1 3\n1 2 3 4 5 6 7 8\n", HEXAHEDRON),
        ("1 4\n1 2 3 4\n", QUAD),
        ("2\n1 2 3 4\n2 3 4 5\n", TETRA),
        ("2\n1 2 3 4\n3 4 5 6\n", QUAD),
        ("2\n1 2 3 4\n3 4 5\n", None),
    ],
)
def test_shapes_of_metis_meshes(put, text, kind):
    kinds = read(put(text, "a.mesh")).mesh.kinds.tolist()
    assert kinds == ([QUAD, TRIANGLE] if kind is None else [kind] * len(kinds))


def test_obj_polygons_and_indentation(put):
    text = "v 0 0\n".replace("0 0", "0 0 0") + "v 1 0 0\nv 2 1 0\nv 1 2 0\nv 0 1 0\n"
    mesh = read(put(text + " " * 100_000 + "f 1 2 3 4 5\n", "a.obj")).mesh
    assert mesh.kinds.tolist() == [POLYGON]
    assert mesh.points.shape == (5, 2)


def test_su2_zones(put):
    zone = samples.SQUARE
    text = f"NZONE= 2\nIZONE= 1\n{zone}IZONE= 2\n{zone}"
    reading = read(put(text, "z.su2"))
    assert reading.mesh.cell_data["zone"].tolist() == [0] * 4 + [1] * 4
    assert reading.graph.components()[0] == 2
    with pytest.raises(InputError, match="declares 3 zones"):
        read(put(text.replace("NZONE= 2", "NZONE= 3"), "z.su2"))


def test_fesom_by_either_half(put):
    points = put(samples.FESOM_POINTS, "nod2d.out")
    with pytest.raises(InputError, match=r"elem2d\.out must be in the same folder"):
        read(points)
    cells = put(samples.FESOM_CELLS, "elem2d.out")
    for path in (points, cells):
        reading = read(path)
        assert (reading.graph.n, reading.graph.m) == (2, 1)
        assert reading.mesh.point_data["flag"].tolist() == [1, 0, 0, 1]
        assert sorted(reading.inputs) == ["elem2d.out", "nod2d.out"]


def test_centres_of_cells_across_360_degrees(put):
    points = "5\n1 358.4 10 0\n2 2.0 10 0\n3 1.1 13 0\n4 180 50 0\n5 170 40 0\n"
    cells = put(points, "nod2d.out") and put("2\n1 2 3\n5 4 3\n", "elem2d.out")
    reading = read(cells)
    assert reading.graph.coords[:, 0].tolist() == pytest.approx([1.1 + 359.4, (170 + 181.1) / 3])
    words = "Coordinates are read as degrees: 1 cell crosses 360."
    assert words in reading.notes
    metres = put(points.replace("358.4", "958.4"), "nod2d.out")
    assert read(metres).graph.coords[0, 0] == pytest.approx((958.4 + 2.0 + 1.1) / 3)


def polymesh(tmp_path, **changes):
    folder = tmp_path / "constant" / "polyMesh"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (samples.FOAM | changes).items():
        (folder / name).write_text(text)
    return folder


def test_openfoam_by_case_folder_and_file(tmp_path):
    folder = polymesh(tmp_path)
    for path in (tmp_path, folder, folder / "owner", folder / "points"):
        reading = read(path)
        assert (reading.format, reading.graph.n, reading.graph.m) == ("openfoam", 2, 1)
    assert read(tmp_path, by="points").graph.m == 20


def test_openfoam_is_known_by_the_name_of_its_case(tmp_path):
    case = tmp_path / "cavity"
    folder = polymesh(case)
    for path in (case, case / "constant", folder):
        assert next(iter(read(path).inputs)) == "cavity"  # what reports are titled by
    assert next(iter(read(folder / "owner").inputs)) == "owner"
    region = case / "constant" / "fluid" / "polyMesh"
    region.parent.mkdir()
    folder.rename(region)
    assert next(iter(read(region).inputs)) == "fluid"


def foam(name, old, new):
    return {name: samples.FOAM[name].replace(old, new)}


@pytest.mark.parametrize(
    ("changes", "file", "words"),
    [
        (foam("points", "12\n(", "13\n("), "points", "36 numbers for 13 points"),
        (foam("points", "(0 0 0)", "(0 0 nan)"), "points:9", "not finite"),
        (foam("faces", "11\n(", "12\n("), "faces", "declares 12 faces, but contains 11"),
        (foam("faces", "4(1 4 10 7)", "4(1 4 10 12)"), "faces", "point 12"),
        (
            foam("faces", "4(1 4 10 7)", "5(1 4 10 7)"),
            "faces",
            "has another number of corners than declared",
        ),
        (foam("owner", "1 1)", "1)"), "owner", "declares 11 numbers, but contains 10"),
        (foam("owner", "11(0", "11(0.5"), "owner", "must be a whole number, not 0.5"),
        (foam("owner", "11(0 0 0 0 0 0 1 1 1 1 1)", "12{0}"), "owner", "12 owners for 11 faces"),
        (foam("neighbour", "(\n1\n)", "(\n0\n)"), "polyMesh", "two different cells"),
        (foam("neighbour", "format ascii", "format binary"), "neighbour", "not end where it"),
        (foam("neighbour", "(\n1\n)", "(\n1"), "neighbour", "ends within its list"),
        (foam("neighbour", "FoamFile", "File"), "neighbour", "no FoamFile header"),
    ],
)
def test_openfoam_refused(tmp_path, changes, file, words):
    with pytest.raises(InputError, match=words) as raised:
        read(polymesh(tmp_path, **changes))
    assert file in raised.value.where


def test_openfoam_without_a_file(tmp_path):
    (polymesh(tmp_path) / "owner").unlink()
    with pytest.raises(InputError, match="no file 'owner'"):
        read(tmp_path)


REFUSED = [
    ("square.su2", "NELEM= 4", "NELEM= 5", 6, "only 4 of the declared 5 cells"),
    ("square.su2", "NELEM= 4", "NELEM= 3", 6, "3 cells but contains more"),
    ("square.su2", "NELEM= 4", "NELEM= 999999999999", 6, "999,999,999,999 cells"),
    ("square.su2", "NELEM= 4", "NELEM= -4", 2, "NELEM= needs a whole number"),
    ("square.su2", "5 0 1 3 0", "5 0 1 8 0", 3, "point 8"),
    ("square.su2", "5 0 1 3 0", "5 0 1 -1 0", 3, "point -1"),
    ("square.su2", "5 0 1 3 0", "6 0 1 3 0", 3, "SU2 has no cell type 6"),
    ("square.su2", "5 0 1 3 0", "5 0 1", 3, "needs 3 corners"),
    ("square.su2", "1 0 1\n", "1 inf 1\n", 9, "not finite"),
    ("square.su2", "1 0 1\n", "1 x 1\n", 9, "'x'"),
    ("square.su2", "NDIME= 2", "NDIME= 4", 1, "NDIME must be 2 or 3"),
    ("square.su2", "NMARK= 1", "NELEM= 0", 16, "appears twice"),
    ("two.msh", "4\n1 15", "5\n1 15", 17, "only 4 of the declared 5 cells"),
    ("two.msh", "2 3 2 5 1 1 2 3 4", "2 3 2 5 1 1 2 3 7", None, "point 7"),
    ("two.msh", "2 3 2 5 1 1 2 3 4", "2 3 3 5 1 1 2 3 4", 15, "needs 3 tags and 4 corners"),
    ("two.msh", "2 3 2 5 1 1 2 3 4", "2 99 2 5 1 1 2 3 4", 15, "type 99 are unknown"),
    ("two.msh", "9 2 0 0", "4 2 0 0", None, "two points have the number 4"),
    ("two.msh", "$EndElements", "", 12, "ends within the section"),
    ("two.msh", "2.2 0 8", "1.0 0 8", 2, "version 1"),
    ("four.msh", "2 1 3 1\n", "2 1 3 9999999\n", None, "cells of 4 points, but the section ends"),
    ("four.msh", "2 1 0 4\n", "2 1 0 4000000000\n", None, "points, but the section ends"),
    ("four.msh", "2 1 2 3 4\n2 2 2 1\n3 2 9 3\n", "2 1 2 3 4\n2 2 2 1\n", None, "section ends"),
    ("harbour.14", "2 4\n", "3 4\n", 9, "not '='"),
    ("harbour.14", "2 4\n", "2 400000\n", 2, "ends before the declared 400,000 points"),
    ("harbour.14", "2 3 1 3 4", "2 3 1 3 5", None, "point 5"),
    ("harbour.14", "2 3 1 3 4", "2 4 1 3 4", 8, "needs 4 corners"),
    (
        "harbour.14",
        "2 3 1 3 4",
        "2 5 1 3 4",
        8,
        "the second number of a cell, its number of corners, must be 3 or 4",
    ),
    ("two.mesh", "Vertices 5", "Vertices 6", 4, "Vertices declares 6 entries of"),
    ("two.mesh", "1 2 3 4 10", "1 2 3 6 10", 11, "point 6"),
    ("two.mesh", "Dimension 3", "Dimension 5", 3, "Dimension must be 2 or 3"),
    ("strip.obj", "f 2 5 6 \\\n 3", "f 2 5 7", 11, "point 7"),
    ("strip.obj", "f 2 5 6 \\\n 3", "f 2 0 1", 11, "point 0"),
    ("strip.obj", "f -4 -2 -1", "f -5 -2 -1", 8, "point 0"),
    ("strip.obj", "f -4 -2 -1", "f -4 -2", 8, "a face needs at least 3 corners, not 2"),
    ("two.xml", 'v2="3"', 'v2="4"', None, "corner 4"),
    ("two.xml", 'v2="3"', "", 12, "has no 'v2'"),
    ("two.xml", 'x="1" y="1"', 'x="one" y="1"', 6, "not a number"),
    ("two.xml", 'index="3"', 'index="2"', None, "indices are not 0 to 3"),
    ("two.xml", "</mesh>", "", 15, "not well-formed"),
    ("two.xml", '"1.0"?', '"1.0" encoding="klingon"?', 1, "encoding"),
    ("metis.mesh", "\n3\n", "\n4\n", None, "3 of the declared 4 cells"),
    ("metis.mesh", "\n3\n", "\n-3\n", None, "declares -3 cells"),
    ("metis.mesh", "1 3 4", "1 0 4", 4, "point 0"),
    ("metis.mesh", "1 3 4", "1 3 99999999", None, "99,999,999"),
    ("metis.mesh", "1 3 4", "1 3 4 5 6 7 8", None, "7 points, whose shape is unknown"),
    ("sets.msh", "2 4 12", "2 4 11", 2, "12 entries in its lists, not 11"),
    ("sets.msh", "3 3 4 5", "9 3 4 5", None, "entries"),
    ("sets.msh", "3 3 4 5", "3 3 4 9", None, "point 9|point 8"),
    ("sets.msh", "2 4 12", "999999 4 12", 2, "declares 999,999 cells"),
]


@pytest.mark.parametrize(("name", "old", "new", "line", "words"), REFUSED)
def test_refused(put, name, old, new, line, words):
    text, form, *_ = samples.TEXTS[name]
    assert old in text
    path = put(text.replace(old, new, 1), name)
    with pytest.raises(InputError, match=words) as raised:
        read(path, format=form)
    assert raised.value.file == str(path)
    if line is not None:
        assert raised.value.line == line


@pytest.mark.parametrize(
    "form", sorted({entry[1] for entry in samples.TEXTS.values()} | {"meshio"})
)
@pytest.mark.parametrize("content", [b"\x00\xff\x13" * 100, b"once upon a time\n", b"{}"])
def test_garbage_of_a_named_format(put, form, content):
    with pytest.raises(EvenerError) as raised:
        read(put(content, "a.dat"), format=form)
    assert raised.value.exit_code == 3
    assert str(raised.value).count("\n") <= 2


MESHIO = samples.by_meshio()


@pytest.mark.parametrize("name", MESHIO)
@pytest.mark.slow
def test_by_meshio(put, capfd, name, request):
    """The first in a process, as ever; the others, to whose readers that is all the same, here."""
    if name != next(iter(MESHIO)):
        request.getfixturevalue("meshio_here")
    content, n_points = MESHIO[name]
    reading = read(put(content, name))
    assert (reading.graph.n, reading.graph.m) == (2, 1)
    assert reading.mesh.n_points == n_points
    assert capfd.readouterr() == ("", "")


def test_meshio_of_a_packed_file_with_fields(put):
    import gzip

    text = "4 2 0 1 0\n" + "1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n1 7 tri 1 2 3\n2 8 tri 1 3 4\n"
    text += "1 1\nheat, K\n1 5\n2 6\n"
    reading = read(put(gzip.compress(text.encode()), "a.inp.gz"))
    assert reading.mesh.cell_data["heat"].tolist() == [5, 6]
    assert (reading.format, reading.graph.n, reading.mesh.points.shape) == ("meshio", 2, (4, 2))


_PLY = (
    "ply\nformat binary_little_endian 1.0\nelement vertex 99999999999\n"
    "property double x\nend_header\n"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        # Its reader waits for more lines at the end of the file, for ever.
        ("hang.mdpax", "Begin Nodes\n1 0 0 0\n", "takes too long to read"),
        ("huge.ply", _PLY, "cannot read as ply|code"),
        ("text.vtk", "once upon a time", "does not begin with `# vtk"),
        ("bytes.vtu", "\0\1\2", "cannot read as vtu"),
        ("far.avs", "3 1 0 0 0\n1 0 0 0\n2 1 0 0\n3 1 1 0\n1 0 tri 1 2 7\n", "avsucd"),
    ],
)
def test_meshio_at_its_worst(put, capfd, monkeypatch, name, content, words):
    monkeypatch.setitem(meshio.MESHLANE_FORMATS, ".mdpax", "mdpa")  # which Evener does not read so
    with pytest.raises(InputError, match=words) as raised:
        read(put(content, name))
    assert str(raised.value).count("\n") <= 2
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_meshio_leaves_when_its_parent_is_gone(put, tmp_path):
    path, folder = put("Begin Nodes\n1 0 0 0\n", "hang.mdpa"), tmp_path / "arrays"
    folder.mkdir()
    script = meshio_child.__file__
    command = [sys.executable, "-P", script, str(path), "mdpa", str(folder), "60", str(2**31)]
    ended = subprocess.run(command, input=b"", timeout=60, check=False)
    assert ended.returncode == 1
    assert not folder.exists()
