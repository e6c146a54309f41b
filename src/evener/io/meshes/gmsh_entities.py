"""Combines blocks of Gmsh's version 4, one per geometric entity, into elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntVector
from evener.io.meshes.gmsh_elements import Entity, GmshElements
from evener.io.meshes.gmsh_numbers import places
from evener.io.sources import Source


class GmshEntities(NamedTuple):
    """Data of entities: physical groups; for parts of divided entities, partition and parent."""

    physical: dict[Entity, list[int]]
    partition: dict[Entity, int]
    parent: dict[Entity, Entity]

    def add(
        self, entity: Entity, groups: list[int], parent: Entity | None, parts: list[int]
    ) -> None:
        """Add an entity; parent and parts: for an entity that is part of another one."""
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

    Physical groups and partitions are those of the entities. Elements between partitions, which
    Gmsh adds when it divides a mesh, are left out.
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
