"""The tools of the LDHT paper side by side, on graphs of its Table II's kinds.

Each tool gets the same targets: those of TOPO1 at 96 devices, all equal, 8 fast ones 9.47 times as
large, or 16 of them 11.44 times (Table III), in four nodes of 24 for those that divide along a
tree. Blocks are as they come, not enforced. `georef, matching` is georef with the paper's
heavy-edge matching in place of greedy clusters. Zoltan's partitioners are measured where libzoltan
is installed. Ratios are to k-means (geoKM), as in the paper; CPU is of the call alone.
"""

from pathlib import Path

import numpy as np
from records import answer, markdown, parser

from evener.graphs.generating.adaptive import bubbles_dual, trace_dual
from evener.graphs.generating.airways import airways
from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.random_graphs import rgg
from evener.machine_code.clock import cpu_seconds
from evener.partitioning.geographer import georef_blocks
from evener.partitioning.levels.levels import contracted
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.partitioning.tools import TOOLS
from evener.plans import metrics
from evener.plans.partition import Partition
from papers.ldht.matching import MatchedLevel, _matching
from papers.ldht.tools import enter_tools

RESULTS = Path(__file__).parent / "results" / "paper_tools.jsonl"
SEED = 20_260
GRAPHS = {  # about n vertices, and how many dimensions
    "rdg_2d": (lambda n: delaunay(n, SEED), 2),
    "rgg_2d": (lambda n: rgg(n, SEED, 2, 6.0), 2),
    "trace": (lambda n: trace_dual(n // 2, SEED), 2),
    "bubbles": (lambda n: bubbles_dual(n // 2, SEED), 2),
    "rdg_3d": (lambda n: delaunay(n // 2, SEED, 3), 3),
    "rgg_3d": (lambda n: rgg(n, SEED, 3, 6.0), 3),
    "airways": (lambda n: airways(n, SEED), 3),
}
MACHINES = {  # shares of 96 devices
    "equal": np.ones(96),
    "t1_f8": np.r_[np.full(8, 9.47), np.ones(88)],
    "t1_f16": np.r_[np.full(16, 11.44), np.ones(80)],
}
TREE = np.arange(96)[None, :] // 24
MATCHING = "georef, matching"
ASKED = (
    "kmeans", "geohier", "hierarchical", "georef", MATCHING, "georef-metis", "evener", "metis",
    "mj", "rcb", "zoltan-rcb", "rib", "zoltan-rib", "hilbert", "zoltan-hsfc",
)  # fmt: skip


def by_matching(level, part, caps, threads):
    """Join pairs by heavy-edge matching inside blocks, as the paper does."""
    weights = level.adjwgt if level.adjwgt.size else np.ones(level.adjncy.size, np.int64)
    lists = MatchedLevel(
        level.xadj.astype(np.int64), level.adjncy.astype(np.int64), level.vwgt, weights, part
    )
    pair = _matching(lists, float(caps.max()), np.random.default_rng(SEED))
    first = np.full(pair.max() + 1, level.n)
    np.minimum.at(first, pair, np.arange(level.n))
    return contracted(level, part, first[pair].astype(np.int32), threads)


def divided(tool, graph, request):
    """Return the blocks and the CPU seconds."""
    if tool == MATCHING:
        began = cpu_seconds()
        part = georef_blocks(graph, request.contract(graph), joined=by_matching)
        return part, cpu_seconds() - began
    found = partition_with(tool, graph, request)
    return found.part, found.cpu_seconds


def measured(args):
    """Measure every tool that is here, on every graph and machine."""
    here = [tool for tool in ASKED if tool not in TOOLS or TOOLS[tool].available() is None]
    small = delaunay(2000, SEED)
    for tool in here:  # loads compiled code
        divided(tool, small, Request(np.ones(96), seed=SEED, tree=TREE))
    for name, (make, d) in GRAPHS.items():
        graph = make(args.n)
        for machine, shares in MACHINES.items():
            request = Request(shares, seed=SEED, tree=TREE)
            ideal = shares / shares.sum() * graph.n
            for tool in here:
                part, seconds = divided(tool, graph, request)
                between = metrics.quotient(graph, Partition(part, 96))
                yield {
                    "graph": name, "d": d, "n": graph.n, "machine": machine, "tool": tool,
                    "cut": metrics.edge_cut(between),
                    "max_volume": float(metrics.comm_volumes(between).max()),
                    "heaviest": float((np.bincount(part, minlength=96) / ideal).max()),
                    "cpu_s": round(seconds, 4),
                }  # fmt: skip


def table(lines):
    """A row a tool: geometric means of ratios to k-means in the plane and in space."""
    base = {(x["graph"], x["machine"]): x for x in lines if x["tool"] == "kmeans"}
    rows = [("tool", "cut, 2-D", "3-D", "max volume, 2-D", "3-D", "CPU, 2-D", "3-D",
             "cut within 1 %", "heaviest block")]  # fmt: skip
    for tool in dict.fromkeys(line["tool"] for line in lines):
        own = [line for line in lines if line["tool"] == tool]

        def ratios(key, d, own=own):
            return np.array([
                line[key] / base[line["graph"], line["machine"]][key]
                for line in own if d in (0, line["d"])
            ])  # fmt: skip

        cells = [
            f"{np.exp(np.log(np.maximum(ratios(key, d), 1e-9)).mean()):.{digits}f}"
            for key, digits in (("cut", 3), ("max_volume", 2), ("cpu_s", 1))
            for d in (2, 3)
        ]
        near = int((np.abs(ratios("cut", 0) - 1) <= 0.01).sum())
        heaviest = max(line["heaviest"] for line in own)
        rows.append((tool, *cells, f"{near} of {len(own)}", f"{heaviest:.2f}"))
    return markdown(rows)


def main():
    enter_tools()
    arguments = parser(__doc__, RESULTS)
    arguments.add_argument("--n", type=int, default=100_000, help="vertices, about")
    arguments.when_small(n=3000)
    answer(arguments.parse_args(), measured, table)


if __name__ == "__main__":
    main()
