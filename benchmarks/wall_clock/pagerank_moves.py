"""PageRank on two devices, each a core, while a rival comes to the second; with and without moves.

    mpiexec -n 2 python -m wall_clock.pagerank_moves JOB

In each round every way of JOB is run, in random order: "never" and "never again" keep their
vertices, "moves" asks a RunRebalancer; "quiet" and "quiet moves" are the same without the rival,
a process that waits for signals. Without MPI `measured` runs the devices as threads.
"""

import json
import os
import signal
import sys
import time

import numpy as np

import evener as ev
from evener.graphs.generating.grid import grid
from evener.rebalancing.run_rebalancer import RunRebalancer
from evener.running.apps import pagerank
from evener.running.executing import run_program
from evener.running.moving import Rebalancing
from evener.running.mpi_comm import MpiComm
from evener.running.on_device import RunWatch
from wall_clock.launching import core_of

SEED = 2026


class MovesBench:
    """A grid, planned for two devices alike."""

    def __init__(self, job, comm=None):
        self.job, self.comm = job, comm
        self.graph = grid((job["side"], job["side"]))
        devices = tuple(ev.Device(f"cpu{i}", 1.0) for i in range(2))
        self.plan = ev.plan(self.graph, ev.Platform(devices, ()))
        self.expected = None

    @property
    def is_first(self):
        return self.comm is None or self.comm.rank == 0

    def go(self, way):
        """One run; its record."""
        rival = 0 if way.startswith("quiet") else self.job["rival"]

        def tell(step):
            if rival and step == self.job["begins"]:
                os.kill(rival, signal.SIGUSR1)

        adviser = RunRebalancer(self.plan, self.graph) if "moves" in way else None
        moves = None if adviser is None else Rebalancing(adviser)
        found = run_program(
            pagerank.PROGRAM,
            self.graph,
            self.plan.partition,
            comm=self.comm,
            devices=[[core_of(0)], [core_of(1)]],
            most=self.job["supersteps"],
            watch=RunWatch(tell=tell, rebalancing=moves),
        )
        if self.is_first and self.job["rival"]:
            os.kill(self.job["rival"], signal.SIGUSR2)
        if self.expected is None:
            self.expected = found.values
        off = np.abs(found.values / self.expected - 1).max()
        time.sleep(self.job["pause"])
        return {
            "way": way,
            "seconds": round(found.seconds, 6),
            "moves": [[one.step, one.vertices, round(one.seconds, 6)] for one in found.moves],
            "gains": [] if adviser is None else [list(one) for one in adviser.gains.values()],
            "stretches": stretches(found, self.job["begins"]),
            "asking_s": round(found.asking, 6),
            "own": by_own_times(found),
            "off": float(off),
        }


def by_own_times(found):
    """Seconds of computing of a run, as they were and had both devices half of all arcs throughout.

    The times are those of this very run, by arc, so the two differ by the moves alone. Moves and
    asking count for the first.
    """
    seconds, arcs = found.of_devices("computing"), found.of_devices("edges")
    halves = arcs.sum(axis=1, keepdims=True) / 2
    even = (seconds / np.maximum(arcs, 1) * halves).max(axis=1).sum()
    spent = sum(one.seconds for one in found.moves) + found.asking
    return [round(float(seconds.max(axis=1).sum() + spent), 6), round(float(even), 6)]


def stretches(found, begins):
    """Between moves: first superstep, and of a mean one the ms, those that each device computes.

    Also where the rival begins.

    A superstep ends when the last device has its messages: computing and waiting of the first.
    """
    computing, waiting = found.of_devices("computing"), found.of_devices("waiting")
    other = found.of_devices("packing") + found.of_devices("unpacking")
    whole = (computing + waiting + other)[:, 0]
    firsts = sorted({0, begins, *(one.step for one in found.moves)})
    return [
        [first, round(1e3 * whole[first:end].mean(), 4),
         *(1e3 * computing[first:end].mean(axis=0)).round(4).tolist()]
        for first, end in zip(firsts, [*firsts[1:], len(whole)], strict=True) if first < end
    ]  # fmt: skip


def measured(job, comm=None):
    """The records of all rounds, on every rank."""
    bench, began = MovesBench(job, comm), time.perf_counter()
    rng = np.random.default_rng(SEED)
    for way in ("never", "moves"):  # pilots: kernels are compiled, memory is warm
        bench.go(way)
    rounds = []
    for _ in range(job["rounds"]):
        late = time.perf_counter() - began > job["budget"]
        if late if comm is None else comm.bcast(late):
            break
        rounds.append([bench.go(way) for way in rng.permutation(job["ways"]).tolist()])
        if bench.is_first:
            print(f"round {len(rounds)} of {job['rounds']}", file=sys.stderr, flush=True)
    return rounds


if __name__ == "__main__":
    with MpiComm() as world:
        answer = measured(json.loads(sys.argv[1]), world)
        if world.rank == 0:
            print(json.dumps({"rounds": answer}))
