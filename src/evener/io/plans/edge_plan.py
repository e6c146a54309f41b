"""Reads and writes files of edge plans, which plain NumPy can open.

A file is an `.npz` archive of `part` (m,) int32, `vertices` (k,) int64 and `manifest`, JSON text
with everything else. Equal plans give equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import Part, as_integers, as_numbers
from evener.errors import InputError
from evener.io.machines.platform_dicts import platform_from_dict, platform_to_dict
from evener.io.plans import parts
from evener.io.plans.archived import read_archived, write_archived
from evener.io.plans.manifest import EDGE_FORMAT, contract_of, contract_to_dict, texts
from evener.plans.edge_partition import EdgeMetrics, EdgePartition
from evener.plans.edge_plan import EdgePlan

FORMAT_VERSION = 1
MOST_PACKED = 2**20  # max. edges that are compressed at level 6
KINDS = ("graph", "arcs", "matrix", "file")
MOST = 1e18  # upper bound of numbers among options and counts
# Options that commands read, and their types.
_OPTIONS: dict[str, Any] = {
    **dict.fromkeys(("method", "preset", "order"), str),
    **dict.fromkeys(("weighted", "stream"), bool),
    "epsilon": int | float,
    "seed": int,
    "buffer": int | None,
    "memory": int | float | None,
    "reading": Mapping,
}


def write_edge_plan(path: str | Path, plan: EdgePlan, *, level: int | None = None) -> None:
    """Write the plan, whole or not at all.

    level: of compression, 0 to 9; 0 needs no memory; None: 6, or 1 for more than a million edges,
    which would otherwise take as long to compress as to divide.
    """
    if level is None:
        level = 6 if plan.partition.m <= MOST_PACKED else 1
    arrays: dict[str, npt.NDArray[Any]] = {
        "part": plan.partition.part,
        "vertices": np.asarray(plan.metrics.vertices, np.int64),
    }
    write_archived(path, arrays, edge_manifest(plan), level)


def read_edge_plan(path: str | Path) -> EdgePlan:
    """Read a file of an edge plan. Raises InputError if it is not one, or is damaged."""
    return read_archived(path, ("part", "vertices"), _plan_of, "an edge plan")


def read_edge_part(path: str | Path, m: int) -> Part:
    """Return the block, from 0 on, of each of m edges, from any tool's file.

    Like `read_part`, but for edges, in the order of their EdgeList: one block per line, `.npy`,
    edge plans and other `.npz` with `part`, CSV `edge,block`, JSON. Raises InputError for another
    length, for blocks below 0 and for anything that is not a number.
    """
    try:
        return parts.parse(path, m, None)
    except InputError as error:
        for one, other in (("vertices", "edges"), ("vertex", "edge")):  # words used by `parts`
            error.message = error.message.replace(one, other)
        raise


def edge_manifest(plan: EdgePlan) -> dict[str, Any]:
    """Return all data of a plan except its large arrays, for JSON; without dates and folders."""
    return {
        "format": EDGE_FORMAT,
        "format_version": FORMAT_VERSION,
        "verdict": plan.verdict(),
        "of": plan.of,
        "platform": platform_to_dict(plan.platform),
        "contract": contract_to_dict(plan.contract),
        "copies": plan.metrics.copies,
        "replication": plan.metrics.replication,
        "loads": plan.metrics.loads.tolist(),
        "options": dict(plan.options),
        "graph": dict(plan.graph),
        "inputs": dict(plan.inputs),
        "versions": dict(plan.versions),
        "notes": list(plan.notes),
    }


def _plan_of(arrays: Mapping[str, Any], found: Mapping[str, Any]) -> EdgePlan:
    if found.get("format") != EDGE_FORMAT or found.get("format_version") != FORMAT_VERSION:
        raise InputError("is not a file of an edge plan of this version")
    platform = platform_from_dict(found["platform"])
    k = platform.k
    partition = EdgePartition.of(arrays["part"], k)
    metrics = EdgeMetrics(
        int(found["copies"]),
        float(found["replication"]),
        as_numbers(found["loads"], "loads"),
        as_integers(arrays["vertices"], "vertices"),
        np.bincount(partition.part, minlength=k).astype(np.int64, copy=False),
    )
    contract = contract_of(found["contract"], k)
    of = found["of"]
    if of not in KINDS or metrics.loads.size != k or metrics.vertices.size != k:
        raise InputError("is an edge plan with inconsistent contents")
    if metrics.copies < 0 or not metrics.replication >= 1:
        raise InputError(
            f"states {metrics.copies} copies and a replication of {metrics.replication}; the least "
            "possible are 0 and 1"
        )
    options, graph = _options(found["options"]), _counts(found["graph"])
    inputs, versions = (texts(_table(found[name]), name) for name in ("inputs", "versions"))
    if graph["edges"] != partition.m:
        raise InputError("is an edge plan with inconsistent contents")
    notes = tuple(map(str, found["notes"]))
    return EdgePlan(
        partition, platform, contract, metrics, of, options, graph, inputs, versions, notes
    )


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError("is an edge plan with options that are not tables")
    return dict(value)


def _options(value: Any) -> dict[str, Any]:
    """Return the options of a plan. Raises InputError if a known option has the wrong type."""
    options = _table(value)
    for name, kinds in _OPTIONS.items():
        if name not in options:
            continue
        given = options[name]
        is_odd = isinstance(given, bool) != (kinds is bool) or not isinstance(given, kinds)
        if is_odd or (isinstance(given, int | float) and not 0 <= given <= MOST):
            raise InputError(f"holds an invalid option: {name}")
    return options


def _counts(value: Any) -> dict[str, Any]:
    """Return the counts of a plan's vertices and edges. Raises InputError if one is invalid."""
    counts = _table(value)
    for name in ("vertices", "touched", "edges"):
        if type(counts[name]) is not int or not 0 <= counts[name] <= MOST:
            raise InputError(f"has {counts[name]!r:.40} for the number of {name}")
    return counts
