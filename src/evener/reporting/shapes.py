"""Divides a mesh into triangles, each with the vertex of the graph whose block colours it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.graphs.mesh import Mesh
from evener.graphs.polymesh import PolyMesh


class Triangles(NamedTuple):
    """corners (t, 3, d) coordinates; owner (t,) the graph's vertex each belongs to."""

    corners: FloatArray
    owner: IntArray


def visible_triangles(mesh: Mesh | PolyMesh, n: int) -> Triangles | None:
    """Return what can be seen of `mesh`: cells in 2-D, boundary faces in 3-D.

    n is the number of the graph's vertices: its cells or, failing that, its points, around each
    of which the cells are then divided. None where the mesh has no shape to draw: no
    coordinates, lines, or cells of unknown shape.
    """
    if not mesh.has_coordinates or mesh.dim == 1:
        return None
    if mesh.dim == 3:
        faces = mesh.boundary_faces()
        offsets, corners, cell = faces.offsets, faces.corners, faces.owner
    else:
        assert isinstance(mesh, Mesh)
        shaped = _outlines(mesh)
        if shaped is None:
            return None
        offsets, corners = shaped
        cell = np.arange(mesh.n_cells, dtype=np.int32)
    if offsets.size < 2:
        return None
    if n == mesh.n_cells:
        a, b, c, polygon = _fan(offsets, corners)
        return Triangles(_flat(mesh.points[np.stack([a, b, c], axis=1)]), cell[polygon])
    return _around_points(_flat(mesh.points), offsets, corners)


def _outlines(mesh: Mesh) -> tuple[IntArray, IntArray] | None:
    """Return offsets and corners of the cells' outlines, without mid-edge points."""
    from evener.graphs import cell_kernels as cells

    base = cells.BASE[mesh.kinds]
    if (base == cells.POINT_SET).any():
        return None
    sizes = np.diff(mesh.offsets)
    keep = np.where(base == cells.POLYGON, sizes, cells.CORNERS[base])
    offsets = np.concatenate([[0], np.cumsum(keep)])
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], keep)
    # VTK numbers the corners of a pixel row by row, not around it.
    crossed = np.repeat(base == cells.PIXEL, keep) & (place >= 2)
    place = np.where(crossed, 5 - place, place)
    return offsets, mesh.corners[np.repeat(mesh.offsets[:-1], keep) + place]


def _fan(offsets: IntArray, corners: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return a fan of triangles for each polygon, and the polygon of each triangle."""
    n_triangles = np.maximum(np.diff(offsets) - 2, 0)
    polygon = np.repeat(np.arange(n_triangles.size), n_triangles)
    number = np.arange(polygon.size) - np.repeat(np.cumsum(n_triangles) - n_triangles, n_triangles)
    first = offsets[:-1][polygon]
    return corners[first], corners[first + number + 1], corners[first + number + 2], polygon


def _around_points(points: FloatArray, offsets: IntArray, corners: IntArray) -> Triangles:
    """Return a kite for each corner of each polygon: corner, middles of its sides, centre."""
    sizes = np.diff(offsets)
    polygon = np.repeat(np.arange(sizes.size), sizes)
    place = np.arange(polygon.size)
    following = np.where(place + 1 == offsets[1:][polygon], offsets[:-1][polygon], place + 1)
    before = np.empty_like(following)
    before[following] = place
    here = points[corners]
    centre = np.zeros((sizes.size, points.shape[1]))
    np.add.at(centre, polygon, here)
    centre = (centre / np.maximum(sizes, 1)[:, None])[polygon]
    ahead, behind = (here + here[following]) / 2, (here + here[before]) / 2
    kites = [np.stack([here, ahead, centre], axis=1), np.stack([here, centre, behind], axis=1)]
    return Triangles(np.concatenate(kites), np.tile(corners, 2))


def _flat(points: FloatArray) -> FloatArray:
    """Return the points without z if they all have the same."""
    if points.shape[-1] == 3:
        z = points[..., 2]
        span = max(float(np.ptp(points[..., 0])), float(np.ptp(points[..., 1])))
        if float(np.ptp(z)) <= 1e-9 * span:
            return points[..., :2]
    return points
