"""MirrorUpdates: values that changed, from mirrors to masters and from masters to mirrors.

Both ends of a copy know which value the other has last seen, so that a message holds what differs
alone, and nothing is sent back to where it came from ([Dathathri18]_, section 3.2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.running.edge_shares import EdgeShare
from evener.running.engine.recording import StepRecorder
from evener.running.sparse import SparseReduce

Numbers = npt.NDArray[Any]
NUMBER = 4  # bytes of a vertex's number in a message
# Given local numbers, rising or not: what a device's engine has for them now.
Read = Callable[[Numbers], Numbers]
# Given local numbers and values that another device has for them: applies these.
Deliver = Callable[[Numbers, Numbers], None]


class MirrorUpdates:
    """The exchanges of changed values on one device; all devices make one and make the same calls.

    unknown: the value that no vertex needs to hear of, as it is combined with others in vain; what
    all copies have at first.
    """

    def __init__(
        self, share: EdgeShare, dtype: npt.DTypeLike, unknown: Any, steps: StepRecorder
    ) -> None:
        exchanged, kind = share.exchanged, np.dtype(dtype)
        self._steps, self._first = steps, exchanged.n_owned
        mirrors = {q: slice(*both) for q, both in exchanged.receives.items()}
        # Masters that have a mirror, once for each: those of neighbour q are a range.
        lists = [exchanged.sends[q] for q in sorted(exchanged.sends)]
        ends = np.cumsum([0, *(own.size for own in lists)]).tolist()
        places = {q: slice(ends[i], ends[i + 1]) for i, q in enumerate(sorted(exchanged.sends))}
        self._mirrored = np.concatenate([np.empty(0, np.uint32), *lists])
        self._mirrors = np.arange(exchanged.n_owned, exchanged.n_local, dtype=np.uint32)
        self._up = SparseReduce(steps.comm, places, mirrors, kind)
        self._down = SparseReduce(steps.comm, mirrors, places, kind)
        self._known = np.full(self._mirrors.size, unknown, kind)  # by the masters, of mirrors here
        self._told = np.full(self._mirrored.size, unknown, kind)  # to mirrors, of masters here

    def know(self, read: Read) -> None:
        """Take what the engine has now as what all other copies have, too."""
        self._known[:] = read(self._mirrors)
        self._told[:] = read(self._mirrored)

    def up(self, read: Read, deliver: Deliver) -> int:
        """Bring values of mirrors that changed to their masters; return how many came here."""
        changed = self._changed(self._known, read(self._mirrors))
        found = self._swapped(self._up, changed, self._first, self._known)
        return self._delivered(found, self._told, 0, lambda at: self._mirrored[at], deliver)

    def down(self, read: Read, deliver: Deliver) -> int:
        """Bring values of masters that changed to their mirrors; return how many came here."""
        changed = self._changed(self._told, read(self._mirrored))
        found = self._swapped(self._down, changed, 0, self._told)
        return self._delivered(found, self._known, self._first, lambda at: at, deliver)

    def _changed(self, seen: Numbers, now: Numbers) -> Numbers:
        """Note what is new; return where."""
        with self._steps.timed("packing"):
            changed = np.flatnonzero((seen != now) & ~np.isnan(seen))  # which stays
            seen[changed] = now[changed]
        return changed

    def _swapped(self, way: SparseReduce, changed: Numbers, first: int, seen: Numbers) -> Any:
        """Send what is new; return what came."""
        steps = self._steps
        with steps.timed("waiting"):
            way.settle()  # others may still copy the messages of the superstep before
        with steps.timed("packing"):
            way.pack((changed + first).astype(np.uint32), seen[changed])
        with steps.timed("waiting"):
            way.start()
            way.finish()
        for q, count in way.sent.items():
            if count:
                steps.now.count_sent(q, count * (NUMBER + seen.itemsize))
        return way.taken()

    def _delivered(
        self, found: Any, seen: Numbers, first: int, numbers: Read, deliver: Deliver
    ) -> int:
        """Note and apply what came; return how many values."""
        received = 0
        with self._steps.timed("unpacking"):
            for at, values in found:
                seen[at - np.uint32(first)] = values
                deliver(numbers(at), values)
                received += at.size
        return received
