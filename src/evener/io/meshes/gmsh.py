"""Gmsh's .msh, versions 2.x, 4.0 and 4.1; meshlane reads binary files of other versions.

Binary files of versions 2.2 and 4.1 are read here. Each cell's physical group is the field
`physical`, its partition, from 1, the field `partition`; 0 if it has none. `read_elements` returns
elements of all dimensions.

Text of versions 4.0 and 4.1 has one block per geometric entity; binary files are in this computer's
byte order. Periodic couplings come from $Periodic, or from PyFR's groups periodic_NAME_l and _r.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, IntVector, ragged
from evener.errors import InputError
from evener.graphs.cell_kernels import BASE, CORNERS
from evener.graphs.mesh import Mesh
from evener.graphs.polymesh import PolyMesh
from evener.io.meshes import meshio
from evener.io.meshes.couplings import Boundary, paired_surfaces, rows_of
from evener.io.meshes.couplings import once as pairs_once
from evener.io.meshes.gmsh_elements import (
    SIZES,
    VTK_KINDS,
    Entity,
    GmshElements,
    in_vtk_order,
    known_types,
    once,
    places,
)
from evener.io.meshes.rows import FileRows, make_mesh, scan
from evener.io.sources import Source

_MARK = re.compile(rb"^[ \t]*\$(\w+)[ \t\r]*$", re.MULTILINE)
# Sections that GmshElements stores; those in the first line contain nothing that a mesh needs.
_HELD = {"Comments", "MeshFormat", "Entities", "PartitionedEntities", "GhostElements"}
_HELD |= {"Nodes", "Elements", "PhysicalNames"}


def recognises(source: Source) -> bool:
    """Return whether the file begins with $MeshFormat."""
    return source.data[:64].lstrip().startswith((b"$MeshFormat", b"$Comments"))


def read(source: Source) -> Mesh | PolyMesh:
    """Return the cells of the highest dimension."""
    found, sections = read_elements(source), _sections(source)
    if found is None:
        if "Periodic" in sections:
            source.notes.append("$Periodic of binary files of version 4.0 is not read.")
        return meshio.read_as(source, "gmsh")
    fields = {"physical": found.groups, "partition": found.partitions}
    mesh = make_mesh(
        source,
        found.points,
        SIZES[found.types],
        in_vtk_order(found.corners, found.types),
        VTK_KINDS[found.types],
        cell_data={name: values for name, values in fields.items() if values.any()},
    )
    mesh = replace(mesh, regions=regions_of(found))
    if is_for_pyfr(found):
        source.notes.append(
            "Cells are in a group `fluid`, as PyFR requires; PyFR sends a value for each face "
            "(--exchange vertices: for each vertex and neighbouring block)."
        )
        mesh = replace(mesh, exchange="faces")
    return with_couplings(source, mesh, found, sections)


def read_elements(source: Source) -> GmshElements | None:
    """Return the elements of all dimensions, or None for a binary file of version 4.0."""
    sections = _sections(source)
    version, binary = _format(source, sections)
    for name in ("Nodes", "Elements"):
        if name not in sections:
            raise source.error(f"has no section ${name}")
    names = source.data[slice(*sections.get("PhysicalNames", (0, 0)))].strip()
    if binary:
        found = read_binary(source, sections, version, names)
        return once(source, found) if found is not None and version < 4 else found
    if version < 4:
        return once(source, _read_2(source, sections, names))
    return MshBlocks(source, sections, version).read(names)


def sections_not_held(source: Source) -> list[str]:
    """Return the names of the sections that GmshElements does not store."""
    return [name for name in _sections(source) if name not in _HELD]


def _sections(source: Source) -> dict[str, tuple[int, int]]:
    """Return the offsets of each section's content; for repeated names, of the first."""
    found: dict[str, tuple[int, int]] = {}
    name, start = "", 0
    for match in _MARK.finditer(source.data):
        word = match[1].decode("ascii", "replace")
        if not name and not word.startswith("End"):
            name, start = word, match.end()
        elif name and word == f"End{name}":
            found.setdefault(name, (start, match.start()))
            name = ""
    if name in ("Nodes", "Elements"):
        raise source.error(f"ends within the section ${name}", offset=start)
    return found


def _format(source: Source, sections: dict[str, tuple[int, int]]) -> tuple[float, bool]:
    start, stop = sections.get("MeshFormat", (0, 0))
    words = source.data[start:stop].split(maxsplit=3)
    match = re.fullmatch(rb"\d(\.\d{0,15})?", words[0]) if len(words) > 2 else None
    if match is None or words[1] not in (b"0", b"1"):
        raise source.error("has no $MeshFormat with a known version", line=1)
    version = float(words[0])
    if not (2 <= version < 3 or 4 <= version < 4.2):
        hint = "Evener reads versions 2.x, 4.0 and 4.1; gmsh -save converts."
        raise source.error(
            f"has version {version:g}, which Evener does not read", line=2, hint=hint
        )
    return version, words[1] == b"1"


def _read_2(source: Source, sections: dict[str, tuple[int, int]], names: bytes) -> GmshElements:
    """Return the elements from lines `id x y z` and `id type n_tags tags... corners...`."""
    nodes = _counted(scan(source, *sections["Nodes"]), "points")
    points = nodes.columns(1, 4)
    ids = nodes.integers(nodes.first[:-1], "the number of a point")
    rows = _counted(scan(source, *sections["Elements"]), "cells")
    head = rows.whole_columns(1, 3, "the type of a cell", at_most=2**31)
    types, n_tags = head[:, 0], head[:, 1]
    known_types(rows, types)
    sizes = SIZES[types]
    bad = np.flatnonzero((n_tags < 0) | (rows.counts != 3 + n_tags + sizes))
    if bad.size:
        row = int(bad[0])
        what = f"{n_tags[row]} tags and {sizes[row]} corners"
        rows.refuse(row, f"a cell of type {types[row]} needs {what} after the first 3 numbers")
    index = ragged(rows.first[:-1] + 3 + n_tags, sizes)
    corners = rows.integers(index, "the number of a point")
    return GmshElements(
        node_tags=ids,
        points=points,
        types=types,
        corners=places(source, ids, corners),
        tags=rows.integers(rows.first[:-1], "the number of a cell"),
        entities=_tag(rows, n_tags, 1),
        groups=_tag(rows, n_tags, 0),
        partitions=_tag(rows, n_tags, 3),  # the previous tag is the number of its partitions
        names=names,
    )


def _tag(rows: FileRows, n_tags: IntVector, place: int) -> IntVector:
    """Return each element's tag number `place`, 0 if it has fewer tags."""
    out = np.zeros(len(rows), np.int64)
    tagged = n_tags > place
    out[tagged] = rows.integers(rows.first[:-1][tagged] + 3 + place, "a tag")
    return out


def _counted(rows: FileRows, what: str) -> FileRows:
    """Return the rows after the first, which states their number."""
    if not len(rows) or rows.counts[0] != 1:
        raise rows.source.error(f"the number of {what} is missing")
    n = int(rows.integers(rows.first[:1], f"the number of {what}")[0])
    if n < 1:
        rows.refuse(0, f"there are no {what}")
    return rows.part(1, len(rows)).expect(n, what)


class MshBlocks:
    """A file's sections, with the offsets of their content by name, read number by number."""

    def __init__(self, source: Source, sections: dict[str, tuple[int, int]], version: float):
        self.source, self.sections, self.is_40 = source, sections, version < 4.1

    def read(self, names: bytes) -> GmshElements:
        """Return the elements; names: the section $PhysicalNames."""
        nodes = self._points()
        said = self._entities()
        rows, at, end = self._open("Elements", "cells")
        blocks = []
        while at < end:
            row = int(np.searchsorted(rows.first, at, side="right")) - 1
            (a, b, number, n), at = self._head(rows, at, end)
            known_types(rows.part(row, row + 1), np.array([number]))
            size = int(SIZES[number])
            if n < 0 or n * (size + 1) > end - at:
                rows.refuse(
                    row, f"declares {n:,} cells of {size} points, but the section ends early"
                )
            index = np.arange(at, at + n * (size + 1))
            table = rows.integers(index, "the number of a cell or point").reshape(n, size + 1)
            blocks.append(ElementBlock((b, a) if self.is_40 else (a, b), number, table))
            at += n * (size + 1)
        return elements_in(self.source, nodes, said, blocks, names)

    def _open(self, name: str, what: str) -> tuple[FileRows, int, int]:
        """Return a section's numbers, and the range of those after its first line."""
        rows = scan(self.source, *self.sections[name])
        if not len(rows) or rows.counts[0] < 2:
            raise self.source.error(f"${name} must begin with the numbers of blocks and {what}")
        return rows, int(rows.first[1]), int(rows.first[-1])

    def _head(self, rows: FileRows, at: int, end: int) -> tuple[list[int], int]:
        if at + 4 > end:
            rows.refuse(len(rows) - 1, "the section ends within a block")
        return rows.integers(np.arange(at, at + 4), "the head of a block").tolist(), at + 4

    def _points(self) -> tuple[Any, Any]:
        rows, at, end = self._open("Nodes", "points")
        ids, where = [], []
        while at < end:
            row = int(np.searchsorted(rows.first, at, side="right")) - 1
            (a, b, parametric, n), at = self._head(rows, at, end)
            dim = b if self.is_40 else a
            width = 3 + (dim if parametric and 0 <= dim <= 3 else 0)
            if n < 0 or n * (width + 1) > end - at:
                rows.refuse(row, f"declares {n:,} points, but the section ends early")
            if self.is_40:
                index = np.arange(at, at + n * (width + 1)).reshape(n, width + 1)
                ids.append(index[:, 0])
                where.append(index[:, 1:4])
            else:
                ids.append(np.arange(at, at + n))
                where.append((at + n + np.arange(n * width)).reshape(n, width)[:, :3])
            at += n * (width + 1)
        if not ids or not sum(i.size for i in ids):
            raise self.source.error("has no points")
        points = rows.values[np.concatenate(where)]
        return rows.integers(np.concatenate(ids), "the number of a point"), points

    def _entities(self) -> GmshEntities:
        said = GmshEntities({}, {}, {})
        if "Entities" in self.sections:
            rows, at, end = self._open("Entities", "entities")
            counts = rows.integers(np.arange(rows.first[0], rows.first[1]), "a count").tolist()
            self._take_entities(said, rows, counts[:4], at, end, divided=False)
        if "PartitionedEntities" in self.sections:
            self._take_divided(said)
        return said

    def _take_divided(self, said: GmshEntities) -> None:
        """Add the entities of $PartitionedEntities; skip two counts and the ghosts before them."""
        rows = scan(self.source, *self.sections["PartitionedEntities"])
        end, at = int(rows.first[-1]), 0
        numbers = self._list(rows, at, 2, end)
        at += 2 + 2 * numbers[1]
        counts = self._list(rows, at, 4, end)
        self._take_entities(said, rows, counts, at + 4, end, divided=True)

    def _take_entities(
        self,
        said: GmshEntities,
        rows: FileRows,
        counts: list[int],
        at: int,
        end: int,
        *,
        divided: bool,
    ) -> None:
        for dim, count in enumerate(counts):
            box = 3 if dim == 0 and not self.is_40 else 6
            for _ in range(count):
                entity, at = (dim, self._list(rows, at, 1, end)[0]), at + 1
                parent: Entity | None = None
                parts: list[int] = []
                if divided:
                    parent_dim, parent_tag = self._list(rows, at, 2, end)
                    parent = parent_dim, parent_tag
                    parts, at = self._counted(rows, at + 2, end)
                groups, at = self._counted(rows, at + box, end)
                said.add(entity, groups, parent, parts)
                if dim > 0:
                    _, at = self._counted(rows, at, end)

    def _counted(self, rows: FileRows, at: int, end: int) -> tuple[list[int], int]:
        """Return the list at `at`, which begins with its length, and the index after it."""
        length = self._list(rows, at, 1, end)[0]
        return self._list(rows, at + 1, length, end), at + 1 + length

    def _list(self, rows: FileRows, at: int, length: int, end: int) -> list[int]:
        if length < 0 or at < 0 or at + length > end:
            rows.refuse(max(len(rows) - 1, 0), "a section of entities ends early")
        found: list[int] = rows.integers(np.arange(at, at + length), "a tag or a count").tolist()
        return found


class GmshEntities(NamedTuple):
    """Data of entities: physical groups; for parts of divided entities, partition and parent."""

    physical: dict[Entity, list[int]]
    partition: dict[Entity, int]
    parent: dict[Entity, Entity]

    def add(
        self, entity: Entity, groups: list[int], parent: Entity | None, parts: list[int]
    ) -> None:
        """Add an entity; parent: the entity that contains it, or None; parts: its partitions."""
        if groups:
            self.physical[entity] = groups
        if parent is not None:
            self.partition[entity] = parts[0] if parts else 0
            if parent[0] >= 0:
                self.parent[entity] = parent


class ElementBlock(NamedTuple):
    """Elements of one entity and one of Gmsh's types; rows (n, 1 + size): tag, then nodes."""

    entity: Entity
    number: int
    rows: Any


def elements_in(
    source: Source,
    nodes: tuple[IntVector, FloatArray],
    said: GmshEntities,
    blocks: Sequence[ElementBlock],
    names: bytes,
) -> GmshElements:
    """Return the elements of all blocks; nodes: their tags and points.

    Each element has the physical group and the partition of its entity. Elements between
    partitions, which Gmsh adds when it divides a mesh, are left out.
    """
    kept = []
    for block in blocks:
        parent = said.parent.get(block.entity, block.entity)
        if parent[0] == block.entity[0] and len(block.rows):
            kept.append((parent[1], _group(said, block.entity, parent), block))
    if not kept:
        raise source.error("has no cells")
    counts = [len(block.rows) for _, _, block in kept]
    corners = np.concatenate([block.rows[:, 1:].ravel() for _, _, block in kept])
    parts = [said.partition.get(block.entity, 0) for _, _, block in kept]
    return GmshElements(
        node_tags=nodes[0],
        points=nodes[1],
        types=np.repeat([block.number for _, _, block in kept], counts),
        corners=places(source, nodes[0], corners),
        tags=np.concatenate([block.rows[:, 0] for _, _, block in kept]),
        entities=np.repeat([tag for tag, _, _ in kept], counts),
        groups=np.repeat([group for _, group, _ in kept], counts),
        partitions=np.repeat(parts, counts),
        physical={one: said.physical[one] for one in said.physical if one not in said.parent},
        names=names,
    )


def _group(said: GmshEntities, entity: Entity, parent: Entity) -> int:
    """Return the first physical group of an entity, else of its parent; 0 for none."""
    listed = said.physical.get(entity) or said.physical.get(parent) or [0]
    return abs(listed[0])


class _Reader:
    """Reads numbers from a section, one after the other."""

    def __init__(self, source: Source, name: str, place: tuple[int, int]):
        self.source, self.name, (self.at, self.stop) = source, name, place

    def skip_line(self) -> int:
        """Read a line of text with a number, which precedes the binary data in version 2."""
        line = self.source.data[self.at : self.stop].split(b"\n", 1)[0]
        if not line.strip().isdigit() or len(line) > 20:
            raise self.source.error(f"${self.name} does not begin with a number")
        self.at += len(line) + 1
        return int(line)

    def take(self, kind: str, count: int) -> npt.NDArray[Any]:
        """Return the next numbers: "i" int, "q" size_t, "d" double."""
        return self.table(np.dtype(f"={kind}"), count)

    def numbers(self, kind: str, count: int) -> list[int]:
        """Return the next whole numbers as a list."""
        return [int(one) for one in self.take(kind, count)]

    def table(self, row: np.dtype[Any], count: int) -> npt.NDArray[Any]:
        """Return the next rows, structured by the dtype `row`."""
        width = count * row.itemsize
        if count < 0 or self.at + width > self.stop:
            raise self.source.error(
                f"${self.name} declares {count:,} more numbers than it contains"
            )
        found: npt.NDArray[Any] = np.frombuffer(self.source.data, row, count, self.at)
        self.at += width
        return found


def read_binary(
    source: Source, sections: dict[str, tuple[int, int]], version: float, names: bytes
) -> GmshElements | None:
    """Return the elements of a binary file; None if the version is not 2.2 or 4.1."""
    start, stop = sections["MeshFormat"]
    text, _, one = source.data[start:stop].lstrip(b"\r\n").partition(b"\n")
    if text.split()[2:] != [b"8"] or one[:4] != np.int32(1).tobytes():
        raise source.error(
            "is binary with another byte order, or has a data size other than 8 bytes"
        )
    if version == 4.1:
        return _read_4(source, sections, names)
    return _read_binary_2(source, sections, names) if version < 3 else None


def _read_4(source: Source, sections: dict[str, tuple[int, int]], names: bytes) -> GmshElements:
    said = GmshEntities({}, {}, {})
    if "Entities" in sections:
        _take_entities(said, opened(source, "Entities", sections), divided=False)
    if "PartitionedEntities" in sections:
        reader = opened(source, "PartitionedEntities", sections)
        _, ghosts = reader.numbers("q", 2)
        reader.take("i", 2 * ghosts)
        _take_entities(said, reader, divided=True)
    nodes = _nodes_4(opened(source, "Nodes", sections))
    reader = opened(source, "Elements", sections)
    blocks = []
    for _ in range(_count_of_blocks(reader)):
        dim, tag, number = reader.numbers("i", 3)
        n, size = reader.numbers("q", 1)[0], _size(source, number)
        rows = reader.take("q", n * (size + 1)).reshape(n, size + 1)
        blocks.append(ElementBlock((dim, tag), number, rows))
    return elements_in(source, nodes, said, blocks, names)


def opened(source: Source, name: str, sections: dict[str, tuple[int, int]]) -> _Reader:
    """Return the reader of a section, from the line after its name."""
    start, stop = sections[name]
    end_of_line = source.data.find(b"\n", start, stop)
    return _Reader(source, name, (stop if end_of_line < 0 else end_of_line + 1, stop))


def _count_of_blocks(reader: _Reader) -> int:
    """Return the number of blocks, after checking it; each has at least 20 bytes."""
    count = reader.numbers("q", 4)[0]
    if not 0 <= count <= (reader.stop - reader.at) // 20:
        raise reader.source.error(f"${reader.name} declares {count:,} blocks, but ends early")
    return count


def _nodes_4(reader: _Reader) -> tuple[IntVector, FloatArray]:
    tags, points = [np.empty(0, np.int64)], [np.empty((0, 3))]
    for _ in range(_count_of_blocks(reader)):
        dim, _, parametric = reader.numbers("i", 3)
        n = reader.numbers("q", 1)[0]
        width = 3 + (dim if parametric and 0 <= dim <= 3 else 0)
        tags.append(reader.take("q", n).astype(np.int64))
        points.append(reader.take("d", n * width).reshape(n, width)[:, :3].astype(np.float64))
    found = np.concatenate(tags)
    if not found.size:
        raise reader.source.error("has no points")
    return found, _finite(reader.source, np.concatenate(points))


def _finite(source: Source, points: FloatArray) -> FloatArray:
    if not np.isfinite(points).all():
        raise source.error("has a point with a coordinate that is not finite")
    return points


def _take_entities(said: GmshEntities, reader: _Reader, *, divided: bool) -> None:
    for dim, count in enumerate(reader.numbers("q", 4)):
        for _ in range(count):  # a wrong count ends at the section's end
            tag, parent, parts = reader.numbers("i", 1)[0], None, []
            if divided:
                parent_dim, parent_tag = reader.numbers("i", 2)
                parent, parts = (parent_dim, parent_tag), _listed(reader)
            reader.take("d", 3 if dim == 0 else 6)
            said.add((dim, tag), _listed(reader), parent, parts)
            if dim > 0:
                _listed(reader)


def _listed(reader: _Reader) -> list[int]:
    return reader.numbers("i", reader.numbers("q", 1)[0])


def _size(source: Source, number: int) -> int:
    if not 0 <= number < SIZES.size or not SIZES[number]:
        raise source.error(f"has cells of Gmsh's type {number}, which Evener does not know")
    return int(SIZES[number])


def _read_binary_2(
    source: Source, sections: dict[str, tuple[int, int]], names: bytes
) -> GmshElements:
    reader = opened(source, "Nodes", sections)
    nodes = reader.table(np.dtype([("tag", "=i4"), ("x", "=f8", 3)]), reader.skip_line())
    if not nodes.size:
        raise source.error("has no points")
    reader = opened(source, "Elements", sections)
    promised, rows = reader.skip_line(), []
    while promised > 0:
        number, n, n_tags = reader.numbers("i", 3)
        size = _size(source, number)
        if not (0 < n <= promised and 0 <= n_tags <= 2**16):
            raise source.error(f"$Elements has a block of {n:,} cells with {n_tags:,} tags")
        table = reader.take("i", n * (1 + n_tags + size)).reshape(n, -1)
        rows.append((np.full(n, number), table, n_tags))
        promised -= n
    if not rows:
        raise source.error("has no cells")
    ids = nodes["tag"].astype(np.int64)
    corners = np.concatenate([table[:, 1 + n_tags :].ravel() for _, table, n_tags in rows])
    return GmshElements(
        node_tags=ids,
        points=_finite(source, nodes["x"].astype(np.float64)),
        types=np.concatenate([types for types, _, _ in rows]),
        corners=places(source, ids, corners.astype(np.int64)),
        tags=np.concatenate([table[:, 0] for _, table, _ in rows]).astype(np.int64),
        entities=_tags_at(1, rows),
        groups=_tags_at(0, rows),
        partitions=_tags_at(3, rows),
        names=names,
    )


def _tags_at(place: int, rows: list[tuple[IntVector, npt.NDArray[Any], int]]) -> IntVector:
    """Return each element's tag number `place`, 0 if it has fewer tags."""
    found = [
        table[:, 1 + place] if n_tags > place else np.zeros(len(table), np.int64)
        for _, table, n_tags in rows
    ]
    return np.concatenate(found).astype(np.int64)


_NAME = re.compile(rb'^\s*(\d)\s+(\d{1,10})\s+"([^"\r\n]*)"', re.MULTILINE)
_PYFR = re.compile(r"periodic[ _-]([a-z0-9]+)[ _-]([lr])")  # as in PyFR's reader
_PYFR_CELLS = "fluid"  # the group that PyFR requires

Links = list[tuple[IntVector, IntVector]]


def with_couplings(
    source: Source, mesh: Mesh, found: GmshElements, sections: dict[str, tuple[int, int]]
) -> Mesh:
    """Return the mesh with the cells that periodic faces couple; notes report missing ones.

    sections: offsets of the file's sections, by name.
    """
    links = _links(source, found, sections, mesh.dim - 1) if "Periodic" in sections else []
    surfaces = _pyfr_surfaces(found, mesh.dim - 1)
    if not (links or surfaces):
        return mesh
    boundary = Boundary(mesh)
    pairs = boundary.paired_by_points(links)
    if links and not len(pairs):
        source.notes.append("$Periodic links points, but no whole face.")
    faces = {name: boundary.places(_corners(found, which)) for name, which in surfaces.items()}
    more, apart = paired_surfaces(
        boundary, faces, [(n, f"{n[:-1]}r") for n in faces if n[-1] == "l"]
    )
    pairs = pairs_once(np.concatenate([pairs, more]))
    apart = [name for name in apart if not np.isin(faces[name], pairs).all()]
    if apart:
        names = ", ".join(sorted(apart))
        source.notes.append(f"Periodic groups whose faces do not match are left out: {names}.")
    return replace(mesh, coupled=boundary.coupled(pairs))


def is_for_pyfr(found: GmshElements) -> bool:
    """Return whether a physical group is called `fluid`, as PyFR requires for the cells."""
    names = _names(found)
    dim = int(found.dims.max())
    return any(d == dim and name.lower() == _PYFR_CELLS for (d, _), name in names.items())


def regions_of(found: GmshElements) -> dict[str, IntArray]:
    """Return the cells of each physical group, by its name or number."""
    names, dim = _names(found), int(found.dims.max())
    groups = found.groups[found.is_cell]
    return {
        names.get((dim, tag), str(tag)): np.flatnonzero(groups == tag)
        for tag in np.unique(groups[groups > 0]).tolist()
    }


def _names(found: GmshElements) -> dict[tuple[int, int], str]:
    """Return the names of physical groups, by dimension and number."""
    return {
        (int(dim), int(tag)): name.decode("utf-8", "replace")
        for dim, tag, name in _NAME.findall(found.names)
    }


def _pyfr_surfaces(found: GmshElements, dim: int) -> dict[str, Any]:
    """Return the elements (e,) of each group that PyFR treats as periodic, by name."""
    surfaces = {}
    for (d, tag), name in _names(found).items():
        if d == dim and _PYFR.fullmatch(name.lower()):
            surfaces[name.lower()] = (found.groups == tag) & (found.dims == d)
    return surfaces


def _corners(found: GmshElements, which: Any) -> IntArray:
    """Return rows with the corners of some elements, without points of higher order."""
    sizes = CORNERS[BASE[VTK_KINDS[found.types[which]]]]
    index = ragged(found.starts[:-1][which], sizes)
    return rows_of(sizes, found.corners[index])


def _links(
    source: Source, found: GmshElements, sections: dict[str, tuple[int, int]], dim: int
) -> Links:
    """Return the links of entities of a dimension: points and their images, as indices."""
    words = source.data[slice(*sections["MeshFormat"])].split(maxsplit=2)
    if words[1] == b"1" and float(words[0]) >= 4:
        pairs = _binary_links(source, sections, dim)
    else:  # in version 2, this section is text even in binary files
        pairs = _text_links(source, sections["Periodic"], float(words[0]), dim)
    return [
        (places(source, found.node_tags, pair[:, 0]), places(source, found.node_tags, pair[:, 1]))
        for pair in pairs
    ]


def _binary_links(
    source: Source, sections: dict[str, tuple[int, int]], dim: int
) -> list[IntVector]:
    reader = opened(source, "Periodic", sections)
    kept: list[IntVector] = []
    for _ in range(reader.numbers("q", 1)[0]):  # a wrong count ends at the section's end
        entity = reader.numbers("i", 3)
        reader.take("d", reader.numbers("q", 1)[0])
        n = reader.numbers("q", 1)[0]
        pairs = reader.take("q", 2 * n).reshape(-1, 2)
        if entity[0] == dim:
            kept.append(pairs.astype(np.int64))
    return kept


def _text_links(
    source: Source, place: tuple[int, int], version: float, dim: int
) -> list[IntVector]:
    """Return the pairs of nodes of each link, from lines `dim tag tag`, transform, count, pairs.

    A transform is `Affine` and its numbers; from version 4.1 on, their count and the numbers.
    """
    lines = source.data[slice(*place)].split(b"\n")
    rows = [words for line in lines if (words := line.split())]
    try:
        kept: list[IntVector] = []
        at = 1
        for _ in range(int(rows[0][0])):
            entity, at = [int(word) for word in rows[at]], at + 1
            if version >= 4.1 or rows[at][0] == b"Affine":
                at += 1
            n, at = int(rows[at][0]), at + 1
            pairs = np.array(rows[at : at + n], dtype=np.int64).reshape(n, 2)
            at += n
            if entity[0] == dim:
                kept.append(pairs)
    except (IndexError, ValueError, OverflowError) as error:
        raise _damaged(source, place) from error
    return kept


def _damaged(source: Source, place: tuple[int, int]) -> InputError:
    message = "has a section $Periodic that ends early or contains something other than numbers"
    return source.error(message, offset=place[0])
