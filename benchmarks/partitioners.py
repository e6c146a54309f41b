"""Every partitioner on five instance families and four machines, as ratios to METIS k-way.

    python benchmarks/partitioners.py [--tools metis,scotch] [--families ...] [--seeds 3] [--small]
    python benchmarks/partitioners.py --table          # what the result file says

The machines have 96 devices, 8 or 16 of them of speed 16; the rest have speed 1 (t1), or the first
half of the rest, rounded down, has speed 2 (t2). Targets follow the speeds, imbalance is 3 %. For
each instance, machine and seed the tools run in turn, one after another. Each run is one JSON line:
`cut` edges; `max_volume`, `total_volume` values sent; `worst`, `smallest` block weight over target;
`empty` blocks; `cpu_s`, the CPU time of the partitioning call alone.
"""

import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from instances import FAMILIES, benchmark_family, speeds
from records import answer, geometric_mean, markdown, parser, words

from evener.errors import EvenerError
from evener.graphs.graph import Graph
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.partitioning.tools import TOOLS
from evener.plans import metrics
from evener.plans.partition import Partition

HERE = Path(__file__).parent
DATA, RESULTS = HERE / "data", HERE / "results" / "partitioners.jsonl"
K, EPSILON, INSTANCE_SEED = 96, 0.03, 2026
TOPOLOGIES = ("t1_f8", "t1_f16", "t2_f8", "t2_f16")
SMALL_VERTICES = 1 << 14

# label: (tool, preset, objective, whether it is so slow that it runs with the first seed only)
VARIANTS = {
    "metis": ("metis", "default", "cut", False),
    "evener": ("evener", "default", "cut", False),
    "evener:fast": ("evener", "fast", "cut", False),
    "evener:strong": ("evener", "strong", "cut", False),
    "evener:max_volume": ("evener", "default", "max_volume", False),
    "evener:no-coordinates": ("evener", "default", "cut", False),
    "metis-recursive": ("metis-recursive", "default", "cut", False),
    "metis:strong": ("metis", "strong", "cut", True),
    "metis:volume": ("metis", "default", "total_volume", False),
    "scotch": ("scotch", "default", "cut", False),
    "scotch:strong": ("scotch", "strong", "cut", False),
    "kaminpar": ("kaminpar", "default", "cut", False),
    "kaminpar:strong": ("kaminpar", "strong", "cut", True),
    "mtkahypar": ("mtkahypar", "default", "cut", True),
    "mtkahypar:strong": ("mtkahypar", "strong", "cut", True),
    "mtkahypar:volume": ("mtkahypar", "default", "total_volume", True),
    "rcb": ("rcb", "default", "cut", False),
    "rib": ("rib", "default", "cut", False),
    "hilbert": ("hilbert", "default", "cut", False),
}
VERY_SLOW = ("mtkahypar:volume",)  # 40 times METIS and more: only where asked for by name
RATIOS = {
    "cut": "cut",
    "max_volume": "max volume",
    "total_volume": "total volume",
    "cpu_s": "CPU",
    "neighbours": "most neighbours",
}
EXTRA = {
    "smallest": ("smallest", lambda values: f"{np.median(values):.3f}"),
    "worst": ("worst", lambda values: f"{max(values):.3f}"),
    "empty": ("empty", lambda values: f"{sum(value > 0 for value in values)}"),
    "in_pieces": ("in pieces", lambda values: f"{np.mean(values):.1f}"),
}


def main():
    answer(arguments(), measured, table)


def arguments():
    made = parser(__doc__, RESULTS)
    usual = [label for label in VARIANTS if label not in VERY_SLOW]
    made.add_argument("--families", type=words, default=list(FAMILIES))
    made.add_argument("--topologies", type=words, default=list(TOPOLOGIES))
    made.add_argument("--tools", type=words, default=usual, help=", ".join(VARIANTS))
    made.add_argument("--seeds", type=int, default=3)
    made.add_argument("--slow-seeds", type=int, default=1, help="for the slow tools")
    made.when_small(families=["delaunay18", "rgg3d18"], topologies=["t2_f16"], seeds=1)
    args = made.parse_args()
    unknown = set(args.tools) - set(VARIANTS)
    if unknown:
        made.error(f"no such tool: {', '.join(sorted(unknown))}")
    return args


def measured(args):
    labels = [label for label in args.tools if installed(label)]
    load_kernels(labels, args.families, args.small)
    for topology in args.topologies:
        for family in args.families:
            graph = instance(family, args.small)
            for seed in range(1, args.seeds + 1):
                for label in labels:
                    if VARIANTS[label][3] and seed > args.slow_seeds:
                        continue
                    line = {"family": family, "topology": topology, "tool": label, "seed": seed}
                    yield line | one_run(graph, topology, label, seed)


def load_kernels(labels, families, small=False):
    """Compile, or load, before anything is timed: in 2-D and in 3-D, on small graphs and large."""
    for family in families:
        for label in labels:
            if VARIANTS[label][0] in TOOLS and TOOLS[VARIANTS[label][0]].family != "external":
                one_run(piece(instance(family, small), SMALL_VERTICES), "t1_f8", label, 1)


def installed(label):
    absent = TOOLS[VARIANTS[label][0]].available()
    if absent:
        print(f"left out: {absent}", file=sys.stderr)
    return absent is None


def one_run(graph, topology, label, seed):
    tool, preset, objective, _ = VARIANTS[label]
    speed = speeds(K, *topology.split("_f"))
    targets = graph.n * speed / speed.sum()
    request = Request(targets, EPSILON, seed, objective=objective, preset=preset)
    if label == "evener:no-coordinates":
        graph = graph.with_(coords=None)
    try:
        result = partition_with(tool, graph, request)
    except EvenerError as error:
        return {"failed": error.message}
    partition = Partition(result.part, K)
    between = metrics.quotient(graph, partition)
    volumes = metrics.comm_volumes(between)
    fullness = metrics.block_weights(graph, partition) / targets
    return {
        "cut": int(metrics.edge_cut(between)),
        "max_volume": int(volumes.max()),
        "total_volume": int(volumes.sum()),
        "worst": round(float(fullness.max()), 4),
        "smallest": round(float(fullness.min()), 4),
        "empty": int((metrics.block_sizes(partition) == 0).sum()),
        "neighbours": int(metrics.neighbours(between).max()),
        "in_pieces": int((metrics.block_components(graph, partition) > 1).sum()),
        "cpu_s": round(result.cpu_seconds, 4),
        "version": result.version,
    }


def instance(family, small=False):
    """The family's graph, from benchmarks/data where it was made before; small: of its kind."""
    if small:
        return little(family)
    path = DATA / f"{family}.npz"
    if not path.exists():
        graph = benchmark_family(family, INSTANCE_SEED)
        DATA.mkdir(exist_ok=True)
        np.savez(path, xadj=graph.xadj, adjncy=graph.adjncy, coords=graph.coords)
    with np.load(path) as arrays:
        return Graph(arrays["xadj"], arrays["adjncy"], coords=arrays["coords"])


def little(family):
    """A graph of few vertices: random geometric in 3-D, or a Delaunay graph."""
    from evener.graphs.generating.delaunay import delaunay
    from evener.graphs.generating.random_graphs import rgg

    if family == "rgg3d18":
        return rgg(SMALL_VERTICES, dim=3, seed=INSTANCE_SEED)
    return delaunay(SMALL_VERTICES, seed=INSTANCE_SEED)


def piece(graph, n):
    """The graph of the n vertices nearest to the middle of all."""
    middle = np.median(graph.coords, axis=0)
    kept = np.sort(np.argsort(((graph.coords - middle) ** 2).sum(axis=1), kind="stable")[:n])
    new = np.full(graph.n, -1)
    new[kept] = np.arange(kept.size)
    u, v = new[np.repeat(np.arange(graph.n), graph.degrees)], new[graph.adjncy]
    inside = (u >= 0) & (v >= 0)
    return Graph.from_edges(kept.size, u[inside], v[inside], coords=graph.coords[kept])


def table(lines):
    """Geometric means over the cells of the medians over seeds, METIS k-way being 1.

    Columns that some line lacks are left out: neighbours and pieces were not always counted.
    """
    cells = defaultdict(lambda: defaultdict(list))
    failures = defaultdict(int)
    for line in lines:
        if "failed" in line:
            failures[line["tool"]] += 1
        else:
            cells[line["tool"]][line["family"], line["topology"]].append(line)
    done = [line for line in lines if "failed" not in line]
    ratios = {key: head for key, head in RATIOS.items() if all(key in line for line in done)}
    extra = {key: EXTRA[key] for key in EXTRA if all(key in line for line in done)}
    head = ("tool", *ratios.values(), *(name for name, _ in extra.values()), "runs")
    rows = [head]
    for tool, own in cells.items():
        runs = [line for cell in own.values() for line in cell]
        failed = f" ({failures[tool]} failed)" if failures[tool] else ""
        means = [mean_ratio(own, cells["metis"], key) for key in ratios]
        said = [show([line[key] for line in runs]) for key, (_, show) in extra.items()]
        rows.append((tool, *means, *said, f"{len(runs)}{failed}"))
    return markdown(rows)


def mean_ratio(own, base, key):
    """Over the cells that both have."""
    ratios = [median(own[c], key) / median(base[c], key) for c in own if c in base]
    return f"{geometric_mean(ratios):.3f}" if ratios else ""


def median(lines, key):
    return np.median([line[key] for line in lines])


if __name__ == "__main__":
    main()
