"""Reads and writes files of stream plans, which plain NumPy can open.

A file is an `.npz` archive of `part` (n,) int32, `loads` (2, k) float64, the stream graph (filters:
`scalar`, `vector`, `stateful`, `needs`; edges: `tails`, `heads`, `nbytes`, `tokens`) and
`manifest`, JSON text with everything else. If filters have copies, the graph consists of the
copies, and `copies` in the manifest lists the application's filter for each copy. Equal plans give
equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray, as_integers, as_numbers
from evener.errors import InputError
from evener.graphs.stream_graph import StreamGraph
from evener.io.machines.platform_dicts import platform_from_dict, platform_to_dict
from evener.io.plans.archived import read_archived, write_archived
from evener.io.plans.manifest import STREAM_FORMAT, texts
from evener.plans.stream_plan import StreamPlan

FORMAT_VERSION = 1
_OF_GRAPH = ("scalar", "vector", "tails", "heads", "nbytes", "stateful", "tokens")


def write_stream_plan(path: str | Path, plan: StreamPlan) -> None:
    """Write the plan, whole or not at all."""
    graph = plan.graph
    needs = np.array(list(graph.needs.values()), np.float64).reshape(len(graph.needs), graph.n)
    arrays: dict[str, npt.NDArray[Any]] = {
        "part": plan.part,
        "loads": np.stack([plan.computing, plan.communicating]),
        **{name: np.asarray(getattr(graph, name)) for name in _OF_GRAPH},
        "needs": needs,
    }
    write_archived(path, arrays, stream_manifest(plan))


def read_stream_plan(path: str | Path) -> StreamPlan:
    """Read a file of a stream plan. Raises InputError if it is not one, or is damaged."""
    return read_archived(
        path, ("part", "loads", "needs", *_OF_GRAPH), _plan_of, "a plan of a stream graph"
    )


def stream_manifest(plan: StreamPlan) -> dict[str, Any]:
    """Return all data of a plan except its arrays, for JSON; without dates and folders."""
    return {
        "format": STREAM_FORMAT,
        "format_version": FORMAT_VERSION,
        "verdict": plan.verdict(),
        "filters": list(plan.names),
        "needs": list(plan.graph.needs),
        "platform": platform_to_dict(plan.platform),
        "period": plan.period,
        "bound": plan.bound,
        "links": dict(plan.links),
        "options": dict(plan.options),
        "inputs": dict(plan.inputs),
        "versions": dict(plan.versions),
        "notes": list(plan.notes),
        **({} if plan.copy_of is None else {"copies": plan.copy_of.tolist()}),
    }


def _plan_of(arrays: Mapping[str, Any], found: Mapping[str, Any]) -> StreamPlan:
    if found.get("format") != STREAM_FORMAT or found.get("format_version") != FORMAT_VERSION:
        raise InputError("is not a file of a stream plan of this version")
    platform = platform_from_dict(found["platform"])
    part = as_integers(arrays["part"], "part")
    seconds = as_numbers(arrays["loads"], "loads", ndim=2)
    needs = dict(zip(found["needs"], as_numbers(arrays["needs"], "needs", ndim=2), strict=True))
    graph = StreamGraph(
        tuple(map(str, found["filters"])), **{name: arrays[name] for name in _OF_GRAPH}, needs=needs
    )
    inside = _below(part, platform.k)
    if part.size != graph.n or seconds.shape != (2, platform.k) or not inside:
        raise InputError("is a stream plan with inconsistent contents")
    period, bound = float(found["period"]), float(found["bound"])
    if not (0 <= period < np.inf and 0 <= bound < np.inf and (seconds >= 0).all()):
        raise InputError(f"contains impossible values: a period of {period}, a bound of {bound}")
    inputs, versions = (texts(dict(found[name]), name) for name in ("inputs", "versions"))
    copy_of = as_integers(found["copies"], "copies") if "copies" in found else None
    # Each filter of the application must have at least one copy.
    if copy_of is not None and (copy_of.size != graph.n or not _below(copy_of, graph.n)):
        raise InputError("is a stream plan whose copies do not match its filters")
    return StreamPlan(
        part.astype(np.int32), graph, platform, period, bound, seconds[0], seconds[1],
        {str(k): float(v) for k, v in found["links"].items()}, dict(found["options"]),
        inputs, versions, tuple(map(str, found["notes"])), copy_of=copy_of,
    )  # fmt: skip


def _below(numbers: IntArray, n: int) -> bool:
    return numbers.size == 0 or bool(numbers.min() >= 0 and numbers.max() < n)
