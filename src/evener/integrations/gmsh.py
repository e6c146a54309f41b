"""Gmsh: divides the mesh of the current model by a plan; writes .msh files with partitions.

    gmsh.open("mesh.msh")
    evener.integrations.gmsh.partition("mesh.plan", mesh="mesh.msh")
    gmsh.write("divided.msh")

Partition p is block p - 1: the plan's devices, counted from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from evener.arrays import IntVector, Part, offsets_of, ragged
from evener.errors import InputError, UsageError
from evener.graphs.mesh import Mesh
from evener.graphs.polymesh import PolyMesh
from evener.integrations.blocks import (
    BlocksLike,
    RankBlocks,
    another_file,
    blocks_of_cells,
    n_devices,
    refuse_other_order,
)
from evener.integrations.packages import package
from evener.integrations.requests import ExportFiles, ExportRequest, one_file
from evener.io.meshes.gmsh import read_elements, sections_not_held
from evener.io.meshes.gmsh_elements import SIZES, VTK_KINDS, GmshElements, elements_of, in_vtk_order
from evener.io.meshes.gmsh_writing import msh_2, msh_4
from evener.io.sources import open_source
from evener.wording import plural

Writer = Callable[[GmshElements, int], Iterable[bytes]]
_NAME = "Gmsh's current model"


def partition(plan: BlocksLike, *, mesh: str | Path | None = None) -> None:
    """Divide the mesh of Gmsh's current model by a plan, including elements of lower dimension.

    plan: a Plan, its file, a Partition or the block of each cell. mesh: the planned .msh file, from
    which the model was opened: its tags identify the cells. Without it, cells are taken entity
    after entity, as Gmsh writes them in version 4, and the number of facets between blocks must
    equal the plan's. Raises InputError for another mesh, or one with renumbered elements;
    UsageError for an already divided model if `mesh` is not given. After an error, the model is
    unchanged.
    """
    gmsh = package("gmsh")
    is_divided = gmsh.model.getNumberOfPartitions() > 0
    if is_divided and mesh is None:
        raise UsageError(
            "the model is already divided, so its cells are not in the planned order",
            hint="Name the file that was planned: partition(plan, mesh=FILE).",
        )
    model = _model(gmsh)
    tags, blocks = _blocks_of(plan, model, mesh)
    if is_divided:  # removes elements between the old partitions
        gmsh.model.mesh.unpartition()
        model = _model(gmsh)
    place = np.argsort(tags)
    cells = model.tags[model.is_cell]
    part = blocks.part[place[np.searchsorted(tags, cells, sorter=place)]]
    whole, _ = divided(model, part)
    gmsh.model.mesh.partition(n_devices(blocks), whole.tags.tolist(), whole.partitions.tolist())


def _blocks_of(
    plan: BlocksLike, model: GmshElements, mesh: str | Path | None
) -> tuple[IntVector, RankBlocks]:
    """Return the tags of the cells in the plan's order, and the plan's blocks."""
    cells = model.is_cell
    blocks = blocks_of_cells(plan, int(np.count_nonzero(cells)), _NAME)
    if mesh is not None:
        return _tags_in(mesh, blocks, model), blocks
    refuse_other_order(
        blocks,
        _mesh_of(model),
        _NAME,
        "Call gmsh.open with the planned file, and name it: partition(plan, mesh=FILE).",
    )
    return model.tags[cells], blocks


def _tags_in(path: str | Path, blocks: RankBlocks, model: GmshElements) -> IntVector:
    """Return the tags of a file's cells in order. Raises InputError if the model's differ."""
    source = open_source(path)
    found = read_elements(source) if source.data.startswith(b"$") else None
    if found is None:
        hint = "Save it with gmsh -save -format msh41, and plan that file."
        raise InputError("is not a .msh file that Evener reads", file=path, hint=hint)
    if blocks.inputs and source.sha256 not in blocks.inputs.values():
        raise another_file(blocks, path)
    tags: IntVector = found.tags[found.is_cell]
    if not np.array_equal(_sorted_cells(found), _sorted_cells(model)):
        raise InputError(
            "has other elements than Gmsh's current model, or other numbers for them",
            file=path,
            hint="Call gmsh.open with this file: Gmsh renumbers elements when it writes files.",
        )
    return tags


def _sorted_cells(elements: GmshElements) -> IntVector:
    """Return the tags of all cells with the tags of their nodes, sorted by cell tag."""
    cells = np.flatnonzero(elements.is_cell)
    order = cells[np.argsort(elements.tags[cells], kind="stable")]
    sizes, starts = SIZES[elements.types[order]], elements.starts[order]
    nodes = elements.node_tags[elements.corners[ragged(starts, sizes)]]
    columns: IntVector = np.concatenate([elements.tags[order], sizes, nodes])
    return columns


def _model(gmsh: Any) -> GmshElements:
    """Return all elements of the current model, entity after entity."""
    node_tags, points, _ = gmsh.model.mesh.getNodes()
    place = np.argsort(node_tags, kind="stable")
    columns: list[tuple[Any, ...]] = []
    for dim, tag in gmsh.model.getEntities():
        for number, tags, nodes in zip(*gmsh.model.mesh.getElements(dim, tag), strict=True):
            if not 0 <= number < 256 or not SIZES[number]:
                raise InputError(
                    f"the model has elements of Gmsh's type {number}, which Evener does not know"
                )
            columns.append((np.full(len(tags), number), np.full(len(tags), tag), tags, nodes))
    if not columns:
        raise InputError("Gmsh's current model has no mesh", hint="gmsh.open(FILE) reads a mesh.")
    types, entities, tags, nodes = (
        np.concatenate(column).astype(np.int64) for column in zip(*columns, strict=True)
    )
    nothing = np.zeros(types.size, np.int64)
    corners = place[np.searchsorted(node_tags, nodes, sorter=place)]
    return GmshElements(
        node_tags.astype(np.int64),
        np.reshape(points, (-1, 3)),
        types,
        corners,
        tags,
        entities,
        nothing,
        nothing,
    )


def _mesh_of(model: GmshElements) -> Mesh:
    """Return the cells of a model."""
    cells = model.is_cell
    types = model.types[cells]
    corners = model.corners[np.repeat(cells, SIZES[model.types])]
    offsets = offsets_of(SIZES[types])
    return Mesh(model.points, offsets, in_vtk_order(corners, types), VTK_KINDS[types])


def files(request: ExportRequest) -> ExportFiles:
    """Return the mesh as a .msh file of version 4.1 in which every element has its partition.

    From a .msh file, all elements, their tags, entities and physical groups are kept; from another
    mesh only its cells. Raises UsageError for a plan of points; InputError for cells of kinds that
    Gmsh lacks.
    """
    return _files(request, msh_4)


def files_2(request: ExportRequest) -> ExportFiles:
    """Like `files`, but in version 2.2, which has one physical group for each element."""
    return _files(request, lambda elements, _: msh_2(elements))


def _files(request: ExportRequest, write: Writer) -> ExportFiles:
    if request.by != "cells":
        raise UsageError("Gmsh divides cells, but this plan divides points")
    if request.target is not None and request.target.suffix != ".msh":
        raise UsageError(f"{request.target.name}: the file name must end in .msh")
    elements, lost = _elements_of(request)
    whole, loose = divided(elements, request.part)
    if loose:
        lost.append(f"{plural(loose, 'element')} not touching any cell: put into partition 1.")
    if write is not msh_4 and any(len(groups) > 1 for groups in elements.physical.values()):
        lost.append("Version 2.2 stores only the first physical group of an entity.")
    return one_file(request.path, write(whole, request.k), *lost)


def _elements_of(request: ExportRequest) -> tuple[GmshElements, list[str]]:
    """Return the elements of the file that was read, and notes on sections that are lost."""
    assert request.reading is not None
    found = None
    if request.reading.format == "gmsh" and request.source is not None:
        source = open_source(request.source)
        found = read_elements(source)
        if found is not None:
            lost = sections_not_held(source)
            return found, [
                f"These sections are not written: {', '.join(f'${name}' for name in lost)}."
            ] if lost else []
    if isinstance(request.mesh, PolyMesh):
        hint = "`--to openfoam` and `--to vtu` write its cells."
        raise InputError(
            "is a mesh of polyhedra, which Gmsh does not support", file=request.source, hint=hint
        )
    kept = "Only cells and points are written, no boundary elements or physical groups"
    if request.reading.format == "gmsh":
        return elements_of(request.mesh), [f"{kept}: the file is of version 4.0 and binary."]
    return elements_of(request.mesh), [f"{kept}: only .msh files have them."]


_AT_ONCE = 2**16  # elements whose neighbours are found at a time
_NONE = np.iinfo(np.int64).max  # above all blocks


def divided(elements: GmshElements, part: Part) -> tuple[GmshElements, int]:
    """Return the elements with partitions, from 1, and how many got partition 1 by default.

    part: the block of each cell, from 0. An element of lower dimension, such as on a boundary, gets
    the partition of the cell that it bounds, the lowest if there are several; 1 if it shares no
    point with a cell.
    """
    cells = elements.is_cell
    partitions = np.ones(elements.types.size, np.int64)
    partitions[cells] = part.astype(np.int64) + 1
    lower = np.flatnonzero(~cells)
    loose = 0
    cell_points = _points_of(elements, np.flatnonzero(cells)).T.tocsr()
    for first in range(0, lower.size, _AT_ONCE):
        some = lower[first : first + _AT_ONCE]
        shared = (_points_of(elements, some) @ cell_points).tocsr()
        loose += _take_lowest(partitions, some, shared, part)
    return replace(elements, partitions=partitions), loose


def _points_of(elements: GmshElements, some: IntVector) -> csr_array:
    """Return a matrix with a one for each point (column) of some elements (rows)."""
    sizes = SIZES[elements.types[some]]
    points = elements.corners[ragged(elements.starts[some], sizes)]
    entries = np.ones(points.size, np.int64), points, offsets_of(sizes)
    return csr_array(entries, shape=(some.size, len(elements.points)))


def _take_lowest(partitions: IntVector, some: IntVector, shared: csr_array, part: Part) -> int:
    """Set the partitions of some elements, given the number of points shared with each cell.

    Returns the number of elements that share no point with a cell.
    """
    touched = np.flatnonzero(np.diff(shared.indptr))
    begins = shared.indptr[touched]
    if touched.size:
        most = np.maximum.reduceat(shared.data, begins)
        blocks = part[shared.indices].astype(np.int64)
        blocks[shared.data < np.repeat(most, np.diff(shared.indptr)[touched])] = _NONE
        partitions[some[touched]] = np.minimum.reduceat(blocks, begins) + 1
    return int(some.size - touched.size)
