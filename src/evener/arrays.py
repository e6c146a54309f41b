"""Array types, checks that convert users' arguments to arrays that kernels accept, and indices.

The indices are those of lists of different lengths, which one array contains one after the other.
A hash of words is here, too.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evener.errors import InputError

IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
IntVector: TypeAlias = npt.NDArray[np.int64]
Part: TypeAlias = npt.NDArray[np.int32]  # the block of every vertex
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
NumberArray: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.float64]
NO_VERTICES: IntVector = np.empty(0, np.int64)
FARTHEST = 1e100  # largest absolute coordinate, in any unit; sums of squares stay finite


def as_array(values: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
    """Return `values` as an array of any type; refuse nested lists of unequal lengths."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InputError(f"{name} must be an array: its lists differ in length") from error


def as_integers(values: npt.ArrayLike, name: str, *, ndim: int = 1) -> npt.NDArray[np.int64]:
    """Return `values` as a contiguous int64 array; refuse fractions, text and wrong shapes."""
    array = as_array(values, name)
    if array.size == 0 and array.ndim == ndim:
        return np.zeros(array.shape, np.int64)
    if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
        raise InputError(f"{name} holds numbers above 2^63 - 1")
    if array.dtype.kind == "f" and np.isfinite(array).all() and (array == np.rint(array)).all():
        if float(np.abs(array).max()) >= 2.0**63:  # which a short float could not hold
            raise InputError(f"{name} holds numbers above 2^63 - 1")
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise InputError(f"{name} must hold whole numbers, not {array.dtype}")
    return np.ascontiguousarray(_of_rank(array, name, ndim), dtype=np.int64)


def as_numbers(values: npt.ArrayLike, name: str, *, ndim: int = 1) -> FloatArray:
    """Return `values` as a contiguous float64 array; refuse text, NaN, infinity, wrong shapes."""
    array = as_array(values, name)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} must hold numbers, not {array.dtype}")
    array = np.ascontiguousarray(_of_rank(array, name, ndim), dtype=np.float64)
    if not np.isfinite(array).all():
        raise InputError(
            f"{name} must be finite; entry {_first(~np.isfinite(array))} is not finite"
        )
    return array


def as_weights(values: npt.ArrayLike, name: str, *, ndim: int = 1) -> NumberArray:
    """Return non-negative weights, as int64 if given as integers or flags, else as float64."""
    array = as_array(values, name)
    checked: NumberArray
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    whole = array.dtype.kind in "iu"
    checked = as_integers(array, name, ndim=ndim) if whole else as_numbers(array, name, ndim=ndim)
    if checked.size and checked.min() < 0:
        raise InputError(f"{name} must not be negative; entry {_first(checked < 0)} is negative")
    with np.errstate(over="ignore"):
        total = checked.sum(dtype=np.float64)
    if not total < 2.0**62:
        raise InputError(f"{name} add up to more than 2^62")
    return checked


def as_flags(values: npt.ArrayLike, n: int, name: str) -> BoolArray:
    """Return flags (n,) as an array; refuse all values but true and false, or 0 and 1."""
    array = as_array(values, name)
    if array.dtype.kind != "b":
        array = as_integers(array, name, ndim=array.ndim)
        wrong = (array != 0) & (array != 1)
        if wrong.any():
            raise InputError(f"{name} must hold only 0 and 1; entry {_first(wrong)} differs")
    array = _of_rank(array, name, 1)
    if array.size != n:
        raise InputError(f"{name} has {array.size:,} entries, but the graph has {n:,} vertices")
    return np.ascontiguousarray(array, dtype=np.bool_)


def flags_of(vertices: IntVector, n: int) -> BoolArray:
    """Return whether each vertex is among the given vertices, (n,)."""
    flags = np.zeros(n, np.bool_)
    flags[vertices] = True
    return flags


def offsets_of(counts: IntArray) -> IntVector:
    """Return the offsets (c + 1,) of consecutive lists with these lengths (c,)."""
    offsets = np.zeros(counts.size + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def ragged(first: IntArray, counts: IntArray) -> IntVector:
    """Return first[i], first[i] + 1, ... (counts[i] numbers) for every i, one after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if ends.size else 0
    found: IntVector = np.repeat(first - (ends - counts), counts) + np.arange(total)
    return found


def _of_rank(array: npt.NDArray[Any], name: str, ndim: int) -> npt.NDArray[Any]:
    if array.ndim != ndim:
        raise InputError(f"{name} must have {ndim} dimension(s), not {array.ndim}")
    return array


def _first(mask: npt.NDArray[np.bool_]) -> str:
    index = np.argwhere(mask)[0]
    return str(index[0]) if index.size == 1 else str(tuple(int(i) for i in index))


def refuse_far(coords: FloatArray, name: str) -> None:
    """Raise InputError for coordinates so large that sums of their squares overflow."""
    if coords.size and max(float(coords.max()), -float(coords.min())) > FARTHEST:
        raise InputError(f"{name} exceed {FARTHEST:g}")


def mixed(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return for each word 64 bits that depend on all its bits, as `mixed` in arrays_kernels."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
