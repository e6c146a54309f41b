"""SU2 files: a triangle pair by hand, and every kind of cell read back as it was."""

import numpy as np
import pytest

from evener.errors import InputError, UsageError
from evener.graphs.generating.airfoil import airfoil
from evener.graphs.generating.delaunay import tetrahedron_mesh
from evener.graphs.mesh import HEXAHEDRON, LINE, PYRAMID, QUAD, TETRA, TRIANGLE, WEDGE, Mesh
from evener.io.meshes.su2 import su2_text
from evener.io.read import read
from evener.io.write import write_mesh

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.1]])


def mesh_of(points, *cells):
    """Cells as (kind, corners)."""
    sizes = [len(corners) for _, corners in cells]
    return Mesh(
        np.asarray(points, float),
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([corners for _, corners in cells]),
        np.array([kind for kind, _ in cells]),
    )


def same_mesh(a, b):
    return (
        np.array_equal(a.points, b.points)
        and np.array_equal(a.offsets, b.offsets)
        and np.array_equal(a.corners, b.corners)
        and np.array_equal(a.kinds, b.kinds)
    )


def test_two_triangles_by_hand():
    text = su2_text(mesh_of(SQUARE, (TRIANGLE, [0, 1, 2]), (TRIANGLE, [0, 2, 3]))).decode()
    assert text == (
        "NDIME= 2\nNELEM= 2\n5 0 1 2 0\n5 0 2 3 1\n"
        "NPOIN= 4\n0.0 0.0 0\n1.0 0.0 1\n1.0 1.0 2\n0.0 0.1 3\n"
        "NMARK= 1\nMARKER_TAG= boundary0\nMARKER_ELEMS= 4\n3 0 1\n3 1 2\n3 2 3\n3 3 0\n"
    )


def test_pieces_of_the_boundary_are_markers():
    # Two squares apart: two markers of four lines each; the first holds the smallest point.
    points = np.concatenate([SQUARE, SQUARE + 5])
    text = su2_text(mesh_of(points, (QUAD, [4, 5, 6, 7]), (QUAD, [0, 1, 2, 3]))).decode()
    assert "NMARK= 2\nMARKER_TAG= boundary0\nMARKER_ELEMS= 4\n3 0 1\n" in text
    assert "MARKER_TAG= boundary1\nMARKER_ELEMS= 4\n3 4 5\n" in text


@pytest.mark.parametrize(
    ("kind", "size", "faces"),
    [
        (TETRA, 4, {5: 4}),
        (PYRAMID, 5, {5: 4, 9: 1}),
        (WEDGE, 6, {5: 2, 9: 3}),
        (HEXAHEDRON, 8, {9: 6}),
    ],
)
def test_solids_have_triangles_and_quads_on_their_boundary(kind, size, faces, tmp_path):
    mesh = mesh_of(np.random.default_rng(70003).random((size, 3)), (kind, list(range(size))))
    _, _, markers = su2_text(mesh).decode().partition("NMARK= 1\n")
    lines = markers.splitlines()
    assert lines[1] == f"MARKER_ELEMS= {sum(faces.values())}"
    kinds = [int(line.split()[0]) for line in lines[2:]]
    assert {found: kinds.count(found) for found in set(kinds)} == faces
    write_mesh(tmp_path / "m.su2", mesh)
    assert same_mesh(read(tmp_path / "m.su2").mesh, mesh)


def test_mixed_cells_read_back(tmp_path):
    # A cube, a pyramid on its top, a tetrahedron on a side of that.
    cube = [[x, y, z] for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
    points = [*cube, [0.5, 0.5, 2], [0.5, -1, 2]]
    mesh = mesh_of(
        points,
        (HEXAHEDRON, [0, 1, 2, 3, 4, 5, 6, 7]),
        (PYRAMID, [4, 5, 6, 7, 8]),
        (TETRA, [4, 5, 8, 9]),
    )
    write_mesh(tmp_path / "m.su2", mesh)
    found = read(tmp_path / "m.su2")
    assert same_mesh(found.mesh, mesh)
    assert found.graph.m == 2
    assert b"MARKER_ELEMS= 11\n" in (tmp_path / "m.su2").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".su2", ".vtu", ".SU2"])
def test_generated_meshes_read_back(tmp_path, suffix, meshio_here):
    for number, mesh in enumerate((airfoil(4000), tetrahedron_mesh(200, 40031))):
        file = tmp_path / f"{number}{suffix}"
        write_mesh(file, mesh)
        found = read(file)
        d = mesh.points.shape[1]
        assert np.array_equal(found.mesh.points[:, :d], mesh.points)
        assert np.array_equal(found.mesh.corners, mesh.corners)
        assert found.graph.m == mesh.dual_graph().m


def test_an_airfoil_has_the_markers_body_and_circle():
    mesh = airfoil(4000)
    _, body, circle = su2_text(mesh).decode().split("MARKER_TAG= ")
    for piece, name, near in ((body, "boundary0", True), (circle, "boundary1", False)):
        head, count, *lines = piece.splitlines()
        assert head == name
        points = np.array([line.split()[1:] for line in lines], int)
        assert count == f"MARKER_ELEMS= {len(points)}"
        assert (np.abs(mesh.points[points]).max(axis=(1, 2)) < 2).all() == near


def test_a_flat_mesh_in_space_loses_its_third_coordinate():
    flat = np.column_stack([SQUARE, np.full(4, 2.5)])
    cell = (QUAD, [0, 1, 2, 3])
    assert su2_text(mesh_of(flat, cell)) == su2_text(mesh_of(SQUARE, cell))
    flat[0, 2] = 0
    with pytest.raises(InputError, match="no surfaces in space"):
        su2_text(mesh_of(flat, cell))


def test_refuses():
    with pytest.raises(InputError, match="SU2 has no lines"):
        su2_text(mesh_of(SQUARE, (LINE, [0, 1])))
    with pytest.raises(InputError, match="needs the coordinates"):
        su2_text(mesh_of(np.empty((4, 0)), (QUAD, [0, 1, 2, 3])))


def test_an_unknown_suffix_writes_nothing(tmp_path):
    with pytest.raises(
        UsageError, match=r"mesh\.obj: Evener does not write meshes to such files"
    ) as refused:
        write_mesh(tmp_path / "mesh.obj", mesh_of(SQUARE, (QUAD, [0, 1, 2, 3])))
    assert refused.value.hint == "Use .su2, .vtu."
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_leaves_the_old_file(tmp_path):
    file = tmp_path / "mesh.su2"
    file.write_text("old")
    with pytest.raises(InputError):
        write_mesh(file, mesh_of(SQUARE, (LINE, [0, 1])))
    assert file.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1
