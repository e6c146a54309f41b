"""Job: what a tool is asked, as files in a private folder. NumPy only: the worker starts fast."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

# Real weights as the whole numbers that tools want, without anybody scaling by hand.


# Rounding the smallest weight to a whole number of half a million moves it by 1e-6 at most.
FINEST = 5e5
# Totals a tool can hold with room for its own sums: doubles are exact to 2^53; a 32-bit signed
# integer ends at 2^31 - 1, and blocks may be epsilon above their targets.
LIMIT_64 = 2**52
LIMIT_32 = 2**30


class Whole(NamedTuple):
    """Whole weights int64, the factor they were multiplied by, and a remark if they are coarse."""

    values: npt.NDArray[np.int64]
    scale: float
    note: str | None


def whole_weights(values: npt.NDArray[Any], limit: int, *, least: int = 0) -> Whole:
    """Return non-negative weights as whole numbers whose total is at most about `limit`.

    Whole numbers within the limit are kept. Others are multiplied so that the smallest positive
    one is rounded by 1e-6 of itself at most, or less finely where the limit forbids it, which
    `note` then tells. `least` is the smallest whole number that a positive weight may become.
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
    step = f"weights are rounded to multiples of {1 / scale:.3g} for it"
    return Whole(whole, scale, step)


def vertex_weights(job: Job, limit: int) -> Whole:
    """Return (n,) whole vertex weights of the job; ones where it has none."""
    if job.vwgt is None:
        return Whole(np.ones(job.n, np.int64), 1.0, None)
    return whole_weights(job.vwgt, limit)


def edge_weights(job: Job, limit: int) -> Whole:
    """Return (2m,) whole edge weights of the job, positive; ones where it has none."""
    if job.adjwgt is None:
        return Whole(np.ones(job.adjncy.size, np.int64), 1.0, None)
    return whole_weights(job.adjwgt, limit, least=1)


def heaviest_blocks(job: Job, total: int) -> npt.NDArray[np.int64]:
    """Return (k,) the most each block may weigh, for whole vertex weights that add up to `total`.

    (1 + epsilon) times the target rounded down, but never less than the target rounded up: a
    block of a target of 3 units could otherwise hold neither 3.09 nor more than 3.
    """
    targets = job.targets * (total / job.targets.sum())
    slop = 1e-9 * targets  # targets such as 96.00000000000001 are 96
    highest = np.floor((1 + job.epsilon) * targets + slop)
    return np.asarray(np.maximum(highest, np.ceil(targets - slop)), np.int64)


def remarks(*weights: Whole) -> tuple[str, ...]:
    """Return the distinct notes of several roundings."""
    return tuple(dict.fromkeys(w.note for w in weights if w.note is not None))


ARRAYS = ("xadj", "adjncy", "vwgt", "adjwgt", "targets")
OPTIONS = ("tool", "epsilon", "seed", "threads", "objective", "preset")


@dataclass(frozen=True)
class Job:
    """A graph as `Graph` holds it, targets (k,) in any unit, and what is wanted of the tool.

    With several weights a vertex, vwgt is (n, c) and targets (k, c). vwgt (n,) and adjwgt (2m,)
    are None where all weigh 1; both may be real numbers.
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
        """Room that the arrays need on disk [B]."""
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

        A mapped file keeps its content until the process ends, so nothing is left behind even
        where both processes are killed; on Windows the files stay until the folder goes.
        """
        fields: dict[str, Any] = json.loads((folder / "job.json").read_text())
        for name in ARRAYS:
            path = folder / f"{name}.npy"
            fields[name] = np.load(path, mmap_mode="r") if path.exists() else None
            with suppress(OSError):
                path.unlink(missing_ok=True)
        return cls(**fields)

    def without_free_edges(self) -> Job:
        """Leave out the edges of weight zero: they cost nothing to cut, and no tool wants them."""
        if self.adjwgt is None or self.adjwgt.size == 0 or self.adjwgt.min() > 0:
            return self
        kept = self.adjwgt > 0
        before = np.concatenate([[0], np.cumsum(kept)])
        xadj = before[self.xadj].astype(self.xadj.dtype)
        return replace(self, xadj=xadj, adjncy=self.adjncy[kept], adjwgt=self.adjwgt[kept])


@dataclass(frozen=True)
class Call:
    """A tool made ready: `run` does the partitioning and nothing else, so it can be timed.

    `run` returns the block of every vertex, (n,).
    """

    run: Callable[[], npt.ArrayLike]
    version: str
    notes: tuple[str, ...] = ()
