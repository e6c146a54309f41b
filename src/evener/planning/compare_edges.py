"""Run several methods of dividing edges with equal targets and limits, and compare them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from evener.errors import EvenerError, one_of
from evener.graphs.edge_list import EdgeList
from evener.io.accept import PlatformLike, as_platform
from evener.io.edges import EdgesLike, as_edges
from evener.planning.split import (
    SplitKeywords,
    SplitOptions,
    cpu_seconds_of_all,
    edge_contract,
    judged_edges,
)
from evener.plans.edge_plan import EdgePlan
from evener.plans.partition import Contract
from evener.splitting.methods import METHODS, split_with
from evener.wording import duration, plural, two_lines

WARMING_EDGES = 64  # of the path that each method divides first, so that its kernels are loaded


@dataclass(frozen=True, eq=False)
class EdgeComparison:
    """One method's blocks of edges, evaluated.

    plan: the blocks under the contract of all methods; None if the method failed. cpu_seconds [s]:
    of the method and the repair, including tools in other processes. note: why plan is None.
    """

    method: str
    plan: EdgePlan | None = None
    cpu_seconds: float = 0.0
    note: str = ""

    def __repr__(self) -> str:
        if self.plan is None:
            return two_lines("EdgeComparison", [self.method, "no blocks"], [self.note])
        metrics, held = self.plan.metrics, int(self.plan.holds.sum())
        first = self.method, f"{held:,} of {plural(self.plan.platform.k, 'contract')} kept"
        figures = f"{metrics.copies:,} copies of vertices", f"replication {metrics.replication:.3f}"
        spent = f"{duration(self.cpu_seconds)} of CPU"
        return two_lines("EdgeComparison", first, [*figures, spent])


def compare_edges(
    edges: EdgesLike,
    platform: PlatformLike,
    methods: Sequence[str] | None = None,
    options: SplitOptions | None = None,
    *,
    progress: Callable[[str, float], None] | None = None,
    **keywords: Unpack[SplitKeywords],
) -> list[EdgeComparison]:
    """Return an EdgeComparison for each method, in the given order, including methods that fail.

    methods: names, or one name; None: all. edges, platform, options, keywords: see `split`, except
    the method; `read_edges` reads arcs and matrices. Every method gets the same targets and limits,
    and its blocks are repaired to keep them. Raises UsageError for an unknown method, and the
    errors of `split` if no contract exists.
    """
    reading, platform = as_edges(edges), as_platform(platform)
    options = replace(options or SplitOptions(), **keywords)
    named = [methods] if isinstance(methods, str) else methods
    chosen = list(METHODS) if named is None else list(named)
    for method in chosen:
        one_of("method", method, tuple(METHODS))
    contract = edge_contract(reading.edges, platform, options.epsilon)
    results = []
    for i, method in enumerate(chosen):
        if progress is not None:
            progress(method, i / len(chosen))
        try:
            _load_kernels(method, reading.edges, options)
            began = cpu_seconds_of_all()
            made = split_with(
                method, reading.edges, contract, preset=options.preset, seed=options.seed
            )
            spent = cpu_seconds_of_all() - began
            plan = judged_edges(reading, made.partition, platform, contract)
            results.append(EdgeComparison(method, plan, spent))
        except EvenerError as error:
            results.append(EdgeComparison(method, note=error.message))
    return results


def _load_kernels(method: str, edges: EdgeList, options: SplitOptions) -> None:
    """Divide a path of edges of the same types, so that no method's time includes loading code."""
    m = WARMING_EDGES
    work: Any = None if edges.weights is None else np.ones(m, edges.weights.dtype)
    path = EdgeList(m + 1, np.arange(m), np.arange(1, m + 1), work)
    half = np.full(2, m / 2)
    split_with(method, path, Contract(half, half - 1, half + 1), preset=options.preset, seed=1)
