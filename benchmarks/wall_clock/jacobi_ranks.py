"""Program of two ranks that run Jacobi's method while a rival comes to the second core.

    mpiexec -n 2 python -m wall_clock.jacobi_ranks JOB

In each round every way of JOB is run, in random order: "never" and "fixed" keep their sizes,
"moves" asks a RowRebalancer; "quiet" and "quiet moves" are the same without the rival. "fixed" is
the split that would have been best for the times of the "never" run before. The rival is a process
that waits for signals, in a session of its own.
"""

import json
import os
import signal
import sys
import time

import numpy as np

from evener import RowRebalancer
from evener.apps import jacobi
from evener.running.comm import MpiComm
from evener.running.spreading import HeldRows
from wall_clock.timing import pin

SEED = 2026


class Watched:
    """Lets the rival in at an iteration, and hands everything else on."""

    def __init__(self, inner, rival, begins):
        self.inner, self.rival, self.begins, self.count = inner, rival, begins, 0
        self.moved_at, self.took = [], []

    def observe(self, times):
        self.count += 1
        if self.rival and self.count == self.begins:
            os.kill(self.rival, signal.SIGUSR1)
        new = self.inner.observe(times) if self.inner else None
        if new is not None:
            self.moved_at.append(self.count)
        return new

    def moved(self, seconds):
        self.took.append(seconds)
        if self.inner:
            self.inner.moved(seconds)


class Bench:
    """The system, and what ranks know of it."""

    def __init__(self, comm, job):
        self.comm, self.job, self.n = comm, job, job["rows"]
        self.A = np.random.default_rng(SEED).random((self.n, self.n))
        self.A[np.diag_indices(self.n)] = 2 * self.A.sum(axis=1)
        self.b = self.A[0].copy()
        self.best = self.n // 2
        self.rebuild = self.move_takes()

    def move_takes(self):
        """Seconds that a few rows take to the other rank: the median of five, when all is warm."""
        half, few = self.n // 2, self.n // 20
        own = slice(0, half) if self.comm.rank == 0 else slice(half, self.n)
        old, new = np.array([half, self.n - half]), np.array([half - few, self.n - half + few])
        took = []
        for _ in range(7):
            held = [HeldRows(array[own], own.start, room=True) for array in (self.A, self.b)]
            self.comm.barrier()
            begin = time.perf_counter()
            for one in held:
                one.move(self.comm, old, new)
            self.comm.barrier()
            took.append(time.perf_counter() - begin)
        return float(np.median(took[2:]))

    def go(self, way):
        """One run; its record on rank 0."""
        first = self.best if way == "fixed" else self.n // 2
        sizes = [first, self.n - first]
        inner = None
        if way.endswith("moves"):
            inner = RowRebalancer(sizes, rebuild_seconds=self.rebuild)
        rival = 0 if way.startswith("quiet") else self.job["rival"]
        watched = Watched(inner, rival, self.job["begins"])
        self.comm.barrier()
        begin = time.perf_counter()
        found = jacobi.run(
            self.comm, lambda a, b: (self.A[a:b], self.b[a:b]), sizes, watched,
            tolerance=-1.0, iterations=self.job["iterations"],
        )  # fmt: skip
        seconds = time.perf_counter() - begin
        if self.comm.rank == 0:
            os.kill(self.job["rival"], signal.SIGUSR2)
        if way == "never":
            self.best = self.comm.bcast(best_split(found.seconds, sizes))
        time.sleep(self.job["pause"])
        return {
            "way": way,
            "seconds": seconds,
            "first": first,
            "moves": [(at, int(found.sizes[at][0])) for at in watched.moved_at
                      if at < len(found.sizes)],
            "took": watched.took,
            "rebuild": self.rebuild,
            "iteration": float(np.median(found.seconds[: self.job["begins"]].max(axis=1))),
        }  # fmt: skip


def best_split(seconds, sizes):
    """Rows of the first rank with which these times, by row, would have taken least in all."""
    by_row = seconds / np.asarray(sizes)
    n = sum(sizes)
    firsts = np.linspace(0.3, 0.9, 121) * n
    totals = [np.maximum(f * by_row[:, 0], (n - f) * by_row[:, 1]).sum() for f in firsts]
    return int(firsts[int(np.argmin(totals))])


def main(comm):
    job = json.loads(sys.argv[1])
    pin(comm.rank)
    bench = Bench(comm, job)
    rng = np.random.default_rng(SEED)
    for way in ("moves", "never"):  # pilots: memory is warm, and there is a split to begin with
        bench.go(way)
    rounds = []
    for _ in range(job["rounds"]):
        order = rng.permutation(job["ways"]).tolist()
        rounds.append([bench.go(way) for way in order])
        if comm.rank == 0:
            print(f"round {len(rounds)} of {job['rounds']}", file=sys.stderr, flush=True)
    if comm.rank == 0:
        print(json.dumps({"rounds": rounds}))


if __name__ == "__main__":
    with MpiComm() as world:
        main(world)
