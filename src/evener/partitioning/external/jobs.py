"""Job: the input of a tool, as files in a private folder.

Also functions that the tools' modules share. Tools need integer weights, so real weights are scaled
here. Imports NumPy only, so that the worker process starts fast.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

# The smallest weight becomes a whole number of half a million or more: rounding changes it by a
# millionth at most.
FINEST = 5e5
# Totals that leave a tool room for its own sums: doubles are exact to 2^53; a 32-bit signed integer
# ends at 2^31 - 1, and blocks may be epsilon above their targets.
LIMIT_64 = 2**52
LIMIT_32 = 2**30


class Whole(NamedTuple):
    """Integer weights int64, the factor that scaled them, and a note if rounding is coarse."""

    values: npt.NDArray[np.int64]
    scale: float
    note: str | None


def whole_weights(values: npt.NDArray[Any], limit: int, *, least: int = 0) -> Whole:
    """Return non-negative weights as whole numbers whose total is at most about `limit`.

    Whole numbers within the limit are unchanged. Other weights are scaled so that rounding changes
    the smallest positive one by at most 1e-6 of its value. If the limit permits only coarser
    numbers, the note says so. least: the smallest whole number that a positive weight may become.
    """
    total = float(values.sum(dtype=np.float64)) if values.size else 0.0
    rounded = values if values.dtype.kind in "iu" else np.rint(values)
    if total <= limit and (rounded is values or bool((rounded == values).all())):
        return Whole(rounded.astype(np.int64), 1.0, None)
    smallest = float(values[values > 0].min())
    scale = min(FINEST / smallest, limit / total)
    whole = np.rint(values * scale).astype(np.int64)
    if least:
        np.maximum(whole, least, out=whole, where=values > 0)
    if scale * smallest >= FINEST * (1 - 1e-12):
        return Whole(whole, scale, None)
    step = f"weights are rounded to multiples of {1 / scale:.3g} for this tool"
    return Whole(whole, scale, step)


def vertex_weights(job: Job, limit: int) -> Whole:
    """Return the whole vertex weights (n,) of the job; all 1 if it has none."""
    if job.vwgt is None:
        return Whole(np.ones(job.n, np.int64), 1.0, None)
    return whole_weights(job.vwgt, limit)


def edge_weights(job: Job, limit: int) -> Whole:
    """Return the whole, positive edge weights (2m,) of the job; all 1 if it has none."""
    if job.adjwgt is None:
        return Whole(np.ones(job.adjncy.size, np.int64), 1.0, None)
    return whole_weights(job.adjwgt, limit, least=1)


def heaviest_blocks(job: Job, total: int) -> npt.NDArray[np.int64]:
    """Return the largest weights (k,) of blocks, for whole vertex weights that add up to `total`.

    The limit is floor((1 + epsilon) x target), but at least ceil(target): otherwise the blocks
    might not be able to hold the total.
    """
    targets = job.targets * (total / job.targets.sum())
    rounding = 1e-9 * targets  # a target such as 96.00000000000001 is 96
    highest = np.floor((1 + job.epsilon) * targets + rounding)
    return np.asarray(np.maximum(highest, np.ceil(targets - rounding)), np.int64)


def remarks(*weights: Whole) -> tuple[str, ...]:
    """Return the distinct notes of several roundings."""
    return tuple(dict.fromkeys(w.note for w in weights if w.note is not None))


ARRAYS = ("xadj", "adjncy", "vwgt", "adjwgt", "targets", "tree", "part", "points")
OPTIONS = ("tool", "epsilon", "seed", "threads", "objective", "preset")


@dataclass(frozen=True)
class Job:
    """A graph with the arrays of `Graph`, targets (k,) in any unit, and the options of the tool.

    With c weights per vertex, vwgt is (n, c) and targets (k, c). vwgt (n,) and adjwgt (2m,) are
    None if all weights are 1; both may be real numbers. tree (depth, k): for each depth, blocks
    with equal numbers are in one group; only for tools that divide along a tree, else None. part
    (n,): initial blocks, only for tools that refine. points (n, d): coordinates of the vertices,
    only for tools that ignore edges.
    """

    tool: str
    xadj: npt.NDArray[Any]
    adjncy: npt.NDArray[Any]
    vwgt: npt.NDArray[Any] | None
    adjwgt: npt.NDArray[Any] | None
    targets: npt.NDArray[np.float64]
    epsilon: float
    seed: int
    threads: int
    objective: str
    preset: str
    tree: npt.NDArray[np.int32] | None = None
    part: npt.NDArray[np.int32] | None = None
    points: npt.NDArray[np.float64] | None = None

    @property
    def n(self) -> int:
        """Number of vertices."""
        return int(self.xadj.size - 1)

    @property
    def k(self) -> int:
        """Number of blocks."""
        return len(self.targets)

    @property
    def nbytes(self) -> int:
        """Bytes that the arrays take on disk."""
        arrays = (getattr(self, name) for name in ARRAYS)
        return sum(array.nbytes for array in arrays if array is not None)

    def save(self, folder: Path) -> None:
        """Write one .npy file per array and the options as JSON."""
        for name in ARRAYS:
            array = getattr(self, name)
            if array is not None:
                np.save(folder / f"{name}.npy", array)
        options = {name: getattr(self, name) for name in OPTIONS}
        (folder / "job.json").write_text(json.dumps(options))

    @classmethod
    def load(cls, folder: Path) -> Job:
        """Map the arrays of a saved job into memory and remove their files.

        A mapped file keeps its content until the process ends, so nothing is left behind even if
        both processes are killed. On Windows the files remain until the folder is removed.
        """
        fields: dict[str, Any] = json.loads((folder / "job.json").read_text())
        for name in ARRAYS:
            path = folder / f"{name}.npy"
            fields[name] = np.load(path, mmap_mode="r") if path.exists() else None
            with suppress(OSError):
                path.unlink(missing_ok=True)
        return cls(**fields)

    def without_free_edges(self) -> Job:
        """Return the job without edges of weight 0, which cost nothing but which tools reject."""
        if self.adjwgt is None or self.adjwgt.size == 0 or self.adjwgt.min() > 0:
            return self
        kept = self.adjwgt > 0
        before = np.concatenate([[0], np.cumsum(kept)])
        xadj = before[self.xadj].astype(self.xadj.dtype)
        return replace(self, xadj=xadj, adjncy=self.adjncy[kept], adjwgt=self.adjwgt[kept])


@dataclass(frozen=True)
class Call:
    """A prepared call of a tool: `run` only divides the graph, so that it can be timed.

    `run` returns the block of every vertex (n,).
    """

    run: Callable[[], npt.ArrayLike]
    version: str
    notes: tuple[str, ...] = ()


def installed(package: str) -> str:
    """Return name and version of an installed package."""
    from importlib.metadata import version

    return f"{package} {version(package)}"


# What modules that call a C library through ctypes share.


def load_library(
    names: Iterable[str | None], mode: int = ctypes.DEFAULT_MODE
) -> ctypes.CDLL | None:
    """Load and return the first shared library with one of these names, or None."""
    for name in names:
        with suppress(OSError):
            if name is not None:
                return ctypes.CDLL(name, mode=mode)
    return None


def address(array: npt.NDArray[Any]) -> ctypes.c_void_p:
    """Return the address of an array's first element."""
    return ctypes.c_void_p(array.ctypes.data)


class KeptArrays:
    """Copies of arrays to which a C library holds pointers, stored until `release`."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._dtype = dtype
        self._kept: list[npt.NDArray[Any]] = []

    def keep(self, values: npt.ArrayLike, dtype: np.dtype[Any] | None = None) -> ctypes.c_void_p:
        """Return the address of a copy of `values`, in the library's integer type by default."""
        self._kept.append(np.array(values, dtype or self._dtype, order="C"))
        return address(self._kept[-1])

    def release(self) -> None:
        """Free the copies."""
        self._kept.clear()
