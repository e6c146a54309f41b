"""Writes edge partitions for other programs: as blocks, tables, or one list per device."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evener.arrays import offsets_of
from evener.errors import InputError, UsageError
from evener.files.writing import atomic_write
from evener.io.archives import write_arrays
from evener.io.plans.parts import quoted
from evener.wording import meant

if TYPE_CHECKING:
    from evener.plans.edge_plan import EdgePlan

LINES = 2**16  # lines converted to text at a time


@dataclass(frozen=True, eq=False)
class EdgeEnds:
    """The names of both ends of each edge (m,), and the edges' weights (m,) or None."""

    ends: tuple[npt.NDArray[Any], npt.NDArray[Any]]
    weights: npt.NDArray[Any] | None = None


def write_edge_part(
    path: str | Path, plan: EdgePlan, to: str, *, ends: EdgeEnds | None = None
) -> list[str]:
    """Write the block of each edge in the format `to`; return the names of the files written.

    to: a key of EDGE_EXPORTS, or "lists": a new folder with a file `u v [weight]` for each device,
    named by its index; this needs `ends`. csv contains the ends, too, if they are given. Raises
    UsageError for an unknown format, for missing ends and for an existing folder.
    """
    formats = (*EDGE_EXPORTS, LISTS)
    if to not in formats:
        hint = f"Formats of edge plans: {', '.join(formats)}."
        raise UsageError(f"edges cannot be exported to {to!r}{meant(to, formats)}", hint=hint)
    if ends is not None and ends.ends[0].size != plan.partition.m:
        raise InputError(f"the plan has {plan.partition.m:,} edges, not {ends.ends[0].size:,}")
    if to == LISTS:
        return _write_lists(Path(path), plan, ends)
    with atomic_write(path) as file:
        for piece in EDGE_EXPORTS[to](plan, ends):
            file.write(piece)
    return [str(path)]


def _text(plan: EdgePlan, _: EdgeEnds | None) -> Iterator[bytes]:
    """Yield one block per line."""
    part = plan.partition.part
    for start in range(0, part.size, LINES):
        yield "".join(f"{b}\n" for b in part[start : start + LINES].tolist()).encode()


def _npy(plan: EdgePlan, _: EdgeEnds | None) -> Iterator[bytes]:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, plan.partition.part, allow_pickle=False)
    yield buffer.getvalue()


def _npz(plan: EdgePlan, _: EdgeEnds | None) -> Iterator[bytes]:
    buffer = io.BytesIO()
    write_arrays(buffer, {"part": plan.partition.part}, level=6)
    yield buffer.getvalue()


def _json(plan: EdgePlan, _: EdgeEnds | None) -> Iterator[bytes]:
    content = {
        "m": plan.partition.m,
        "of": plan.of,
        "part": plan.partition.part.tolist(),
        "devices": list(plan.platform.names),
    }
    yield json.dumps(content, separators=(",", ":")).encode() + b"\n"


def _csv(plan: EdgePlan, ends: EdgeEnds | None) -> Iterator[bytes]:
    """Yield lines `edge,block,device`, or `u,v,block,device` if the ends are known."""
    part = plan.partition.part
    devices = [quoted(name) for name in plan.platform.names]
    yield b"edge,block,device\n" if ends is None else b"u,v,block,device\n"
    for start in range(0, part.size, LINES):
        stop = min(start + LINES, part.size)
        first: Iterator[str] = map(str, range(start, stop))
        if ends is not None:
            first = (f"{u},{v}" for u, v in _words(ends, np.arange(start, stop), quoted))
        blocks = part[start:stop].tolist()
        rows = (f"{one},{b},{devices[b]}\n" for one, b in zip(first, blocks, strict=True))
        yield "".join(rows).encode()


def _write_lists(folder: Path, plan: EdgePlan, ends: EdgeEnds | None) -> list[str]:
    if ends is None:
        raise UsageError(
            "lists of edges need the graph", hint="Give the graph file after the plan file."
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} already exists", hint="Name a folder that does not exist.")
    folder.mkdir(parents=True, exist_ok=True)
    order = np.argsort(plan.partition.part, kind="stable")
    starts = offsets_of(plan.metrics.edges)
    width, names = len(str(plan.platform.k - 1)), []
    for b in range(plan.platform.k):
        path = folder / f"{b:0{width}}.edges"
        with atomic_write(path) as file:
            for chosen in _runs(order[starts[b] : starts[b + 1]]):
                file.write(_lines(ends, chosen))
        names.append(str(path))
    return names


def _runs(chosen: npt.NDArray[np.intp]) -> Iterator[npt.NDArray[np.intp]]:
    for start in range(0, chosen.size, LINES):
        yield chosen[start : start + LINES]


def _lines(ends: EdgeEnds, chosen: npt.NDArray[np.intp]) -> bytes:
    """Return lines `u v [weight]` of the edges with the numbers `chosen`."""
    rows = [f"{u} {v}" for u, v in _words(ends, chosen, _bare)]
    if ends.weights is not None:
        weights = ends.weights[chosen].tolist()
        rows = [f"{row} {weight!r}" for row, weight in zip(rows, weights, strict=True)]
    return "".join(f"{row}\n" for row in rows).encode()


def _words(
    ends: EdgeEnds, chosen: npt.NDArray[np.intp], spelled: Callable[[str], str]
) -> Iterator[Sequence[str]]:
    """Yield both ends of edges as text; spelled(name) formats names that are not numbers."""
    columns = []
    for end in ends.ends:
        words = map(str, end[chosen].tolist())
        columns.append(list(words if end.dtype.kind in "iu" else map(spelled, words)))
    return zip(*columns, strict=True)


def _bare(name: str) -> str:
    """Return a name as a blank-separated field, quoted if necessary."""
    special = any(c.isspace() or c in ',;"#%' for c in name) or not name
    return '"' + name.replace('"', '""') + '"' if special else name


LISTS = "lists"
# Each function yields the bytes of an edge plan's file; ends: of its edges, if known.
EDGE_EXPORTS: dict[str, Callable[[EdgePlan, EdgeEnds | None], Iterator[bytes]]] = {
    "metis": _text,
    "npy": _npy,
    "npz": _npz,
    "csv": _csv,
    "json": _json,
}
