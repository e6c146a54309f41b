"""Several weights a vertex: Evener's partitioner beside METIS's, through libmetis.

    [EVENER_DATA=FOLDER] python benchmarks/constraints.py [--graphs ...] [--seeds 1]
    python benchmarks/constraints.py --table           # what the result file says

Graphs: a Delaunay graph of 2^18 vertices, the middle 2^16 of a 3-D random geometric graph, and the
cells of a combustor wedge (from EVENER_DATA; left out without). Weights: `degree`, 1 and the
degree; `regions`, 1 and whole numbers from 1 to 10, the same all over each of 16 regions; `phases`,
1 and, of 32 regions, those in which a phase runs, half of them, then a quarter: problems of types
1 and 2 of [KK98]. The number behind is that of weights. Machines have k devices, a twelfth of them
of speed 16, the rest of speed 1 (t1) or half of the rest of speed 2 (t2); every weight follows
speed, 3 % off at most.

Both run in turn, one thread, METIS in a child process. One JSON line a cell and seed: `cut`,
`max_volume` and `cpu_s` of each; `worst`, `smallest`: block weight over target, of all weights;
`held`: blocks that keep both limits on all weights; `kept_cut`: METIS's once `enforce` has
repaired both sides, null where it could not. METIS counts as within where no block is above 1.03
by more than the hair of its rounding.
"""

import os
import time
from pathlib import Path

import numpy as np
import partitioners
from instances import speeds
from records import answer, geometric_mean, markdown, parser, words

from evener import io
from evener.errors import EvenerError
from evener.partitioning.enforce import enforce
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.plans import metrics
from evener.plans.partition import Partition

RESULTS = Path(__file__).parent / "results" / "constraints.jsonl"
EPSILON, HAIR, WEIGHT_SEED = 0.03, 5e-4, 2026
GRAPHS = {"delaunay18": None, "rgg3d16": None, "wedge": "graphs/cvrc_wedge120k.graph.zst"}
WEIGHTS = ("degree2", "regions2", "regions3", "phases2", "phases3")
MACHINES = tuple((k, topology) for k in (16, 96) for topology in ("t1", "t2"))
ACTIVE = (0.5, 0.25)  # of the regions of a phase


def main():
    answer(arguments(), measured, table)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--graphs", type=words, default=list(GRAPHS))
    made.add_argument("--weights", type=words, default=list(WEIGHTS))
    made.add_argument("--seeds", type=int, default=1)
    made.when_small(graphs=["delaunay18"], weights=["degree2", "phases3"])
    return made.parse_args()


def measured(args):
    for name in args.graphs:
        plain = instance(name, args.small)
        if plain is None:
            continue
        for kind in args.weights:
            graph = weighted(plain, kind)
            # Compiling or loading kernels is not the first cell's cost.
            partition_with("evener", graph, Request(speeds(96, "t1", 8), EPSILON))
            for k, topology in MACHINES:
                for seed in range(1, args.seeds + 1):
                    speed = speeds(k, topology, k // 12)
                    yield {"graph": name, "weights": kind, "k": k, "topology": topology,
                           "seed": seed, **one_cell(graph, speed, seed)}  # fmt: skip


def instance(name, small=False):
    if small:
        return partitioners.little(name)
    if GRAPHS[name] is None:
        if name == "rgg3d16":
            return partitioners.piece(partitioners.instance("rgg3d18"), 1 << 16)
        return partitioners.instance(name)
    folder = os.environ.get("EVENER_DATA")
    return io.read(Path(folder) / GRAPHS[name]).graph if folder else None


def weighted(graph, kind):
    """The graph with the weights of this name."""
    name, c = kind[:-1], int(kind[-1])
    rng = np.random.default_rng(WEIGHT_SEED)
    columns = [np.ones(graph.n, np.int64)]
    if name == "degree":
        columns.append(graph.degrees)
    elif name == "regions":
        region = regions(graph, 16, rng)
        columns += [rng.integers(1, 11, 16)[region] for _ in range(c - 1)]
    else:
        region = regions(graph, 32, rng)
        for share in ACTIVE[: c - 1]:
            active = np.zeros(32, np.int64)
            active[rng.choice(32, int(32 * share), replace=False)] = 1
            columns.append(active[region])
    return graph.with_(vwgt=np.stack(columns, axis=1))


def regions(graph, count, rng):
    """(n,) which of some random vertices is nearest."""
    middles = graph.coords[rng.choice(graph.n, count, replace=False)]
    distance = [((graph.coords - middle) ** 2).sum(axis=1) for middle in middles]
    return np.argmin(distance, axis=0)


def one_cell(graph, speed, seed):
    request = Request(speed, EPSILON, seed)
    contract = request.contract(graph)
    parts = {tool: partition_with(tool, graph, request) for tool in ("metis", "evener")}
    line = {tool: judged(graph, result, contract) for tool, result in parts.items()}
    line["metis"] |= repaired(graph, parts["metis"].part, contract)
    return line


def judged(graph, result, contract):
    partition = Partition(result.part, contract.k)
    between = metrics.quotient(graph, partition)
    weights = np.stack(
        [metrics.block_weights(graph, partition, i) for i in range(graph.n_constraints)], axis=1
    )
    targets, none = contract.table("targets"), np.zeros(contract.k)
    return {
        "cut": int(metrics.edge_cut(between)),
        "max_volume": int(metrics.comm_volumes(between).max()),
        "cpu_s": round(result.cpu_seconds, 4),
        "held": int(contract.keeps(weights, metrics.block_sizes(partition), none).sum()),
        "worst": round(float((weights / targets).max()), 4),
        "smallest": round(float((weights / targets).min()), 4),
        "version": result.version,
    }


def repaired(graph, part, contract):
    start = time.process_time()
    try:
        kept = enforce(graph, Partition(part, contract.k), contract)
    except EvenerError as error:
        return {"kept_cut": None, "why": error.message}
    seconds = time.process_time() - start
    cut = int(metrics.edge_cut(metrics.quotient(graph, kept.partition)))
    return {"kept_cut": cut, "enforce_s": round(seconds, 4)}


def table(lines):
    """A row for graph and weights, geometric means over machines and seeds; the worst blocks."""
    groups = {}
    for line in lines:
        groups.setdefault((line["graph"], line["weights"]), []).append(line)
    head = ("graph", "weights", "cut", "cut, METIS repaired", "max volume", "CPU", "METIS within",
            "Evener within both limits", "METIS's blocks", "Evener's blocks")  # fmt: skip
    rows = [head]
    rows += [row(graph, weights, own) for (graph, weights), own in groups.items()]
    rows.append(row("all", "", lines))
    return markdown(rows)


def row(graph, weights, lines):
    ours, metis = ([line[tool] for line in lines] for tool in ("evener", "metis"))
    pairs = [(a["cut"], b["kept_cut"]) for a, b in zip(ours, metis, strict=True) if b["kept_cut"]]
    within = sum(one["worst"] <= 1 + EPSILON + HAIR for one in metis)
    held = sum(line["evener"]["held"] == line["k"] for line in lines)
    return (
        graph,
        weights,
        mean_ratio((a["cut"], b["cut"]) for a, b in zip(ours, metis, strict=True)),
        mean_ratio(pairs),
        mean_ratio((a["max_volume"], b["max_volume"]) for a, b in zip(ours, metis, strict=True)),
        mean_ratio((a["cpu_s"], b["cpu_s"]) for a, b in zip(ours, metis, strict=True)),
        f"{within} of {len(lines)}",
        f"{held} of {len(lines)}",
        *(
            f"{min(one['smallest'] for one in own):.2f} to {max(one['worst'] for one in own):.3f}"
            for own in (metis, ours)
        ),
    )


def mean_ratio(pairs):
    return f"{geometric_mean(a / b for a, b in pairs):.3f}"


if __name__ == "__main__":
    main()
