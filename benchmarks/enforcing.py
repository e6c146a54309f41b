"""What a repair costs: `enforce` on METIS's partitions, on bad ones and on hard graphs.

    python benchmarks/enforcing.py [--vertices 262144] [--seeds 3] [-o FILE]

Each run is one JSON line. `cpu_ratio`: the repair's CPU time over METIS k-way's on the same graph
and targets; `cut_ratio`: cut after over before (over METIS's for partitions that were not METIS's);
`off`: blocks outside their contract before; `moved`: share of the vertices that changed blocks;
`least`: share of the weight that has to move whatever one does. Medians follow on the screen.
"""

import time
from collections import defaultdict
from pathlib import Path
from statistics import median

import numpy as np
from instances import speeds
from records import answer, markdown, parser

from evener.errors import EvenerError
from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import rmat
from evener.partitioning.enforce import enforce
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.plans import metrics
from evener.plans.partition import Contract, Partition
from evener.sizing.rounding import limits

RESULTS = Path(__file__).parent / "results" / "enforcing.jsonl"
EPSILON = 0.03
SCALE = 14  # of the R-MAT graph, on which METIS itself takes seconds


def main():
    arguments = parser(__doc__, RESULTS)
    arguments.add_argument("--vertices", type=int, default=1 << 18)
    arguments.add_argument("--seeds", type=int, default=3)
    arguments.add_argument("--scale", type=int, default=SCALE, help="of the R-MAT graph")
    arguments.when_small(vertices=1 << 13, seeds=1, scale=10)
    answer(arguments.parse_args(), measured, table)


def measured(args):
    warm_up()
    yield from runs(args)


def runs(args):
    for name, graph, tool in (
        ("delaunay", delaunay(args.vertices, 2026), "metis"),
        ("rmat", rmat(args.scale, 2026), "metis-recursive"),
    ):
        for k in (24, 96):
            for kind, fast in (("t1", 8), ("t1", 16), ("t2", 8), ("t2", 16)):
                speed = speeds(k, kind, fast)
                contract = contract_of(graph.n, speed)
                for seed in range(1, args.seeds + 1):
                    head = {"graph": name, "k": k, "topology": f"{kind}_f{fast}", "seed": seed}
                    yield from (head | run for run in one_cell(graph, contract, tool, seed))


def one_cell(graph, contract, tool, seed):
    """METIS's partition as it came and with its worst blocks below low; equal blocks; no idea."""
    k = contract.k
    came = partition_with(tool, graph, Request(contract.targets, EPSILON, seed))
    reference = (came.cpu_seconds, cut_of(graph, came.part, k))
    yield {"from": "metis"} | repair(graph, came.part, contract, reference, reference[1])
    # Asked for a third of a tenth less than is needed, METIS leaves these blocks below their lows.
    skewed = contract.targets * np.where(np.arange(k) % 3 == 0, 0.9, 1.0)
    light = partition_with(tool, graph, Request(skewed, EPSILON, seed)).part
    yield {"from": "metis-light"} | repair(
        graph, light, contract, reference, cut_of(graph, light, k)
    )
    if seed == 1:
        equal = partition_with(tool, graph, Request(np.ones(k), EPSILON, seed)).part
        yield {"from": "equal"} | repair(graph, equal, contract, reference, reference[1])
        nowhere = np.zeros(graph.n, np.int32)
        yield {"from": "one-block"} | repair(graph, nowhere, contract, reference, reference[1])
        yield {"from": "metis-connected"} | repair(
            graph, came.part, contract, reference, reference[1], connected=True
        )


def repair(graph, part, contract, reference, cut_before, connected=False):
    weights = np.bincount(part, minlength=contract.k)
    outside = np.maximum(contract.low - weights, weights - contract.high)
    line = {
        "off": int((outside > 0).sum() + (weights == 0).sum()),
        "least": round(float(least_moved(weights, contract)) / graph.n, 5),
    }
    started = time.process_time()
    try:
        kept = enforce(graph, Partition(part, contract.k), contract, connected=connected)
    except EvenerError as error:
        return line | {"failed": error.message}
    spent = time.process_time() - started
    after = kept.partition
    sizes = np.bincount(after.part, minlength=contract.k)
    assert ((sizes >= contract.low) & (sizes <= contract.high)).all()
    return line | {
        "cpu_s": round(spent, 4),
        "cpu_ratio": round(spent / reference[0], 4),
        "cut_ratio": round(cut_of(graph, after.part, contract.k) / cut_before, 5),
        "moved": round(kept.moved / graph.n, 5),
        "disconnected": len(kept.disconnected),
    }


def least_moved(weights, contract):
    """No fewer vertices can move than are too many, or too few, in all blocks together."""
    over = np.maximum(weights - contract.high, 0).sum()
    under = np.maximum(contract.low - weights, 0).sum()
    return max(over, under)


def cut_of(graph, part, k):
    return metrics.edge_cut(metrics.quotient(graph, Partition(part, k)))


def contract_of(n, speed):
    targets = n * speed / speed.sum()
    low, high = limits(targets, EPSILON, np.full(speed.size, np.inf), whole=True)
    return Contract(targets, low, high)


def warm_up():
    """Compile everything, so that the runs show the repair alone."""
    graph = grid((40, 40))
    contract = contract_of(graph.n, np.ones(8))
    for connected in (False, True):
        enforce(graph, Partition(np.zeros(graph.n, np.int32), 8), contract, connected=connected)
        rough = (np.arange(graph.n) * 7 // graph.n).astype(np.int32)
        enforce(graph, Partition(rough, 8), contract, connected=connected)


def table(lines):
    """Medians over machines and seeds."""
    groups = defaultdict(list)
    for line in lines:
        groups[line["graph"], line["from"]].append(line)
    rows = [
        ("graph", "from", "CPU / METIS's", "cut after / before", "moved", "had to move", "runs")
    ]
    for (graph, origin), own in groups.items():
        cpu, cut, moved, least = (
            median(line[key] for line in own)
            for key in ("cpu_ratio", "cut_ratio", "moved", "least")
        )
        row = graph, origin, f"{cpu:.3f}", f"{cut:.3f}", f"{moved:.1%}", f"{least:.1%}", len(own)
        rows.append(row)
    return markdown(rows)


if __name__ == "__main__":
    main()
