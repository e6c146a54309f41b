"""Gmsh's binary .msh of versions 2.2 and 4.1, in this computer's byte order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector
from evener.io.meshes.gmsh_elements import SIZES, GmshElements
from evener.io.meshes.gmsh_entities import ElementBlock, GmshEntities, elements_in
from evener.io.meshes.gmsh_numbers import places
from evener.io.sources import Source


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
            "is binary with another byte order, or with numbers that have not 8 bytes"
        )
    if version == 4.1:
        return _read_4(source, sections, names)
    return _read_2(source, sections, names) if version < 3 else None


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
    for _ in range(_count_of_blocks(reader, 20)):
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


def _count_of_blocks(reader: _Reader, least: int) -> int:
    """Return the number of blocks, after checking it; each has at least `least` bytes."""
    count = reader.numbers("q", 4)[0]
    if not 0 <= count <= (reader.stop - reader.at) // least:
        raise reader.source.error(f"${reader.name} declares {count:,} blocks, but ends early")
    return count


def _nodes_4(reader: _Reader) -> tuple[IntVector, FloatArray]:
    tags, points = [np.empty(0, np.int64)], [np.empty((0, 3))]
    for _ in range(_count_of_blocks(reader, 20)):
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


def _read_2(source: Source, sections: dict[str, tuple[int, int]], names: bytes) -> GmshElements:
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
