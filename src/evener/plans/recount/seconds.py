"""recounted_seconds: time that each device computes, communicates and waits in an iteration.

`messages_of` returns the messages between pairs of devices, and the links that they use.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.plans.recount.blocks import BlockCounts
from evener.plans.workload import Workload
from evener.platforms.device import Device
from evener.platforms.models.fitting import SpeedModel
from evener.platforms.platform import Platform

PLACES_AT_ONCE = 1 << 20  # sources x places of one call of Dijkstra, which bounds its memory


class Messages(NamedTuple):
    """Messages between devices p[i] < q[i], both directions together; arrays (m,).

    size [B]; alpha [s], beta [s/B]: of the links on the route. Message at[j] uses the shared link
    link[j], for every j below the length of both; link_beta [s/B]: of each shared link. hop_bytes
    [B]: for each level, sizes times hops; empty without levels.
    """

    p: IntArray
    q: IntArray
    size: FloatArray
    alpha: FloatArray
    beta: FloatArray
    at: IntArray
    link: IntArray
    link_beta: FloatArray
    hop_bytes: FloatArray


class _Way(NamedTuple):
    """Costs of messages, and the shared links they use, identified by arbitrary numbers."""

    alpha: FloatArray
    beta: FloatArray
    at: list[IntArray]
    link: list[IntArray]
    link_beta: list[FloatArray]
    hop_bytes: FloatArray


def messages_of(blocks: BlockCounts, platform: Platform, bytes_per_value: float) -> Messages:
    """Return the messages of an iteration; none if the platform states no links."""
    low = np.minimum(blocks.sender, blocks.receiver)
    high = np.maximum(blocks.sender, blocks.receiver)
    codes, which = np.unique(low * platform.k + high, return_inverse=True)
    p, q = np.divmod(codes, platform.k)
    values = np.bincount(which, blocks.values, minlength=codes.size)
    size: FloatArray = values.astype(np.float64) * bytes_per_value
    if platform.connections:
        way = _by_routes(platform, p, q)
    elif platform.levels:
        way = _by_levels(platform, p, q, size)
    else:
        p = q = np.empty(0, np.int64)
        size = nothing = np.empty(0)
        way = _Way(nothing, nothing, [], [], [], nothing)
    at = np.concatenate([np.empty(0, np.int64), *way.at])
    names = np.concatenate([np.empty(0, np.int64), *way.link])
    _, first, link = np.unique(names, return_index=True, return_inverse=True)
    link_beta = np.concatenate([np.empty(0), *way.link_beta])[first]
    return Messages(p, q, size, way.alpha, way.beta, at, link, link_beta, way.hop_bytes)


def _by_levels(platform: Platform, p: IntArray, q: IntArray, size: FloatArray) -> _Way:
    """Return costs by the deepest level both devices share, with shared links from there down."""
    levels, places = platform.levels, platform.places
    deepest, agree = np.zeros(p.size, np.int64), np.ones(p.size, np.bool_)
    for codes in places:
        agree &= codes[p] == codes[q]
        deepest += agree
    hops = 2 * (len(levels) - deepest)
    way = _Way(
        np.array([level.link.alpha for level in levels])[deepest],
        np.array([level.link.beta for level in levels])[deepest],
        [],
        [],
        [],
        np.bincount(deepest, size * hops, minlength=len(levels)).astype(np.float64),
    )
    for depth, level in enumerate(levels):
        if not level.shared:
            continue
        # Its children: the places one level deeper, devices below the last one.
        children = places[depth] if depth < len(places) else np.arange(platform.k)
        passing = np.flatnonzero(deepest <= depth)
        for ends in (p, q):
            way.at.append(passing)
            way.link.append(depth * platform.k + children[ends[passing]])
            way.link_beta.append(np.full(passing.size, level.link.beta))
    return way


def _by_routes(platform: Platform, p: IntArray, q: IntArray) -> _Way:
    """Return costs of routes through a graph of links; routes are traced from q back to p < q."""
    from scipy.sparse.csgraph import dijkstra

    network = platform.network
    places = network.usual.shape[0]
    way = _Way(np.zeros(p.size), np.zeros(p.size), [], [], [], np.empty(0))
    step = max(PLACES_AT_ONCE // places, 1)
    sources = np.unique(p)
    for start in range(0, sources.size, step):
        chunk = sources[start : start + step]
        _, came_from = dijkstra(
            network.usual, indices=network.home[chunk], return_predecessors=True
        )
        on_way = np.flatnonzero((p >= chunk[0]) & (p <= chunk[-1]))
        here = network.home[q[on_way]]
        while True:
            before = came_from[np.searchsorted(chunk, p[on_way]), here].astype(np.int64)
            on_way, here, before = (one[before >= 0] for one in (on_way, here, before))
            if not on_way.size:
                break
            name = np.minimum(before, here) * places + np.maximum(before, here)
            link = np.searchsorted(network.keys, name)
            alpha, beta = network.costs[link].T
            way.alpha[on_way] += alpha
            way.beta[on_way] = np.maximum(way.beta[on_way], beta)
            shared = network.shared[link]
            way.at.append(on_way[shared])
            way.link.append(name[shared])
            way.link_beta.append(beta[shared])
            here = before
    return way


ROUNDING = 1e-12  # relative: shorter waits are rounding


class Seconds(NamedTuple):
    """Seconds of an iteration, each (k,) in the devices' order; docs/prediction.md defines them.

    hop_bytes (levels,) [B]: bytes x hops by the deepest level that both devices share.
    """

    compute: FloatArray
    communicate: FloatArray
    contention: FloatArray
    fixed: FloatArray
    overlapped: FloatArray
    delay: FloatArray
    hop_bytes: FloatArray


def recounted_seconds(blocks: BlockCounts, platform: Platform, workload: Workload) -> Seconds:
    """Return the seconds of an iteration with block b on device b; loads are the first weights.

    Fixed seconds come first, then the work, then the exchange; with overlap, the exchange begins
    after the fixed seconds, and the boundary is computed after it and after the interior. Seconds
    that overflow are infinite or NaN.
    """
    load = blocks.weights[:, 0]
    compute = _computing(platform, load)
    takes_part = (load > 0) | (blocks.neighbours > 0)
    fixed = np.where(takes_part, platform.fixed_seconds + workload.fixed_seconds, 0.0)
    inner = blocks.interior * compute if workload.overlap else np.zeros(platform.k)
    begins = fixed if workload.overlap else fixed + compute
    messages = messages_of(blocks, platform, workload.bytes_per_value)
    with np.errstate(over="ignore", invalid="ignore"):
        own = _sum_at_ends(messages, messages.alpha + messages.beta * messages.size, platform.k)
        ends = _ends(messages, begins, own)
        waits = ends - begins - own
        waits = np.where(waits > ROUNDING * ends, waits, 0.0)
        contention = np.minimum(waits, np.maximum(_busiest(messages, platform.k) - own, 0.0))
        communicate = own + contention
        return Seconds(
            compute=compute,
            communicate=communicate,
            contention=contention,
            fixed=fixed,
            overlapped=np.minimum(inner, communicate),
            delay=np.maximum(own + waits, inner) - np.maximum(communicate, inner),
            hop_bytes=messages.hop_bytes,
        )


def _computing(platform: Platform, load: FloatArray) -> FloatArray:
    """Return the seconds of each load, (k,), by its device's speed, or its speed model if any."""
    with np.errstate(over="ignore"):
        seconds = load / platform.speeds
    known: dict[object, SpeedModel] = {}
    for b, device in enumerate(platform.devices):
        if device.curve is not None:
            seconds[b] = _model(device, known).time(float(load[b]))
    return np.asarray(seconds)


def _model(device: Device, known: dict[object, SpeedModel]) -> SpeedModel:
    """Return a device's speed model, fitted once for all devices with the same samples."""
    curve = device.curve
    key = None if curve is None else (curve.samples, curve.model, curve.capacity)
    if key not in known:
        known[key] = device.model
    return known[key]


def _sum_at_ends(messages: Messages, values: FloatArray, k: int) -> FloatArray:
    """Return the sum of values (m,) over the messages of each device, (k,)."""
    both = np.concatenate([messages.p, messages.q])
    sums = np.bincount(both, np.concatenate([values, values]), minlength=k)
    return sums.astype(np.float64, copy=False)


def _busiest(messages: Messages, k: int) -> FloatArray:
    """Return the time that the busiest shared link of each device needs for its bytes, (k,) [s]."""
    busiest = np.zeros(k)
    size = messages.link_beta.size
    passed = np.bincount(messages.link, messages.size[messages.at], minlength=size)
    needs = (messages.link_beta * passed)[messages.link]
    for ends in (messages.p, messages.q):
        np.maximum.at(busiest, ends[messages.at], needs)
    return busiest


def _ends(messages: Messages, begins: FloatArray, own: FloatArray) -> FloatArray:
    """Return the time when the last message of each device has arrived, (k,) [s].

    own (k,) [s]: seconds of its messages without waiting, which are returned if numbers overflow.
    """
    from evener.plans.recount.recount_kernels import run_messages

    k = begins.size
    posted = begins + _sum_at_ends(messages, messages.alpha, k)
    port_users = _sum_at_ends(messages, messages.beta, k)
    link_users = np.bincount(
        messages.link, messages.link_beta[messages.link], minlength=messages.link_beta.size
    )
    sums = np.concatenate([posted, port_users, link_users, messages.size])
    if not (messages.p.size and np.isfinite(sums).all()):
        return begins + own
    ends = posted.copy()
    begin = np.maximum(posted[messages.p], posted[messages.q])
    run_messages(messages.p, messages.q, messages.size.copy(), begin, *_users(messages, k), ends)
    return ends


def _users(messages: Messages, k: int) -> tuple[IntArray, IntArray, IntArray, IntArray, FloatArray]:
    """Return two sparse tables: resources of each message, and messages of each resource.

    The result is starts and entries of the first, starts and entries of the second, and beta [s/B]
    of each resource. Ports are numbered as devices, shared links from k on. Links of infinite
    bandwidth are left out.
    """
    m, n_resources = messages.p.size, k + messages.link_beta.size
    message = np.concatenate([np.arange(m), np.arange(m), messages.at])
    resource = np.concatenate([messages.p, messages.q, messages.link + k])
    beta = np.concatenate([messages.beta, messages.beta, messages.link_beta[messages.link]])
    limits = np.flatnonzero(beta > 0)
    rows = limits[np.argsort(message[limits], kind="stable")]
    columns = limits[np.argsort(resource[limits], kind="stable")]
    return (
        np.searchsorted(message[rows], np.arange(m + 1)),
        resource[rows],
        np.searchsorted(resource[columns], np.arange(n_resources + 1)),
        message[columns],
        beta[columns],
    )
