"""Products y = A x of the application spmv against SciPy, and its share of the memory's bandwidth.

    python benchmarks/spmv.py [--graphs delaunay20,rmat20] [--threads 1,2] [--rounds 15]

delaunayN: a Delaunay mesh of 2^N vertices along the Hilbert curve; rmatN: an R-MAT graph of 2^N
vertices and 16 edges each. Entries are random float64. SciPy's own loop (csr_matvec, one thread)
writes to an array that is there, as ours does. Products, SciPy's and STREAM's triad (a = b + s c
over 2^24 elements) take turns. Wall seconds are the least of all rounds; CPU seconds, for busy
machines, are medians of this process over the number of threads, as if all had worked all the time.
Bytes: of a product 12 an entry and 20 a row (number, value; offset, x, y), each read or written
once; of triad 24 an element. app_ms: CPU time of a superstep of `run_program` on one device, with
all that is around the product. Writes a JSON line per graph and count of threads to
results/spmv.jsonl, and prints their table.
"""

import os
import time
from pathlib import Path

import numpy as np
from records import answer, markdown, parser, words
from scipy.sparse import _sparsetools

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.random_graphs import rmat
from evener.jit import njit
from evener.plans.partition import Partition
from evener.running.apps import rows_kernels, spmv
from evener.running.apps.rows import NONE, MatrixRows, cut, within_rows
from evener.running.distributing import local_graph
from evener.running.engine import ThreadPool
from evener.running.executing import run_program

RESULTS = Path(__file__).parent / "results" / "spmv.jsonl"
SEED = 2026
ELEMENTS = 1 << 24  # of triad: 402 MB, beyond all caches
APP_STEPS = 20


def main():
    made = parser(__doc__, RESULTS)
    made.add_argument(
        "--graphs", type=words, default=["delaunay20", "delaunay22", "rmat18", "rmat20"]
    )
    made.add_argument("--threads", type=words, default=["1", "2"])
    made.add_argument("--rounds", type=int, default=15)
    made.when_small(graphs=["delaunay10", "rmat10"], threads=["1"], rounds=2)
    answer(made.parse_args(), measured, table)


def measured(args):
    for name in args.graphs:
        graph = graph_of(name)
        for threads in map(int, args.threads):
            cores = sorted(os.sched_getaffinity(0))[:threads]
            with ThreadPool(threads, cores) as pool:
                yield {"graph": name, **compared(graph, pool, args.rounds, args.small)}


def graph_of(name):
    kind = name.rstrip("0123456789")
    scale = int(name.removeprefix(kind))
    made = delaunay(1 << scale, seed=SEED) if kind == "delaunay" else rmat(scale, SEED)
    weights = np.random.default_rng(SEED).random(made.adjncy.size)
    return made.with_(adjwgt=symmetric(made, weights))


def symmetric(graph, weights):
    """Return random weights that are equal at both ends of an edge."""
    tails = np.repeat(np.arange(graph.n), np.diff(graph.xadj))
    low, high = np.minimum(tails, graph.adjncy), np.maximum(tails, graph.adjncy)
    return weights[(low * 31 + high * 17) % weights.size]


@njit(nogil=True, counted=False)
def triad(thread, threads, a, b, c):
    size, thread, threads = np.uint64(a.size), np.uint64(thread), np.uint64(threads)
    for i in range(size * thread // threads, size * (thread + np.uint64(1)) // threads):
        a[i] = b[i] + 3.0 * c[i]


def compared(graph, pool, rounds, small):
    local = local_graph(graph, Partition(np.zeros(graph.n, np.int32), 1), 0, want="out")
    rows = MatrixRows.of(local.out)
    cuts = cut(rows)
    x, y, theirs = np.random.default_rng(1).random(graph.n), np.empty(graph.n), np.empty(graph.n)
    tickets, carried = np.zeros(1, np.int64), np.zeros(cuts.first_rows.size - 1)
    within = within_rows(rows, cuts)
    a, b, c = (np.full(1 << 12 if small else ELEMENTS, 1.0) for _ in range(3))
    signed = graph.xadj.astype(np.int32), graph.adjncy.astype(np.int32)

    def ours():
        tickets[0] = 0
        pool.run(rows_kernels.multiply, tickets, cuts, rows, NONE, x, y, carried)
        np.add.at(y, cuts.first_rows[within], carried[within])

    def scipys():
        theirs[:] = 0
        _sparsetools.csr_matvec(graph.n, graph.n, *signed, graph.adjwgt, x, theirs)

    calls = {"ours": ours, "scipy": scipys, "triad": lambda: pool.run(triad, a, b, c)}
    seconds = {name: [] for name in calls}
    for name in [*calls, *[name for _ in range(rounds) for name in calls]]:  # the first: compiles
        seconds[name].append(seconds_of(calls[name]))
    assert np.allclose(y, theirs, rtol=1e-12)
    wall = {name: float(np.min(found[1:], axis=0)[0]) for name, found in seconds.items()}
    threads = {name: 1 if name == "scipy" else pool.threads for name in calls}
    cpu = {name: float(np.median(found[1:], axis=0)[1]) / threads[name]
           for name, found in seconds.items()}  # fmt: skip
    n_bytes, of_triad = 12 * rows.ends.size + 20 * graph.n, 24 * a.size
    return {
        "threads": pool.threads, "rows": graph.n, "entries": int(rows.ends.size),
        **{f"{name}_ms": round(1e3 * wall[name], 3) for name in calls},
        **{f"{name}_cpu_ms": round(1e3 * cpu[name], 3) for name in calls},
        "app_ms": round(1e3 * app_seconds(graph, pool) / pool.threads, 3),
        "speedup": round(wall["scipy"] / wall["ours"], 3),
        "cpu_speedup": round(cpu["scipy"] / cpu["ours"], 3),
        "gigabytes": round(n_bytes / wall["ours"] / 1e9, 2),
        "triad_gigabytes": round(of_triad / wall["triad"] / 1e9, 2),
        "share": round(n_bytes / wall["ours"] / (of_triad / wall["triad"]), 3),
        "cpu_share": round(n_bytes / cpu["ours"] / (of_triad / cpu["triad"]), 3),
    }  # fmt: skip


def seconds_of(call):
    """Return wall and CPU seconds of a call."""
    began = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - began[0], time.process_time() - began[1]


def app_seconds(graph, pool):
    """Return the CPU seconds of a superstep: those of many steps without those of few."""
    partition = Partition(np.zeros(graph.n, np.int32), 1)

    def run(steps):
        given = {"devices": [pool.cores], "parameters": {"averaging": 0}, "most": steps}
        return seconds_of(lambda: run_program(spmv.SPMV, graph, partition, **given))[1]

    return (min(run(APP_STEPS + 1) for _ in range(3)) - min(run(1) for _ in range(3))) / APP_STEPS


def table(lines):
    head = ["graph", "threads", "SciPy (ms)", "ours (ms)", "SciPy / ours", "of CPU times",
            "app (ms)", "GB/s", "triad (GB/s)", "share of triad", "of CPU times"]  # fmt: skip
    rows = [
        [line["graph"], line["threads"], line["scipy_ms"], line["ours_ms"], line["speedup"],
         line["cpu_speedup"], line["app_ms"], line["gigabytes"], line["triad_gigabytes"],
         line["share"], line["cpu_share"]]
        for line in lines
    ]  # fmt: skip
    return markdown([head, *rows])


if __name__ == "__main__":
    main()
