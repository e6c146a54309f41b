"""Writes Gmsh's .msh in text, versions 2.2 and 4.1, with the partition of every element."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntVector, ragged
from evener.io.meshes.gmsh_elements import DIMS, SIZES, Entity, GmshElements

_AT_ONCE = 2**16  # elements or points converted to text at a time


def msh_2(elements: GmshElements) -> Iterator[bytes]:
    """Yield the file in version 2.2: elements in order, each with its partition."""
    yield b"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n" + _names(elements)
    yield b"$Nodes\n%d\n" % len(elements.points)
    for first in range(0, len(elements.points), _AT_ONCE):
        rows = elements.points[first : first + _AT_ONCE].tolist()
        tags = elements.node_tags[first : first + _AT_ONCE].tolist()
        lines = [f"{tag} {x!r} {y!r} {z!r}\n" for tag, (x, y, z) in zip(tags, rows, strict=True)]
        yield "".join(lines).encode()
    yield b"$EndNodes\n$Elements\n%d\n" % elements.types.size
    starts = elements.starts
    head = np.column_stack(
        [elements.tags, elements.types, elements.groups, elements.entities, elements.partitions]
    )
    for first in range(0, elements.types.size, _AT_ONCE):
        some = np.arange(first, min(first + _AT_ONCE, elements.types.size))
        text = np.empty(some.size, object)
        for number in np.unique(elements.types[some]):
            of_type = elements.types[some] == number
            rows = np.column_stack([head[some[of_type]], _nodes(elements, starts, some[of_type])])
            text[of_type] = _lines(rows, "%d %d 4 %d %d 1 %d" + " %d" * int(SIZES[number]))
        yield "".join(text.tolist()).encode()
    yield b"$EndElements\n"


def _nodes(elements: GmshElements, starts: IntVector, some: IntVector) -> IntVector:
    """Return the tags of the nodes of elements of one type, one row per element."""
    index = starts[some][:, None] + np.arange(SIZES[elements.types[some[0]]])
    return elements.node_tags[elements.corners[index]]


def _lines(rows: IntVector, form: str) -> list[str]:
    text = (form + "\n") * len(rows) % tuple(rows.ravel().tolist())
    return text.splitlines(keepends=True)


def _names(elements: GmshElements) -> bytes:
    if not elements.names:
        return b""
    return b"$PhysicalNames\n" + elements.names + b"\n$EndPhysicalNames\n"


class _Pieces(NamedTuple):
    """The part of each entity in each partition; each (dim, parent, partition) has a new tag.

    dim, parent, partition and tag (q,): of each piece. which (e,): the piece of each element.
    """

    dim: IntVector
    parent: IntVector
    partition: IntVector
    tag: IntVector
    which: IntVector


def msh_4(elements: GmshElements, k: int) -> Iterator[bytes]:
    """Yield the file in version 4.1: each geometric entity gets one entity per partition.

    k: number of partitions, including empty ones. Elements of the same entity, partition and type
    are consecutive, with their own tags and in order.
    """
    elements = _with_entities(elements)
    pieces = _pieces(elements)
    yield b"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n" + _names(elements)
    yield _entities(elements).encode()
    yield _divided_entities(elements, pieces, k).encode()
    yield from _node_blocks(elements, pieces)
    yield from _element_blocks(elements, pieces)


def _with_entities(elements: GmshElements) -> GmshElements:
    """Assign new entities to elements that state none, because version 4 requires one."""
    entities, dims = elements.entities.copy(), elements.dims
    for dim in np.unique(dims[entities < 1]):
        entities[(entities < 1) & (dims == dim)] = entities[dims == dim].max(initial=0) + 1
    return replace(elements, entities=entities)


def _pieces(elements: GmshElements) -> _Pieces:
    found, which = _distinct(elements.dims, elements.entities, elements.partitions)
    dim, parent, partition = found.T
    tag = np.zeros(dim.size, np.int64)
    for one in np.unique(dim):
        taken = max(tag for d, tag in _known(elements) if d == one)
        tag[dim == one] = taken + 1 + np.arange(np.count_nonzero(dim == one))
    return _Pieces(dim, parent, partition, tag, which)


def _distinct(*columns: IntVector) -> tuple[IntVector, IntVector]:
    """Return the distinct rows, sorted, and the index of each row among them."""
    order = np.lexsort(columns[::-1])
    rows = np.column_stack(columns)[order]
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    which = np.empty(len(rows), np.int64)
    which[order] = np.cumsum(is_first) - 1
    return rows[is_first], which


def _known(elements: GmshElements) -> dict[Entity, list[int]]:
    """Return the physical groups of every entity: those from the file, and its elements'."""
    known = {entity: list(groups) for entity, groups in elements.physical.items()}
    found, _ = _distinct(elements.dims, elements.entities, elements.groups)
    for dim, tag, group in found.tolist():
        groups = known.setdefault((dim, tag), [])
        if group and group not in map(abs, groups):
            groups.append(group)
    return dict(sorted(known.items()))


def _boxes(elements: GmshElements, of: IntVector, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the bounding boxes of the elements of each number in `of`: low, high (count, 3)."""
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    each = np.repeat(of, SIZES[elements.types])
    where = elements.points[elements.corners]
    np.minimum.at(low, each, where)
    np.maximum.at(high, each, where)
    empty = ~np.isfinite(low)
    low[empty], high[empty] = 0, 0
    return low, high


def _entities(elements: GmshElements) -> str:
    known = _known(elements)
    number = {entity: i for i, entity in enumerate(known)}
    found, which = _distinct(elements.dims, elements.entities)
    of = np.array([number[dim, tag] for dim, tag in found.tolist()])
    boxes = _boxes(elements, of[which], len(known))
    dims = np.array([dim for dim, _ in known])
    lines = [" ".join(str(np.count_nonzero(dims == dim)) for dim in range(4))]
    for i, ((dim, tag), groups) in enumerate(known.items()):
        lines.append(f"{tag} {_box(boxes, i, dim)} {_listed(groups)}{' 0' if dim else ''}")
    return "\n".join(["$Entities", *lines, "$EndEntities", ""])


def _divided_entities(elements: GmshElements, pieces: _Pieces, k: int) -> str:
    known = _known(elements)
    boxes = _boxes(elements, pieces.which, pieces.tag.size)
    counts = " ".join(str(np.count_nonzero(pieces.dim == dim)) for dim in range(4))
    lines = [str(k), "0", counts]
    columns = zip(*(column.tolist() for column in pieces[:4]), strict=True)
    for i, (dim, parent, partition, tag) in enumerate(columns):
        groups = _listed(known[dim, parent])
        box = _box(boxes, i, dim)
        lines.append(f"{tag} {dim} {parent} 1 {partition} {box} {groups}{' 0' if dim else ''}")
    return "\n".join(["$PartitionedEntities", *lines, "$EndPartitionedEntities", ""])


def _box(boxes: tuple[FloatArray, FloatArray], i: int, dim: int) -> str:
    low, high = boxes[0][i].tolist(), boxes[1][i].tolist()
    return " ".join(map(repr, low if dim == 0 else low + high))


def _listed(groups: list[int]) -> str:
    return " ".join(map(str, [len(groups), *groups]))


def _node_blocks(elements: GmshElements, pieces: _Pieces) -> Iterator[bytes]:
    """Yield $Nodes: a node belongs to the piece of lowest dimension and partition that uses it."""
    count = len(elements.points)
    home = np.full(count, pieces.tag.size - 1)  # default, for points without an element
    order = np.argsort(-pieces.which, kind="stable")  # pieces are sorted by dimension
    sizes, starts = SIZES[elements.types[order]], elements.starts[order]
    # If a corner is assigned several times, the last one counts.
    home[elements.corners[ragged(starts, sizes)]] = np.repeat(pieces.which[order], sizes)
    tags = elements.node_tags
    used = np.unique(home)
    yield b"$Nodes\n%d %d %d %d\n" % (used.size, count, tags.min(), tags.max())
    order = np.argsort(home, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(home[order])) + 1)
    for piece, some in zip(used.tolist(), groups, strict=True):
        yield b"%d %d 0 %d\n" % (pieces.dim[piece], pieces.tag[piece], some.size)
        yield "".join(_lines(tags[some][:, None], "%d")).encode()
        rows = elements.points[some].tolist()
        yield "".join([f"{x!r} {y!r} {z!r}\n" for x, y, z in rows]).encode()
    yield b"$EndNodes\n"


def _element_blocks(elements: GmshElements, pieces: _Pieces) -> Iterator[bytes]:
    key = pieces.which * 256 + elements.types
    order = np.argsort(key, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(key[order])) + 1)
    starts, tags = elements.starts, elements.tags
    yield b"$Elements\n%d %d %d %d\n" % (len(groups), tags.size, tags.min(), tags.max())
    for some in groups:
        piece, number = pieces.which[some[0]], elements.types[some[0]]
        yield b"%d %d %d %d\n" % (DIMS[number], pieces.tag[piece], number, some.size)
        rows = np.column_stack([tags[some], _nodes(elements, starts, some)])
        yield "".join(_lines(rows, "%d" + " %d" * int(SIZES[number]))).encode()
    yield b"$EndElements\n"
