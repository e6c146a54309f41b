"""Gmsh's .msh in text, versions 4.0 and 4.1: blocks of points and elements, one per entity."""

from __future__ import annotations

from typing import Any

import numpy as np

from evener.io.meshes.gmsh_elements import SIZES, Entity, GmshElements
from evener.io.meshes.gmsh_entities import ElementBlock, GmshEntities, elements_in
from evener.io.meshes.gmsh_numbers import known_types
from evener.io.meshes.rows import FileRows, scan
from evener.io.sources import Source


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
                rows.refuse(row, f"declares {n:,} cells of {size} points, but the section ends")
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
                rows.refuse(row, f"declares {n:,} points, but the section ends")
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
        """Add the data of $PartitionedEntities: their number, ghosts, then entities."""
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
        """Return the list that begins with its length, and where it ends."""
        length = self._list(rows, at, 1, end)[0]
        return self._list(rows, at + 1, length, end), at + 1 + length

    def _list(self, rows: FileRows, at: int, length: int, end: int) -> list[int]:
        if length < 0 or at < 0 or at + length > end:
            rows.refuse(max(len(rows) - 1, 0), "a section of entities ends early")
        found: list[int] = rows.integers(np.arange(at, at + length), "a tag or a count").tolist()
        return found
