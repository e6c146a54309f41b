"""Writes PyFR's mesh files from cells in VTK's order, in plain Python."""

from itertools import combinations

import numpy as np

QUAD = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
TRI = [(-1, -1), (1, -1), (-1, 1)]
CORNERS = {
    "quad": QUAD,
    "tri": TRI,
    "tet": [*((x, y, -1) for x, y in TRI), (-1, -1, 1)],
    "hex": [(x, y, z) for z in (-1, 1) for x, y in QUAD],
    "pri": [(x, y, z) for z in (-1, 1) for x, y in TRI],
    "pyr": [*((x, y, -1) for x, y in QUAD), (0, 0, 1)],
}
FACES = {
    "quad": [(0, 1), (1, 2), (2, 3), (3, 0)],
    "tri": [(0, 1), (1, 2), (2, 0)],
    "tet": list(combinations(range(4), 3)),
    "hex": [(0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)],
    "pri": [(0, 1, 2), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)],
    "pyr": [(0, 1, 2, 3), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)],
}
# Twelve cells of all solid types on a column of cubes: hexes, prisms, pyramids and tetrahedra.
BOX_POINTS = [(x, y, z) for z in range(4) for y in (0, 1) for x in (0, 1)] + [(0.5, 0.5, 2.5)]
BOX = {
    "hex": [(0, 1, 3, 2, 4, 5, 7, 6)],
    "pri": [(4, 5, 6, 8, 9, 10), (5, 7, 6, 9, 11, 10)],
    "pyr": [(12, 14, 15, 13, 16), (8, 9, 13, 12, 16), (9, 11, 15, 13, 16), (11, 10, 14, 15, 16),
            (10, 8, 12, 14, 16)],
    "tet": [(8, 9, 10, 16), (9, 11, 10, 16)],
}  # fmt: skip


def ring(n):
    """Return points and quadrilaterals of two rows, whose first and last columns are coupled."""
    points = [(x, y) for y in range(3) for x in range(n + 1)]
    at = lambda x, y: y * (n + 1) + x  # noqa: E731
    cells = [
        (at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y + 1)) for y in range(2) for x in range(n)
    ]
    left = [(at(0, y), at(0, y + 1)) for y in range(2)]
    right = [(at(n, y), at(n, y + 1)) for y in range(2)]
    return points, {"quad": cells}, list(zip(left, right, strict=True))


def write_pyfrm(path, points, cells, coupled=(), *, curved=False, version=1, uuid="u-1"):
    """Write a mesh; cells: corners in VTK's order by type; coupled: pairs of faces, as corners.

    curved: add a node in the middle of each cell, as cells of higher order have them.
    """
    import h5py

    points = [tuple(map(float, point)) for point in points]
    types = sorted(cells)
    owners = {}
    for name in types:
        for i, cell in enumerate(cells[name]):
            for j, face in enumerate(FACES[name]):
                owners.setdefault(frozenset(cell[c] for c in face), []).append((name, i, j))
    for one, other in coupled:
        both = owners.pop(frozenset(one)) + owners.pop(frozenset(other))
        owners[frozenset((*one, *other))] = both
    middle = "face/" if version == 2 else ""
    codec = [f"eles/{name}/{middle}{j}" for name in types for j in range(len(FACES[name]))]
    codec += ["bc/wall"]
    place = {(name, j): codec.index(f"eles/{name}/{middle}{j}")
             for name in types for j in range(len(FACES[name]))}  # fmt: skip
    sides = {}
    for both in owners.values():
        for own, (name, i, j) in zip(both, reversed(both), strict=True) if len(both) == 2 else ():
            sides[own] = place[name, j], i
    with h5py.File(path, "w") as file:
        for name in types:
            corners = CORNERS[name]
            order = sorted(range(len(corners)), key=lambda c: corners[c][::-1])
            rows, where = [], [corners[c] for c in order]
            for i, cell in enumerate(cells[name]):
                nodes = [cell[c] for c in order]
                if curved:
                    nodes.append(len(points))
                    points.append(tuple(np.mean([points[c] for c in cell], axis=0)))
                faces = [sides.get((name, i, j), (len(codec) - 1, -1))
                         for j in range(len(FACES[name]))]  # fmt: skip
                rows.append((nodes, curved and i % 2 == 0, faces))
            if curved:
                where.append((0.1,) * len(corners[0]))
            kind = [("nodes", "<i8", (len(where),)), ("curved", "?"),
                    ("faces", [("cidx", "<i2"), ("off", "<i8")], (len(FACES[name]),))]  # fmt: skip
            file[f"eles/{name}"] = np.array(rows, kind)
            file[f"eles/{name}"].attrs["pts"] = np.array(where, float)
        where = [("location", "<f8", (len(points[0]),)), ("valency", "<u2")]
        file["nodes"] = np.array([(point, 1) for point in points], where)
        file["codec"] = np.array(codec, "S")
        file["mesh-uuid"] = np.bytes_(uuid)
        if coupled:
            pairs = [owners[frozenset((*one, *other))] for one, other in coupled]
            file["periodic/0"] = np.array(
                [[(place[name, j], i) for name, i, j in both] for both in pairs],
                [("cidx", "<i2"), ("off", "<i8")],
            )
    return path
