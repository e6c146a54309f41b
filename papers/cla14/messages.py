"""Seconds of the messages of a product over a tiling, as [Cla14]_, 5.1.5 and 5.2.3, sends them."""

from __future__ import annotations

import numpy as np

from evener.plans.tiling import Tiling

LATENCY = 5e-6  # [s] of a message, ours
ELEMENT = 8  # bytes


def sent_seconds(tiling: Tiling, link: float, block: int) -> float:
    """Return the seconds of all messages of a product [s], step by step of a pivot of a block.

    The nodes of the pivot column send their parts of A to each other column of nodes, one message
    after another; in every column of nodes the owner of the pivot row broadcasts its part of B by
    a binomial tree. link [bytes/s]: of each node. block: elements a side of the tiling's blocks.
    """
    own = tiling if tiling.n_columns else tiling.transposed()
    used = np.flatnonzero(own.areas > 0)
    top, height, left, width = (a[used] for a in (own.top, own.height, own.left, own.width))
    lefts = np.unique(left)
    seconds = block * block * ELEMENT / link  # of a block
    rows, down = 0.0, 0.0
    for edge in lefts.tolist():
        column = left == edge
        meets = (top < (top + height)[column, None]) & (top[column, None] < top + height)
        messages = (meets & ~column).sum(axis=1)
        across = height[column] * (lefts.size - 1) * seconds + messages * LATENCY
        rows += float(width[column][0]) * float(across.max())
        rounds = int(np.ceil(np.log2(max(column.sum(), 1))))
        down = max(down, rounds * (float(width[column][0]) * seconds + LATENCY))
    return rows + own.shape[0] * down
