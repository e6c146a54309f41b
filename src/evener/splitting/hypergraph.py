"""Edges as vertices of a hypergraph, with a net for each vertex, divided by Mt-KaHyPar.

The sum over nets of the blocks they touch, less one (km1), is the number of copies exactly.
"""

from __future__ import annotations

import numpy as np

from evener.errors import UsageError
from evener.graphs.edge_list import EdgeList
from evener.partitioning.external.children import run_in_child
from evener.partitioning.external.jobs import Job
from evener.partitioning.tools import find_tool
from evener.plans.partition import Contract
from evener.splitting.splits import Split, asked_of_tool, kept

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
