"""OFF and its variants (COFF, NOFF): points, then faces with any number of corners."""

from __future__ import annotations

import re

import numpy as np

from evener.arrays import ragged
from evener.graphs.mesh import LINE, POLYGON, QUAD, TRIANGLE, Mesh
from evener.io.meshes.rows import make_mesh, scan
from evener.io.sources import Source

_START = re.compile(rb"(?:#[^\n]*\n|\s)*(?:ST)?C?N?OFF\b[ \t\r]*(?=[\n#\d])")


def recognises(source: Source) -> bool:
    """Return whether the file begins with OFF."""
    return _START.match(source.head) is not None


def read(source: Source) -> Mesh:
    """Return the faces; colours and normals are not read."""
    start = _START.match(source.data)
    if start is None:
        raise source.error("does not begin with OFF", line=1)
    rows = scan(source, start.end(), comment=b"#")
    if not len(rows) or rows.counts[0] < 2:
        raise source.error("must begin with the numbers of points and faces", line=1)
    n_points, n_faces = rows.integers(rows.first[0] + np.arange(2), "a count").tolist()
    if not 0 < n_points <= len(rows) or not 0 < n_faces <= len(rows):
        rows.refuse(
            0, f"declares {n_points:,} points and {n_faces:,} faces, which do not fit the file"
        )
    points = rows.part(1, 1 + n_points).expect(n_points, "points").columns(0, 3, at_most=16)
    faces = rows.part(1 + n_points, len(rows)).expect(n_faces, "faces")
    sizes = faces.integers(faces.first[:-1], "the number of corners")
    if (bad := np.flatnonzero((sizes < 2) | (sizes >= faces.counts))).size:
        faces.refuse(
            int(bad[0]),
            f"a face of {sizes[bad[0]]} corners needs as many point numbers after its count",
        )
    kinds = np.full(n_faces, POLYGON)
    for size, kind in ((2, LINE), (3, TRIANGLE), (4, QUAD)):
        kinds[sizes == size] = kind
    corners = faces.corners(ragged(faces.first[:-1] + 1, sizes), 0, n_points)
    return make_mesh(source, points, sizes, corners, kinds)
