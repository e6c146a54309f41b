"""Wavefront's .obj: lines `v x y z` and `f a b c ...`.

Vertex numbers count from 1 or, if negative, back from the last vertex.
"""

from __future__ import annotations

import re

import numpy as np

from evener.graphs.mesh import POLYGON, QUAD, TRIANGLE, Mesh
from evener.io.meshes.rows import FileRows, make_mesh, scan
from evener.io.sources import Source

_VERTEX = re.compile(rb"^[ \t]*v[ \t]+[-+.\d]", re.MULTILINE)
_TEXTURE = re.compile(rb"(?<=\d)/[^ \t\r\n]*")


def recognises(source: Source) -> bool:
    """Return whether the suffix is .obj and the first lines contain a vertex."""
    return source.suffix == ".obj" and _VERTEX.search(source.head) is not None


def read(source: Source) -> Mesh:
    """Return the faces; textures, normals, groups, lines and colours are ignored."""
    # Both replacements keep the length of the file, so that offsets stay valid.
    data = source.data.replace(b"\\\r\n", b"   ").replace(b"\\\n", b"  ")
    if b"/" in data:
        data = _TEXTURE.sub(lambda match: b" " * len(match[0]), data)
    points, faces = _lines(source, data, b"v"), _lines(source, data, b"f")
    if not len(points) or not len(faces):
        raise source.error(f"has no {'faces' if len(points) else 'vertices'}")
    table = points.columns(0, 3, at_most=7)
    sizes = faces.counts
    if (bad := np.flatnonzero(sizes < 3)).size:
        faces.refuse(int(bad[0]), f"a face needs at least 3 corners, not {sizes[bad[0]]}")
    index = np.arange(faces.values.size)
    corners = faces.integers(index, "the number of a vertex")
    # Negative numbers count back from the last vertex before the face.
    before = np.repeat(np.searchsorted(points.place, faces.place), sizes)
    negative = corners < 0
    faces.values[negative] = (corners + before + 1)[negative]
    corners = faces.corners(index, 1, len(points))
    kinds = np.where(sizes == 3, TRIANGLE, np.where(sizes == 4, QUAD, POLYGON))
    return make_mesh(source, table, sizes, corners, kinds)


def _lines(source: Source, data: bytes, key: bytes) -> FileRows:
    """Return the numbers in the lines that begin with this key; other lines are ignored."""
    from evener.io import text_kernels as kernels

    kept = np.empty(len(data), np.uint8)
    kernels.keep_lines(np.frombuffer(data, np.uint8), key[0], kept)
    return scan(source, comment=b"#", data=kept.tobytes())
