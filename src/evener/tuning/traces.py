"""RankTrace: the file that waits.c wrote for one rank; waits.c documents its layout."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import InputError

MAGIC = b"EVTUNE1"
_HEAD = np.dtype(
    [("magic", "S8")]
    + [(key, "<i8") for key in (
        "rank", "size", "capacity", "ended", "events", "marks", "calls", "now",
        "exchanging", "collective", "delayed", "sent")]
)  # fmt: skip
_PEER = np.dtype([("calls", "<i8"), ("bytes", "<i8")])
SUMS = ("exchanging", "collective", "delayed", "sent")
_EVENT = np.dtype([("at", "<i8"), ("kind", "<i8")] + [(key, "<i8") for key in SUMS])
_MOST = 1 << 20  # most ranks, and most events


@dataclass(frozen=True, eq=False)
class RankTrace:
    """The newest events of a rank, oldest first.

    rank, size: MPI's rank, and number of ranks. calls: number of MPI calls that were timed.
    seconds: time from MPI_Init to the last call. at (e,): when collective calls began [s]. kind
    (e,) int64: kind of each call, 0 for moments between calls. sums (e, 4): totals from MPI_Init to
    each event, in the order of SUMS: seconds in point-to-point calls, seconds in collective calls,
    seconds that the rank was ready to run but had no core, and bytes sent. first: number of the
    first collective call among the events. peers (size, 2): messages and bytes to each rank.
    """

    rank: int
    size: int
    calls: int
    seconds: float
    at: FloatArray
    kind: npt.NDArray[np.int64]
    sums: FloatArray
    first: int
    peers: npt.NDArray[np.int64]


def read_traces(folder: Path) -> list[RankTrace]:
    """Return the traces of all ranks that wrote one, by rank.

    Raises InputError for damaged files.
    """
    traces = [_trace(path) for path in folder.glob("rank.*")]
    traces.sort(key=lambda trace: trace.rank)
    return traces


def _trace(path: Path) -> RankTrace:
    data = path.read_bytes()
    if len(data) < _HEAD.itemsize:
        raise _damaged(path)
    head = np.frombuffer(data, _HEAD, 1)[0]
    size, capacity, events, marks = (
        int(head[key]) for key in ("size", "capacity", "events", "marks")
    )
    begin = _HEAD.itemsize + _PEER.itemsize * size
    is_whole = (
        head["magic"] == MAGIC and 0 < size <= _MOST and 0 < capacity <= _MOST
        and 0 <= int(head["rank"]) < size and 0 <= marks <= events
        and len(data) >= begin + _EVENT.itemsize * capacity
    )  # fmt: skip
    if not is_whole:
        raise _damaged(path)
    peers = np.frombuffer(data, np.int64, 2 * size, _HEAD.itemsize).reshape(-1, 2)
    ring = np.frombuffer(data, _EVENT, capacity, begin)
    newest = np.roll(ring, -(events % capacity)) if events > capacity else ring[:events]
    sums = np.column_stack([newest[key] for key in SUMS]).astype(float)
    sums[:, :3] *= 1e-9
    return RankTrace(
        int(head["rank"]), size, int(head["calls"]), int(head["now"]) * 1e-9,
        newest["at"] * 1e-9, newest["kind"], sums,
        marks - int(np.count_nonzero(newest["kind"])), peers,
    )  # fmt: skip


def _damaged(path: Path) -> InputError:
    return InputError("is damaged: it is not the trace of a rank", file=path)
