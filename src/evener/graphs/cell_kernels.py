"""Tables of the kinds of cells, indexed by VTK's type numbers, for kernels of meshes.

DIM: dimension. BASE: the linear shape whose corners come first. SIZE: number of points, 0 if it
varies. MIDSIDE: whether points at the middle of edges follow, in the order of EDGES. Faces, turned
outward, and edges are those of VTK's linear cells.
"""

from __future__ import annotations

import numpy as np

NONE, VERTEX, LINE, TRIANGLE, QUAD, TETRA, HEXA, WEDGE, PYRAMID = 0, 1, 2, 3, 4, 5, 6, 7, 8
POLYGON, POINT_SET, PIXEL, VOXEL = 9, 10, 11, 12
MAX_FACE = 4

# (VTK type, base, size) ...
_KINDS = [
    *[(1, VERTEX, 1), (3, LINE, 2), (5, TRIANGLE, 3), (7, POLYGON, 0), (8, PIXEL, 4)],
    *[(9, QUAD, 4), (10, TETRA, 4), (11, VOXEL, 8), (12, HEXA, 8), (13, WEDGE, 6)],
    *[(14, PYRAMID, 5), (21, LINE, 3), (22, TRIANGLE, 6), (23, QUAD, 8), (24, TETRA, 10)],
    *[(25, HEXA, 20), (26, WEDGE, 15), (27, PYRAMID, 13), (28, QUAD, 9), (29, HEXA, 27)],
    *[(30, QUAD, 6), (31, WEDGE, 12), (32, WEDGE, 18), (33, HEXA, 24), (34, TRIANGLE, 7)],
    *[(35, LINE, 4), (37, PYRAMID, 19), (41, POINT_SET, 0)],
    *[(68, LINE, 0), (69, TRIANGLE, 0), (70, QUAD, 0), (71, TETRA, 0), (72, HEXA, 0)],
    *[(73, WEDGE, 0), (74, PYRAMID, 0)],
]
_MIDSIDE = (21, 22, 23, 24, 25, 26, 27, 28, 29, 32, 33, 34, 37)
_DIMS = {VERTEX: 0, LINE: 1, TRIANGLE: 2, QUAD: 2, POLYGON: 2, PIXEL: 2}
_CORNERS = [0, 1, 2, 3, 4, 4, 8, 6, 5, 3, 1, 4, 8]
_FACES = {
    TRIANGLE: ["01", "12", "20"],
    QUAD: ["01", "12", "23", "30"],
    PIXEL: ["01", "13", "32", "20"],
    TETRA: ["013", "123", "203", "021"],
    HEXA: ["0473", "1265", "0154", "3762", "0321", "4567"],
    VOXEL: ["0462", "1375", "0154", "2673", "0231", "4576"],
    WEDGE: ["021", "345", "0143", "1254", "2035"],
    PYRAMID: ["0321", "014", "124", "234", "304"],
}
_EDGES = {
    LINE: "01",
    TRIANGLE: "01 12 20",
    QUAD: "01 12 23 30",
    PIXEL: "01 13 32 20",
    TETRA: "01 12 20 03 13 23",
    HEXA: "01 12 23 30 45 56 67 74 04 15 26 37",
    VOXEL: "01 13 32 20 45 57 76 64 04 15 26 37",
    WEDGE: "01 12 20 34 45 53 03 14 25",
    PYRAMID: "01 12 23 30 04 14 24 34",
}

DIM = np.full(256, -1, np.int8)
BASE = np.zeros(256, np.int8)
SIZE = np.zeros(256, np.int32)
MIDSIDE = np.zeros(256, np.bool_)
for _kind, _base, _size in _KINDS:
    BASE[_kind], SIZE[_kind], DIM[_kind] = _base, _size, _DIMS.get(_base, 3)
MIDSIDE[list(_MIDSIDE)] = True
CORNERS = np.array(_CORNERS, np.int32)
N_FACES = np.array([len(_FACES.get(b, ())) for b in range(13)], np.int32)
FACE_SIZE = np.zeros((13, 6), np.int32)
FACE = np.zeros((13, 6, MAX_FACE), np.int32)
for _base, _faces in _FACES.items():
    for _i, _face in enumerate(_faces):
        FACE_SIZE[_base, _i] = len(_face)
        FACE[_base, _i, : len(_face)] = [int(c) for c in _face]
N_EDGES = np.array([len(_EDGES.get(b, "").split()) for b in range(13)], np.int32)
EDGE = np.zeros((13, 12, 2), np.int32)
for _base, _text in _EDGES.items():
    EDGE[_base, : N_EDGES[_base]] = [[int(c) for c in pair] for pair in _text.split()]
