"""Rebalancing of rows on MPI ranks beside that of the whole graph in memory, from the same blocks.

    python benchmarks/rebalancing_ranks.py [--powers 18,20] [--seeds 71,72]
    python benchmarks/rebalancing_ranks.py --table     # what the result file says

Delaunay graphs along a Hilbert curve, on 8 or 16 devices, every fourth of which is four times as
fast, on two computers with links. "slow": one device takes twice as long, then another instead.
"front": a band of a sixth of the plane has 8 times as much work, and moves on twice. After each
change the program goes on until rows have moved: what moved, the seconds of an iteration predicted
then by evener.plans.metrics from the whole graph, and CPU seconds of all calls of `observe`, those
of each rank. In memory, and on 1 and 4 ranks under mpiexec; with and without `replan`. Work and
times are told without noise. Lines that the result file has are not measured again.
"""

import json
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import larger_files as files
import numpy as np
from larger import DATA
from records import answer_more, append, known, markdown, parser, words

import evener as ev
from evener.io.read import read
from evener.plans import metrics
from evener.plans.partition import Partition
from evener.rebalancing.proposals import slowed
from evener.sliced.gathering import gathered

RESULTS = Path(__file__).parent / "results" / "rebalancing_ranks.jsonl"
BESIDE = Path(sys.executable).parent / "mpiexec"
MPIEXEC = str(BESIDE) if BESIDE.exists() else "mpiexec"
KEYS = ("power", "seed", "devices", "change", "again", "way")
CHANGES = ("slow", "front")
WAYS = ("memory", "1", "4")
HEAVY, WIDTH = 8.0, 1 / 6  # of the front: work of a vertex, share of the plane
MOST = 60  # observations after a change
WARM = 12  # power of the graph on which kernels are loaded


def main():
    if sys.argv[1:2] == ["--rank"]:
        return be_rank(*sys.argv[2:])
    return answer_more(arguments(), measure, table)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--powers", type=words, default=["18", "20"])
    made.add_argument("--seeds", type=words, default=["71", "72"])
    made.add_argument("--devices", type=words, default=["8", "16"])
    made.add_argument("--changes", type=words, default=CHANGES)
    made.add_argument("--ways", type=words, default=WAYS)
    made.add_argument("--again", type=words, default=["no", "yes"], help="with replan, or not")
    made.add_argument("--data", type=Path, default=DATA, help="where graphs are kept")
    made.when_small(powers=["13"], seeds=["1"], devices=["8"], ways=["memory", "2"],
                    again=["yes"], data=DATA / "small")  # fmt: skip
    return made.parse_args()


def measure(args):
    """Add a line for each measurement that the file does not have."""
    args.data.mkdir(parents=True, exist_ok=True)
    have = {tuple(line[key] for key in KEYS) for line in known(args.output)}
    for power, seed in product(args.powers, args.seeds):
        path, small = (file_of(args.data, *which) for which in ((int(power), int(seed)), (WARM, 1)))
        chosen = product(args.devices, args.changes, args.again, args.ways)
        for cell in (dict(zip(KEYS, (power, seed, *one), strict=True)) for one in chosen):
            if tuple(cell.values()) not in have:
                print(append(args.output, cell | measured(cell, path, small)), flush=True)


def file_of(folder, power, seed):
    kind = ("hilbert", "coords")
    return files.delaunay_files(folder, power, seed, [kind])[kind]


def measured(cell, path, small):
    """What a process alone, or ranks, find."""
    ranks = "1" if cell["way"] == "memory" else cell["way"]
    given = [str(path), str(small), *(cell[key] for key in KEYS[2:])]
    command = [MPIEXEC, "-n", ranks, sys.executable, __file__, "--rank", *given]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def be_rank(path, small, *cell):
    """Rebalance as a rank; rank 0 prints what `measured` returns."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    played(comm, small, *cell)
    found = played(comm, path, *cell)
    if comm.Get_rank() == 0:
        print(json.dumps(found))


def machine(k):
    """Two computers of k / 2 devices, every fourth of which is fast."""
    levels = ev.Level("net", ev.Link(5e-6, 1e-9)), ev.Level("node", ev.Link(1e-6, 2e-10))
    speeds = np.where(np.arange(k) % 4 == 0, 4e8, 1e8)
    return ev.Platform(
        tuple(ev.Device(f"d{i}", s, at=f"n{2 * i // k}") for i, s in enumerate(speeds)), levels
    )


def phases(change, k, graph):
    """How much slower devices are and what vertices weigh, after each change."""
    ones, even = np.ones(k), np.ones(graph.n)
    if change == "slow":
        return [(np.where(np.arange(k) == slow, 2.0, 1.0), even) for slow in (1, k - 2)]
    x = graph.coords[:, 0]
    x = (x - x.min()) / (x.max() - x.min())
    return [
        (ones, np.where(np.abs(x - middle) < WIDTH / 2, HEAVY, 1.0)) for middle in (0.2, 0.5, 0.8)
    ]


def played(mpi, path, devices, change, again, way):
    """Figures of all moves; the program of one rank."""
    whole, platform = read(path).graph, machine(int(devices))
    rows = ev.DistributedGraph.from_file(mpi, path)
    comm = rows.comm
    plan = ev.plan(rows, platform, objective="cut")
    words = {"replan": ev.replan if again == "yes" else None, "rebuild_seconds": 0.0}
    data = (plan.plan, whole) if way == "memory" else (plan, rows)
    rebalancer = ev.Rebalancer(*data, **words)
    ends = np.concatenate([[0], np.cumsum(comm.allgather(plan.part.size))])
    own = slice(ends[comm.rank], ends[comm.rank + 1])
    moves, cpu = [], 0.0
    for factors, work in phases(change, int(devices), whole):
        before = gathered(comm, rebalancer.partition.part)
        mine = work if way == "memory" else work[own]
        loads = block_loads(comm, rebalancer, mine, platform.k)
        for i in range(MOST):
            began = time.process_time()
            move = rebalancer.observe(loads / platform.speeds * factors, mine if i == 0 else None)
            cpu += time.process_time() - began
            if move is not None:
                break
        after = gathered(comm, rebalancer.partition.part)
        if comm.rank == 0:
            moves.append(figures(whole, work, slowed(platform, factors), before, after, move))
    told = comm.allgather(round(cpu, 3))
    return {"n": whole.n, "cpu_s": told, "moves": moves}


def block_loads(comm, rebalancer, work, k):
    own = np.bincount(rebalancer.partition.part, work, k)
    return np.sum(comm.allgather(own), axis=0)


def figures(graph, work, platform, before, after, move):
    """What moved, and predicted seconds of an iteration before and after, from the whole graph."""
    graph, n_bytes = graph.with_(vwgt=work), graph.vertex_bytes()
    seconds = [
        metrics.predicted_seconds(graph, Partition(part, platform.k), platform).seconds.max()
        for part in (before, after)
    ]
    away = before != after
    assert (0 if move is None else move.vertices) == away.sum()
    return {
        "kind": None if move is None else move.kind,
        "vertices": int(away.sum()),
        "bytes": float(n_bytes[away].sum()),
        "before_s": float(seconds[0]),
        "after_s": float(seconds[1]),
    }


def table(lines):
    """A row for each size, change and use of replan: figures of ranks over those in memory.

    Means and worst over seeds and devices. Changes after which one of the two has not moved count
    for CPU seconds alone.
    """
    found = {tuple(line[key] for key in KEYS): line for line in lines}
    rows = [["vertices", "change", "replan", "moved in both", "makespan then", "worst",
             "bytes moved", "worst", "CPU, 1 rank", "CPU, busiest of 4"]]  # fmt: skip
    for power, change, again in dict.fromkeys((key[0], key[3], key[4]) for key in found):
        cells = [
            [found.get((*key[:5], way)) for way in WAYS]
            for key in found
            if key[5] == "memory" and (key[0], key[3], key[4]) == (power, change, again)
        ]
        cells = [cell for cell in cells if all(cell)]
        if cells:
            rows.append([f"2^{power}", change, again, *ratios(cells)])
    return markdown(rows)


def ratios(cells):
    """How many changes count of all; makespans, bytes and CPU seconds over those in memory."""
    moves = [list(zip(line["moves"], ranks["moves"], strict=True)) for line, ranks, _ in cells]
    both = [[pair for pair in one if all(move["kind"] for move in pair)] for one in moves]
    late = [two["after_s"] / one["after_s"] for pairs in both for one, two in pairs]
    sent = [np.sum([[move["bytes"] for move in pair] for pair in pairs], 0) for pairs in both]
    sent = [two / one for one, two in sent]
    alone, most = ([max(cell[j]["cpu_s"]) / cell[0]["cpu_s"][0] for cell in cells] for j in (1, 2))
    figures = [np.mean(late), max(late), np.mean(sent), max(sent)]
    counts = f"{sum(map(len, both))} of {sum(map(len, moves))}"
    return [counts, *(f"{x:.3f}" for x in figures), *(f"{np.mean(x):.2f}" for x in (alone, most))]


if __name__ == "__main__":
    sys.exit(main())
