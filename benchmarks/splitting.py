"""Split-and-connect beside its paper's own form, Mt-KaHyPar and others: copies and CPU seconds.

    EVENER_DATA=FOLDER python benchmarks/splitting.py [--set reported] [--methods ...] [--ks ...]
    EVENER_DATA=FOLDER python benchmarks/splitting.py --rivals [--methods ...] -o FILE
    python benchmarks/splitting.py --table          # what the result file says

Cells are graph x k x method, one seed each; the methods of a cell run in turn. Ratios are to
`spac-path` (Definition 3.2, 2m clones, METIS k-way) of the same run and cell; `ring` and `km1` are
those to the ring of footnote 2 and to Mt-KaHyPar. Constants were chosen on the graphs of `tuning`
alone; figures to be quoted are those of `reported`. M: meshes and matrices; P: power-law graphs and
circuits. Every method gets equal targets within 3 % (--machine: others). Mt-KaHyPar divides the
hypergraph whose nets are the vertices and whose pins are their edges, for km1, by two threads, with
our upper limits as its largest blocks; it knows no lower ones: `smallest` tells. `km1-kept` are its
blocks brought within both limits by us, at few copies. CPU seconds are of all processes and
threads, less what it takes to start a process for METIS, which is measured; of Mt-KaHyPar the call
alone, not building its hypergraph. They are the median of runs that take half a second together.

--rivals: the methods of RIVALS (streaming, in memory, by vertices), with ratios to `spac-path` and
`hdrf`. Edges come in the order of the graph, u < v by u, then v; HDRF and greedy shuffle them.
`stream/4`, `stream/16 shuffled`: `stream` with a buffer of a part of the edges, in that order or
shuffled; the default buffer holds all of these graphs. `mtkahypar`: its default preset, one thread.
All get the same targets and limits. `dbh`, `random`, `wvp-random` and `greedy-uncapped` ignore
them, `mtkahypar` the lower ones: their blocks are brought within the limits before copies are
counted.
"""

import os
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from instances import speeds
from records import alone, answer_more, append, geometric_mean, known, markdown, parser, words

from evener import io
from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import barabasi_albert, rmat, uniform
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.planning.split import cpu_seconds_of_all
from evener.plans.edge_partition import EdgePartition, edge_metrics
from evener.plans.partition import Contract
from evener.splitting.buffering import buffered
from evener.splitting.groups import single_edges
from evener.splitting.methods import split_with
from evener.splitting.refining import levelled
from evener.splitting.spac import limits_of
from evener.splitting.splits import kept

RESULTS = Path(__file__).parent / "results" / "splitting.jsonl"
EPSILON, SEED, THREADS = 0.03, 7, 2
GRAPHS = {
    "tuning": {
        "M": ("graphs/whitaker3.graph.zst", "graphs/wing_nodal.graph.zst",
              "graphs/fe_pwt.graph.zst", "matrices/bcsstk25.txt.zst"),
        "P": ("powerlaw/CA-HepPh.txt.zst", "powerlaw/p2p-Gnutella31.txt.zst",
              "powerlaw/astro-ph.graph.zst", "matrices/rajat01.mtx.zst", "rmat13",
              "powerlaw/CA-CondMat.txt.zst", "powerlaw/facebook_combined.graph.zst",
              "powerlaw/hep-th.graph.zst"),
    },
    "reported": {
        "M": ("graphs/4elt.grf.zst", "graphs/cti.graph.zst", "graphs/wing.graph.zst",
              "graphs/fe_body.graph.zst", "graphs/rgg_n_2_15_s0.graph.zst",
              "matrices/nasa4704.mtx.zst", "matrices/delaunay_n16.mtx.zst"),
        "P": ("powerlaw/ca-AstroPh.txt.zst", "powerlaw/email-Enron.txt.zst",
              "powerlaw/PGPgiantcompo.graph.zst", "powerlaw/facebook_large_edges.csv.zst",
              "powerlaw/deezer_HU_edges.csv.zst", "matrices/memplus.mtx.zst", "rmat14", "uniform",
              "preferential"),
    },
}  # fmt: skip
EVENER = {"fast": "fast", "default": "default", "strong": "strong"}
KAHYPAR = {"km1": "DEFAULT", "km1-quality": "QUALITY"}
KEPT = "km1-kept"  # measured with km1
METHODS = ("spac-path", "spac-ring", *EVENER, "km1", KEPT, "km1-quality")
BUFFERS = tuple(f"stream/{part}{order}" for order in ("", " shuffled") for part in (4, 8, 16))
RIVALS = (
    "spac-path", "hdrf", "ne", "hep", "stream", *BUFFERS, "2ps", "greedy", "greedy-uncapped",
    "dbh", "random", "order", "wvp-greedy", "wvp-random", "bourse", "mtkahypar",
)  # fmt: skip
LITTLE = ("spac-path", "spac-ring", *EVENER, "hdrf", "stream", BUFFERS[0])  # methods of --small
WORTH_TIMING, MOST_RUNS = 0.5, 3  # seconds
LEAST_CPU = 0.01  # seconds; less is not measured
HEAD = (
    "machine", "kind", "method", "cells", "copies", "CPU", "copies / ring", "copies / km1",
    "CPU / km1", "copies / quality", "CPU / quality", "smallest", "kept",
)  # fmt: skip
RIVALS_HEAD = ("machine", "kind", "method", "cells", "copies", "CPU", "copies / hdrf", "CPU / hdrf",
               "smallest", "kept")  # fmt: skip
KINDS = {"M": "M", "P": "P"}
AGAINST = [
    (figure, base)
    for base in ("spac-path", "spac-ring", *KAHYPAR)
    for figure in ("copies", "cpu_s")
    if (figure, base) != ("cpu_s", "spac-ring")
]
RIVALS_AGAINST = [
    (figure, base) for base in ("spac-path", "hdrf") for figure in ("copies", "cpu_s")
]


def main():
    args = arguments()
    answer_more(args, measure, rivals_table if args.rivals else table)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--set", choices=(*GRAPHS, "little"), default="reported")
    made.add_argument("--graphs", type=words, help="those whose names contain one of these")
    made.add_argument("--ks", type=words, default=["16", "64", "256"], help="numbers of blocks")
    made.add_argument("--methods", type=words, default=[])
    made.add_argument("--rivals", action="store_true", help="RIVALS instead of METHODS")
    made.add_argument("--machine", choices=MACHINES, default="equal")
    made.when_small(set="little", ks=["8"], methods=list(LITTLE))
    args = made.parse_args()
    usual = RIVALS if args.rivals else [method for method in METHODS if method != KEPT]
    args.methods = args.methods or list(usual)
    return args


def measure(args):
    """Add a line for each cell that the file does not have."""
    have = {key(line) for line in known(args.output)}
    started = cost_of_a_process()
    for kind, name, edges in graphs_of(args):
        warm(edges, args.methods)
        for k in map(int, args.ks):
            contract = contract_for(edges, MACHINES[args.machine](k))
            for method in args.methods:
                about = {"set": args.set, "kind": kind, "graph": name, "m": edges.m, "k": k}
                about |= {"machine": args.machine, "method": method, "seed": SEED}
                if key(about) not in have:
                    for name_of, found in figures(edges, contract, method, started):
                        append(args.output, about | {"method": name_of} | found)


def key(line):
    return line["graph"], line["k"], line["machine"], line["method"]


def graphs_of(args):
    """Kind, name and edges of every graph."""
    if args.set == "little":
        yield "M", "grid", EdgeList.of_graph(grid((30, 30)))
        yield "P", "rmat10", EdgeList.of_graph(rmat(10, 1))
        return
    for kind, names in GRAPHS[args.set].items():
        for name in names:
            if args.graphs is None or any(part in name for part in args.graphs):
                yield kind, Path(name).name.split(".")[0], EdgeList.of_graph(graph_of(name))


def graph_of(name):
    if "/" in name:
        return io.read(Path(os.environ["EVENER_DATA"], name)).undirected
    if name.startswith("rmat"):
        return rmat(int(name.removeprefix("rmat")), 2026)
    if name == "uniform":
        return uniform(14, 2026, edge_factor=8)
    return barabasi_albert(20_000, 2026, 8)


def four_speeds(k):
    """Speeds 1, 1, 2, 4 in turn."""
    return np.resize([1.0, 1.0, 2.0, 4.0], k)


def topology_1(k):
    """A twelfth of the devices are 16 times as fast as the others: TOPO1 of Geographer's paper."""
    return speeds(k, "t1", max(k // 12, 1))


MACHINES = {"equal": np.ones, "four": four_speeds, "topo1": topology_1}


def contract_for(edges, speed):
    targets = edges.m * speed / speed.sum()
    return Contract(targets, np.ceil(targets * (1 - EPSILON)), np.floor(targets * (1 + EPSILON)))


def cost_of_a_process():
    """CPU seconds that METIS takes for next to nothing: starting its process. Compiles as well."""
    for graph in (grid((20, 20)), rmat(8, 1)):
        edges = EdgeList.of_graph(graph)
        for preset in EVENER:
            split_with("spac", edges, contract_for(edges, np.ones(3)), preset=preset)
    spent = []
    for _ in range(3):
        began = cpu_seconds_of_all()
        partition_with("metis", grid((4, 4)), Request(np.ones(2), EPSILON, SEED))
        spent.append(cpu_seconds_of_all() - began)
    return float(np.median(spent))


def warm(edges, methods):
    """Load the kernels of rivals, which is not to be timed."""
    few = EdgeList(edges.n, edges.tails[:2000], edges.heads[:2000])
    for method in set(methods) & set(RIVALS):
        list(figures(few, contract_for(few, np.ones(4)), method, 0.0))


def figures(edges, contract, method, started):
    """Yield the method's name and its figures; of km1 also those of its blocks, kept to limits."""
    if method in KAHYPAR:
        part, seconds = alone(by_kahypar, edges, contract.high, KAHYPAR[method])
    elif method in BUFFERS:
        edges, part, seconds = by_buffer(edges, contract, method)
    else:
        part, seconds = by_evener(edges, contract, method, started)
    yield method, figures_of(edges, contract, part, seconds)
    if method == "km1":
        part, began = part.astype(np.int32), cpu_seconds_of_all()
        finest = single_edges(edges)
        levelled(finest, part, limits_of(part, finest, contract), np.random.default_rng(SEED))
        part = kept(edges, part, contract).part
        yield KEPT, figures_of(edges, contract, part, seconds + cpu_seconds_of_all() - began)


def by_evener(edges, contract, method, started):
    """Blocks, and CPU seconds: the median of a few runs."""
    name, preset = ("spac", method) if method in EVENER else (method, "default")
    spent = []
    while sum(spent) < WORTH_TIMING and len(spent) < MOST_RUNS:
        # A list of its own for each run: what one has sorted, another is not given.
        fresh = EdgeList(edges.n, edges.tails, edges.heads)
        began, children = cpu_seconds_of_all(), of_children()
        part = split_with(name, fresh, contract, preset=preset, seed=SEED).partition.part
        spent.append(cpu_seconds_of_all() - began - (started if of_children() > children else 0.0))
    return part, float(np.median(spent))


def by_buffer(edges, contract, method):
    """Edges in the order of the stream, their blocks, and CPU seconds of one run."""
    buffer, *shuffled = method.removeprefix("stream/").split()
    order = np.arange(edges.m)
    if shuffled:
        np.random.default_rng(SEED).shuffle(order)
    ordered = EdgeList(edges.n, edges.tails[order], edges.heads[order])
    began = cpu_seconds_of_all()
    size = -(-edges.m // int(buffer))
    partition = buffered(ordered, contract, "default", SEED, size=size).partition
    return ordered, partition.part, cpu_seconds_of_all() - began


def figures_of(edges, contract, part, seconds):
    found = edge_metrics(edges, EdgePartition.of(part, contract.k))
    relative = found.relative_to(contract.targets)
    return {
        "copies": found.copies,
        "smallest": round(float(relative.min()), 4),
        "largest": round(float(relative.max()), 4),
        "kept": bool(((contract.low <= found.loads) & (found.loads <= contract.high)).all()),
        "cpu_s": round(seconds, 4),
    }


def of_children():
    return sum(os.times()[2:4])


def by_kahypar(edges, highest, preset):
    """Blocks of Mt-KaHyPar for connectivity less one, and the CPU seconds of its call."""
    import mtkahypar

    offsets, listed = edges.incidence
    nets = [listed[offsets[v] : offsets[v + 1]].tolist() for v in range(edges.n)]
    nets = [net for net in nets if len(net) > 1]
    start = mtkahypar.initialize(THREADS)
    mtkahypar.set_seed(SEED)
    context = start.context_from_preset(getattr(mtkahypar.PresetType, preset))
    context.set_partitioning_parameters(highest.size, EPSILON, mtkahypar.Objective.KM1)
    context.set_individual_target_block_weights([int(x) for x in highest])
    hypergraph = start.create_hypergraph(context, edges.m, len(nets), nets)
    began = time.process_time()
    found = hypergraph.partition(context).get_partition()
    return np.asarray(found), time.process_time() - began


def table(lines):
    """Geometric means over graphs and numbers of blocks, those of each cell alone."""
    return markdown([HEAD, *rows_of(lines, METHODS, AGAINST, KINDS)])


def rivals_table(lines):
    """The same for rivals; kind `all` is both kinds together."""
    rows = rows_of(lines, RIVALS, RIVALS_AGAINST, KINDS | {"all": "MP"})
    return markdown([RIVALS_HEAD, *rows])


def rows_of(lines, methods, against, kinds):
    """Yield a row for each machine, group of kinds and method."""
    cells = defaultdict(dict)
    for line in lines:
        cells[line["machine"], line["kind"], line["graph"], line["k"]][line["method"]] = line
    for machine in dict.fromkeys(one[0] for one in cells):
        for kind, members in kinds.items():
            of = [ran for one, ran in cells.items() if one[0] == machine and one[1] in members]
            for method in methods:
                if own := [ran for ran in of if method in ran]:
                    yield (machine, kind, method, *row(own, method, against))


def row(ran, method, against):
    ratios = [mean_ratio(ran, method, base, figure) for figure, base in against]
    smallest = min(one[method]["smallest"] for one in ran)
    held = sum(one[method]["kept"] for one in ran)
    return len(ran), *ratios, f"{smallest:.3f}", f"{held} of {len(ran)}"


def mean_ratio(ran, method, base, figure):
    pairs = [(one[method][figure], one[base][figure]) for one in ran if base in one]
    if not pairs:
        return "-"
    return f"{geometric_mean(max(a, LEAST_CPU) / max(b, LEAST_CPU) for a, b in pairs):.3f}"


if __name__ == "__main__":
    main()
