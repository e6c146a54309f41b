"""Chooses the colours of blocks: neighbours differ, black labels are legible on all."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray

# Paul Tol's "light" scheme, for areas with black labels, safe for colour-blind readers; and
# darker variants for graphs that need more than nine.
PALETTE: tuple[tuple[int, int, int], ...] = (
    (119, 170, 221), (238, 136, 102), (238, 221, 136), (68, 187, 153), (255, 170, 187),
    (153, 221, 255), (187, 204, 51), (200, 170, 220), (221, 221, 221), (170, 170, 0),
    (90, 130, 175), (190, 105, 80), (45, 140, 115), (200, 120, 140), (140, 150, 160),
    (190, 170, 95),
)  # fmt: skip
OUTLINE = (38, 42, 48)
MAX_SITES = 200_000
NEAR = 6  # vertices around each one that count as beside it
USUAL = 8  # the most distinct ones; more are taken only where eight do not do


def block_colours(k: int, sender: IntArray, receiver: IntArray) -> npt.NDArray[np.uint8]:
    """(k,) an index into PALETTE for each block; blocks that touch differ where 16 colours do.

    Greedy by saturation [Bre79]_: the block with most colours around it is next; it takes, of
    those left to it, the colour used least, so that a map is colourful and not mostly blue.
    """
    if k <= len(PALETTE):
        return np.arange(k, dtype=np.uint8)
    around: list[list[int]] = [[] for _ in range(k)]
    for a, b in zip(sender.tolist(), receiver.tolist(), strict=True):
        around[a].append(b)
    colour = np.full(k, len(PALETTE), np.uint8)
    seen = np.zeros((k, len(PALETTE)), np.int32)
    degree = np.array([len(others) for others in around])
    urgency = degree.astype(np.float64) / (degree.max() + 1.0)
    used = np.zeros(len(PALETTE), np.int64)
    for _ in range(k):
        b = int(np.argmax(urgency))
        colour[b] = chosen = _least_used(seen[b], used)
        used[chosen] += 1
        urgency[b] = -np.inf
        for other in around[b]:
            urgency[other] += seen[other, chosen] == 0
            seen[other, chosen] += 1
    return colour


def in_css(colour: npt.NDArray[np.uint8]) -> list[str]:
    """Return these colours of PALETTE as CSS has them: "#77aadd"."""
    return ["#{:02x}{:02x}{:02x}".format(*PALETTE[c]) for c in colour.tolist()]


def pairs_side_by_side(coords: FloatArray, part: IntArray) -> tuple[IntArray, IntArray]:
    """Blocks that lie beside each other whether or not an edge joins them, both ways.

    coords (n, d) and part (n,) of the vertices; of many, some.
    """
    from scipy.spatial import cKDTree

    step = -(-len(coords) // MAX_SITES)
    places, part = coords[::step], part[::step].astype(np.int64)
    _, near = cKDTree(places).query(places, k=min(NEAR + 1, len(places)))
    a, b = np.repeat(part, near.shape[1]) if near.ndim > 1 else part, part[near.ravel()]
    a, b = a[a != b], b[a != b]
    keys = np.unique(np.concatenate([a, b]) * (part.max() + 1) + np.concatenate([b, a]))
    return keys // (part.max() + 1), keys % (part.max() + 1)


def _least_used(seen: npt.NDArray[np.int32], used: npt.NDArray[np.int64]) -> int:
    free = np.flatnonzero(seen[:USUAL] == 0)
    if free.size == 0:
        free = np.flatnonzero(seen == 0)
    if free.size == 0:
        # More than 16 blocks touch each other: no map can tell them apart by colour alone.
        return int(np.argmin(seen))
    return int(free[np.argmin(used[free])])
