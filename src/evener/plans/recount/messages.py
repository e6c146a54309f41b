"""Messages: the bytes that pairs of devices exchange, and the links they pass."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.plans.recount.blocks import BlockCounts
from evener.platforms.platform import Platform

PLACES_AT_ONCE = 1 << 20  # sources x places of one call of Dijkstra, which bounds its memory


class Messages(NamedTuple):
    """One message i between devices p[i] < q[i], both ways together; arrays (m,).

    size [B]; alpha [s], beta [s/B]: of the links on its way. Message at[j] passes the shared link
    link[j], j any number below the length of both; link_beta [s/B]: of each shared link.
    hop_bytes [B]: for each level, sizes times hops; empty without levels.
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
    """Costs of messages, and the shared links they pass, identified by any numbers."""

    alpha: FloatArray
    beta: FloatArray
    at: list[IntArray]
    link: list[IntArray]
    link_beta: list[FloatArray]
    hop_bytes: FloatArray


def messages_of(blocks: BlockCounts, platform: Platform, bytes_per_value: float) -> Messages:
    """Return the messages of an iteration; none where the platform states no links."""
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
    """Return costs of routes through a graph of links, followed from q back to p < q."""
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
