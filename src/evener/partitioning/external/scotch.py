"""Scotch [PR96]_, called by ctypes: most Linux distributions contain its shared library.

For unequal targets, Scotch maps the graph to a complete graph whose vertices have the targets as
weights.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from ctypes import byref, c_double, c_int, c_int32, c_int64, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.partitioning.external.jobs import (
    LIMIT_32,
    LIMIT_64,
    Call,
    Job,
    KeptArrays,
    address,
    edge_weights,
    load_library,
    remarks,
    vertex_weights,
    whole_weights,
)

VERSIONS = ("-7.0", "", "-6.1", "-6.0")
STRATEGIES = {"fast": 2, "default": 0, "strong": 1}  # SCOTCH_STRATSPEED, DEFAULT, QUALITY
# Scotch multiplies targets by vertex weights: 24 bits in all leave room for the products.
TARGETS_TOTAL = 2**24


@cache
def library() -> ctypes.CDLL | None:
    """Load and return libscotch, or None if it is not installed.

    libscotch calls the error handler of libscotcherr without linking to it, so libscotcherr is
    loaded first, with global symbols.
    """
    if _load("scotcherr", ctypes.RTLD_GLOBAL) is None:
        return None
    return _load("scotch", ctypes.DEFAULT_MODE)


def library_version() -> str | None:
    """Return the version of libscotch, or None if it is not installed."""
    scotch = library()
    if scotch is None:
        return None
    parts = [c_int() for _ in range(3)]
    scotch.SCOTCH_version(*[byref(part) for part in parts])
    return ".".join(str(part.value) for part in parts)


def prepare(job: Job, folder: Path) -> Call:  # noqa: ARG001
    """Return the prepared Call of Scotch; its `run` only computes the mapping."""
    scotch = library()
    if scotch is None:
        raise OSError("libscotch or libscotcherr cannot be loaded")
    number: Any = c_int32 if scotch.SCOTCH_numSizeof() == 4 else c_int64
    limit = LIMIT_32 if number is c_int32 else LIMIT_64
    vwgt, adjwgt = vertex_weights(job, limit), edge_weights(job, limit)
    arrays = KeptArrays(np.dtype(number))
    graph, mapping, strategy = (_new(scotch, kind) for kind in ("graph", "arch", "strat"))
    _check(
        scotch.SCOTCH_graphBuild(
            graph,
            number(0),
            number(job.n),
            arrays.keep(job.xadj[:-1]),
            arrays.keep(job.xadj[1:]),
            arrays.keep(vwgt.values) if job.vwgt is not None else None,
            None,
            number(job.adjncy.size),
            arrays.keep(job.adjncy),
            arrays.keep(adjwgt.values) if job.adjwgt is not None else None,
        ),
        "build its graph",
    )
    targets = whole_weights(job.targets, TARGETS_TOTAL, least=1).values
    _check(
        scotch.SCOTCH_archCmpltw(mapping, number(job.k), arrays.keep(targets)),
        "use the targets",
    )
    flags = number(STRATEGIES[job.preset])
    _check(
        scotch.SCOTCH_stratGraphMapBuild(strategy, flags, number(job.k), c_double(job.epsilon)),
        "build the strategy",
    )
    # Scotch makes an even seed odd, so that 2 and 3 would be the same one.
    graph = _on_one_thread(scotch, graph, number(2 * (job.seed % 2**30) + 1))
    part = np.full(job.n, -1, np.dtype(number))

    def run() -> npt.ArrayLike:
        _check(scotch.SCOTCH_graphMap(graph, mapping, strategy, address(part)), "map the graph")
        arrays.release()
        return part

    return Call(run, f"scotch {library_version()}", remarks(vwgt, adjwgt))


def _on_one_thread(scotch: ctypes.CDLL, graph: c_void_p, seed: Any) -> c_void_p:
    """Return the graph in a context with one thread and fixed random numbers.

    By default, Scotch 7 uses every core, and its result varies; older versions use one thread.
    """
    if not hasattr(scotch, "SCOTCH_contextBindGraph"):
        scotch.SCOTCH_randomSeed(seed)
        scotch.SCOTCH_randomReset()
        return graph
    context, bound = _new(scotch, "context"), _new(scotch, "graph")
    _check(scotch.SCOTCH_contextThreadSpawn(context, c_int(1), None), "use one thread")
    scotch.SCOTCH_contextRandomSeed(context, seed)
    _check(scotch.SCOTCH_contextBindGraph(context, graph, bound), "bind the graph")
    return bound


def _new(scotch: ctypes.CDLL, kind: str) -> c_void_p:
    """Allocate and initialise one of Scotch's opaque objects."""
    allocate = getattr(scotch, f"SCOTCH_{kind}Alloc")
    allocate.restype = c_void_p
    thing = c_void_p(allocate())
    if not thing:
        raise MemoryError(f"Scotch cannot allocate a {kind}")
    # The architecture is initialised by the call that fills it, the others by their own.
    if kind != "arch":
        _check(getattr(scotch, f"SCOTCH_{kind}Init")(thing), f"initialise a {kind}")
    return thing


def _check(code: int, what: str) -> None:
    if code != 0:
        raise RuntimeError(f"Scotch could not {what}")


def _load(stem: str, mode: int) -> ctypes.CDLL | None:
    names = [f"lib{stem}{version}.so" for version in VERSIONS]
    names += [f"lib{stem}.dylib", f"{stem}.dll", f"lib{stem}.dll"]
    return load_library(names, mode) or load_library([ctypes.util.find_library(stem)], mode)
