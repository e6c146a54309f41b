"""Every real mesh: counts as in the index of the inputs, by cells and by points."""

import csv
import re

import numpy as np
import pytest

from evener.graphs.mesh import QUAD, TRIANGLE
from evener.io import read
from tests.conftest import _data_folder


def _index():
    """Rows of the index that are meshes, by file; none where the inputs are not here."""
    folder = _data_folder()
    if folder is None:
        return []
    with (folder / "INDEX.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [row for row in rows if row["file"].startswith("meshes/")]


def _count(text):
    """The number of cells in entries like `34055 tetrahedra, 6966 triangles`, or None."""
    found = re.match(r"(\d+) (?:cells|tris|elems|tetrahedra)", text)
    return int(found[1]) if found else None


INDEX = _index()
SMALL = 130_000  # bytes: larger files are read when all is tested


def _rows():
    for row in INDEX:
        path = _data_folder() / row["file"]
        slow = path.is_dir() or path.stat().st_size > SMALL
        yield pytest.param(row, id=row["file"], marks=[pytest.mark.slow] if slow else [])


def test_the_index_is_read(data_dir):
    assert len(INDEX) >= 36


@pytest.mark.parametrize("row", list(_rows()))
def test_counts_agree(data_dir, row):
    reading = read(data_dir / row["file"])
    mesh, graph = reading.mesh, reading.graph
    zone = mesh.cell_data.get("zone", np.zeros(mesh.n_cells))
    if row["kind"] == "mesh elements":
        assert mesh.n_cells == int(row["n"])
    elif row["n"] and "zone" not in mesh.cell_data:
        assert mesh.n_points == int(row["n"])
    cells = _count(row["m_or_nnz"])
    if cells is not None:
        # Gmsh's count includes the cells on boundaries; the index counts the first zone only.
        left_out = [re.match(r"([\d,]+) cells? of lower", note) for note in reading.notes]
        lower = sum(int(found[1].replace(",", "")) for found in left_out if found)
        exact = "elems" not in row["m_or_nnz"]
        assert np.count_nonzero(zone == 0) + (0 if exact else lower) == cells
    assert graph.n == mesh.n_cells
    if mesh.has_coordinates:
        inside = (graph.coords >= mesh.points.min(axis=0)) & (
            graph.coords <= mesh.points.max(axis=0)
        )
        # Cells across 360 degrees may lie between the last point and the first.
        assert inside[:, 1 if getattr(mesh, "period", None) else 0 :].all()
    nodal = read(data_dir / row["file"], by="points").graph
    assert nodal.n == mesh.n_points
    assert nodal.m >= graph.n - 1 or not mesh.has_coordinates


def test_the_wedge_has_the_graph_that_lies_beside_it(data_dir):
    """The index's dual graph of this mesh was made by another program."""
    ours = read(data_dir / "meshes" / "cvrc_wedge16k_polyMesh").graph
    theirs = read(data_dir / "graphs" / "cvrc_wedge16k.graph.zst").graph
    assert np.array_equal(ours.xadj, theirs.xadj)
    assert np.array_equal(ours.adjncy, theirs.adjncy)
    far = np.abs(ours.coords - theirs.coords).max()
    assert far < 0.01 * np.ptp(theirs.coords)


def test_euler_and_the_edges_of_a_flat_mesh(data_dir):
    """Around one airfoil V - E + F = 0; each side of a cell is shared or on the boundary."""
    path = data_dir / "meshes" / "naca0012_hybrid.su2.zst"
    reading = read(path)
    mesh, dual = reading.mesh, reading.graph
    assert {TRIANGLE, QUAD} == set(mesh.kinds.tolist())
    assert mesh.n_points - mesh.nodal_graph().m + mesh.n_cells == 0
    assert mesh.corners.size == 2 * dual.m + mesh.boundary_faces().owner.size


def test_zones_are_kept_apart(data_dir):
    reading = read(data_dir / "meshes" / "pipe3d.su2.zst")
    assert reading.graph.components()[0] == 5
    assert np.bincount(reading.mesh.cell_data["zone"])[0] == 8250
    assert any("5 zones are joined" in note for note in reading.notes)
