"""What it takes to move data: bytes over the real links, the busiest device or link last."""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.platforms.platform import Platform
from evener.platforms.shared_links import shared_routes


def transfer_seconds(
    platform: Platform, source: IntArray, target: IntArray, n_bytes: FloatArray
) -> float:
    """Return the seconds until all messages have arrived [s].

    source, target (m,): devices; n_bytes (m,) [B]. Each device sends and receives one message
    after the other; a link that several share takes all that passes it.
    """
    if source.size == 0:
        return 0.0
    alpha, beta = platform.link_costs(source, target)
    each = alpha + beta * n_bytes
    busy = np.bincount(source, each, platform.k) + np.bincount(target, each, platform.k)
    seconds = float(busy.max())
    if platform.has_shared:
        routes = shared_routes(platform, source, target)
        seconds = max(seconds, float(np.max(routes.seconds(n_bytes), initial=0.0)))
    return seconds


def messages(
    old: IntArray, new: IntArray, n_bytes: FloatArray, k: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return source, target and bytes (m,) of what goes from blocks old (n,) to new (n,).

    n_bytes (n,): of each vertex [B].
    """
    away = np.flatnonzero(old != new)
    key = old[away].astype(np.int64) * k + new[away]
    pairs, inverse = np.unique(key, return_inverse=True)
    total: FloatArray = np.zeros(pairs.size)
    np.add.at(total, inverse, n_bytes[away])
    source, target = np.divmod(pairs, k)
    return source, target, total


def usual_per_byte(platform: Platform) -> FloatArray:
    """(k,) seconds a byte takes over each device's fastest link to some others [s/B]."""
    k = platform.k
    if k == 1 or not platform.has_links:
        return np.zeros(k)
    # A few others stand for all: it is an estimate, which real messages correct.
    own = np.arange(k)
    others = [(own + step) % k for step in sorted({1, k - 1, k // 2} - {0})]
    return np.asarray(np.min([platform.link_costs(own, other)[1] for other in others], axis=0))
