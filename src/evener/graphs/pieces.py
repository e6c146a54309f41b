"""MeshPieces: a mesh divided by blocks of its cells; each block is a mesh with its own points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, IntArray, Part, offsets_of
from evener.graphs.mesh import Mesh
from evener.graphs.polymesh import PolyMesh


class MeshPiece(NamedTuple):
    """One block: its mesh, and the numbers of its cells and points in the whole mesh."""

    mesh: Mesh | PolyMesh
    cells: IntArray
    points: IntArray


class _Sides(NamedTuple):
    """Faces as seen by blocks: a face between two blocks is on the boundary of both.

    block, face and cell (s,), whole numbers: the block, the face, and the cell on that side.
    flipped (s,): whether that cell is the face's neighbour; inside (s,): whether the other cell
    also belongs to the block.
    """

    block: npt.NDArray[Any]
    face: npt.NDArray[Any]
    cell: npt.NDArray[Any]
    flipped: npt.NDArray[Any]
    inside: npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class MeshPieces:
    """A mesh, and part (c,) int32, the block of each cell; `piece(b)` is the mesh of block b.

    Cells and points of a piece have the same order as in the mesh. Fields are left out.
    """

    mesh: Mesh | PolyMesh
    part: Part

    def cells(self, block: int) -> IntArray:
        """Return the numbers of the block's cells, ascending."""
        return self._order[slice(*np.searchsorted(self._blocks, [block, block + 1]))]

    def piece(self, block: int) -> MeshPiece:
        """Return the mesh of a block that has cells."""
        cells = self.cells(block)
        if isinstance(self.mesh, PolyMesh):
            return self._polyhedra(self.mesh, block, cells)
        sizes = np.diff(self.mesh.offsets)[cells]
        corners = self.mesh.corners[_runs(self.mesh.offsets[cells], sizes)]
        points, local = np.unique(corners, return_inverse=True)
        mesh = Mesh(self.mesh.points[points], offsets_of(sizes), local, self.mesh.kinds[cells])
        return MeshPiece(mesh, cells, points)

    def _polyhedra(self, mesh: PolyMesh, block: int, cells: IntArray) -> MeshPiece:
        chosen = slice(*np.searchsorted(self._sides.block, [block, block + 1]))
        _, face, cell, flipped, inside = (array[chosen] for array in self._sides)
        sizes = np.diff(mesh.face_offsets)[face]
        corners = mesh.face_corners[_runs(mesh.face_offsets[face], sizes, flipped)]
        points, local = np.unique(corners, return_inverse=True)
        owner = np.searchsorted(cells, cell)
        neighbour = np.searchsorted(cells, mesh.neighbour[face[inside]])
        return MeshPiece(
            PolyMesh(mesh.points[points], offsets_of(sizes), local, owner, neighbour), cells, points
        )

    @cached_property
    def _order(self) -> IntArray:
        return np.argsort(self.part, kind="stable")

    @cached_property
    def _blocks(self) -> IntArray:
        return self.part[self._order]

    @cached_property
    def _sides(self) -> _Sides:
        """Sides of all faces by block; within a block, inner faces first, then by face number."""
        assert isinstance(self.mesh, PolyMesh)
        owner, neighbour = self.mesh.owner, self.mesh.neighbour
        inside = np.zeros(owner.size, np.bool_)
        inside[: neighbour.size] = self.part[owner[: neighbour.size]] == self.part[neighbour]
        between = np.flatnonzero(~inside[: neighbour.size])
        face = np.concatenate([np.arange(owner.size), between])
        cell = np.concatenate([owner, neighbour[between]])
        flipped = np.arange(face.size) >= owner.size
        sides = _Sides(self.part[cell], face, cell, flipped, inside[face])
        order = np.lexsort((face, ~sides.inside, sides.block))
        return _Sides(*(array[order] for array in sides))


def _runs(first: IntArray, sizes: IntArray, backwards: BoolArray | None = None) -> IntArray:
    """Return first[i], first[i] + 1, ... (sizes[i] numbers) for each i; some runs in reverse."""
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    if backwards is not None:
        within = np.where(np.repeat(backwards, sizes), np.repeat(sizes - 1, sizes) - within, within)
    return np.repeat(first, sizes) + within
