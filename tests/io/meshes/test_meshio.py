"""Meshes that meshio reads: formats over HDF5, which need h5py; what meshes name in their turn."""

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
    with pytest.raises(InputError, match="no regular file"):
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
@pytest.mark.usefixtures("h5py")
@pytest.mark.parametrize("name", HDF)
def test_real_files(tmp_path, name):
    reading = read(written(tmp_path, name))
    assert reading.format == "meshio"
    own = OWN.dual_graph()
    wanted = ev.Graph([0, 1, 2], [1, 0]) if reading.graph.n == 2 else own
    assert reading.graph.xadj.tolist() == wanted.xadj.tolist()
    assert reading.graph.adjncy.tolist() == wanted.adjncy.tolist()


@pytest.mark.slow
def test_the_numbers_beside_an_xdmf_file_are_inputs_too(tmp_path, h5py):
    path = written(tmp_path, "a.xdmf")
    before = read(path).inputs
    assert set(before) == {"a.xdmf", "a.h5"}
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        file["data0"][0, 0] += 0.5
    after = read(path).inputs
    assert after["a.xdmf"] == before["a.xdmf"]
    assert after["a.h5"] != before["a.h5"]
    (tmp_path / "a.h5").unlink()
    with pytest.raises(InputError, match=r"leaves its numbers to 'a\.h5'"):
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
def test_a_meshio_mesh_is_what_its_file_is(tmp_path):
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
