"""The steps that make blocks at given sizes: terms, blocks, contract enforced, mapping.

A plan of least cut takes these steps once, `compare` once for each partitioner, and the search for
least seconds only for its baselines, METIS and the least cut. The search's other candidates have
their own sizes, and may leave devices unused: MakespanProblem.within_limits repairs each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evener.arrays import BoolArray, Part
from evener.graphs.graph import Graph
from evener.partitioning.enforce import Enforced, enforce
from evener.partitioning.mapping.blocks import map_blocks
from evener.partitioning.registry import Result, partition_with
from evener.partitioning.tools import TOOLS
from evener.planning.options import PlanOptions
from evener.plans.partition import Contract, Mapping, Partition
from evener.platforms.platform import Platform
from evener.sizing.curved import at_sizes
from evener.sizing.memory_capped import Sizes

Progress = Callable[[str, float], None]  # (step, fraction done)

MAX_NAMED = 8  # devices that a note lists by name


@dataclass(frozen=True, eq=False)
class PlanTerms:
    """Sizes and contract for blocks, and the speeds at these sizes.

    sizes: optimal under speeds or speed curves, memory and the user's limits. contract: of blocks
    of these sizes. platform: each device with its speed at its size.
    """

    contract: Contract
    sizes: Sizes
    platform: Platform


def terms_of(graph: Graph, platform: Platform, options: PlanOptions) -> PlanTerms:
    """Return the sizes, contract and speeds for `graph`, which has the workload's weights.

    Raises the errors of `evener.sizing.contract_for`.
    """
    contract, sizes = options.contract(graph, platform)
    return PlanTerms(contract, sizes, at_sizes(platform, sizes))


def divide(graph: Graph, terms: PlanTerms, options: PlanOptions, tool: str | None = None) -> Result:
    """Return the blocks that `tool` makes at these sizes; None: the tool of `options`.

    Raises the errors of `partition_with`.
    """
    tool = tool or options.tool
    # Few tools divide along the tree, which takes milliseconds to lay out for many devices.
    along = terms.platform if tool in TOOLS and TOOLS[tool].along_tree else None
    return partition_with(tool, graph, options.request(terms.contract, along))


def enforced(graph: Graph, part: Part, terms: PlanTerms, options: PlanOptions) -> Enforced:
    """Return the blocks `part` (n,), repaired until each satisfies its contract.

    Raises InfeasibleError or NotFoundError if no such blocks exist or are found.
    """
    partition, names = Partition(part, terms.contract.k), terms.platform.names
    return enforce(graph, partition, terms.contract, connected=options.connected, names=names)


def mapped(
    graph: Graph, partition: Partition, terms: PlanTerms, options: PlanOptions
) -> Mapping | None:
    """Return the devices on which these blocks exchange fastest and satisfy their contract.

    None if options.mapping is false, for one device, and for links that are unknown.
    """
    if not (options.mapping and terms.platform.has_links and terms.platform.k > 1):
        return None
    workload = options.workload
    return map_blocks(
        graph, partition, terms.platform, terms.contract,
        bytes_per_value=workload.bytes_per_value, of_faces=workload.of_faces,
    )  # fmt: skip


def named_devices(platform: Platform, which: BoolArray | Sequence[int]) -> str:
    """List the names of the devices given by a mask (k,) or by indices, at most the first eight."""
    chosen = np.asarray(which)
    indices = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen
    names = [platform.names[b] for b in indices.tolist()]
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


def notes_on_unused(platform: Platform, unused: BoolArray) -> list[str]:
    """Return a note that names the unused devices of a plan of least seconds, if any."""
    if not unused.any():
        return []
    return [f"Unused (slower with them): {named_devices(platform, unused)}"]


def no_progress(step: str, fraction: float) -> None:
    """Do nothing: a progress function that shows no progress."""
