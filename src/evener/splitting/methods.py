"""METHODS: every way to divide edges, by name. A method is one entry here."""

from __future__ import annotations

from functools import partial

from evener.errors import one_of
from evener.graphs.edge_list import EdgeList
from evener.plans.partition import Contract
from evener.splitting.spac import printed, spac
from evener.splitting.splits import PRESETS, Method, Split
from evener.splitting.streaming import in_order, streamed

METHODS: dict[str, Method] = {
    "spac": spac,
    "spac-path": partial(printed, closed=False),
    "spac-ring": partial(printed, closed=True),
    "order": in_order,
    "random": partial(streamed, by="random"),
    "dbh": partial(streamed, by="dbh"),
    "greedy": partial(streamed, by="greedy"),
    "hdrf": partial(streamed, by="hdrf"),
}


def split_with(
    method: str, edges: EdgeList, contract: Contract, *, preset: str = "default", seed: int = 7
) -> Split:
    """Divide edges into the blocks of a contract by one of METHODS.

    contract: targets, low and high (k,) are of the edges' work [units]. Every method's blocks are
    enforced: moved as little as is needed to keep the contract. Raises UsageError for an unknown
    method, and what `enforce` raises where the contract cannot be kept.
    """
    one_of("method", method, tuple(METHODS))
    one_of("preset", preset, PRESETS)
    return METHODS[method](edges.opened(), contract, preset, seed)  # loops copy no vertex
