"""METIS k-way and recursive bisection [KK98]_: by pymetis, or for several weights by libmetis.

pymetis passes only one weight per vertex. libmetis is called by ctypes; most Linux distributions
contain it.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.partitioning.external.jobs import (
    LIMIT_32,
    LIMIT_64,
    Call,
    Job,
    KeptArrays,
    Whole,
    address,
    edge_weights,
    installed,
    load_library,
    remarks,
    vertex_weights,
    whole_weights,
)

# ncuts: how many partitions are made, the best of which is kept; niter: refinement passes.
PRESETS: dict[str, dict[str, int]] = {
    "fast": {},
    "default": {},
    "strong": {"ncuts": 10, "niter": 50},
}


def prepare(job: Job, folder: Path) -> Call:  # noqa: ARG001
    """Return the prepared Call of METIS, by the library that supports the job's weights."""
    several = job.vwgt is not None and job.vwgt.ndim == 2
    return _by_library(job, np.asarray(job.vwgt)) if several else _by_pymetis(job)


def _by_pymetis(job: Job) -> Call:
    """Return the prepared Call of pymetis; its tolerance is rounded to thousandths."""
    import pymetis

    index = np.dtype(pymetis.zero_copy_dtype())
    limit = LIMIT_64 if index.itemsize == 8 else LIMIT_32
    vwgt, adjwgt = vertex_weights(job, limit), edge_weights(job, limit)
    graph = pymetis.CSRAdjacency(_indices(job.xadj, index), _indices(job.adjncy, index))
    shares = job.targets / job.targets.sum()

    def run() -> npt.ArrayLike:
        return pymetis.part_graph(
            job.k,
            graph,
            vweights=None if job.vwgt is None else _indices(vwgt.values, index),
            eweights=None if job.adjwgt is None else _indices(adjwgt.values, index),
            tpwgts=(shares / shares.sum()).tolist(),
            recursive=job.tool == "metis-recursive",
            options=_pymetis_options(job),
        ).vertex_part

    return Call(run, installed("pymetis"), remarks(vwgt, adjwgt))


def _pymetis_options(job: Job) -> Any:
    import pymetis

    options = {
        # A seed of -1 means "default" to METIS, and it reads the others as 32 bits.
        "seed": job.seed % (2**31 - 1),
        "ufactor": max(1, round(1000 * job.epsilon)),
        **PRESETS[job.preset],
    }
    if job.objective == "total_volume":
        options["objtype"] = int(pymetis.ObjType.VOL)
    return pymetis.Options(**options)


def _indices(values: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    # A copy in memory even where the type fits already: pymetis wants arrays it may write to.
    return np.array(values, dtype=dtype)


NAMES = ("libmetis.so.5", "libmetis.so", "libmetis.dylib", "metis.dll")
# METIS_NOPTIONS, METIS_OK, METIS_OBJTYPE_VOL and METIS_OPTION_OBJTYPE of metis.h.
N_OPTIONS, OK, VOLUME, OBJTYPE = 40, 1, 1, 1
# The numbers of some options in METIS 5.1, and in 5.2.
PLACES = ({"niter": 6, "ncuts": 7, "seed": 8}, {"niter": 7, "ncuts": 8, "seed": 9})
UNTOUCHED = 0x55  # a byte that METIS writes into no option
HOW = "libmetis is not installed (apt install libmetis5, or brew install metis)"


@cache
def library() -> ctypes.CDLL | None:
    """Load and return libmetis, or None if it is not installed."""
    return load_library((*NAMES, ctypes.util.find_library("metis")))


def missing() -> str | None:
    """Return None if libmetis can be loaded, else a message that says how to install it."""
    return None if library() is not None else HOW


def _by_library(job: Job, loads: npt.NDArray[Any]) -> Call:
    """Return the prepared Call of libmetis.

    targets (k, c) and tolerances have METIS's real type.
    """
    metis = MetisLibrary.loaded()
    limit = LIMIT_64 if metis.index.itemsize == 8 else LIMIT_32
    columns = [whole_weights(np.asarray(column), limit) for column in loads.T]
    adjwgt = edge_weights(job, limit)
    shares = job.targets / job.targets.sum(axis=0)
    vwgt = np.stack([column.values for column in columns], axis=1)
    edges = np.empty(0) if job.adjwgt is None else adjwgt.values
    graph = Weighted(job.xadj, job.adjncy, vwgt, edges)
    options = _options(job, metis.functions)

    def run() -> npt.ArrayLike:
        recursive = job.tool == "metis-recursive"
        return metis.divided(graph, shares, 1 + job.epsilon, options, recursive=recursive)

    return Call(run, f"libmetis {metis.version}", _remarks(columns, adjwgt))


class Weighted(NamedTuple):
    """A graph: xadj (n + 1,), adjncy (2m,), vwgt (n, c), adjwgt (2m,), or empty if all are 1.

    Numbers have any type; METIS takes only integers.
    """

    xadj: npt.NDArray[Any]
    adjncy: npt.NDArray[Any]
    vwgt: npt.NDArray[Any]
    adjwgt: npt.NDArray[Any]


@dataclass(frozen=True)
class MetisLibrary:
    """libmetis, loaded, with its integer type and real type."""

    functions: ctypes.CDLL
    index: np.dtype[Any]
    number: np.dtype[Any]

    @classmethod
    def loaded(cls) -> MetisLibrary:
        """Return the library. Raises OSError if it is not installed."""
        metis = library()
        if metis is None:
            raise OSError("libmetis cannot be loaded")
        index = _index_type(metis)
        return cls(metis, index, _number_type(metis, index))

    @property
    def version(self) -> str:
        """The version of METIS, as far as it can be determined."""
        return "5.2 or newer" if _is_newer(self.functions) else "5.1"

    def divided(
        self,
        graph: Weighted,
        shares: npt.NDArray[np.float64],
        tolerance: float | None,
        options: npt.NDArray[np.int64],
        *,
        recursive: bool,
    ) -> npt.NDArray[Any]:
        """Return the block of each vertex (n,). shares (k, c): targets.

        They sum to 1 for each weight. tolerance: largest ratio of block weight to target; None:
        METIS's default. Raises RuntimeError if METIS fails.
        """
        n, several = graph.vwgt.shape
        part = np.full(n, -1, self.index)
        arguments = KeptArrays(self.index)
        at_most = None
        if tolerance is not None:
            at_most = arguments.keep(np.full(several, tolerance), self.number)
        functions = self.functions
        call = functions.METIS_PartGraphRecursive if recursive else functions.METIS_PartGraphKway
        code = call(
            arguments.keep([n]), arguments.keep([several]), arguments.keep(graph.xadj),
            arguments.keep(graph.adjncy), arguments.keep(graph.vwgt), None,
            arguments.keep(graph.adjwgt) if graph.adjwgt.size else None,
            arguments.keep([len(shares)]), arguments.keep(shares, self.number), at_most,
            arguments.keep(options), arguments.keep([0]), address(part),
        )  # fmt: skip
        arguments.release()
        if code != OK:
            raise RuntimeError(f"METIS returned the error code {code}")
        return part


def _remarks(columns: list[Whole], adjwgt: Whole) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for one in columns for note in remarks(one, adjwgt)))


def _options(job: Job, metis: ctypes.CDLL) -> npt.NDArray[np.int64]:
    options = np.full(N_OPTIONS, -1, np.int64)
    places = PLACES[_is_newer(metis)]
    # A seed of -1 means "default" to METIS, and it reads the others as 32 bits.
    chosen = {"seed": job.seed % (2**31 - 1), **PRESETS[job.preset]}
    for name, value in chosen.items():
        options[places[name]] = value
    if job.objective == "total_volume":
        options[OBJTYPE] = VOLUME
    return options


def _is_newer(metis: ctypes.CDLL) -> bool:
    """Return whether this is METIS 5.2 or newer, as it has a function that older versions lack."""
    return hasattr(metis, "METIS_CacheFriendlyReordering")


def _index_type(metis: ctypes.CDLL) -> np.dtype[Any]:
    """Return METIS's integer type, found from how many bytes of options METIS sets."""
    options = np.full(8 * N_OPTIONS, UNTOUCHED, np.uint8)
    metis.METIS_SetDefaultOptions(address(options))
    filled = int((options[4 * N_OPTIONS :] != UNTOUCHED).any())
    return np.dtype(np.int64 if filled else np.int32)


def _number_type(metis: ctypes.CDLL, index: np.dtype[Any]) -> np.dtype[Any]:
    """Return METIS's real type: with the other type, METIS reports that targets do not sum to 1."""
    for number in (np.dtype(np.float32), np.dtype(np.float64)):
        arguments, part = KeptArrays(index), np.zeros(4, index)
        shares = np.full((2, 2), 0.5)
        code = metis.METIS_PartGraphKway(
            arguments.keep([4]), arguments.keep([2]), arguments.keep([0, 1, 2, 3, 4]),
            arguments.keep([1, 0, 3, 2]), arguments.keep(np.ones((4, 2))), None, None,
            arguments.keep([2]), arguments.keep(shares, number),
            arguments.keep([1.03, 1.03], number),
            arguments.keep(np.full(N_OPTIONS, -1)), arguments.keep([0]), address(part),
        )  # fmt: skip
        if code == OK:
            return number
    raise OSError("libmetis uses real numbers of an unknown width")
