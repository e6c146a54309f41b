"""Graphs of uneven degrees in slices: cuts and CPU seconds beside plans of the whole in memory.

    EVENER_DATA=FOLDER python benchmarks/larger_uneven.py [--graphs ...] [--ks 4,16,64]
    python benchmarks/larger_uneven.py --table          # what the result file says

Graphs: files of FOLDER/powerlaw; R-MAT with other parameters than Graph500's; Barabási-Albert; and
`communities`, a graph of power-law degrees 60 % of whose edges are inside communities of 20 to 2000
vertices, numbered at random. No constant was chosen on these files and seeds. equal: k equal
devices; unequal: one in eight of them 16 times as fast. Limits 3 % both ways.

memory: the plan of the whole graph. slices: the plan of the graph in slices, which one process
divides as a whole where it can hold it. sliced: the same, but never as a whole. CPU seconds are of
planning, with the certificate; the graph is in memory. Lines that the file has are not made again.
"""

import math
import os
import time
from pathlib import Path

import numpy as np
from records import answer_more, append, known, markdown, parser, words

from evener import io
from evener.errors import EvenerError
from evener.graphs.generating.random_graphs import barabasi_albert, rmat
from evener.graphs.graph import Graph
from evener.planning import uneven_slices
from evener.planning.in_memory import plan
from evener.planning.options import PlanOptions
from evener.planning.plan_slices import plan_slices
from evener.plans import metrics
from evener.platforms.platform import Platform
from evener.sliced.degrees import SliceDegrees
from evener.sliced.memory import most_whole
from evener.sliced.whole import InMemoryGraph

RESULTS = Path(__file__).parent / "results" / "larger_uneven.jsonl"
KEYS = ("graph", "k", "speeds", "method")
FILES = ("BlogCatalog", "CA-CondMat", "ca-AstroPh", "facebook_large_edges", "git_edges", "hep-th",
         "p2p-Gnutella31")  # fmt: skip
SEED, EPSILON, FAST = 61, 0.03, 16.0
LEAST_DEGREE, MOST_DEGREE, EXPONENT = 6, 1000, 2.5
INSIDE = 0.6  # of a vertex's edges, to its own community


def rmat_of(scale, factor, a, b, c):
    return lambda: rmat(scale, SEED, factor, a, b, c)


GENERATED = {
    "rmat15 a=0.45, 8 edges": rmat_of(15, 8, 0.45, 0.22, 0.22),
    "rmat15 a=0.5, 32 edges": rmat_of(15, 32, 0.5, 0.2, 0.2),
    "rmat15 a=0.57, 64 edges": rmat_of(15, 64, 0.57, 0.19, 0.19),
    "barabasi-albert 50000": lambda: barabasi_albert(50_000, SEED),
    "communities 200000": lambda: communities(200_000, SEED),
}


def main():
    answer_more(arguments(), measure, table)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--graphs", type=words, help="those whose names begin so; all without")
    made.add_argument("--ks", type=words, default=["4", "16", "64"])
    made.add_argument("--n", type=int, help="vertices of one `communities`, in place of the rest")
    made.when_small(n=3000, ks=["4"])
    return made.parse_args()


def measure(args):
    """Add a line for each measurement that the file does not have."""
    have = {tuple(line[key] for key in KEYS) for line in known(args.output)}
    warm()
    for name, make in graphs(args).items():
        graph, about = None, {}
        for k in map(int, args.ks):
            for speeds in ("equal", "unequal"):
                for method, found in METHODS.items():
                    cell = {"graph": name, "k": k, "speeds": speeds, "method": method}
                    if tuple(cell.values()) in have:
                        continue
                    if graph is None:
                        graph = make()
                        about = described(graph)
                    line = cell | figures(graph, k, speeds, found) | about
                    print(append(args.output, line), flush=True)


def graphs(args):
    """Names, and functions that return graphs."""
    if args.n:
        return {f"communities {args.n}": lambda: communities(args.n, SEED)}
    made = dict(GENERATED)
    folder = Path(os.environ["EVENER_DATA"], "powerlaw") if "EVENER_DATA" in os.environ else None
    for path in sorted(folder.iterdir()) if folder else ():
        name = path.name.split(".")[0]
        if name in FILES:
            made[name] = lambda path=path: io.read(path).graph
    chosen = tuple(args.graphs or [""])
    return {name: make for name, make in made.items() if name.startswith(chosen)}


def communities(n, seed):
    """A graph of power-law degrees, most of whose edges are inside communities."""
    rng = np.random.default_rng(seed)
    degree = LEAST_DEGREE * (1 - rng.random(n)) ** (-1 / (EXPONENT - 1))
    degree = np.minimum(degree, MOST_DEGREE)
    sizes = np.minimum(20 / (1 - rng.random(n // 20)), 2000).astype(np.int64)
    community = np.repeat(np.arange(sizes.size), sizes)[:n]
    inside = rng.binomial(degree.astype(np.int64), INSIDE)
    outside = degree.astype(np.int64) - inside
    own = np.repeat(np.arange(n), inside)
    own = own[np.lexsort((rng.random(own.size), community[own]))]  # at random in each community
    away = rng.permutation(np.repeat(np.arange(n), outside))
    pairs = [one[: one.size // 2 * 2].reshape(-1, 2) for one in (own, away)]
    rank = rng.permutation(n)
    u, v = rank[np.concatenate(pairs)].T
    return Graph.from_edges(n, u, v)


def described(graph):
    degrees = SliceDegrees.read(InMemoryGraph(graph))
    return {
        "n": graph.n, "m": graph.m, "skewness": round(degrees.skewness, 2),
        "filled_by_degree": degrees.fill_blocks,
        "by_one": bool(graph.adjncy.size <= most_whole(math.inf, graph.n)),
    }  # fmt: skip


def warm():
    """Load kernels."""
    for graph in (barabasi_albert(3000, 4), rmat(10, 3)):
        for method in METHODS.values():
            figures(graph, 8, "unequal", method)


def platform_of(k, speeds):
    speed = np.ones(k)
    if speeds == "unequal":
        speed[: max(1, k // 8)] = FAST
    return Platform.flat(speed.tolist())


def figures(graph, k, speeds, method):
    platform, options = platform_of(k, speeds), PlanOptions(epsilon=EPSILON)
    began = time.process_time()
    try:
        made = method(graph, platform, options)
    except EvenerError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    seconds = time.process_time() - began
    cut = metrics.edge_cut(metrics.quotient(graph, made.partition))
    return {"cut": int(cut), "kept": bool(made.certificate.all_hold), "cpu_s": round(seconds, 2)}


def in_slices(graph, platform, options):
    return plan_slices(InMemoryGraph(graph), platform, options).plan


def never_whole(graph, platform, options):
    least, uneven_slices.most_whole = uneven_slices.most_whole, lambda *_: 0
    try:
        return in_slices(graph, platform, options)
    finally:
        uneven_slices.most_whole = least


METHODS = {"memory": plan, "slices": in_slices, "sliced": never_whole}


def table(lines):
    """A row for each graph: of k and speeds, the cut in slices over that in memory; and CPU."""
    found = {tuple(line[key] for key in KEYS): line for line in lines}
    names = list(dict.fromkeys(line["graph"] for line in lines))
    cells = list(dict.fromkeys((line["k"], line["speeds"]) for line in lines))
    rows = [("graph", "vertices", "edges", "skewness", *(f"{k} {name}" for k, name in cells),
             "CPU", "hold", "by default")]  # fmt: skip
    for name in names:
        own = [cell for cell in cells if all((name, *cell, way) in found for way in METHODS)]
        if own:
            rows.append(row(found, name, cells, own))
    return markdown(rows)


def row(found, name, cells, own):
    about = found[name, *own[0], "memory"]
    cpu = [over(found, name, cell, "cpu_s") for cell in own]
    lines = [found[name, *cell, way] for cell in own for way in ("slices", "sliced")]
    kept = sum(line.get("kept", False) for line in lines)
    same = all(found[name, *cell, "slices"].get("cut") == found[name, *cell, "memory"].get("cut")
               for cell in own)  # fmt: skip
    return (
        name, f"{about['n']:,}", f"{about['m']:,}", about["skewness"],
        *(shown(found, name, cell) for cell in cells), f"{min(cpu):.1f} to {max(cpu):.1f}",
        f"{kept} of {len(lines)}", "as in memory" if about["by_one"] and same else "so",
    )  # fmt: skip


def over(found, name, cell, figure):
    """The figure in slices over that in memory."""
    above, below = (found[name, *cell, way][figure] for way in ("sliced", "memory"))
    return above / below if below else math.inf


def shown(found, name, cell):
    if (name, *cell, "sliced") not in found:
        return "-"
    above, below = (found[name, *cell, way].get("cut") for way in ("sliced", "memory"))
    return f"{above / below:.3f}" if above and below else f"{above} edges; {below}"


if __name__ == "__main__":
    main()
