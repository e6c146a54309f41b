"""Gmsh's .msh of versions 4.0 and 4.1: blocks of points and elements, one a geometric entity."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evener.io.meshes.gmsh_elements import SIZES, Entity, GmshElements
from evener.io.meshes.gmsh_numbers import known_types, places
from evener.io.meshes.rows import Rows, scan
from evener.io.sources import Source


class _Entities(NamedTuple):
    """What is said of entities: physical groups; of those of one partition, it and their parent."""

    physical: dict[Entity, list[int]]
    partition: dict[Entity, int]
    parent: dict[Entity, Entity]


class MshBlocks:
    """A file's sections, by name the offsets of their content, read number by number."""

    def __init__(self, source: Source, sections: dict[str, tuple[int, int]], version: float):
        self.source, self.sections, self.is_40 = source, sections, version < 4.1

    def read(self, names: bytes) -> GmshElements:
        """Return the elements; physical groups and partitions are those of their entities.

        Elements between partitions, which Gmsh adds when it divides a mesh, are left out.
        """
        ids, points = self._points()
        said = self._entities()
        rows, at, end = self._open("Elements", "cells")
        types, index, entities, groups, parts = [], [], [], [], []
        while at < end:
            row = int(np.searchsorted(rows.first, at, side="right")) - 1
            (a, b, number, n), at = self._head(rows, at, end)
            entity = (b, a) if self.is_40 else (a, b)
            known_types(rows.part(row, row + 1), np.array([number]))
            size = int(SIZES[number])
            if n < 0 or n * (size + 1) > end - at:
                rows.refuse(row, f"{n:,} cells of {size} points are spoken of; the section ends")
            block = np.arange(at, at + n * (size + 1)).reshape(n, size + 1)
            at += n * (size + 1)
            dim, tag = parent = said.parent.get(entity, entity)
            if dim != entity[0]:
                continue
            group = said.physical.get(entity) or said.physical.get(parent) or [0]
            index.append(block)
            types.append(np.full(n, number))
            entities.append(np.full(n, tag))
            groups.append(np.full(n, abs(group[0])))
            parts.append(np.full(n, said.partition.get(entity, 0)))
        if not types or not sum(t.size for t in types):
            raise self.source.error("has no cells")
        corners = np.concatenate([block[:, 1:].ravel() for block in index])
        tags = np.concatenate([block[:, 0] for block in index])
        return GmshElements(
            node_tags=ids,
            points=points,
            types=np.concatenate(types),
            corners=places(self.source, ids, rows.integers(corners, "the number of a point")),
            tags=rows.integers(tags, "the number of a cell"),
            entities=np.concatenate(entities),
            groups=np.concatenate(groups),
            partitions=np.concatenate(parts),
            physical={one: said.physical[one] for one in said.physical if one not in said.parent},
            names=names,
        )

    def _open(self, name: str, what: str) -> tuple[Rows, int, int]:
        """Return a section's numbers, and where those after its first line begin and end."""
        rows = scan(self.source, *self.sections[name])
        if not len(rows) or rows.counts[0] < 2:
            raise self.source.error(f"${name} begins with the numbers of its blocks and {what}")
        return rows, int(rows.first[1]), int(rows.first[-1])

    def _head(self, rows: Rows, at: int, end: int) -> tuple[list[int], int]:
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
                rows.refuse(row, f"{n:,} points are spoken of, but the section ends")
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

    def _entities(self) -> _Entities:
        said = _Entities({}, {}, {})
        if "Entities" in self.sections:
            rows, at, end = self._open("Entities", "entities")
            counts = rows.integers(np.arange(rows.first[0], rows.first[1]), "a count").tolist()
            self._take_entities(said, rows, counts[:4], at, end, divided=False)
        if "PartitionedEntities" in self.sections:
            self._take_divided(said)
        return said

    def _take_divided(self, said: _Entities) -> None:
        """Add what $PartitionedEntities says: their number, ghosts, then entities."""
        rows = scan(self.source, *self.sections["PartitionedEntities"])
        end, at = int(rows.first[-1]), 0
        numbers = self._list(rows, at, 2, end)
        at += 2 + 2 * numbers[1]
        counts = self._list(rows, at, 4, end)
        self._take_entities(said, rows, counts, at + 4, end, divided=True)

    def _take_entities(
        self, said: _Entities, rows: Rows, counts: list[int], at: int, end: int, *, divided: bool
    ) -> None:
        for dim, count in enumerate(counts):
            box = 3 if dim == 0 and not self.is_40 else 6
            for _ in range(count):
                entity, at = (dim, self._list(rows, at, 1, end)[0]), at + 1
                if divided:
                    parent = self._list(rows, at, 2, end)
                    parts, at = self._counted(rows, at + 2, end)
                    if parent[0] >= 0:
                        said.parent[entity] = (parent[0], parent[1])
                    said.partition[entity] = parts[0] if parts else 0
                groups, at = self._counted(rows, at + box, end)
                if groups:
                    said.physical[entity] = groups
                if dim > 0:
                    _, at = self._counted(rows, at, end)

    def _counted(self, rows: Rows, at: int, end: int) -> tuple[list[int], int]:
        """Return the list that begins with its length, and where it ends."""
        length = self._list(rows, at, 1, end)[0]
        return self._list(rows, at + 1, length, end), at + 1 + length

    def _list(self, rows: Rows, at: int, length: int, end: int) -> list[int]:
        if length < 0 or at < 0 or at + length > end:
            rows.refuse(max(len(rows) - 1, 0), "a section of entities ends early")
        found: list[int] = rows.integers(np.arange(at, at + length), "a tag or a count").tolist()
        return found
