"""METHODS: every way to divide edges, by name. A method is one entry here."""

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
from evener.splitting.streaming import RULES, at_random, by_hash, in_order, streamed
from evener.splitting.two_phase import two_phase
from evener.splitting.vertex_blocks import by_least_cost, by_vertex_blocks

MODULE = "evener.partitioning.external.mtkahypar_nets"


def by_hypergraph(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:
    """Return the blocks of Mt-KaHyPar, one thread. Raises UsageError where it is not installed."""
    if (missing := find_tool("mtkahypar").available()) is not None:
        raise UsageError(missing)
    asked = asked_of_tool(contract, preset, seed)
    offsets, listed = edges.incidence
    job = Job("mtkahypar", offsets, listed, edges.weights, None, np.asarray(asked.targets),
              asked.epsilon, seed, 1, "total_volume", preset)  # fmt: skip
    part = run_in_child(job, MODULE, None).part
    return Split(kept(edges, part.astype(np.int32), contract), order="hypergraph")


NEEDS_MORE = ("mtkahypar",)  # programs that may be absent

AUTO = "auto"  # the order that a method takes by itself
# Whose clones have an order.
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

    contract: targets, low and high (k,) are of the edges' work [units]. Every method's blocks are
    enforced: moved as little as is needed to keep the contract. order: of clones, one of
    evener.splitting.orders.ORDERS, of the methods in ORDERED alone. Raises UsageError for an
    unknown method or order, and what `enforce` raises where the contract cannot be kept.
    """
    one_of("method", method, tuple(METHODS))
    one_of("preset", preset, PRESETS)
    opened = edges.opened()  # loops copy no vertex
    if order == AUTO:
        return METHODS[method](opened, contract, preset, seed)
    if method not in ORDERED:
        raise UsageError(
            f"{method} has no order of clones", hint=f"Only {', '.join(ORDERED)} take --order."
        )
    return ORDERED[method](opened, contract, preset, seed, order=order)
