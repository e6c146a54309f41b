"""Job: what a tool is asked, as files in a private folder. NumPy only: the worker starts fast."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

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
