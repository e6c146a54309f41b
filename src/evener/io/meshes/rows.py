"""FileRows: the numbers of a mesh file line by line; make_mesh makes a Mesh from arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, offsets_of
from evener.errors import InputError
from evener.graphs.cell_kernels import DIM
from evener.graphs.mesh import Fields, Mesh
from evener.graphs.polymesh import PolyMesh
from evener.io import text
from evener.io.sources import Source
from evener.wording import plural

_GAPLESS = 2.0**53  # a double represents every whole number up to here
_FLAT = 1e-12  # max. variation of a flat mesh's third coordinate, relative to its extent


@dataclass(frozen=True, eq=False)
class FileRows:
    """The numbers in some lines of a file, without blank lines and comments.

    values (v,); row i has values[first[i]:first[i + 1]] and begins at byte place[i].
    """

    source: Source
    values: FloatArray
    first: IntArray
    place: IntArray

    def __len__(self) -> int:
        return int(self.place.size)

    @property
    def counts(self) -> IntArray:
        """The count of numbers in each row, (r,)."""
        return np.diff(self.first)

    def part(self, start: int, stop: int) -> FileRows:
        """Return rows start to stop - 1."""
        return FileRows(
            self.source, self.values, self.first[start : stop + 1], self.place[start:stop]
        )

    def refuse(self, row: int, message: str) -> NoReturn:
        """Raise an InputError that names the line of a row."""
        raise self.source.error(message, offset=int(self.place[row]))

    def expect(self, n: int, what: str) -> FileRows:
        """Return these rows; raise InputError unless there are exactly n."""
        if n < 0:
            raise self.source.error(f"declares {n:,} {what}")
        if len(self) < n:
            found = f"{len(self):,} of the declared {n:,} {what}"
            end = int(self.place[-1]) if len(self) else None
            raise self.source.error(
                f"contains only {found}: the file ends there, or other content follows", offset=end
            )
        if len(self) > n:
            self.refuse(n, f"the file declares {n:,} {what} but contains more")
        return self

    def columns(self, start: int, stop: int, *, at_most: int | None = None) -> FloatArray:
        """Return columns start to stop - 1, (r, stop - start).

        Raises InputError unless each row has `stop` to `at_most` numbers.
        """
        most = stop if at_most is None else at_most
        bad = np.flatnonzero((self.counts < stop) | (self.counts > most))
        if bad.size:
            found, wanted = self.counts[bad[0]], str(stop) if most == stop else f"{stop} to {most}"
            self.refuse(int(bad[0]), f"the line has {found} numbers; {wanted} are needed")
        table: FloatArray = self.values[self.first[:-1, None] + np.arange(start, stop)]
        return table

    def integers(self, index: IntArray, what: str) -> npt.NDArray[np.int64]:
        """Return values[index] as whole numbers; raise InputError, with `what`, if they are not."""
        values = self.values[index]
        bad = np.flatnonzero((values != np.rint(values)) | (np.abs(values) >= _GAPLESS))
        if bad.size:
            number = values[bad[0]]
            self._refuse_at(index, bad[0], f"{what} must be a whole number, not {number:g}")
        return values.astype(np.int64)

    def whole_columns(self, start: int, stop: int, what: str, *, at_most: int | None = None) -> Any:
        """Like `columns`, but return whole numbers, (r, stop - start) int64."""
        self.columns(start, stop, at_most=at_most)
        index = self.first[:-1, None] + np.arange(start, stop)
        return self.integers(index.ravel(), what).reshape(index.shape)

    def corners(self, index: IntArray, base: int, n_points: int) -> npt.NDArray[np.int64]:
        """Convert values[index], point numbers from `base` on, to numbers from 0 on."""
        numbers = self.integers(index, "the number of a point")
        bad = np.flatnonzero((numbers < base) | (numbers >= base + n_points))
        if bad.size:
            range_ = f"points are numbered {base} to {base + n_points - 1}"
            self._refuse_at(index, bad[0], f"point {numbers[bad[0]]} does not exist: {range_}")
        return numbers - base

    def _refuse_at(self, index: IntArray, at: Any, message: str) -> NoReturn:
        row = int(np.searchsorted(self.first, index.ravel()[at], side="right")) - 1
        self.refuse(row, message)


def scan(
    source: Source,
    start: int = 0,
    stop: int | None = None,
    *,
    comment: bytes = b"",
    data: Any = None,
) -> FileRows:
    """Return the numbers between two offsets; raise InputError for anything else there.

    comment: a byte after which the rest of the line is skipped. data: replaces the file's bytes for
    parsing; must have the same length, so that offsets remain valid.
    """
    from evener.io import text_kernels as kernels

    array = source.array if data is None else np.frombuffer(data, np.uint8)
    array = array[: array.size if stop is None else stop]
    lines = (source.data if data is None else data).count(b"\n", start, array.size) + 1
    values = np.empty(max(0, array.size - start) // 2 + 1)
    first, place = np.empty(lines + 1, np.int64), np.empty(lines, np.int64)
    where = text.new_place()
    sign = comment[0] if comment else 0
    code = kernels.scan_rows(array, start, sign, values, first, place, where)
    if code:
        text.refuse(source, code, where)
    found, rows = int(where[1]), int(where[2])
    return FileRows(source, values[:found], first[: rows + 1].copy(), place[:rows].copy())


def renumber(source: Source, ids: IntArray, numbers: IntArray) -> npt.NDArray[np.int64]:
    """Return the index of each of `numbers` among the points' ids, which are any integers."""
    order = np.argsort(ids, kind="stable")
    ranked = ids[order]
    if (twice := np.flatnonzero(ranked[1:] == ranked[:-1])).size:
        raise source.error(f"two points have the number {ranked[twice[0]]}")
    at = np.minimum(np.searchsorted(ranked, numbers), ranked.size - 1)
    if (bad := np.flatnonzero(ranked[at] != numbers)).size:
        raise source.error(f"a cell has point {numbers[bad[0]]}, which does not exist")
    return np.asarray(order[at], np.int64)


def note_left_out(source: Source, keep: npt.NDArray[np.bool_]) -> None:
    """Add a note on the cells that `keep` leaves out: those of lower dimensions."""
    cells = plural(int(np.count_nonzero(~keep)), "cell")
    source.notes.append(f"{cells} of lower dimension, such as boundaries, left out.")


def make_mesh(
    source: Source,
    points: npt.NDArray[Any],
    counts: IntArray,
    corners: IntArray,
    kinds: IntArray,
    *,
    cell_data: Fields | None = None,
    point_data: Fields | None = None,
) -> Mesh:
    """Return the Mesh of the cells of the highest dimension; notes report omitted cells.

    counts (c,): corners of each cell. A third coordinate that is the same everywhere is dropped.
    """
    if kinds.size == 0:
        raise source.error("has no cells")
    dims = DIM[kinds]
    keep = dims == dims.max()
    fields = dict(cell_data or {})
    if not keep.all():
        note_left_out(source, keep)
        corners = corners[np.repeat(keep, counts)]
        counts, kinds = counts[keep], kinds[keep]
        fields = {name: values[keep] for name, values in fields.items()}
    if dims.max() <= 2:
        points = _flatten(source, points)
    try:
        mesh = Mesh(points, offsets_of(counts), corners, kinds, fields, point_data or {})
    except InputError as error:
        raise source.error(error.message, hint=error.hint) from error
    note_unused(source, mesh)
    return mesh


def note_unused(source: Source, mesh: Mesh | PolyMesh) -> None:
    """Add a note on the number of points without a cell, if there are any."""
    if unused := mesh.n_unused_points:
        belong = "points belong" if unused > 1 else "point belongs"
        source.notes.append(f"{unused:,} {belong} to no cell.")


def _flatten(source: Source, points: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if points.ndim != 2 or points.shape[1] != 3 or not len(points):
        return points
    extent = np.ptp(points, axis=0)
    if not extent[2] <= _FLAT * max(extent[0], extent[1]):
        return points
    if points[0, 2] != 0:
        source.notes.append(
            f"The mesh is flat; its third coordinate, {points[0, 2]:g}, is dropped."
        )
    return points[:, :2]
