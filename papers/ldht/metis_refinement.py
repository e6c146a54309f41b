"""METIS's k-way refinement [KK98]_ from given blocks, level by level.

METIS's interface has no such call, and ParMETIS, whose RefineKway [LDHT]_ used, needs a licence of
its own and is in no package index. But the shared library of METIS 5.1 exports its inner functions.
The graph is shrunk by heavy-edge matching inside the blocks (matching.py), as ParMETIS does, and
METIS's greedy k-way refinement is called on every level.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_int, c_int32, c_int64, c_void_p
from math import log2
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
    edge_weights,
    remarks,
    vertex_weights,
)
from evener.partitioning.external.metis import (
    HOW,
    N_OPTIONS,
    PLACES,
    MetisLibrary,
    _is_newer,
    library,
)
from papers.ldht.matching import MatchedLevel, matched_levels

KMETIS = 1  # METIS_OP_KMETIS of metis.h
PASSES = {"fast": 10, "default": 10, "strong": 50}  # 10 are METIS's own default
INNER = (
    "SetupCtrl", "SetupGraph", "SetupKWayBalMultipliers", "AllocateWorkSpace",
    "AllocateKWayPartitionMemory", "AllocateRefinementWorkSpace", "RefineKWay", "FreeGraph",
    "FreeCtrl",
)  # fmt: skip


def missing() -> str | None:
    """Return None where METIS's refinement can be called, else why not."""
    metis = library()
    if metis is None:
        return HOW
    lacking = [name for name in INNER if not hasattr(metis, f"libmetis__{name}")]
    if lacking or _is_newer(metis):
        return "it needs the inner functions of METIS 5.1, and this libmetis is another"
    return None


def prepare(job: Job, folder: Path) -> Call:  # noqa: ARG001
    """Return METIS made ready to refine the job's blocks."""
    why = missing()
    if why is not None:
        raise OSError(why)
    assert job.part is not None
    metis = MetisLibrary.loaded()
    limit = LIMIT_64 if metis.index.itemsize == 8 else LIMIT_32
    vwgt, adjwgt = vertex_weights(job, limit), edge_weights(job, limit)
    whole = MatchedLevel(job.xadj, job.adjncy, vwgt.values, adjwgt.values, np.asarray(job.part))
    shares = job.targets / job.targets.sum()
    # Down to METIS's own size of the smallest graph.
    enough = max(int(job.n / (20 * max(1.0, log2(job.k)))), 30 * job.k)

    def run() -> npt.ArrayLike:
        levels = matched_levels(whole, enough, job.seed)
        part = levels[-1].part
        for level in reversed(levels):
            if level.coarse_of is not None:
                part = part[level.coarse_of]
            part = _refined(metis, level, part, shares, job)
        return part

    version = f"METIS {metis.version}'s k-way refinement"
    return Call(run, version, remarks(vwgt, adjwgt))


def _refined(
    metis: MetisLibrary,
    level: MatchedLevel,
    part: npt.NDArray[np.int32],
    shares: npt.NDArray[np.float64],
    job: Job,
) -> npt.NDArray[np.int32]:
    """Return the blocks (n,) after METIS's refinement on one level."""
    if level.adjncy.size == 0:
        return part
    functions = _functions(metis)
    index: Any = c_int32 if metis.index.itemsize == 4 else c_int64
    kept = KeptArrays(metis.index)
    options = np.full(N_OPTIONS, -1, np.int64)
    places = PLACES[0]
    options[places["seed"]] = job.seed % (2**31 - 1)
    options[places["niter"]] = PASSES[job.preset]
    at_most = kept.keep([1 + job.epsilon], metis.number)
    control = c_void_p(
        functions["SetupCtrl"](
            c_int(KMETIS), kept.keep(options), index(1), index(job.k),
            kept.keep(shares, metis.number), at_most,
        )
    )  # fmt: skip
    if not control:
        raise RuntimeError("METIS refused its options")
    n, entries = level.vwgt.size, level.adjncy.size
    xadj, adjncy = kept.keep(level.xadj), kept.keep(level.adjncy)
    graph = c_void_p(
        functions["SetupGraph"](
            control, index(n), index(1), xadj, adjncy, kept.keep(level.vwgt), None,
            kept.keep(level.adjwgt),
        )
    )  # fmt: skip
    functions["SetupKWayBalMultipliers"](control, graph)
    functions["AllocateWorkSpace"](control, graph)
    functions["AllocateKWayPartitionMemory"](control, graph)
    fields = _fields(index).from_address(graph.value or 0)
    known = fields.nvtxs, fields.nedges, fields.ncon, fields.xadj, fields.adjncy
    if known != (n, entries, 1, xadj.value, adjncy.value) or not fields.where:
        raise RuntimeError("this libmetis does not lay out its graphs as METIS 5.1 does")
    blocks = np.ctypeslib.as_array(ctypes.cast(fields.where, POINTER(index)), (n,))
    blocks[:] = part
    functions["AllocateRefinementWorkSpace"](control, index(entries))
    functions["RefineKWay"](control, graph, graph)
    refined = blocks.astype(np.int32)
    functions["FreeGraph"](byref(graph))
    functions["FreeCtrl"](byref(control))
    kept.release()
    return refined


def _functions(metis: MetisLibrary) -> dict[str, Any]:
    found = {name: getattr(metis.functions, f"libmetis__{name}") for name in INNER}
    for name, function in found.items():
        function.restype = c_void_p if name in ("SetupCtrl", "SetupGraph") else None
    return found


def _fields(index: Any) -> Any:
    """Return the layout of METIS 5.1's graph_t (libmetis/struct.h), up to `where`."""
    pointers = ("xadj", "vwgt", "vsize", "adjncy", "adjwgt", "tvwgt", "invtvwgt")
    owned = ("xadj", "vwgt", "vsize", "adjncy", "adjwgt")

    class Fields(ctypes.Structure):
        _fields_ = (
            *((name, index) for name in ("nvtxs", "nedges", "ncon")),
            *((name, c_void_p) for name in pointers),
            *((f"free_{name}", c_int) for name in owned),
            *((name, c_void_p) for name in ("label", "cmap")),
            *((name, index) for name in ("mincut", "minvol")),
            ("where", c_void_p),
        )

    return Fields
