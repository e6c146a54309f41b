"""Reads vertex coordinates, one line per vertex: the formats of Geographer, Scotch, FESOM etc."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import InputError
from evener.io import text
from evener.io.sources import Source


def recognises(source: Source) -> bool:
    """Return whether the file is .npy or .xyz, or has the header of Scotch or FESOM."""
    if not source.is_text:
        return source.data.startswith(b"\x93NUMPY")
    try:
        return source.suffix == ".xyz" or _form(source) in ("scotch", "fesom")
    except InputError:
        return False


def read(source: Source) -> FloatArray:
    """Return the coordinates, (n, 2) or (n, 3), for any n."""
    return read_coordinates(source)


def read_coordinates(source: Source, n: int | None = None) -> FloatArray:
    """Return the coordinates of `n` vertices, (n, 2) if the third coordinate is zero for all.

    Accepts n lines of 2 or 3 numbers; Scotch's format (dimension, count, then `id x y z` in any
    order of the ids); FESOM's format (count, then `id lon lat flag`); Matrix Market arrays; `.npy`.
    """
    if source.data.startswith(b"\x93NUMPY"):
        coords = _from_npy(source)
    elif source.data.startswith(b"%%MatrixMarket"):
        from evener.io.graphs.matrixmarket import read_dense

        coords = read_dense(source)
    else:
        coords = _from_text(source)
    if coords.ndim != 2 or coords.shape[1] not in (2, 3):
        raise source.error(f"coordinates need 2 or 3 columns, not shape {coords.shape}")
    if not np.isfinite(coords).all():
        raise source.error("coordinates must be finite")
    if n is not None and len(coords) != n:
        raise source.error(
            f"contains coordinates of {len(coords):,} vertices, but the graph has {n:,}"
        )
    if coords.shape[1] == 3 and not coords[:, 2].any():
        coords = coords[:, :2]
    return np.ascontiguousarray(coords)


def plain_width(head: Source) -> int:
    """Return how many numbers each line has, 2 or 3; 0 if the file is not plain lines of numbers.

    head: the first lines. Raises InputError if the lines have another number of columns.
    """
    if not head.is_text or head.data.startswith(b"%%MatrixMarket") or _form(head) != "plain":
        return 0
    first = next(text.lines(head, b"%#"), None)
    return 0 if first is None else _width(head, *first)


def _from_npy(source: Source) -> FloatArray:
    from evener.io.graphs.npz import array_of

    array = array_of(source, source.data, source.name)
    if array.dtype.kind not in "iuf":
        raise source.error(f"coordinates must be numbers, not {array.dtype}")
    return array.astype(np.float64)


def _form(source: Source) -> str:
    """Detect the dialect from the first three lines: scotch, fesom or plain."""
    rows = []
    for _, line in text.lines(source, b"%#"):
        rows.append(line.split())
        if len(rows) == 3:
            break
    widths = [len(row) for row in rows]
    if len(rows) < 2 or not rows[0][0].isdigit() or widths[0] != 1:
        return "plain"
    if rows[0][0] in (b"1", b"2", b"3") and widths[1] == 1 and rows[1][0].isdigit():
        return "scotch"
    return "fesom" if widths[1] == 4 and rows[1][0].isdigit() else "plain"


def _from_text(source: Source) -> FloatArray:
    form = _form(source)
    found = text.lines(source, b"%#")
    first = next(found, None)
    if first is None:
        raise source.error("contains no coordinates")
    offset, line = first
    if form == "plain":
        return text.read_reals(source, offset, _width(source, offset, line))
    count = offset if form == "fesom" else next(found)[0]
    header = source.data[count : text.after_line(source, count)]
    promised = text.integers_of(source, count, header, "the count")[0]
    start = text.after_line(source, count)
    if form == "fesom":
        columns, dimension = 4, 2
    else:
        dimension = int(line)
        columns = 1 + dimension
    table = text.read_reals(source, start, columns)
    if len(table) != promised:
        raise source.error(f"contains {len(table):,} vertices but declares {promised:,}")
    return _in_order(source, table[:, 0], table[:, 1 : 1 + dimension])


def _width(source: Source, offset: int, line: bytes) -> int:
    width = len(line.replace(b",", b" ").replace(b";", b" ").split())
    if width not in (2, 3):
        raise source.error(f"coordinates need 2 or 3 columns, not {width}", offset=offset)
    return width


def _in_order(source: Source, ids: FloatArray, coords: FloatArray) -> FloatArray:
    """Sort the rows by their ids, which must be consecutive whole numbers."""
    order: npt.NDArray[np.intp] = np.argsort(ids, kind="stable")
    ordered = ids[order]
    if ids.size and (ordered != ordered[0] + np.arange(ids.size)).any():
        raise source.error("vertex ids must be consecutive numbers without repetition")
    return coords[order]
