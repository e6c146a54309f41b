"""Devices by their links: groups of near ones, and what a message between them costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.costs import Costs
from evener.solving.surfaces import Surface

MOST_LEVELS = 3  # of groups of devices by their links
DOUBLE = 256  # devices up to which pairs are summed up in double precision


def message_seconds(surface: Surface, costs: Costs) -> FloatArray:
    """(k, k) time of a message of the size that is usual between equal blocks [s]."""
    k = max(costs.k, 2)
    halo = float(surface.halos(np.full(k, surface.n / k)).max())
    return np.asarray(costs.alpha + costs.beta * halo / max(surface.neighbours, 1.0))


def groups_of(links: FloatArray) -> npt.NDArray[np.int64]:
    """(levels, k) equal numbers for devices joined by links up to a cost, the cheapest first."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    k = len(links)
    levels: list[npt.NDArray[np.int64]] = []
    between = np.log10(np.maximum(links[~np.eye(k, dtype=bool)], 1e-30))
    for least in np.unique(np.round(between, 1)) if k > 1 else []:
        near = csr_array(links <= 10.0 ** (least + 0.05))
        count, label = connected_components(near, directed=False)
        if count == 1:
            break
        if count < (k if not levels else levels[-1].max() + 1):
            levels.append(label.astype(np.int64))
    last = len(levels) - 1
    picked = sorted(
        {round(i * last / (MOST_LEVELS - 1)) for i in range(MOST_LEVELS)} if levels else ()
    )
    return np.array([levels[i] for i in picked], np.int64).reshape(len(picked), k)


def pair_costs(groups: npt.NDArray[np.int64], costs: Costs) -> list[FloatArray]:
    """(k, 3k) for each level: 1 where a pair is joined there first, its alpha, and its beta.

    The last is of pairs that no level joins. Of many devices in single precision.
    """
    kind: type[Any] = np.float64 if costs.k <= DOUBLE else np.float32
    apart = ~np.eye(costs.k, dtype=bool)
    found = []
    for row in [*groups, np.zeros(costs.k, np.int64)]:
        joined = apart & (row[:, None] == row)
        found.append(np.hstack([joined, joined * costs.alpha, joined * costs.beta]).astype(kind))
        apart &= ~joined
    return found
