"""VTK: a mesh as one .vtu file per block, and the .pvtu that names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.errors import InputError, UsageError
from evener.graphs.pieces import MeshPieces
from evener.graphs.polymesh import PolyMesh
from evener.integrations.requests import ExportFiles, ExportRequest
from evener.io.meshes.vtu import CELL_IDS, POINT_IDS, pvtu, vtu
from evener.io.plans.partitions import named
from evener.io.plans.promises import promise_of, promise_to_dict
from evener.wording import ranges

Arrays = dict[str, npt.NDArray[Any]]


def files(request: ExportRequest) -> ExportFiles:
    """Return NAME.pvtu and, in a folder NAME, a file for each block that has cells.

    Cells and points keep their order; the fields GlobalCellIds and GlobalPointIds hold their
    numbers in the mesh, from 0; the cell field `part` holds the block. Raises UsageError for a plan
    of points, and for a target whose suffix is not .pvtu; InputError for a mesh without
    coordinates.
    """
    if request.by != "cells":
        hint = "--to vtu writes the mesh in one file, with the block of each point as a field."
        raise UsageError("pvtu divides cells, but this plan divides points", hint=hint)
    index = request.path
    if index.suffix != ".pvtu":
        raise UsageError(f"{index.name} must end in .pvtu")
    if not request.mesh.has_coordinates:
        raise InputError("the mesh has no coordinates, which VTU needs", file=request.source)
    comment = named(promise_to_dict(promise_of(request.plan)))
    pieces = MeshPieces(request.mesh, request.part)
    width = len(str(request.k - 1))
    names = {
        block: f"{index.stem}/{index.stem}_{block:0{width}}.vtu"
        for block in np.unique(request.part).tolist()
    }
    made: dict[str, Iterable[bytes]] = {
        name: _file(pieces, block, comment) for block, name in names.items()
    }
    made[index.name] = pvtu(names.values(), *_fields(0, _NONE, _NONE), comment)
    return ExportFiles(index.parent, made, tuple(_notes(request, set(names))))


_NONE = np.zeros(0, np.int64)


def _file(pieces: MeshPieces, block: int, comment: str) -> Iterator[bytes]:
    """Yield the file of a block; its mesh is made when the first bytes are requested."""
    mesh, cells, points = pieces.piece(block)
    yield from vtu(mesh, *_fields(block, cells, points), comment)


def _fields(block: int, cells: npt.NDArray[Any], points: npt.NDArray[Any]) -> tuple[Arrays, Arrays]:
    """Return the fields of cells and the fields of points."""
    part = np.full(cells.size, block, np.int32)
    return {"part": part, CELL_IDS: cells.astype(np.int64)}, {POINT_IDS: points.astype(np.int64)}


def _notes(request: ExportRequest, written: set[int]) -> Iterator[str]:
    without = [name for b, name in enumerate(request.plan.platform.names) if b not in written]
    if without:
        yield f"no files for {ranges(without)}, which have no cells"
    if isinstance(request.mesh, PolyMesh):
        yield "the files contain polyhedra: ParaView and VTK read them, meshio often does not"
