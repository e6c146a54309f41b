"""Writes the device of each filter of a stream graph, in formats of other programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evener.errors import UsageError
from evener.files.writing import write_text
from evener.io.dataflow.dot import quoted_name, stream_dot
from evener.io.plans.partitions import write_part
from evener.io.plans.parts import quoted
from evener.wording import meant

if TYPE_CHECKING:
    from evener.plans.stream_plan import StreamPlan

NUMBERS = ("metis", "npy", "npz")  # formats that hold only the numbers of devices


def write_placed(path: str | Path, plan: StreamPlan, to: str, colours: Sequence[str] = ()) -> None:
    """Write the device of each filter in the format `to`, a key of PLACED or one of NUMBERS.

    csv: lines `filter,block,device`; json: names, the device numbers, and the plan's times; dot:
    the stream graph with the device of each filter as an attribute and as a CSS colour from
    `colours` (k,); metis: one number per line. Raises UsageError for other formats, InputError for
    names that DOT cannot hold.
    """
    formats = (*PLACED, *NUMBERS)
    if to not in formats:
        hint = f"Formats of stream plans: {', '.join(formats)}."
        raise UsageError(f"filters cannot be exported to {to!r}{meant(to, formats)}", hint=hint)
    if to in NUMBERS:
        write_part(path, plan.part, to)
    else:
        write_text(path, PLACED[to](plan, colours))


def _csv(plan: StreamPlan, _: Sequence[str]) -> str:
    devices = [quoted(name) for name in plan.platform.names]
    rows = zip(plan.names, plan.part.tolist(), strict=True)
    return "".join(["filter,block,device\n", *(f"{quoted(v)},{p},{devices[p]}\n" for v, p in rows)])


def _json(plan: StreamPlan, _: Sequence[str]) -> str:
    content = {
        "n": plan.graph.n,
        "filters": list(plan.names),
        "part": plan.part.tolist(),
        "devices": list(plan.platform.names),
        "period": plan.period,
        "bound": plan.bound,
        "bottleneck": plan.bottleneck,
        "computing": plan.computing.tolist(),
        "communicating": plan.communicating.tolist(),
    }
    return json.dumps(content, separators=(",", ":"), allow_nan=False) + "\n"


def _dot(plan: StreamPlan, colours: Sequence[str]) -> str:
    names = [quoted_name(name) for name in plan.platform.names]
    filled = [f' style=filled fillcolor="{colour}"' for colour in colours] or [""] * len(names)
    looks = [f"shape=box device={names[p]}{filled[p]}" for p in plan.part.tolist()]
    return stream_dot(plan.graph, looks)


# Each function returns a plan's file text; colours: of its devices, or empty.
PLACED: dict[str, Callable[[StreamPlan, Sequence[str]], str]] = {
    "csv": _csv,
    "json": _json,
    "dot": _dot,
}
