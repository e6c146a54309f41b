"""Reads and writes files of stream plans, which NumPy alone can open.

An `.npz` archive of `part` (n,) int32, `loads` (2, k) float64 and `manifest`, JSON text with
everything else. Equal plans give equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import as_integers, as_numbers
from evener.errors import EvenerError, InputError
from evener.files.writing import atomic_write
from evener.io.archives import read_arrays, write_arrays
from evener.io.json_text import loads
from evener.io.machines.platforms import platform_from_dict, platform_to_dict
from evener.io.sources import open_source
from evener.plans.stream_plan import StreamPlan

STREAM_FORMAT, FORMAT_VERSION = "evener stream plan", 1


def write_stream_plan(path: str | Path, plan: StreamPlan) -> None:
    """Write the plan, whole or not at all."""
    manifest = {
        "format": STREAM_FORMAT,
        "format_version": FORMAT_VERSION,
        "verdict": plan.verdict(),
        "filters": list(plan.names),
        "platform": platform_to_dict(plan.platform),
        "period": plan.period,
        "bound": plan.bound,
        "links": dict(plan.links),
        "options": dict(plan.options),
        "inputs": dict(plan.inputs),
        "versions": dict(plan.versions),
        "notes": list(plan.notes),
    }
    arrays: dict[str, npt.NDArray[Any]] = {
        "part": plan.part,
        "loads": np.stack([plan.computing, plan.communicating]),
        "manifest": np.array(json.dumps(manifest, indent=1, allow_nan=False)),
    }
    with atomic_write(path) as file:
        write_arrays(file, arrays, level=6)


def read_stream_plan(path: str | Path) -> StreamPlan:
    """Read a file of a stream plan. Raises InputError where it is none, or damaged."""
    try:
        source = open_source(path, folders=False)
        arrays = read_arrays(source.data, ("part", "loads", "manifest"))
        return _plan_of(arrays, loads(str(arrays["manifest"][()])))
    except EvenerError as error:
        error.file = error.file or str(path)
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(
            f"is not a file of a stream plan, or a damaged one ({type(error).__name__}: {error})",
            file=str(path),
        ) from error


def _plan_of(arrays: Mapping[str, Any], found: Mapping[str, Any]) -> StreamPlan:
    if found.get("format") != STREAM_FORMAT or found.get("format_version") != FORMAT_VERSION:
        raise InputError("is not a file of a stream plan of this version")
    platform = platform_from_dict(found["platform"])
    part = as_integers(arrays["part"], "part")
    seconds = as_numbers(arrays["loads"], "loads", ndim=2)
    names = tuple(map(str, found["filters"]))
    inside = part.size == 0 or 0 <= int(part.min()) <= int(part.max()) < platform.k
    if part.size != len(names) or seconds.shape != (2, platform.k) or not inside:
        raise InputError("is a stream plan whose parts do not fit together")
    options, links, inputs, versions = (
        dict(found[key]) for key in ("options", "links", "inputs", "versions")
    )
    return StreamPlan(
        part.astype(np.int32), names, platform, float(found["period"]), float(found["bound"]),
        seconds[0], seconds[1], {str(k): float(v) for k, v in links.items()}, options,
        inputs, versions, tuple(map(str, found["notes"])),
    )  # fmt: skip
