"""The methods of Figure 4 and ours on its matrices, and those of Figure 7 on its graphs.

Each method gets the same edges, targets and limits, which its blocks are made to keep. CPU seconds
are of this process and of the one in which METIS or Mt-KaHyPar runs, of the latter less what it
takes for next to no edges: its start. The methods of a matrix take turns in each round, with
another seed in each.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np

from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.partitioning.tools import find_tool
from evener.plans.edge_partition import EdgePartition, blocks_of_vertices, edge_metrics
from evener.plans.partition import Contract
from evener.splitting import placing_kernels
from evener.splitting.methods import AUTO, split_with
from evener.splitting.splits import Method, Split, kept, work_of
from evener.splitting.streaming import RULES, empty_blocks
from papers.findings import Row
from papers.spac.setup import SEED, PaperMatrix, blocks_of, contract_of, synthesized

SPAC, PATH, HYPERGRAPH = "SPAC, ring", "SPAC, path", "hypergraph"
RANDOM, GREEDY, IN_ORDER = "PowerGraph random", "PowerGraph greedy", "PowerGraph greedy, in order"
WVP_RANDOM, WVP_GREEDY, FILE_ORDER = "WVP random", "WVP greedy", "file's order"
BY_BLOCKS = "SPAC, ring by blocks"  # clones in the order of their neighbours' blocks
OWN = "Evener, "


def greedy_in_order(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:  # noqa: ARG001
    """Return PowerGraph's greedy blocks of the edges in their order, which is not shuffled."""
    rule, part = RULES["greedy"], np.full(edges.m, -1, np.int32)
    placing_kernels.place_by_score(
        edges.tails, edges.heads, work_of(edges), rule.by_degree, rule.balance,
        empty_blocks(edges.n, contract), part,
    )  # fmt: skip
    return Split(kept(edges, part, contract), order="edges")


def _named(method: str, order: str = AUTO) -> Method:
    def made(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:
        return split_with(method, edges, contract, preset=preset, seed=seed, order=order)

    return made


# The default preset of every method, but for ours, of which there are several.
METHODS: Mapping[str, Method] = {
    FILE_ORDER: _named("order"),
    HYPERGRAPH: _named("mtkahypar"),
    RANDOM: _named("random"),
    GREEDY: _named("greedy"),
    IN_ORDER: greedy_in_order,
    WVP_RANDOM: _named("wvp-random"),
    WVP_GREEDY: _named("wvp-greedy"),
    SPAC: _named("spac-ring"),
    PATH: _named("spac-path"),
    # Not the paper's.
    BY_BLOCKS: _named("spac-ring", "block"),
    "SPAC, contracted": _named("spac-contracted"),
    f"{OWN}fast": _named("spac"),
    f"{OWN}default": _named("spac"),
    f"{OWN}strong": _named("spac"),
}


def without_hypergraph() -> str | None:
    """Return why Mt-KaHyPar cannot be called; None where it can."""
    return find_tool("mtkahypar").available()


def usable(names: Sequence[str]) -> list[str]:
    """Return those of METHODS that can be called."""
    lacking = {HYPERGRAPH} if without_hypergraph() else set()
    return [name for name in names if name not in lacking]


def starting_seconds(names: Sequence[str]) -> dict[str, float]:
    """Return what the processes take that each method starts for next to no edges [CPU s].

    Compiles as well.
    """
    edges = EdgeList.of_graph(grid((12, 12)))
    contract = contract_of(edges, 2)
    return {
        name: float(np.median([_timed(name, edges, contract, SEED)[2] for _ in range(4)][1:]))
        for name in names
    }


def _timed(name: str, edges: EdgeList, contract: Contract, seed: int) -> tuple[Split, float, float]:
    """Return a method's blocks, and the CPU seconds of this process and of those it started."""
    preset = name.removeprefix(OWN) if name.startswith(OWN) else "default"
    fresh = EdgeList(edges.n, edges.tails, edges.heads)  # what another method sorted is not given
    began = os.times()
    made = METHODS[name](fresh, contract, preset, seed)
    spent = np.subtract(os.times(), began)
    return made, float(spent[:2].sum()), float(spent[2:4].sum())


def divided(
    matrix: PaperMatrix,
    names: Sequence[str],
    runs: int,
    starting: Mapping[str, float],
    k: int | None = None,
) -> list[Row]:
    """Return a row for each method and run: the copies of its blocks, seconds and loads.

    k: blocks; None: as many as are the matrix's.
    """
    edges = matrix.edges
    contract = contract_of(edges, k or blocks_of(edges, nets=matrix.nets))
    about: Row = {"matrix": matrix.name, "kind": matrix.kind, "is_real": matrix.is_real,
                  "vertices": edges.n, "entries": edges.m, "k": contract.k}  # fmt: skip
    return [
        {**about, "method": name, "run": run,
         **_figures(name, edges, contract, SEED + run, starting.get(name, 0.0))}
        for run in range(runs) for name in names
    ]  # fmt: skip


def _figures(name: str, edges: EdgeList, contract: Contract, seed: int, starting: float) -> Row:
    made, here, others = _timed(name, edges, contract, seed)
    seconds = here + max(others - starting, 0.0)
    found, relative = _judged(edges, made.partition, contract)
    return {**found, "cpu_s": round(seconds, 3),
            "smallest": round(float(relative.min()), 4), "largest": round(float(relative.max()), 4),
            "cut_pairs": made.cut_pairs}  # fmt: skip


def _judged(
    edges: EdgeList, partition: EdgePartition, contract: Contract
) -> tuple[Row, np.typing.NDArray[np.float64]]:
    """Return copies, replication and the mean degree of vertices with copies; loads / targets."""
    found = edge_metrics(edges, partition)
    copied = blocks_of_vertices(edges, partition) > 1
    degree = float(edges.degrees[copied].mean()) if copied.any() else 0.0
    row: Row = {"copies": found.copies, "replication": round(found.replication, 4),
                "copied_degree": round(degree, 2)}  # fmt: skip
    return row, found.relative_to(contract.targets)


def degrees_of(matrix: PaperMatrix) -> Row:
    """Return the sizes of a matrix's graph, and how its degrees are distributed."""
    edges = matrix.edges
    degrees = edges.degrees[edges.degrees > 0]
    return {"matrix": matrix.name, "kind": matrix.kind, "vertices": edges.n, "entries": edges.m,
            "entries_of_row": round(edges.m / matrix.reading.rows, 2),
            "largest_degree": int(degrees.max()),
            "median_degree": float(np.median(degrees))}  # fmt: skip


def gained(kind: str, n: int, degree: int, fixed: Sequence[int] = (), runs: int = 1) -> list[Row]:
    """Return the copies of WVP greedy relative to SPAC's on graphs of Figure 7, one for each run.

    A row for each run and number of blocks: that of blocks of 10,240 edges (fixed: 0), and `fixed`
    ones.
    """
    rows = list[Row]()
    for run in range(runs):
        edges = synthesized(kind, n, degree, SEED + run)
        for k in (0, *fixed):
            contract = contract_of(edges, k or blocks_of(edges))
            made = {name: _timed(name, edges, contract, SEED + run)[0].partition
                    for name in (WVP_GREEDY, SPAC)}  # fmt: skip
            copies = {name: edge_metrics(edges, part).copies for name, part in made.items()}
            rows.append({
                "graph": kind, "degree": degree, "largest_degree": int(edges.degrees.max()),
                "edges": edges.m, "fixed": k, "k": contract.k, "run": run,
                "wvp": copies[WVP_GREEDY], "ring": copies[SPAC],
                "gain": round(copies[WVP_GREEDY] / max(copies[SPAC], 1), 4),
            })  # fmt: skip
    return rows
