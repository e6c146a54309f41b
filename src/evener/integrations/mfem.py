"""MFEM: the partitioning array of a mesh, the meshes of all ranks, and the partitioning file.

    mesh = mfem.Mesh("mesh.mesh")
    parts = mfem.MeshPartitioner(mesh, 3, partitioning("mesh.plan", mesh).GetData())

In C++ the array goes to MeshPartitioner or ParMesh. Rank r gets the block of the plan's device r.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evener.arrays import Part, offsets_of
from evener.errors import UsageError
from evener.files.writing import write_together
from evener.graphs.mesh import Mesh
from evener.integrations.blocks import (
    BlocksLike,
    RankBlocks,
    blocks_of_cells,
    n_devices,
    refuse_other_order,
)
from evener.integrations.packages import package
from evener.integrations.requests import ExportFiles, ExportRequest, one_file

if TYPE_CHECKING:
    import mfem.ser

# VTK's types of MFEM's geometries: point, segment, triangle, square, tetrahedron, cube, prism,
# pyramid.
_VTK = np.array([1, 3, 5, 9, 10, 12, 13, 14])
_NAME = "the mesh that MFEM holds"
_LINES = 2**16  # lines of the partitioning file converted to text at a time
_DIGITS = 6  # digits of a rank in a file name, as in MFEM's MakeParFilename


def partitioning(plan: BlocksLike, mesh: mfem.ser.Mesh) -> mfem.ser.intArray:
    """Return the block of each element of `mesh`; its GetData() can be passed to MeshPartitioner.

    plan: a Plan, its file, a Partition or the block of each element. mesh: read from the planned
    file, and neither refined nor reordered. Keep the array as long as MFEM uses its data. Raises
    InputError if the mesh has other elements, or if the number of facets between blocks differs
    from the plan's.
    """
    part = _checked(plan, mesh).part
    return package("mfem.ser").intArray(part.tolist())


def write_parts(
    plan: BlocksLike, mesh: mfem.ser.Mesh, prefix: str | Path, *, force: bool = False
) -> list[Path]:
    """Write each rank's mesh to PREFIX.000000 etc., in MFEM's parallel format; return the paths.

    `ParMesh(comm, stream)` reads one file on each rank; `mesh-explorer -np K -m PREFIX.` shows
    them. Raises the errors of `partitioning`, and UsageError if a file exists, unless `force` is
    given.
    """
    mfem = package("mfem.ser")
    blocks = _checked(plan, mesh)
    k = n_devices(blocks)
    array = mfem.intArray(blocks.part.tolist())
    partitioner = mfem.MeshPartitioner(mesh, k, array.GetData())
    prefix = Path(prefix)
    made = {f"{prefix.name}.{rank:0{_DIGITS}d}": _part(partitioner, rank) for rank in range(k)}
    return write_together(prefix.parent, made, force=force)


def _part(partitioner: Any, rank: int) -> Iterable[bytes]:
    """Yield the text of one rank's mesh, which is extracted only when it is written."""
    part = package("mfem.ser").MeshPart()
    partitioner.ExtractPart(rank, part)
    text = io.StringIO()
    part.Print(text)
    yield text.getvalue().encode()


def _checked(plan: BlocksLike, mesh: Any) -> RankBlocks:
    """Return the blocks after checking that this mesh has the plan's elements, in file order."""
    blocks = blocks_of_cells(plan, mesh.GetNE(), _NAME)
    if blocks.cut is not None:
        hint = "Read the file that was planned, and divide it before it is refined or reordered."
        refuse_other_order(blocks, _mesh_of(mesh), _NAME, hint)
    return blocks


def _mesh_of(mesh: Any) -> Mesh:
    """Return the elements of an mfem.Mesh by their vertices, without points of higher order."""
    kinds = _VTK[[mesh.GetElementBaseGeometry(i) for i in range(mesh.GetNE())]]
    corners = [mesh.GetElementVertices(i) for i in range(mesh.GetNE())]
    offsets = offsets_of(np.array([len(one) for one in corners], np.int64))
    return Mesh(np.zeros((mesh.GetNV(), 0)), offsets, np.concatenate(corners), kinds)


def files(request: ExportRequest) -> ExportFiles:
    """Return the partitioning file, as mesh-explorer writes it.

    It has two counts, then one block per line. Raises UsageError for a plan of points.
    """
    if request.by != "cells":
        raise UsageError("MFEM divides elements (cells), but this plan divides points")
    return one_file(request.path, _partitioning_file(request.part, request.k))


def _partitioning_file(part: Part, k: int) -> Iterator[bytes]:
    yield b"number_of_elements %d\nnumber_of_processors %d\n" % (part.size, k)
    for first in range(0, part.size, _LINES):
        some = part[first : first + _LINES]
        yield (b"%d\n" * some.size) % tuple(some.tolist())
