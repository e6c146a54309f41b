"""What more memory would bring: devices that are full, and sizes evened out anew with more room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from evener.arrays import BoolArray, FloatArray
from evener.costs import MAX_PAIRED, Costs, costs_of
from evener.plans import Evaluation
from evener.platforms import Platform
from evener.solving.evening import Evening
from evener.workloads import Workload

FULL = 0.99  # of its room: what is filled to the last vertex but a few is full
LOOKED_AT = 3  # full devices of different kinds, and kinds of them


def more_memory(
    judged: Evaluation, platform: Platform, workload: Workload, kinds: Sequence[Sequence[int]]
) -> Iterator[tuple[Sequence[int], float]]:
    """Yield devices of which some are full, and what an iteration would take with twice their
    memory, by what it takes now (at most 1).

    kinds: devices alike in name. Sizes are evened out anew, with twice the memory and without;
    every device exchanges what it exchanges now, and those that have nothing go on having nothing.
    """
    loads = judged.certificate.weights
    room, full = _room(judged, platform)
    if not full.any() or platform.k > MAX_PAIRED or (loads > 0).sum() < 2:
        return
    evened = _Evened(judged, costs_of(platform, workload))
    before = evened.seconds(room)
    chosen: list[Sequence[int]] = [[b] for b in _first_of_kinds(platform, full, kinds)[:LOOKED_AT]]
    chosen += [own for own in kinds if len(own) > 1 and full[list(own)].any()][:LOOKED_AT]
    for own in chosen:
        more = room.copy()
        more[list(own)] *= 2
        yield own, min(evened.seconds(more) / before, 1.0)


def _first_of_kinds(
    platform: Platform, full: BoolArray, kinds: Sequence[Sequence[int]]
) -> list[int]:
    """Return full devices, the fastest first, one of each kind: another would bring the same."""
    kind_of = {b: kind for kind, own in enumerate(kinds) for b in own}
    fastest = [b for b in np.argsort(-platform.speeds, kind="stable").tolist() if full[b]]
    first = {kind_of.get(b, -1 - b): b for b in reversed(fastest)}
    return sorted(first.values(), key=fastest.index)


def _room(judged: Evaluation, platform: Platform) -> tuple[FloatArray, BoolArray]:
    """(k,) most that each device's memory holds [units], no less than it has; and who is full."""
    certificate = judged.certificate
    loads = certificate.weights
    busy = (loads > 0) & (certificate.bytes > 0)
    density = np.where(busy, certificate.bytes, 1.0) / np.where(busy, loads, 1.0)
    by_bytes = np.where(busy, platform.memories / density, np.inf)
    memory = np.minimum(by_bytes, platform.memory_units)
    full = busy & (loads >= FULL * memory)
    return np.maximum(memory, loads), full


class _Evened:
    """Sizes evened out over the devices that have something, exchanges being what they are."""

    def __init__(self, judged: Evaluation, costs: Costs) -> None:
        certificate, now = judged.certificate, judged.prediction
        self._costs, self._mask = costs, certificate.weights[None] > 0
        self._work, self._n = float(certificate.weights.sum()), int(certificate.vertices.sum())
        self._exchange = now.communicate[None]  # nobody waits for a partner where sizes are even
        self._border = 1.0 - now.interior[None]

    def seconds(self, room: FloatArray) -> float:
        """Time until the last device is done, each holding at most its room (k,) [units]: [s]."""
        evening = Evening(self._costs, self._work, self._n, room)
        found = evening.evened(self._mask, lambda *_: (self._exchange, self._border))
        return float(found.seconds[0])
