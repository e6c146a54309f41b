"""Clouds of points whose spacing follows a given function, by refining a quadtree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evener.arrays import BoolArray, FloatArray

JITTER = 0.5  # of a cell's side; a lattice would leave Delaunay's rule undecided

# (centres (c, 2), sides (c,)) -> spacing wanted (c,), infinite for cells never to be split, and
# whether the cell counts as a point (c,).
Spacing = Callable[[FloatArray, FloatArray], tuple[FloatArray, BoolArray]]


def quadtree_cloud(
    n: int, corner: tuple[float, float], side: float, spacing: Spacing, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return n points (n, 2) in the square at `corner`, and their spacings (n,).

    The cells that are largest beside the spacing wanted are split in four until enough count:
    spacings end in proportion to what is wanted. Each cell gives one point, off its centre.
    """
    centres, sides = _split(np.array([corner]) + side / 2, np.array([side]))
    wanted, counts = _dithered(spacing, centres, sides, rng)
    while (missing := n - int(np.count_nonzero(counts))) > 0:
        ratio = wanted / sides
        # Few at a time, so that none is split that would not have been in strict order.
        few = min(-(-missing // 3), max(1, sides.size // 4))
        chosen = np.zeros(sides.size, bool)
        chosen[np.argsort(ratio, kind="stable")[:few]] = True
        children, halves = _split(centres[chosen], sides[chosen])
        more_wanted, more_counts = _dithered(spacing, children, halves, rng)
        centres = np.concatenate([centres[~chosen], children])
        sides = np.concatenate([sides[~chosen], halves])
        wanted = np.concatenate([wanted[~chosen], more_wanted])
        counts = np.concatenate([counts[~chosen], more_counts])
    taken = np.flatnonzero(counts)[:n]
    offsets = JITTER * (rng.random((n, 2)) - 0.5)
    return centres[taken] + offsets * sides[taken, None], sides[taken]


def _dithered(
    spacing: Spacing, centres: FloatArray, sides: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, BoolArray]:
    """Spread the spacing over a factor of two: sizes of cells then change without a visible rim."""
    wanted, counts = spacing(centres, sides)
    return wanted * 2.0 ** (rng.random(sides.size) - 0.5), counts


def _split(centres: FloatArray, sides: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Centres and sides of the four quarters of each cell."""
    towards = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]]) / 4
    quarters = centres[:, None, :] + towards[None, :, :] * sides[:, None, None]
    return quarters.reshape(-1, 2), np.repeat(sides / 2, 4)
