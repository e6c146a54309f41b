"""Halo.exchange beside an exchange written by hand in mpi4py, of the same values: at most 1.15.

    python benchmarks/halos.py [--ranks 2] [--rounds 30]

By hand: values packed by NumPy, persistent requests, ghosts received in place. Rounds of the two
are made by turns; the least time of a round counts, as other programs only add to it. One JSON
line for each graph, type and number of columns goes to results/halos.jsonl; ends with 1 where a
ratio is above the limit.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from records import append, markdown, parser, read
from wall_clock.launching import MPIEXEC

from evener.graphs.generating.delaunay import triangle_mesh
from evener.graphs.generating.random_graphs import rmat
from evener.partitioning.initial.geometric import hilbert_blocks
from evener.plans.partition import Partition
from evener.running.distributing import local_graph
from evener.running.halos import Halo

RESULTS = Path(__file__).parent / "results" / "halos.jsonl"
LIMIT = 1.15
ITERATIONS = 20  # of a round, at most; fewer where one takes long
ROUND_SECONDS = 0.02
SEED = 7
CASES = [
    ("triangles", "f8", 1), ("triangles", "f8", 8), ("rmat", "f4", 1), ("rmat", "f8", 1),
    ("rmat", "f8", 8),
]  # fmt: skip


def blocks(name, size, ranks):
    """A mesh in blocks by place, or an R-MAT graph, whose vertices are mostly boundary, in runs."""
    if name == "rmat":
        graph = rmat(max(size.bit_length() - 1, 4), SEED)
        return graph, Partition(np.arange(graph.n) * ranks // graph.n, ranks)
    graph = triangle_mesh(size, SEED).nodal_graph()
    targets = np.full(ranks, graph.n / ranks)
    return graph, Partition(hilbert_blocks(graph.coords, np.ones(graph.n), targets), ranks)


def by_hand(comm, local, x):
    """A function that exchanges x as one would write it for one program."""
    numbers = {q: own.astype(np.intp) for q, own in local.sends.items()}
    buffers = {q: np.empty((own.size, *x.shape[1:]), x.dtype) for q, own in numbers.items()}
    requests = [comm.Recv_init(x[a:b], source=q) for q, (a, b) in local.receives.items()]
    requests += [comm.Send_init(buffer, dest=q) for q, buffer in buffers.items()]

    def exchange():
        for q, own in numbers.items():
            np.take(x, own, axis=0, out=buffers[q], mode="clip")
        if requests:
            type(requests[0]).Startall(requests)
            type(requests[0]).Waitall(requests)

    return exchange, requests


def timed(comm, exchange, iterations):
    """Microseconds of an exchange, on the slowest rank."""
    comm.Barrier()
    begin = time.perf_counter()
    for _ in range(iterations):
        exchange()
    return comm.allreduce(time.perf_counter() - begin, op=max) / iterations * 1e6


def child(size, rounds):
    """What each rank runs; rank 0 prints a line for each case."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    made = {name: blocks(name, size, comm.size) for name in {case[0] for case in CASES}}
    for name, dtype, columns in CASES:
        graph, partition = made[name]
        local = local_graph(graph, partition, comm.rank, threads=1)
        halo = Halo.of(comm, local)
        tail = () if columns == 1 else (columns,)
        x = np.ones((local.n_local, *tail), dtype)
        hand, requests = by_hand(comm, local, x)
        ways = {
            "by hand": hand,
            "exchange": lambda halo=halo, x=x: halo.exchange(x),
        }
        once = max(timed(comm, way, 3) for way in ways.values())
        iterations = min(max(int(ROUND_SECONDS * 1e6 / once), 1), ITERATIONS)
        spent = {way: [] for way in ways}
        for _ in range(rounds):
            for way, exchange in ways.items():
                spent[way].append(timed(comm, exchange, iterations))
        for request in requests:
            request.Free()
        sent = comm.allreduce(sum(own.size for own in local.sends.values()))
        if comm.rank == 0:
            least = {way: min(values) for way, values in spent.items()}
            line = {
                "graph": name, "n": graph.n, "ranks": comm.size, "dtype": dtype,
                "columns": columns, "bytes": sent * x.dtype.itemsize * columns,
                "us": {way: round(value, 2) for way, value in least.items()},
                "ratio": round(least["exchange"] / least["by hand"], 3),
            }  # fmt: skip
            print(json.dumps(line), flush=True)


def measured(args):
    """Start the ranks; yield their lines."""
    words = ["--child", "--size", str(args.size), "--rounds", str(args.rounds)]
    done = subprocess.run(
        [MPIEXEC, "-n", str(args.ranks), sys.executable, __file__, *words],
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def table(lines):
    """A row a case."""
    rows = [("graph", "ranks", "values", "bytes", "by hand", "exchange", "ratio")]
    for line in lines:
        kind = f"{line['columns']} x {line['dtype']}"
        times = [f"{line['us'][way]:,.1f} µs" for way in ("by hand", "exchange")]
        ratio = f"{line['ratio']:.2f}"
        rows.append((line["graph"], line["ranks"], kind, f"{line['bytes']:,}", *times, ratio))
    return markdown(rows)


def main():
    made = parser(__doc__, RESULTS)
    made.add_argument("--ranks", type=int, default=2)
    made.add_argument("--rounds", type=int, default=30)
    made.add_argument("--size", type=int, default=1 << 18, help="vertices of a graph")
    made.add_argument("--child", action="store_true", help="one of the ranks")
    made.when_small(size=1 << 9, rounds=2)
    args = made.parse_args()
    if args.child:
        child(args.size, args.rounds)
        return
    if not args.table:
        args.output.parent.mkdir(parents=True, exist_ok=True)
        args.output.write_text("")
        for line in measured(args):
            append(args.output, line)
    lines = read(args.output)
    print(table(lines))
    sys.exit(int(not args.small and max(line["ratio"] for line in lines) > LIMIT))


if __name__ == "__main__":
    main()
