"""Reads meshes in HDF5 and netCDF for the program `meshio_child`: CGNS, Exodus, MPAS, UGRID, PyFR.

Loaded by its path, so that only NumPy, SciPy and h5py need to be importable. A mesh is returned in
meshlane's form; the type of a block of cells is VTK's number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

POLYGON = 7
# VTK's types by shape and number of points; other numbers are VTK's Lagrange cells.
_KINDS = {
    "point": {1: 1},
    "line": {2: 3, 3: 21, 4: 35},
    "triangle": {3: 5, 6: 22, 7: 34},
    "quad": {4: 9, 8: 23, 9: 28},
    "tetra": {4: 10, 10: 24},
    "pyramid": {5: 14, 13: 27},
    "wedge": {6: 13, 15: 26, 18: 32},
    "hexa": {8: 12, 20: 25, 27: 29},
}
_LAGRANGE = dict(zip(list(_KINDS)[1:], (68, 69, 70, 71, 74, 73, 72), strict=True))
# VTK's order of the points if it differs from CGNS and Exodus, which list top edges last.
_ORDER = {
    26: [*range(9), 12, 13, 14, 9, 10, 11],
    32: [*range(9), 12, 13, 14, 9, 10, 11, 15, 16, 17],
    25: [*range(12), *range(16, 20), *range(12, 16)],
    29: [*range(12), *range(16, 20), *range(12, 16), *range(20, 27)],
}


class HdfUnreadError(Exception):
    """The file contains something that is not read; `way` is a hint.

    The text completes the sentence `the file ...`.
    """

    def __init__(self, text: str, way: str = ""):
        super().__init__(text)
        self.way = way


def _block(shape: str, nodes: Any) -> SimpleNamespace:
    """Return a block of cells of this shape; nodes (n, size), from 0."""
    size = nodes.shape[1]
    kind = _KINDS[shape].get(size) or _LAGRANGE.get(shape, 0)
    if not kind or size < min(_KINDS[shape]):
        raise HdfUnreadError(f"has cells of {size} points, called {shape}")
    return SimpleNamespace(type=kind, data=nodes[:, _ORDER.get(kind, range(size))])


def _mesh(points: Any, cells: list[Any], cell_data: dict[str, Any], notes: list[str]) -> Any:
    fields = {"cell_data": cell_data, "point_data": {}, "cell_sets": {}, "notes": notes}
    return SimpleNamespace(points=points, cells=cells, **fields)


class _Variables(NamedTuple):
    """A netCDF file: names of variables, and functions for their values and attributes."""

    names: list[str]
    values: Callable[[str], Any]
    attribute: Callable[[str, str], Any]


def _netcdf(path: str) -> _Variables:
    """Open a netCDF file: classic files by SciPy, version 4 by h5py."""
    with open(path, "rb") as file:  # noqa: PTH123 - as h5py opens it
        head = file.read(4)
    if head == b"CDF\x05":
        raise HdfUnreadError(
            "is netCDF in the format CDF-5, which SciPy does not read",
            "Convert it: nccopy -k netCDF-4 x.nc y.nc.",
        )
    if head[:3] == b"CDF":
        from scipy.io import netcdf_file

        classic = netcdf_file(path, mmap=False)
        found = classic.variables
        return _Variables(
            list(found),
            lambda name: found[name][...].copy(),
            lambda name, key: _text(getattr(found[name], key, None)),
        )
    import h5py

    whole = h5py.File(path, "r")
    return _Variables(
        [name for name in whole if isinstance(whole[name], h5py.Dataset)],
        lambda name: whole[name][...],
        lambda name, key: _text(whole[name].attrs.get(key)),
    )


def _text(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.ravel()[0]
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


_EXODUS = {
    "point": ("SPHERE", "CIRCLE", "POINT", "NODE"),
    "line": ("BAR", "BEAM", "TRUSS", "ROD", "EDGE", "LINE"),
    "triangle": ("TRI",),  # also TRIANGLE, TRISHELL
    "quad": ("QUAD", "SHELL"),
    "tetra": ("TET",),
    "pyramid": ("PYR",),
    "wedge": ("WED", "PENTA", "PRISM"),
    "hexa": ("HEX",),
}


def exodus(path: str) -> Any:
    """Return the blocks of an Exodus file; the field `block` holds each cell's block number."""
    file = _netcdf(path)
    if "coord" in file.names:
        points = file.values("coord").T
    else:
        axes = [name for name in ("coordx", "coordy", "coordz") if name in file.names]
        if not axes:
            raise HdfUnreadError("has no coordinates of Exodus")
        points = np.column_stack([file.values(name) for name in axes])
    n = sum(name.startswith("connect") and name[7:].isdigit() for name in file.names)
    ids = file.values("eb_prop1") if "eb_prop1" in file.names else np.arange(1, n + 1)
    cells, blocks = [], []
    for i in range(1, n + 1):
        name = str(file.attribute(f"connect{i}", "elem_type") or "").upper()
        nodes = np.asarray(file.values(f"connect{i}"))
        if name == "NSIDED":
            cells.append(_polygons(nodes.ravel() - 1, file.values(f"ebepecnt{i}")))
        else:
            shapes = [shape for shape, names in _EXODUS.items() if name.startswith(names)]
            if not shapes or nodes.ndim != 2:
                raise HdfUnreadError(
                    f"has elements of the type {name[:30]!r}, which Evener does not know"
                )
            shape = "triangle" if name.startswith("SHELL") and nodes.shape[1] == 3 else shapes[0]
            cells.append(_block(shape, nodes - 1))
        blocks.append(np.full(len(cells[-1].data), int(ids[i - 1])))
    data = {"block": blocks} if len(blocks) > 1 else {}
    notes: list[str] = []
    data |= _exodus_fields(file, [len(block.data) for block in cells], notes)
    return _mesh(points, cells, data, notes)


def _exodus_fields(file: _Variables, sizes: list[int], notes: list[str]) -> dict[str, Any]:
    """Return the element variables that all blocks have, at the last time step."""
    if "name_elem_var" not in file.names:
        return {}
    fields: dict[str, Any] = {}
    steps = 0
    for v, letters in enumerate(file.values("name_elem_var"), 1):
        name = b"".join(np.asarray(letters, "S1").tolist()).decode("utf-8", "replace").strip()
        parts = []
        for block, size in enumerate(sizes, 1):
            variable = f"vals_elem_var{v}eb{block}"
            values = file.values(variable) if variable in file.names else np.empty((0, 0))
            if len(values) and len(values[-1]) == size:
                parts.append(np.asarray(values[-1], np.float64))
                steps = max(steps, len(values))
        if len(parts) == len(sizes):
            fields[name] = parts
        else:
            notes.append(f"The field {name!r} is left out: some blocks do not have it.")
    if steps > 1:
        notes.append(f"Of {steps:,} time steps of the fields, Evener reads the last.")
    return fields


def _polygons(nodes: Any, counts: Any) -> SimpleNamespace:
    """Return polygons with these numbers of corners, which are consecutive in nodes."""
    ends = np.cumsum(counts)
    if counts.size == 0 or counts.min() < 3 or ends[-1] != nodes.size:
        raise HdfUnreadError("has polygons with another number of corners than declared")
    return SimpleNamespace(type=POLYGON, data=np.split(nodes, ends[:-1]))


def netcdf(path: str) -> Any:
    """Return the cells of an MPAS mesh, or the faces of a UGRID topology."""
    file = _netcdf(path)
    if {"verticesOnCell", "nEdgesOnCell", "xVertex", "yVertex", "zVertex"} <= set(file.names):
        points = np.column_stack([file.values(f"{axis}Vertex") for axis in "xyz"])
        table, counts = file.values("verticesOnCell"), file.values("nEdgesOnCell")
        inside = np.arange(table.shape[1]) < np.asarray(counts)[:, None]
        return _mesh(points, [_polygons(table[inside] - 1, counts)], {}, [])
    for name in file.names:
        if file.attribute(name, "cf_role") == "mesh_topology":
            return _ugrid(file, name)
    raise HdfUnreadError(
        "is netCDF without a known mesh: MPAS's verticesOnCell, or UGRID's mesh_topology",
        "Evener recognises Exodus files by the suffixes .e, .exo, .ex2 and .g.",
    )


def _ugrid(file: _Variables, name: str) -> Any:
    """Return the faces of the topology called `name`."""
    if file.attribute(name, "volume_node_connectivity"):
        raise HdfUnreadError("has a UGRID topology of volumes; Evener reads only faces")
    faces = file.attribute(name, "face_node_connectivity")
    places = str(file.attribute(name, "node_coordinates") or "").split()
    if faces not in file.names or len(places) < 2 or not set(places) <= set(file.names):
        raise HdfUnreadError("has a UGRID topology without faces and coordinates of its nodes")
    points = np.column_stack([file.values(place) for place in places])
    table = np.asarray(file.values(faces))
    if (
        table.ndim == 2
        and str(file.attribute(name, "face_dimension") or "")
        and (table.shape[0] < table.shape[1] and table.shape[0] <= 8)
    ):
        table = table.T  # the nodes of a face are in columns
    start, fill = file.attribute(faces, "start_index"), file.attribute(faces, "_FillValue")
    base = 0 if start is None else int(start)
    inside = (table >= base) & (table < base + len(points))
    if fill is not None:
        inside &= table != fill
    return _mesh(points, [_polygons(table[inside] - base, inside.sum(axis=1))], {}, [])


# CGNS: the shape and number of points of each element type.
_CGNS = {
    2: ("point", 1), 3: ("line", 2), 4: ("line", 3), 24: ("line", 4), 40: ("line", 5),
    5: ("triangle", 3), 6: ("triangle", 6), 25: ("triangle", 9), 26: ("triangle", 10),
    41: ("triangle", 12), 42: ("triangle", 15), 7: ("quad", 4), 8: ("quad", 8), 9: ("quad", 9),
    27: ("quad", 12), 28: ("quad", 16), 43: ("quad", 16), 44: ("quad", 25), 10: ("tetra", 4),
    11: ("tetra", 10), 29: ("tetra", 16), 30: ("tetra", 20), 45: ("tetra", 22), 46: ("tetra", 34),
    47: ("tetra", 35), 12: ("pyramid", 5), 21: ("pyramid", 13), 13: ("pyramid", 14),
    31: ("pyramid", 21), 32: ("pyramid", 29), 33: ("pyramid", 30), 14: ("wedge", 6),
    15: ("wedge", 15), 16: ("wedge", 18), 34: ("wedge", 24), 35: ("wedge", 38), 36: ("wedge", 40),
    17: ("hexa", 8), 18: ("hexa", 20), 19: ("hexa", 27), 37: ("hexa", 32), 38: ("hexa", 56),
    39: ("hexa", 64),
}  # fmt: skip
_MIXED, _NGON, _NFACE = 20, 22, 23
_WAY = "Convert it with ParaView, or with Gmsh: gmsh x.cgns -save -o x.msh."


def cgns(path: str) -> Any:
    """Return the zones of a CGNS base; None for a file without CGNS's labels.

    Points that zones' 1-to-1 connections identify are merged. `zone` is a field.
    """
    with open(path, "rb") as file:  # noqa: PTH123 - as h5py opens it
        if b"ADF Database" in file.read(64):
            raise HdfUnreadError(
                "is CGNS in the old format ADF, which h5py does not read",
                "Convert it with CGNS's program: adf2hdf x.cgns y.cgns.",
            )
    import h5py

    whole = h5py.File(path, "r")
    bases = list(_children(whole, "CGNSBase_t"))
    if not bases:
        return None
    zones = [zone for base in bases for _, zone in _children(base[1], "Zone_t")]
    names = [name for base in bases for name, _ in _children(base[1], "Zone_t")]
    if not zones:
        raise HdfUnreadError("has no zone")
    points, cells, numbers, first = [], [], [], [0]
    for i, zone in enumerate(zones):
        own, blocks = _zone(zone)
        for block in blocks:
            data = (
                [row + first[-1] for row in block.data]
                if block.type == POLYGON
                else (block.data + first[-1])
            )
            cells.append(SimpleNamespace(type=block.type, data=data))
            numbers.append(np.full(len(data), i))
        points.append(own)
        first.append(first[-1] + len(own))
    joined, notes = np.concatenate(points), list[str]()
    if len(zones) > 1:
        same, periodic = _connections(zones, names, first)
        places = _one_for_all(joined, cells, same)
        notes.append(
            f"{len(zones):,} zones, joined at {places:,} points."
            if places
            else f"{len(zones):,} zones, not joined: the file connects none of their points."
        )
        if periodic:
            notes.append(f"{periodic:,} periodic connections of zones are not read.")
    return _mesh(joined, cells, {"zone": numbers} if len(zones) > 1 else {}, notes)


def _children(node: Any, label: str) -> Iterator[tuple[str, Any]]:
    """Yield names and nodes of the children with this label."""
    for name in node:
        child = node[name]
        if hasattr(child, "keys") and _text(child.attrs.get("label")) == label:
            yield name, child


def _data(node: Any) -> Any:
    return node[" data"][...]


def _word(node: Any) -> str:
    """Return the text in a node that stores characters."""
    return bytes(_data(node).astype(np.uint8).ravel()).decode("latin-1").strip("\0 ")


def _zone(zone: Any) -> tuple[Any, list[Any]]:
    """Return the points (p, 3) of a zone, and its blocks of cells."""
    sizes = np.asarray(_data(zone))
    grids = [grid for _, grid in _children(zone, "GridCoordinates_t")]
    if not grids:
        raise HdfUnreadError("has a zone without coordinates")
    arrays = dict(_children(grids[0], "DataArray_t"))
    axes = [f"Coordinate{axis}" for axis in "XYZ" if f"Coordinate{axis}" in arrays]
    if not axes:
        raise HdfUnreadError(f"has coordinates {', '.join(arrays)[:60]}, not CoordinateX", _WAY)
    points = np.column_stack([_data(arrays[axis]).ravel() for axis in axes])
    kinds = [_word(kind) for _, kind in _children(zone, "ZoneType_t")]
    if kinds and kinds[0] == "Structured":
        return points, [_grid(sizes[0].astype(np.int64), len(points))]
    sections = sorted(
        (section for _, section in _children(zone, "Elements_t")),
        key=lambda section: int(_data(section["ElementRange"])[0]),
    )
    blocks = [block for section in sections for block in _section(section)]
    if not blocks:
        raise HdfUnreadError("has a zone without elements")
    declared, total = int(sizes.ravel()[1]), sum(len(block.data) for block in blocks)
    if declared > total:
        raise HdfUnreadError(f"declares a zone of {declared:,} cells, but contains {total:,}")
    return points, blocks


def _grid(shape: Any, n: int) -> SimpleNamespace:
    """Return the cells of a structured zone, which has shape[i] points along axis i."""
    if shape.size not in (2, 3) or int(np.prod(shape)) != n or shape.min() < 2:
        raise HdfUnreadError(f"has a structured zone of {shape.tolist()} points")
    numbers = np.arange(n).reshape(shape[::-1])
    low, high = slice(None, -1), slice(1, None)
    square = [(low, low), (low, high), (high, high), (high, low)]
    if shape.size == 2:
        return _block("quad", np.stack([numbers[at].ravel() for at in square], axis=1))
    corners = [(layer, *at) for layer in (low, high) for at in square]
    return _block("hexa", np.stack([numbers[at].ravel() for at in corners], axis=1))


def _section(section: Any) -> list[Any]:
    """Return the blocks of cells of a section of elements."""
    kind = int(_data(section)[0])
    start, stop = (int(one) for one in _data(section["ElementRange"]))
    nodes = np.asarray(_data(section["ElementConnectivity"])).ravel()
    n = stop - start + 1
    if kind in _CGNS:
        shape, size = _CGNS[kind]
        if nodes.size != n * size:
            raise HdfUnreadError(f"has {nodes.size:,} numbers for {n:,} elements of {size} points")
        return [_block(shape, nodes.reshape(n, size) - 1)]
    if kind == _MIXED:
        return _mixed(nodes, n)
    if kind == _NGON and "ElementStartOffset" in section:
        return [_polygons(nodes - 1, np.diff(_data(section["ElementStartOffset"])))]
    what = "polyhedra (NFACE_n)" if kind == _NFACE else f"elements of the type {kind}"
    raise HdfUnreadError(f"has {what}, which are not read from CGNS", _WAY)


def _mixed(nodes: Any, n: int) -> list[Any]:
    """Return blocks of the elements of a mixed section, in order."""
    blocks, at = [], 0
    shape, rows = ("", 0), list[Any]()
    for _ in range(n):
        kind = int(nodes[at]) if at < nodes.size else -1
        if kind not in _CGNS or at + 1 + _CGNS[kind][1] > nodes.size:
            raise HdfUnreadError(f"has elements of the type {kind} in a mixed section", _WAY)
        if _CGNS[kind] != shape and rows:
            blocks.append(_block(shape[0], np.array(rows) - 1))
            rows = []
        shape = _CGNS[kind]
        rows.append(nodes[at + 1 : at + 1 + shape[1]])
        at += 1 + shape[1]
    return [*blocks, _block(shape[0], np.array(rows) - 1)] if rows else blocks


def _connections(zones: list[Any], names: list[str], first: list[int]) -> tuple[Any, int]:
    """Return pairs of identical points, (2, s), and the number of periodic connections."""
    same, periodic = [np.empty((2, 0), np.int64)], 0
    for i, zone in enumerate(zones):
        for _, group in _children(zone, "ZoneGridConnectivity_t"):
            for label in ("GridConnectivity1to1_t", "GridConnectivity_t"):
                for _, link in _children(group, label):
                    donor = _word(link).rpartition("/")[2]
                    if _is_periodic(link):
                        periodic += 1
                        continue
                    if donor not in names:
                        continue
                    j = names.index(donor)
                    pairs = (
                        _ranges(link, zone, zones[j])
                        if label.endswith("1to1_t")
                        else (_lists(link))
                    )
                    if pairs is not None:
                        same.append(pairs + np.array([[first[i]], [first[j]]]))
    return np.concatenate(same, axis=1), periodic


def _is_periodic(link: Any) -> bool:
    return any(
        next(_children(one, "Periodic_t"), None) is not None
        for _, one in _children(link, "GridConnectivityProperty_t")
    )


def _lists(link: Any) -> Any:
    """Return the points of both sides that a connection lists; None if it lists faces."""
    kinds = [_word(one) for _, one in _children(link, "GridConnectivityType_t")]
    places = [_word(one) for _, one in _children(link, "GridLocation_t")]
    if kinds[:1] != ["Abutting1to1"] or places[:1] not in ([], ["Vertex"]):
        return None
    if "PointList" not in link or "PointListDonor" not in link:
        return None
    own, other = (np.asarray(_data(link[f"PointList{end}"])) for end in ("", "Donor"))
    if own.size != other.size or 1 not in (*own.shape, own.ndim):
        return None
    return np.stack([own.ravel(), other.ravel()]).astype(np.int64) - 1


def _ranges(link: Any, zone: Any, other: Any) -> Any:
    """Return the points of both sides of a connection of two structured zones."""
    shapes = [np.asarray(_data(one))[0].astype(np.int64) for one in (zone, other)]
    own, donor = (
        np.asarray(_data(link[name])).reshape(2, -1).astype(np.int64)
        for name in ("PointRange", "PointRangeDonor")
    )
    dim = own.shape[1]
    turn = (
        np.asarray(_data(link["Transform"])).ravel() if "Transform" in link else np.arange(dim) + 1
    )
    steps = np.where(own[1] >= own[0], 1, -1)
    counts = np.abs(own[1] - own[0]) + 1
    at = np.stack([one.ravel() for one in np.indices(counts)])  # (dim, s) from the begin
    mine = own[0][:, None] + steps[:, None] * at
    theirs = np.repeat(donor[0][:, None], at.shape[1], axis=1)
    for axis in range(dim):
        to = abs(int(turn[axis])) - 1
        theirs[to] += int(np.sign(turn[axis])) * steps[axis] * at[axis]
    return np.stack(
        [_number(one - 1, shape) for one, shape in zip((mine, theirs), shapes, strict=True)]
    )


def _number(at: Any, shape: Any) -> Any:
    """Return the numbers of points at indices (dim, s) of a grid, with the first axis fastest."""
    if (at < 0).any() or (at >= shape[:, None]).any():
        raise HdfUnreadError("connects points that do not exist in a zone")
    return np.cumprod([1, *shape[:-1]]) @ at


def _one_for_all(points: Any, cells: list[Any], same: Any) -> int:
    """Give identical points one number in all cells; return how many points are merged.

    Connections of points at different places are ignored.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if same.size and (same.min() < 0 or same.max() >= len(points)):
        raise HdfUnreadError("connects points that do not exist in a zone")
    extent = float(np.ptp(points, axis=0).max())
    near = np.abs(points[same[0]] - points[same[1]]).max(axis=1, initial=0) <= 1e-6 * extent
    same = same[:, near]
    graph = coo_array((np.ones(same.shape[1], bool), (same[0], same[1])), shape=(len(points),) * 2)
    _, label = connected_components(graph, directed=False)
    lowest = np.full(len(points), len(points))
    np.minimum.at(lowest, label, np.arange(len(points)))
    for block in cells:
        if block.type == POLYGON:
            block.data = [lowest[label[row]] for row in block.data]
        else:
            block.data = lowest[label[block.data]]
    return int(np.unique(same).size - np.unique(lowest[label[np.unique(same)]]).size)


# PyFR's meshes, of its versions 3.1 and later: elements of each type with their nodes, and the
# element and face at the other side of each face.

# The type in VTK, and the corners of the reference element in VTK's order (wedges in Gmsh's).
_QUAD = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
_TRI = [(-1, -1), (1, -1), (-1, 1)]
_PYFR: dict[str, tuple[int, list[Any]]] = {
    "tri": (5, _TRI),
    "quad": (9, _QUAD),
    "tet": (10, [*((x, y, -1) for x, y in _TRI), (-1, -1, 1)]),
    "hex": (12, [(x, y, z) for z in (-1, 1) for x, y in _QUAD]),
    "pri": (13, [(x, y, z) for z in (-1, 1) for x, y in _TRI]),
    "pyr": (14, [*((x, y, -1) for x, y in _QUAD), (0, 0, 1)]),
}
_SIDE = re.compile(r"eles/(\w+)/(?:face/)?\d+$")  # in the codec of format 1, or of format 2
_AGAIN = "`pyfr import` of PyFR 3.1 or later writes such meshes."


def pyfrm(path: str) -> Any:
    """Return the elements type by type in alphabetical order, as PyFR's partitioners number them.

    `pairs` of the result: pairs of elements (p, 2): "coupled", at both sides of each periodic face,
    and "faces", at both sides of each face between two elements, periodic or not. Cell fields
    `partitioning NAME`: the rank of each element. Only the corners of curved elements are read.
    """
    import h5py

    with h5py.File(path, "r") as file:
        if not {"eles", "nodes", "codec", "mesh-uuid"} <= set(file):
            raise HdfUnreadError("is not a mesh of PyFR 3.1 or later", _AGAIN)
        types = sorted(file["eles"])
        if unknown := [name for name in types if name not in _PYFR]:
            raise HdfUnreadError(f"has elements of the type {unknown[0]}", _AGAIN)
        elements = {name: file[f"eles/{name}"][()] for name in types}
        sizes = np.array([len(one) for one in elements.values()])
        first = dict(zip(types, (np.cumsum(sizes) - sizes).tolist(), strict=True))
        n = int(sizes.sum())
        begin = _begins(file, first)
        cells = [
            _elements(name, elements[name]["nodes"], file[f"eles/{name}"].attrs.get("pts"))
            for name in types
        ]
        faces = [_faces(elements[name]["faces"], first[name], begin, n) for name in types]
        periodic = [one[()] for one in file["periodic"].values()] if "periodic" in file else []
        coupled = [_numbers(one.reshape(-1, 2), begin, n) for one in periodic if one.size]
        notes: list[str] = []
        ranks = _partitionings(file, types, elements, notes)
        mesh = _mesh(file["nodes"]["location"], cells, ranks, notes)
        mesh.pairs = {
            "coupled": np.concatenate([np.empty((0, 2), np.int64), *coupled]),
            "faces": np.concatenate([np.empty((0, 2), np.int64), *faces]),
        }
        mesh.uuid = file["mesh-uuid"][()].decode("ascii")
    return mesh


def _elements(name: str, nodes: Any, places: Any) -> SimpleNamespace:
    """Return a block of elements; nodes (n, s); places (s, d): their reference coordinates."""
    kind, corners = _PYFR[name]
    places = np.zeros((0, 1)) if places is None else np.asarray(places)
    found = (
        [np.flatnonzero((places == np.array(one)).all(axis=1)) for one in corners]
        if (places.ndim == 2 and places.shape == (nodes.shape[-1], len(corners[0])))
        else []
    )
    if not found or any(one.size != 1 for one in found):
        raise HdfUnreadError(f"does not say which nodes of {name} elements are corners", _AGAIN)
    return SimpleNamespace(type=kind, data=nodes[:, np.concatenate(found)])


def _begins(file: Any, first: dict[str, int]) -> Any:
    """Return, for each codec entry, the first element of the type it names; -1: no type."""
    codec = [_SIDE.match(one.decode("utf-8", "replace")) for one in file["codec"][()]]
    return np.array([first.get(one[1], -1) if one else -1 for one in codec] or [-1])


def _faces(faces: Any, first: int, begin: Any, n: int) -> Any:
    """Return both elements of each inner face (p, 2), once, the lower number first."""
    element, _ = np.nonzero(faces["off"] >= 0)  # others are boundaries
    other = _numbers(faces[faces["off"] >= 0], begin, n)
    pairs = np.column_stack([element + first, other])
    return pairs[pairs[:, 0] < pairs[:, 1]]


def _numbers(sides: Any, begin: Any, n: int) -> Any:
    """Return the elements of these sides, numbered over all types."""
    inside = (sides["cidx"] >= 0) & (sides["cidx"] < begin.size)
    start = begin[np.where(inside, sides["cidx"], 0)]
    found = start + sides["off"]
    if not inside.all() or (start < 0).any() or (found < 0).any() or (found >= n).any():
        raise HdfUnreadError("connects elements that do not exist", _AGAIN)
    return found.astype(np.int64)


def _partitionings(
    file: Any, types: list[str], elements: dict[str, Any], notes: list[str]
) -> dict[str, Any]:
    """Return, by name of the partitioning, the ranks of all elements: an array for each type.

    Damaged partitionings are left out, with a note: the mesh does not depend on them.
    """
    found: dict[str, Any] = {}
    sizes = [len(elements[one]) for one in types]
    for name, group in file.get("partitionings", {}).items():
        try:
            ranks = _ranks(group["eles"][()], group["eles"].attrs["regions"], sizes)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            ranks = None
        if ranks is None:
            notes.append(f"The partitioning {name!r} is damaged, or of another mesh; left out.")
        elif max(one.max(initial=0) for one in ranks) > 0:
            found[f"partitioning {name}"] = ranks
    return found


def _ranks(listed: Any, regions: Any, sizes: list[int]) -> list[Any] | None:
    """Return the rank of each element, a list by type; None unless each has exactly one."""
    regions = np.asarray(regions)
    if regions.ndim != 2 or regions.shape[1] != len(sizes) + 1 or listed.size != sum(sizes):
        return None
    ranks = [np.full(size, -1) for size in sizes]
    for rank, ends in enumerate(regions.tolist()):
        for one, (begin, end) in enumerate(pairwise(ends)):
            own = listed[max(begin, 0) : max(end, 0)]
            if own.size and (own.min() < 0 or own.max() >= sizes[one]):
                return None
            ranks[one][own] = rank
    return None if any((one < 0).any() for one in ranks) else ranks
