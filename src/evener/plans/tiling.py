"""Tiling: one rectangle of a matrix for each device, in whole blocks; every block covered once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, as_integers
from evener.errors import InputError
from evener.wording import brief

MAX_SIDE = 2**31 - 1  # blocks: areas then fit into 64 bits


@dataclass(frozen=True, eq=False)
class Tiling:
    """k rectangles, one per device, that cover a matrix of `shape` blocks, each block once.

    top, left, height, width (k,) int64 [blocks]; the matrix has shape = (rows, columns) [blocks] of
    `block` x `block` elements each. A device without blocks has height or width 0. Raises
    InputError if rectangles exceed the matrix, overlap, or leave a block uncovered.
    """

    shape: tuple[int, int]
    top: npt.NDArray[np.int64]
    left: npt.NDArray[np.int64]
    height: npt.NDArray[np.int64]
    width: npt.NDArray[np.int64]
    block: int = 1

    def __post_init__(self) -> None:
        rows, columns = (int(side) for side in self.shape)
        if not (1 <= rows <= MAX_SIDE and 1 <= columns <= MAX_SIDE and self.block >= 1):
            raise InputError(
                f"a matrix of {rows} x {columns} blocks of side {self.block} cannot be divided"
            )
        object.__setattr__(self, "shape", (rows, columns))
        for name in ("top", "left", "height", "width"):
            object.__setattr__(self, name, as_integers(getattr(self, name), name))
        if not self.top.shape == self.left.shape == self.height.shape == self.width.shape:
            raise InputError("top, left, height and width of a tiling differ in length")
        outside = (
            (self.top < 0) | (self.left < 0) | (self.height < 0) | (self.width < 0)
            | (self.top + self.height > rows) | (self.left + self.width > columns)
        )  # fmt: skip
        if outside.any():
            i = int(np.argmax(outside))
            raise InputError(
                f"rectangle {i}, {self._rectangle(i)}, leaves the matrix of {rows} x {columns}"
            )
        self._check_cover()

    def __repr__(self) -> str:
        return brief(self)

    @property
    def k(self) -> int:
        """Number of rectangles, empty ones included."""
        return int(self.top.size)

    @property
    def areas(self) -> npt.NDArray[np.int64]:
        """Number of blocks in each rectangle, (k,)."""
        return np.asarray(self.height * self.width)

    @property
    def half_perimeters(self) -> npt.NDArray[np.int64]:
        """Height + width of each rectangle, (k,) [blocks]; 0 for an empty rectangle.

        This is the number of blocks that a device receives in every step of a matrix product: its
        height in blocks of A's pivot column, and its width in blocks of B's pivot row.
        """
        return np.asarray(np.where(self.areas > 0, self.height + self.width, 0))

    @property
    def volume(self) -> float:
        """Sum of all half-perimeters, sides as fractions of the matrix's ([Cla14]_, figure 5.5)."""
        rows, columns = self.shape
        used = self.areas > 0
        return float((self.height[used] / rows).sum() + (self.width[used] / columns).sum())

    @property
    def n_columns(self) -> int:
        """Number of columns if every rectangle lies in a column of full height; else 0."""
        used = self.areas > 0
        strips = np.unique(np.stack([self.left[used], self.width[used]]), axis=1)
        return int(strips.shape[1]) if strips[1].sum() == self.shape[1] else 0

    def group_half_perimeters(self, groups: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the number of distinct rows and columns that each group covers, (g,) [blocks].

        groups (k,): group of each rectangle, 0 to g - 1; for example the node, whose devices share
        the received data. Raises InputError unless groups are k non-negative integers.
        """
        group = as_integers(groups, "groups")
        if group.shape != self.top.shape or (group.size and group.min() < 0):
            raise InputError(f"{self.k} rectangles need {self.k} groups, numbered from 0")
        used = self.areas > 0
        found = np.zeros(int(group.max(initial=-1)) + 1, np.int64)
        for first, length in ((self.top, self.height), (self.left, self.width)):
            for g in range(found.size):
                own = used & (group == g)
                found[g] += _covered(first[own], first[own] + length[own])
        return found

    def bound(self, areas: npt.ArrayLike | None = None) -> float:
        """Return a lower bound on the sum of half-perimeters [blocks] of rectangles of these areas.

        It is the sum of 2 sqrt(area), the half-perimeters of squares [BBRR01]_. areas: by default
        those of the tiling.
        """
        return half_perimeter_bound(self.areas if areas is None else np.asarray(areas, float))

    def spans(self, shape: tuple[int, int]) -> npt.NDArray[np.int64]:
        """Return first row, end row, first column, end column of each device, (k, 4) [elements].

        Ends are exclusive. shape: of the matrix [elements]; the last blocks of rows and columns may
        be smaller.
        """
        for side, blocks in zip(shape, self.shape, strict=True):
            if -(-side // self.block) != blocks:
                raise InputError(f"{side} elements do not match {blocks} blocks of {self.block}")
        ends = np.stack(
            [self.top, self.top + self.height, self.left, self.left + self.width], axis=1
        )
        return np.asarray(np.minimum(ends * self.block, np.repeat(shape, 2)))

    def transposed(self) -> Tiling:
        """Return the tiling of the transposed matrix."""
        rows, columns = self.shape
        return Tiling((columns, rows), self.left, self.top, self.width, self.height, self.block)

    def _rectangle(self, i: int) -> str:
        return f"{self.height[i]} x {self.width[i]} at ({self.top[i]}, {self.left[i]})"

    def _check_cover(self) -> None:
        """Raise InputError for overlaps and gaps; O(k log k).

        The number of rectangles that cover a block changes at their corners by +1, -1, -1, +1. Each
        block is covered once if all changes cancel, except those at the corners of the matrix.
        """
        rows, columns = self.shape
        used = np.flatnonzero(self.areas > 0)
        up, west = self.top[used], self.left[used]
        down, east = up + self.height[used], west + self.width[used]
        one = np.ones(used.size, np.int64)
        corners = np.concatenate([up, up, down, down, [0, 0, rows, rows]])
        across = np.concatenate([west, east, west, east, [0, columns, 0, columns]])
        change = np.concatenate([one, -one, -one, one, [-1, 1, 1, -1]])
        keys, place = np.unique(corners * (columns + 1) + across, return_inverse=True)
        left_over = np.bincount(place.ravel(), weights=change, minlength=keys.size)
        if left_over.any():
            at = int(keys[np.argmax(left_over != 0)])
            row, column = divmod(at, columns + 1)
            raise InputError(
                "the rectangles do not cover every block once: they overlap or leave a gap from "
                f"block ({row}, {column}) on"
            )


def _covered(first: npt.NDArray[np.int64], end: npt.NDArray[np.int64]) -> int:
    """Return how many integers lie in at least one of the intervals first:end."""
    order = np.argsort(first, kind="stable")
    first, end = first[order], np.maximum.accumulate(end[order])
    begun = np.maximum(first, np.concatenate([[0], end[:-1]]))
    return int(np.maximum(end - begun, 0).sum())


def half_perimeter_bound(areas: npt.ArrayLike) -> float:
    """Return the sum of 2 sqrt(area): a lower bound on half-perimeters of rectangles."""
    values: FloatArray = np.asarray(areas, np.float64)
    return float(2 * np.sqrt(values).sum())
