"""METHODS: the table of all methods of edge partitioning, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from evener.errors import UsageError, one_of
from evener.graphs.edge_list import EdgeList
from evener.partitioning.external.children import run_in_child
from evener.partitioning.external.jobs import Job
from evener.partitioning.tools import find_tool
from evener.plans.partition import Contract
from evener.splitting.buffering import buffered
from evener.splitting.expanding import hybrid, neighbourhoods
from evener.splitting.spac import contracted, printed, spac
from evener.splitting.splits import PRESETS, Method, Split, asked_of_tool, kept
from evener.splitting.streaming import RULES, at_random, by_hash, in_order, streamed, two_phase
from evener.splitting.vertex_blocks import by_least_cost, by_vertex_blocks

MODULE = "evener.partitioning.external.mtkahypar_nets"


def by_hypergraph(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:
    """Return the blocks of Mt-KaHyPar with one thread. Raises UsageError if it is not installed."""
    if (missing := find_tool("mtkahypar").available()) is not None:
        raise UsageError(missing)
    asked = asked_of_tool(contract, preset, seed)
    offsets, listed = edges.incidence
    job = Job("mtkahypar", offsets, listed, edges.weights, None, np.asarray(asked.targets),
              asked.epsilon, seed, 1, "total_volume", preset)  # fmt: skip
    part = run_in_child(job, MODULE, None).part
    return Split(kept(edges, part.astype(np.int32), contract), order="hypergraph")


NEEDS_MORE = ("mtkahypar",)  # methods that need a program which may not be installed

AUTO = "auto"  # the method chooses the order of clones
# The methods in which the clones of a vertex have an order.
ORDERED: dict[str, Callable[..., Split]] = {
    "spac-path": partial(printed, closed=False),
    "spac-ring": partial(printed, closed=True),
    "spac-contracted": contracted,
}

METHODS: dict[str, Method] = {
    "spac": spac,
    **ORDERED,
    "order": in_order,
    "random": at_random,
    "dbh": by_hash,
    **{name: partial(streamed, by=name) for name in RULES},
    "2ps": two_phase,
    "stream": buffered,
    "ne": neighbourhoods,
    "hep": hybrid,
    "wvp-random": partial(by_vertex_blocks, cut="random"),
    "wvp-greedy": partial(by_vertex_blocks, cut="greedy"),
    "bourse": by_least_cost,
    "mtkahypar": by_hypergraph,
}


def split_with(
    method: str,
    edges: EdgeList,
    contract: Contract,
    *,
    preset: str = "default",
    seed: int = 7,
    order: str = AUTO,
) -> Split:
    """Divide edges into the blocks of a contract by one of METHODS.

    contract: targets, low and high (k,) refer to the edges' work [units]. `enforce` changes the
    blocks of every method, as little as possible, to satisfy the contract. order: order of the
    clones of a vertex, one of splitting.orders.ORDERS; only for methods in ORDERED. Raises
    UsageError for an unknown method or order, and the errors of `enforce` if the contract cannot be
    satisfied.
    """
    one_of("method", method, tuple(METHODS))
    one_of("preset", preset, PRESETS)
    opened = edges.opened()  # heads of loops become new vertices, so loops cause no copies
    if order == AUTO:
        return METHODS[method](opened, contract, preset, seed)
    if method not in ORDERED:
        raise UsageError(
            f"method {method} does not take an order of clones",
            hint=f"Use --order with {' or '.join(ORDERED)}.",
        )
    return ORDERED[method](opened, contract, preset, seed, order=order)
