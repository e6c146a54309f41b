"""Program of two ranks that run Jacobi's method while a rival comes to the second core.

    mpiexec -n 2 python -m wall_clock.jacobi_ranks JOB

In each round every way of JOB is run, in random order: "never", "never again" and "fixed" keep
their sizes, "moves" asks a RowRebalancer; "quiet", "quiet again" and "quiet moves" are the same
without the rival. "fixed" is the split that would have been best for the times of the last run
that stayed. The rival is a process that waits for signals, in a session of its own.
"""

import json
import os
import signal
import sys
import time

import numpy as np

from evener import RowRebalancer
from evener.running.apps import jacobi
from evener.running.mpi_comm import MpiComm
from evener.running.spreading import HeldRows
from wall_clock.timing import pin

SEED = 2026
SPLITS = np.linspace(0.3, 0.9, 121)  # shares of the first rank that hindsight chooses from


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


class JacobiBench:
    """The system, held once and for all by both ranks."""

    def __init__(self, comm, job):
        self.comm, self.job, self.n = comm, job, job["rows"]
        self.even = [self.n // 2, self.n - self.n // 2]
        self.best = self.even
        rng, mine = np.random.default_rng([SEED, comm.rank]), self.even[comm.rank]
        rows, place = rng.random((mine, self.n)), np.arange(mine)
        rows[place, place + sum(self.even[: comm.rank])] = 2 * rows.sum(axis=1)
        self.held = [HeldRows(comm, one, self.even, ready=True) for one in (rows, rng.random(mine))]
        self.rebuild = self.move_takes()

    def move(self, sizes):
        """Both arrays; how long that took [s]."""
        self.comm.barrier()
        begin = time.perf_counter()
        for held in self.held:
            held.move(sizes)
        return time.perf_counter() - begin

    def move_takes(self):
        """Seconds that a twentieth of all rows takes to the other rank: the median of five."""
        few = self.n // 20
        took = [self.move([self.even[0] - few * (i % 2), self.even[1] + few * (i % 2)])
                for i in range(6)]  # fmt: skip
        return self.comm.bcast(float(np.median(took[1:])))

    def go(self, way):
        """One run; its record on rank 0."""
        sizes = self.best if way == "fixed" else self.even
        self.move(sizes)
        inner = RowRebalancer(sizes, rebuild_seconds=self.rebuild) if "moves" in way else None
        rival = 0 if way.startswith("quiet") else self.job["rival"]
        watched = Watched(inner, rival, self.job["begins"])
        cpu = time.process_time()
        found = jacobi.iterate(
            self.comm, *self.held, watched, tolerance=-1.0, iterations=self.job["iterations"]
        )
        cpu = self.comm.allgather(time.process_time() - cpu)
        if self.comm.rank == 0:
            os.kill(self.job["rival"], signal.SIGUSR2)
        by_row = found.seconds / np.maximum(found.sizes, 1)
        if way.startswith("never"):
            self.best = self.comm.bcast(best_split(by_row, self.n))
        time.sleep(self.job["pause"])
        return {
            "way": way,
            "seconds": round(found.took, 6),
            "first": int(sizes[0]),
            "moves": [(at, int(found.sizes[at][0])) for at in watched.moved_at
                      if at < len(found.sizes)],
            "move_s": watched.took,
            "rebuild_s": self.rebuild,
            "cpu_share": [round(own / found.took, 3) for own in cpu],
            "hindsight": hindsight(by_row, found, self.n),
            "times_us": np.rint(1e6 * found.seconds).astype(int).tolist(),
        }  # fmt: skip


def best_split(by_row, n):
    """Rows of both ranks with which these times, by row (iterations, 2), take least in all."""
    first = int(SPLITS[int(np.argmin([fixed(by_row, share, n) for share in SPLITS]))] * n)
    return [first, n - first]


def fixed(by_row, share, n):
    """Seconds of all iterations where the first rank has this share of the rows."""
    return float(np.maximum(share * n * by_row[:, 0], (1 - share) * n * by_row[:, 1]).sum())


def hindsight(by_row, found, n):
    """The same times, by row, as other sizes would have had them [s]: even, best, and as they were.

    Free of what changes from run to run; what is beside computing is in none of them.
    """
    own = float(found.seconds.max(axis=1).sum())
    best = min(fixed(by_row, share, n) for share in SPLITS)
    return {"even": fixed(by_row, 0.5, n), "fixed": best, "own": own}


def main(comm):
    job, began = json.loads(sys.argv[1]), time.perf_counter()
    pin(comm.rank)
    bench = JacobiBench(comm, job)
    rng = np.random.default_rng(SEED)
    for way in ("moves", "never"):  # pilots: memory is warm, and there is a split to begin with
        bench.go(way)
    rounds = []
    for _ in range(job["rounds"]):
        if comm.bcast(time.perf_counter() - began > job["budget"]):
            break
        order = rng.permutation(job["ways"]).tolist()
        rounds.append([bench.go(way) for way in order])
        if comm.rank == 0:
            print(f"round {len(rounds)} of {job['rounds']}", file=sys.stderr, flush=True)
    if comm.rank == 0:
        print(json.dumps({"rounds": rounds}))


if __name__ == "__main__":
    with MpiComm() as world:
        main(world)
