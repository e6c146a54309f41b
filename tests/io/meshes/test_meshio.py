"""Meshes that meshlane reads: formats over HDF5, which need h5py; files that meshes name."""

import contextlib
import io
import os

import meshio
import numpy as np
import pytest

import evener as ev
from evener.cli import main
from evener.cli.commands import doctor
from evener.errors import InputError
from evener.graphs.generating.delaunay import triangle_mesh
from evener.io import read

XDMF = """\
<Xdmf Version="3.0"><Domain><Grid Name="Grid">
<Geometry GeometryType="XY"><DataItem DataType="Float" Dimensions="3 2" Format="Binary"
Precision="8">{file}</DataItem></Geometry>
<Topology TopologyType="Triangle" NumberOfElements="1"><DataItem DataType="Int" Dimensions="1 3"
Format="XML" Precision="8">0 1 2</DataItem></Topology>
</Grid></Domain></Xdmf>
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_mesh_that_names_what_is_no_file(tmp_path, kind):
    name = "/dev/zero"
    if kind == "pipe":
        name = str(tmp_path / "pipe")
        os.mkfifo(name)
    (tmp_path / "a.xdmf").write_text(XDMF.format(file=name))
    with pytest.raises(InputError, match="is not a regular file"):
        read(tmp_path / "a.xdmf")


OWN = triangle_mesh(40, seed=3)
TRIANGLES = OWN.corners.reshape(-1, 3)
FLAT = meshio.Mesh(np.c_[OWN.points, np.zeros(OWN.n_points)], [("triangle", TRIANGLES)])
SOLID = meshio.Mesh(
    np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]),
    [("tetra", np.array([[0, 1, 2, 3], [1, 2, 3, 4]]))],
)
HDF = ("a.cgns", "a.med", "a.xdmf", "a.h5m", "a.hmf")


@pytest.fixture
def h5py():
    return pytest.importorskip("h5py")


def written(folder, name):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        meshio.write(folder / name, SOLID if name.endswith(("cgns", "h5m")) else FLAT)
    return folder / name


@pytest.mark.slow
@pytest.mark.usefixtures("h5py", "meshio_here")
@pytest.mark.parametrize("name", HDF)
def test_real_files(tmp_path, name):
    reading = read(written(tmp_path, name))
    assert reading.format == "meshio"
    own = OWN.dual_graph()
    wanted = ev.Graph([0, 1, 2], [1, 0]) if reading.graph.n == 2 else own
    assert reading.graph.xadj.tolist() == wanted.xadj.tolist()
    assert reading.graph.adjncy.tolist() == wanted.adjncy.tolist()


@pytest.mark.slow
def test_the_numbers_beside_an_xdmf_file_are_inputs_too(tmp_path, h5py, meshio_here):
    path = written(tmp_path, "a.xdmf")
    before = read(path).inputs
    assert set(before) == {"a.xdmf", "a.h5"}
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        file["data0"][0, 0] += 0.5
    after = read(path).inputs
    assert after["a.xdmf"] == before["a.xdmf"]
    assert after["a.h5"] != before["a.h5"]
    (tmp_path / "a.h5").unlink()
    with pytest.raises(InputError, match=r"stores its numbers in 'a\.h5'"):
        read(path)


@pytest.mark.slow
@pytest.mark.usefixtures("h5py")
@pytest.mark.parametrize("name", ["a.cgns", "a.xdmf"])
def test_without_h5py_the_error_says_how_to_get_it(tmp_path, monkeypatch, name):
    path = written(tmp_path, name)
    (tmp_path / "without").mkdir()
    lacking = "raise ModuleNotFoundError(\"No module named 'h5py'\", name='h5py')\n"
    (tmp_path / "without" / "h5py.py").write_text(lacking)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "without"))
    with pytest.raises(InputError, match="needs h5py") as caught:
        read(path)
    assert caught.value.hint.startswith("pip install h5py (Evener's extra [meshes])")
    assert caught.value.file == str(path)


def test_doctor_names_it(capsys, monkeypatch, h5py):
    assert main(["doctor"]) == 0
    assert f"h5py        {h5py.__version__}" in capsys.readouterr().out
    found = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "h5py" else found(name))
    assert main(["doctor"]) == 0
    assert "pip install h5py" in capsys.readouterr().out


@pytest.mark.slow
def test_a_meshio_mesh_is_what_its_file_is(tmp_path, meshio_here):
    given = meshio.Mesh(
        SOLID.points,
        [("triangle", np.array([[0, 1, 2]])), *SOLID.cells],
        cell_data={"part": [np.array([9]), np.array([4, 5])]},
    )
    meshio.write(tmp_path / "a.vtu", given)
    reading, mesh = read(tmp_path / "a.vtu"), ev.Mesh.from_meshio(given)
    assert mesh.n_cells == reading.mesh.n_cells == 2
    assert mesh.cell_data["part"].tolist() == [4, 5]
    for by, again in (("cells", reading.graph), ("points", reading.mesh.nodal_graph())):
        graph = ev.Graph.from_meshio(given, by=by)
        assert graph.xadj.tolist() == again.xadj.tolist()
        assert graph.adjncy.tolist() == again.adjncy.tolist()
        assert graph.coords.tolist() == again.coords.tolist()
    with pytest.raises(ev.UsageError, match="by cells or by points"):
        ev.Graph.from_meshio(given, by="faces")


def test_meshio_meshes_that_are_none_here():
    with pytest.raises(InputError, match="no cells"):
        ev.Mesh.from_meshio(meshio.Mesh(np.zeros((3, 2)), []))
    faces = [[np.array([0, 1, 2]), np.array([0, 1, 3]), np.array([0, 2, 3]), np.array([1, 2, 3])]]
    with pytest.raises(InputError, match="polyhedron"):
        ev.Graph.from_meshio(meshio.Mesh(np.eye(4, 3), [("polyhedron4", faces)]))


# A pyramid on a cube, both as polyhedra; a prism over a pentagon beside a wedge.
_CUBE = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
_SIDES = [[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]]
_ROOF = [[4, 5, 6, 7], [4, 5, 8], [5, 6, 8], [6, 7, 8], [7, 4, 8]]


def stream(faces):
    return [len(faces), *(one for face in faces for one in (len(face), *face))]


def legacy(points, cells, types, more=""):
    numbers = sum(1 + len(cell) for cell in cells)
    rows = "".join(f"{len(cell)} {' '.join(map(str, cell))}\n" for cell in cells)
    places = "".join(f"{x} {y} {z}\n" for x, y, z in points)
    return (
        "# vtk DataFile Version 2.0\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\n"
        f"POINTS {len(points)} double\n{places}CELLS {len(cells)} {numbers}\n{rows}"
        f"CELL_TYPES {len(types)}\n{' '.join(map(str, types))}\n{more}"
    )


def test_polyhedra_of_legacy_vtk(put, meshio_here):
    points = [*_CUBE, (0.5, 0.5, 2)]
    ids = "CELL_DATA 2\nGLOBAL_IDS ids vtkIdType\n7 9\nMETADATA\nINFORMATION 0\n\n"
    ids += "FIELD f 1\nheat 1 2 float\n1 2\nPOINT_DATA 9\nGLOBAL_IDS ids int\n" + "3 " * 9 + "\n"
    path = put(legacy(points, [stream(_SIDES), stream(_ROOF)], [42, 42], ids), "p.vtk")
    reading = read(path)
    assert (reading.mesh.n_cells, reading.graph.m, reading.mesh.owner.size) == (2, 1, 10)
    assert {name: values.tolist() for name, values in reading.mesh.cell_data.items()} == {
        "ids": [7, 9],
        "heat": [1, 2],
    }
    assert read(path, by="points").graph.m == 16
    mixed = put(legacy(points, [list(range(8)), stream(_ROOF)], [12, 42]), "m.vtk")
    assert read(mixed).graph.m == 1
    assert read(mixed).mesh.owner.size == 10


def test_prisms_and_pieces_of_vtu(put, meshio_here):
    ring = [(0, 0), (1, 0), (1.5, 1), (0.5, 2), (-0.5, 1)]
    points = [(*at, z) for z in (0, 1) for at in ring] + [(1, -1, 0), (1, -1, 1)]
    cells = [list(range(10)), [0, 10, 1, 5, 11, 6]]
    text = legacy(points, cells, [15, 13])
    assert read(put(text, "p.vtk")).graph.m == 1

    def piece(x):
        triangle = f"{x} 0 0 {x + 1} 0 0 {x} 1 0"
        return (
            '<Piece NumberOfPoints="3" NumberOfCells="1"><Points><DataArray type="Float64" '
            f'NumberOfComponents="3" format="ascii">{triangle}</DataArray></Points><Cells>'
            '<DataArray type="Int32" Name="connectivity" format="ascii">0 1 2</DataArray>'
            '<DataArray type="Int32" Name="offsets" format="ascii">3</DataArray>'
            '<DataArray type="UInt8" Name="types" format="ascii">5</DataArray></Cells></Piece>'
        )

    file = '<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian">{}</VTKFile>'
    whole = f"<UnstructuredGrid>{piece(0)}{piece(5)}</UnstructuredGrid>"
    reading = read(put(file.format(whole), "two.vtu"))
    assert (reading.mesh.n_points, reading.graph.n, reading.graph.m) == (6, 2, 0)
    assert reading.notes == ("The file has 2 pieces, which share no points.",)
    with pytest.raises(InputError, match="declares 2 cells"):
        read(put(file.format(whole.replace('Cells="1"', 'Cells="2"')), "two.vtu"))
    with pytest.raises(InputError, match=r"VTK's type 77, which Evener does not know"):
        read(put(file.format(whole.replace(">5<", ">77<")), "two.vtu"))


def test_polyhedra_that_evener_wrote(tmp_path, put, meshio_here):
    points = [*_CUBE, (0.5, 0.5, 2)]
    mesh = read(put(legacy(points, [stream(_SIDES), stream(_ROOF)], [42, 42]), "p.vtk")).mesh
    ev.write_part(tmp_path / "again.vtu", [0, 1], "vtu", mesh=mesh)
    again = read(tmp_path / "again.vtu")
    assert again.graph.m == 1
    assert again.mesh.owner.size == mesh.owner.size
    assert again.mesh.cell_data["part"].tolist() == [0, 1]
