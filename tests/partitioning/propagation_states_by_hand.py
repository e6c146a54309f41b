"""States of label propagation, and what they minimise from its definition."""

import numpy as np

from evener.partitioning.label_propagation.cycles import with_nets
from evener.partitioning.label_propagation.propagation_kernels import PropagationState
from evener.partitioning.levels.levels import finest

UNIT = np.empty(0, np.int32)


def state_of(graph, part, k, *, weights=UNIT, prices=None, low=0.0, high=np.inf):
    """A state for volumes if there are prices, else for the cut."""
    level = finest(graph, np.arange(graph.n), graph.weights(), weights, 1)
    part = np.array(part, np.int32)
    weight = np.bincount(part, weights=level.vwgt, minlength=k)
    state = PropagationState(
        level.xadj, level.adjncy, level.adjwgt, level.vwgt, part, weight, np.full(k, low),
        np.full(k, high), 0.0, False, np.ones(k), np.empty(0, np.int64), UNIT, UNIT, UNIT,
    )  # fmt: skip
    if prices is None:
        return state
    state = with_nets(state)
    state.price[:] = prices
    return state


def cost(graph, state, weights=UNIT):
    """The objective, from its definition: sets of blocks, or edges between them."""
    part = state.part
    total = 0.0
    for v in range(graph.n):
        row = range(int(graph.xadj[v]), int(graph.xadj[v + 1]))
        others = [e for e in row if part[graph.adjncy[e]] != part[v]]
        if state.volumes:
            total += state.price[part[v]] * len({int(part[graph.adjncy[e]]) for e in others})
        else:
            total += sum(int(weights[e]) if weights.size else 1 for e in others) / 2
    return total
