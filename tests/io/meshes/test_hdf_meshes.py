"""CGNS, Exodus, MPAS and UGRID: files made here by h5py and SciPy, and real ones where they are."""

import numpy as np
import pytest
from scipy.io import netcdf_file

from evener.errors import InputError
from evener.graphs.mesh import HEXAHEDRON, POLYGON, PYRAMID, QUAD, TETRA, TRIANGLE, WEDGE
from evener.io import read

pytestmark = pytest.mark.usefixtures("meshio_here")


@pytest.fixture
def h5py():
    return pytest.importorskip("h5py")


def node(parent, name, label, data=None):
    """Add a node of CGNS."""
    made = parent.create_group(name)
    made.attrs["label"] = np.bytes_(label)
    if isinstance(data, str):
        data = np.frombuffer(data.encode(), np.int8)
    if data is not None:
        made.create_dataset(" data", data=np.asarray(data))
    return made


def grid_zone(base, name, points, shape):
    """Add a structured zone; points (p, 2), the first axis first."""
    sizes = np.array([shape, np.array(shape) - 1, np.zeros(2, int)])
    zone = node(base, name, "Zone_t", sizes)
    node(zone, "ZoneType", "ZoneType_t", "Structured")
    place = node(zone, "GridCoordinates", "GridCoordinates_t")
    for axis, values in zip("XY", points.T, strict=True):
        node(place, f"Coordinate{axis}", "DataArray_t", values.reshape(shape[::-1]))
    return zone


def square(nx, ny, x):
    return np.array([(x + i, j) for j in range(ny) for i in range(nx)], float)


def two_zones(h5py, path, *, connected):
    """Zones of 2 x 2 cells beside each other, the second counted along y first."""
    with h5py.File(path, "w") as file:
        base = node(file, "any name", "CGNSBase_t", [2, 2])
        one = grid_zone(base, "blk-1", square(3, 3, 0.0), (3, 3))
        turned = square(3, 3, 2.0).reshape(3, 3, 2).transpose(1, 0, 2).reshape(-1, 2)
        grid_zone(base, "blk-2", turned, (3, 3))
        if connected:
            joins = node(one, "ZoneGridConnectivity", "ZoneGridConnectivity_t")
            join = node(joins, "j", "GridConnectivity1to1_t", "blk-2")
            node(join, "PointRange", "IndexRange_t", np.array([[3, 1], [3, 3]]))
            node(join, "PointRangeDonor", "IndexRange_t", np.array([[1, 1], [3, 1]]))
            node(join, "Transform", "int[IndexDimension]", np.array([2, 1]))


@pytest.mark.parametrize(("connected", "m"), [(True, 10), (False, 8)])
def test_zones_of_any_name(h5py, tmp_path, connected, m):
    two_zones(h5py, tmp_path / "a.cgns", connected=connected)
    reading = read(tmp_path / "a.cgns")
    assert reading.mesh.kinds.tolist() == [QUAD] * 8
    assert reading.graph.m == m
    assert reading.mesh.cell_data["zone"].tolist() == [0] * 4 + [1] * 4
    assert ("joined at 3 points" if connected else "not joined") in reading.notes[0]


def test_sections_of_elements(h5py, tmp_path):
    points = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1),
                       (1, 1, 1), (0, 1, 1), (0.5, 0.5, 2)])  # fmt: skip
    with h5py.File(tmp_path / "a.cgns", "w") as file:
        base = node(file, "b", "CGNSBase_t", [3, 3])
        zone = node(base, "fluid", "Zone_t", np.array([[9], [2], [0]]))
        node(zone, "ZoneType", "ZoneType_t", "Unstructured")
        place = node(zone, "GridCoordinates", "GridCoordinates_t")
        for axis, values in zip("XYZ", points.T, strict=True):
            node(place, f"Coordinate{axis}", "DataArray_t", values)
        walls = node(zone, "Wall", "Elements_t", [7, 0])
        node(walls, "ElementRange", "IndexRange_t", [3, 3])
        node(walls, "ElementConnectivity", "DataArray_t", [1, 2, 3, 4])
        cells = node(zone, "Cells", "Elements_t", [20, 0])
        node(cells, "ElementRange", "IndexRange_t", [1, 2])
        mixed = [17, 1, 2, 3, 4, 5, 6, 7, 8, 12, 5, 6, 7, 8, 9]
        node(cells, "ElementConnectivity", "DataArray_t", mixed)
    reading = read(tmp_path / "a.cgns")
    assert reading.mesh.kinds.tolist() == [HEXAHEDRON, PYRAMID]
    assert reading.graph.m == 1


def exodus(path, blocks, points):
    """Write an Exodus file of blocks (type, nodes from 1)."""
    with netcdf_file(path, "w") as file:
        file.createDimension("num_nodes", len(points))
        file.createDimension("num_el_blk", len(blocks))
        for axis, values in zip("xyz", np.array(points, float).T, strict=True):
            file.createVariable(f"coord{axis}", "d", ("num_nodes",))[:] = values
        file.createVariable("eb_prop1", "i", ("num_el_blk",))[:] = 10 * np.arange(len(blocks)) + 10
        for i, (name, nodes) in enumerate(blocks, 1):
            file.createDimension(f"el{i}", len(nodes))
            file.createDimension(f"nod{i}", len(nodes[0]))
            made = file.createVariable(f"connect{i}", "i", (f"el{i}", f"nod{i}"))
            made[:] = np.array(nodes)
            made.elem_type = name


CUBE = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1),
        (0.5, 0.5, 2)]  # fmt: skip


@pytest.mark.parametrize(
    "types",
    [
        [("TET", 4, TETRA), ("TET4", 4, TETRA), ("TETRA", 4, TETRA), ("PYRAMID5", 5, PYRAMID),
         ("WEDGE", 6, WEDGE), ("HEX8", 8, HEXAHEDRON), ("PYRAMID13", 13, 27), ("WEDGE15", 15, 26),
         ("TETRA10", 10, 24)],
        [("SHELL4", 4, QUAD), ("SHELL", 3, TRIANGLE), ("TRISHELL3", 3, TRIANGLE),
         ("TRI3", 3, TRIANGLE)],
        [("BAR", 2, 3), ("EDGE2", 2, 3), ("TRUSS", 2, 3)],
    ],
    ids=["in space", "surfaces", "lines"],
)  # fmt: skip
@pytest.mark.slow
def test_types_of_exodus(tmp_path, types):
    points = np.random.default_rng(3).random((20, 3))
    exodus(tmp_path / "a.g", [(name, [range(1, size + 1)]) for name, size, _ in types], points)
    assert read(tmp_path / "a.g").mesh.kinds.tolist() == [kind for *_, kind in types]


def test_blocks_of_exodus(tmp_path):
    blocks = [("HEX", [list(range(1, 9))]), ("PYRAMID", [[5, 6, 7, 8, 9]])]
    exodus(tmp_path / "a.exo", blocks, CUBE)
    reading = read(tmp_path / "a.exo")
    assert reading.graph.m == 1
    assert reading.mesh.cell_data["block"].tolist() == [10, 20]


def test_mpas_and_ugrid(tmp_path):
    """Two hexagons that share an edge."""
    ring = np.exp(1j * np.pi * (np.arange(6) / 3 + 1 / 6))
    points = np.concatenate([ring, (ring + np.sqrt(3))[[0, 5, 4, 1]]])
    first, second = [1, 2, 3, 4, 5, 6], [1, 6, 9, 8, 7, 10]
    with netcdf_file(tmp_path / "mpas.nc", "w") as file:
        file.createDimension("nVertices", points.size)
        file.createDimension("nCells", 2)
        file.createDimension("maxEdges", 7)
        for axis, values in zip("xyz", (points.real, points.imag, 0 * points.real), strict=True):
            file.createVariable(f"{axis}Vertex", "d", ("nVertices",))[:] = values
        file.createVariable("nEdgesOnCell", "i", ("nCells",))[:] = 6
        table = file.createVariable("verticesOnCell", "i", ("nCells", "maxEdges"))
        table[:] = np.array([[*first, 0], [*second, 0]])
    with netcdf_file(tmp_path / "ugrid.nc", "w") as file:
        file.createDimension("node", points.size)
        file.createDimension("face", 2)
        file.createDimension("corner", 6)
        topology = file.createVariable("mesh2d", "i", ())
        topology.cf_role = "mesh_topology"
        topology.face_node_connectivity = "faces"
        topology.node_coordinates = "lon lat"
        for axis, values in (("lon", points.real), ("lat", points.imag)):
            file.createVariable(axis, "d", ("node",))[:] = values
        faces = file.createVariable("faces", "i", ("face", "corner"))
        faces[:] = np.array([first, [1, 6, 9, 8, 7, -1]])
        faces.start_index = np.int32(1)
        faces._FillValue = np.int32(-1)
    for name, sizes in (("mpas.nc", [6, 6]), ("ugrid.nc", [6, 5])):
        reading = read(tmp_path / name)
        assert reading.mesh.kinds.tolist() == [POLYGON] * 2
        assert np.diff(reading.mesh.offsets).tolist() == sizes
        assert reading.graph.m == 1


@pytest.mark.parametrize(
    ("name", "content", "words", "way"),
    [
        ("a.cgns", b"\xc0\xa8\xa3\xa9ADF Database Version A02011>", "old format ADF", "adf2hdf"),
        ("a.g", b"CDF\x05" + bytes(40), "CDF-5", "nccopy"),
        ("a.g", b"once upon", "cannot read as exodus", "ParaView"),
        ("a.cgns", b"once upon", "cannot read as cgns", "ParaView"),
    ],
)
@pytest.mark.slow
@pytest.mark.usefixtures("h5py")
def test_refused_as_a_limit(put, name, content, words, way):
    with pytest.raises(InputError, match=words) as raised:
        read(put(content, name))
    assert way in raised.value.hint


def test_elements_that_are_not_known(tmp_path):
    exodus(tmp_path / "a.g", [("SUPER", [[1, 2, 3]])], CUBE)
    with pytest.raises(InputError, match="'SUPER'"):
        read(tmp_path / "a.g")
    with netcdf_file(tmp_path / "a.nc", "w") as file:
        file.createDimension("time", 3)
        file.createVariable("time", "d", ("time",))[:] = 0
    with pytest.raises(InputError, match="is netCDF without a known mesh:"):
        read(tmp_path / "a.nc")


@pytest.mark.slow
@pytest.mark.usefixtures("h5py")
@pytest.mark.parametrize(
    ("name", "kinds", "points", "m"),
    [
        ("circle-square-2d.cgns", {TRIANGLE: 311}, 182, 440),
        ("generated.cgns", {HEXAHEDRON: 8}, 27, 12),
        ("cube.g", {HEXAHEDRON: 8}, 27, 12),
        ("two-block.g", {HEXAHEDRON: 16}, 45, 28),
        ("Turek_CSM.mdpa", {QUAD: 300}, 404, 497),
        ("ucd_grid_3.inp", {HEXAHEDRON: 1}, 8, 0),
        ("fracturedCube.vtu", {HEXAHEDRON: 50, WEDGE: 100}, 276, 223),
    ],
)
def test_real_files(data_dir, name, kinds, points, m):
    reading = read(data_dir / "strangers" / name)
    found = dict(zip(*map(list, np.unique(reading.mesh.kinds, return_counts=True)), strict=True))
    assert (found, reading.mesh.n_points, reading.graph.m) == (kinds, points, m)
