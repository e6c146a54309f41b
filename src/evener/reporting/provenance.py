"""The section on provenance: inputs, options, versions and machine as rows of text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evener.plans.partition import Mapping as BlockMapping
from evener.plans.plan import IN_SLICES, Plan
from evener.platforms.platform import Device, Platform
from evener.wording import NOTHING, count, duration, memory, plural, speed

if TYPE_CHECKING:
    from evener.plans.edge_plan import EdgePlan
    from evener.plans.stream_plan import StreamPlan

MAX_GROUPS = 40
# Of every field of PlanOptions; a plan of another version may have options without a meaning here.
OPTION_MEANINGS = {
    "tool": "requested partitioner",
    "preset": "effort",
    "objective": "what the partitioner minimises",
    "seed": "same seed, same plan",
    "epsilon": "tolerance around each target",
    "threads": "threads a tool may use",
    "connected": "blocks in one piece",
    "mapping": "whether blocks may move to other devices if links differ",
    "workload": "the work and messages of an iteration",
    "time_limit": "time limit of a tool",
    "shares": "device property by which each of several vertex weights is divided",
    "sizing": "method by which speed curves become sizes",
    "alike": "relative difference up to which plans count as equally fast",
}

# Of what a plan of a graph in slices records.
SLICES_MEANINGS = {
    "groups": "minimum number of groups of blocks; borders are refined group by group",
    "turns": "number of times that borders are refined",
    "heaviest": "maximum mean number of vertices in a cluster",
    "hops": "distance from a border, in clusters, up to which vertices are treated one by one",
    "memory": "memory limit of the process",
}

WORKLOAD_MEANINGS = {
    "flops_per_vertex": "each iteration",
    "flops_per_edge": "at each end",
    "bytes_per_vertex": "bytes moved between memory and processor",
    "bytes_per_edge": "bytes moved at each end",
    "bytes_per_value": "bytes of each value sent",
    "exchange": "items for which values are sent",
    "fixed_seconds": "seconds of an iteration that do not depend on the load",
    "overlap": "whether interior vertices are computed during the exchange",
}


@dataclass(frozen=True)
class ProvenanceRow:
    """A name, its value as text, and its meaning."""

    name: str
    value: str
    meaning: str = ""


@dataclass(frozen=True)
class Provenance:
    """Everything on which the result depends, as rows of small tables."""

    options: list[ProvenanceRow]
    versions: list[ProvenanceRow]
    devices: list[ProvenanceRow]
    levels: list[tuple[str, str, str, str]]


def mapped(mapping: BlockMapping | None) -> str:
    """Return how much mapping blocks to other devices gained; "" if no mapping was tried."""
    if mapping is None:
        return ""
    before, after = memory(mapping.before.hop_bytes), memory(mapping.after.hop_bytes)
    if not mapping.moved:
        return f"No block would be better placed on another device; bytes x hops: {after}."
    return f"Bytes x hops: {after}, {before} before {plural(mapping.moved, 'block')} moved."


def provenance(plan: Plan | EdgePlan | StreamPlan) -> Provenance:
    """Return options, versions and machine as rows."""
    return Provenance(
        options=option_rows(plan.options),
        versions=[
            ProvenanceRow(name, str(version) or NOTHING) for name, version in plan.versions.items()
        ],
        devices=device_rows(plan.platform),
        levels=_levels(plan) if isinstance(plan, Plan) else [],
    )


def option_rows(options: Mapping[str, Any]) -> list[ProvenanceRow]:
    """Return a row for each option, with its unit and meaning."""
    units = {"time_limit": " s"}
    rows = []
    for name, value in options.items():
        if name == "reading":
            rows += [
                ProvenanceRow(key, str(v), "how the input was read") for key, v in value.items()
            ]
            continue
        if name == "workload":
            rows += _workload_rows(value)
            continue
        if name == IN_SLICES:
            rows += _slices_rows(value)
            continue
        if value in ("", None):
            continue  # not asked for: nothing to show
        text = ("yes" if value else "no") if isinstance(value, bool) else f"{value}"
        text += units.get(name, "")
        rows.append(ProvenanceRow(name.replace("_", " "), text, OPTION_MEANINGS.get(name, "")))
    return rows


def _slices_rows(kept: Any) -> list[ProvenanceRow]:
    """Return table rows on how a graph in slices was divided; none for plans made on ranks."""
    found = dict(kept) if isinstance(kept, Mapping) else {"memory": kept}
    rows = []
    for key, value in found.items():
        is_bytes = key == "memory" and isinstance(value, int)
        text = memory(value) if is_bytes else f"{value}"
        rows.append(ProvenanceRow(f"slices: {key}", text, SLICES_MEANINGS.get(key, "")))
    return rows


def _workload_rows(kept: Mapping[str, Any]) -> list[ProvenanceRow]:
    """Return the kernel's name and figures."""
    units = {"bytes": " B", "fixed": " s"}
    rows = [ProvenanceRow("kernel", str(kept["name"]), OPTION_MEANINGS["workload"])]
    for key, value in kept.items():
        if key == "name" or not (value or key == "bytes_per_value"):
            continue
        if isinstance(value, str):
            text = value
        else:
            text = "yes" if value is True else f"{value:g}{units.get(key.split('_')[0], '')}"
        rows.append(ProvenanceRow(key.replace("_", " "), text, WORKLOAD_MEANINGS[key]))
    return rows


def device_rows(platform: Platform) -> list[ProvenanceRow]:
    """Return a row for each run of equal devices: names, speed, memory."""
    groups: list[list[Device]] = []
    for device in platform.devices:
        if groups and _what(groups[-1][0]) == _what(device):
            groups[-1].append(device)
        else:
            groups.append([device])
    rows = []
    for group in groups[:MAX_GROUPS]:
        first = group[0]
        name = first.name if len(group) == 1 else f"{first.name} to {group[-1].name}"
        many = "" if len(group) == 1 else f"{count(len(group))} x "
        at = "" if first.curve is None else " at its load"
        rows.append(
            ProvenanceRow(name, f"{many}{first.kind}, {speed(first.speed)}{at}", _caps(first))
        )
    if len(groups) > MAX_GROUPS:
        rest = sum(len(group) for group in groups[MAX_GROUPS:])
        rows.append(ProvenanceRow(f"and {count(rest)} more", "in the plan file"))
    return rows


def _what(device: Device) -> tuple[Any, ...]:
    curve = None if device.curve is None else id(device.curve)
    return device.kind, device.speed, device.memory, device.memory_units, curve


def _caps(device: Device) -> str:
    caps = []
    if device.memory is not None:
        caps.append(memory(device.memory))
    if device.memory_units is not None:
        caps.append(f"{count(device.memory_units)} units")
    if device.curve is not None and math.isfinite(device.curve.capacity):
        caps.append(f"at most {count(device.curve.capacity)} units")
    return " and ".join(caps) or "no memory cap"


def _levels(plan: Plan) -> list[tuple[str, str, str, str]]:
    """Name, latency, bandwidth and bytes x hops of each level of the tree."""
    hops = plan.prediction.hop_bytes.tolist()
    hops += [0.0] * (len(plan.platform.levels) - len(hops))
    return [
        (
            f"{level.name} (shared)" if level.shared else level.name,
            duration(level.link.alpha),
            f"{1e-9 / level.link.beta:,.3g} GB/s" if level.link.beta > 0 else "unlimited",
            memory(hop),
        )
        for level, hop in zip(plan.platform.levels, hops, strict=False)
    ]
