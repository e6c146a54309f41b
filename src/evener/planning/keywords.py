"""The options of planning as keywords: ev.plan(graph, 3, epsilon=0.02, preset="strong")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypedDict

from evener.errors import UsageError, did_you_mean, shown
from evener.io.machines.workloads import find_workload
from evener.planning.options import PlanOptions
from evener.plans.workload import Workload

# Keywords of `read` and words of the command line, and what to write instead of them here.
_OF_READING = ("by", "coords", "weights", "format", "constraint", "bytes_per_vertex",
               "bytes_per_edge")  # fmt: skip
_MEANT = {"method": "sizing", "map": "mapping", "partitioner": "tool", "kernel": "workload",
          "eps": "epsilon", "imbalance": "epsilon", "timeout": "time_limit"}  # fmt: skip


class PlanKeywords(TypedDict, total=False):
    """The fields of PlanOptions, any of them; workload may be a name, or that of a kernel file."""

    tool: str
    preset: str
    objective: str
    seed: int
    epsilon: float
    threads: int
    connected: bool
    mapping: bool
    workload: Workload | str
    time_limit: float
    shares: str
    sizing: str
    alike: float


def options_with(options: PlanOptions | None, keywords: Mapping[str, Any]) -> PlanOptions:
    """Return the options, defaults where None, with those that the keywords replace.

    Raises UsageError for a keyword that is none, naming the one meant.
    """
    if options is not None and not isinstance(options, PlanOptions):
        raise UsageError(
            f"options must be PlanOptions, not {shown(options)}",
            hint="Or give them as keywords: epsilon=0.02, preset='strong'.",
        )
    known = [field.name for field in fields(PlanOptions)]
    for name in keywords:
        if name not in known:
            raise _unknown(name, known)
    changes = dict(keywords)
    if isinstance(changes.get("workload"), str):
        changes["workload"] = find_workload(changes["workload"])
    options = options or PlanOptions()
    return replace(options, **changes) if changes else options


def _unknown(name: str, known: list[str]) -> UsageError:
    if name in _OF_READING:
        return UsageError(
            f"{name} is an option of reading, not of planning",
            hint=f"Read first, and plan what was read: ev.read(FILE, {name}=...).",
        )
    near = f"; did you mean {_MEANT[name]}?" if name in _MEANT else did_you_mean(name, known)
    return UsageError(
        f"there is no option {shown(name)}{near}", hint=f"There are: {', '.join(known)}."
    )
