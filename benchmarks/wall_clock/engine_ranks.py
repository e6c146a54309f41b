"""Program of two ranks that run vertex programs: as ranks, and on the first alone with two threads.

    mpiexec -n 2 python -m wall_clock.engine_ranks JOB

The two ways take turns, so that what else the machine does falls on both alike; a rank that has
nothing to do is asleep. JOB names the measurements, each a function of this file or of
engine_plans.py. Rank 0 prints a JSON line for each record.
"""

import json
import os
import sys
import time

import numpy as np

import evener as ev
from evener.graphs.generating.delaunay import triangle_mesh
from evener.graphs.generating.random_graphs import rmat
from evener.running.apps import bfs, pagerank, sssp, wcc
from evener.running.comm import MpiComm
from evener.running.distributing import distribute
from evener.running.engine import Engine, ThreadPool
from evener.running.engine.supersteps import SuperstepLoop
from wall_clock.launching import core_of

SEED = 7
MOST_WEIGHT = 255  # of an arc, as in GAPBS
ITERATIONS = 10  # of PageRank
NO_BOUND = 1 << 40
PROGRAMS = {"pagerank": pagerank.PROGRAM, "bfs": bfs.PROGRAM, "wcc": wcc.PROGRAM}
PROGRAMS["sssp"] = sssp.PROGRAM


def graph_of(name, scale):
    """A mesh or a Kronecker graph of 2^scale vertices, with random weights."""
    graph = rmat(scale, SEED) if name == "rmat" else triangle_mesh(1 << scale, SEED).nodal_graph()
    tails = np.repeat(np.arange(graph.n), np.diff(graph.xadj))
    low, high = np.minimum(tails, graph.adjncy), np.maximum(tails, graph.adjncy)
    mixed = (low * 2654435761 + high * 40503 + SEED) >> 7  # the same both ways
    return graph.with_(adjwgt=mixed % MOST_WEIGHT + 1)


class Instance:
    """A graph and the parts of two devices, which the first rank makes."""

    def __init__(self, comm, name, scale):
        self.comm, self.name, self.scale = comm, name, scale
        made = None
        if comm.rank == 0:
            self.graph = graph_of(name, scale)
            plan = ev.plan(self.graph, comm.size, workload="pagerank")
            made = distribute(self.graph, plan, want="both")
        comm.rest()
        self.parts = comm.bcast(made)
        self.local = self.parts[comm.rank]
        if comm.rank == 0:
            self.whole = distribute(self.graph, ev.Partition([0] * self.graph.n, 1), want="both")[0]
            self.source = int(np.argmax(self.whole.degrees))
        self.source = comm.bcast(getattr(self, "source", None))

    def most(self, app):
        return ITERATIONS if app == "pagerank" else NO_BOUND

    def given(self, app):
        return {"source": self.source} if "source" in PROGRAMS[app].parameters else {}

    def as_ranks(self, app, pool, **more):
        """The run of this rank, of one core."""
        engine = Engine(PROGRAMS[app], self.local, pool, self.given(app))
        return SuperstepLoop(self.comm, self.local, engine, **more).run(self.most(app))

    def as_threads(self, app, pool):
        """Values and seconds of one process, on the first rank alone."""
        self.comm.rest()
        found = None, 0.0
        if self.comm.rank == 0:
            engine = Engine(PROGRAMS[app], self.whole, pool, self.given(app))
            engine.compile()
            began = time.perf_counter()
            engine.advance(self.most(app))
            found = engine.values, time.perf_counter() - began
        self.comm.rest()
        return found


def ranks_and_threads(comm, job, pools):
    """Seconds of each app in both ways, in turns."""
    one, both = pools
    for name, scale in job["graphs"]:
        instance = Instance(comm, name, scale)
        for app in job["apps"]:
            pairs, steps = [], []
            for turn in range(job["rounds"] + 1):
                run = instance.as_ranks(app, one)
                values, threads = instance.as_threads(app, both)
                seconds = max(comm.allgather(run.seconds))
                found = comm.allgather((instance.local.owned, run.values.copy()))
                steps = comm.allgather(run.steps)
                if comm.rank == 0 and turn == 0:
                    check(app, values, found)
                elif comm.rank == 0:
                    pairs.append((seconds, threads))
            if comm.rank == 0:
                yield {
                    "graph": f"{name}{scale}", "app": app, "pairs": pairs,
                    "supersteps": len(steps[0]), "of_ranks": breakdown(steps),
                }  # fmt: skip


def breakdown(steps):
    """Seconds of the last run, each device's: computing, packing, waiting, unpacking; bytes."""
    names = ("computing", "packing", "waiting", "unpacking", "sent", "edges")
    return {name: [sum(getattr(one, name) for one in own) for own in steps] for name in names}


def check(app, values, found):
    """Whether ranks found the values of one process: floats up to rounding."""
    whole = np.empty_like(values)
    for owned, own in found:
        whole[owned] = own
    fine = np.allclose(whole, values, rtol=1e-4, atol=0) if app == "pagerank" else (whole == values)
    if not np.all(fine):
        raise SystemExit(f"{app}: ranks and threads find different values")


MEASURED = {"ranks_and_threads": ranks_and_threads}


def main():
    job = json.loads(sys.argv[1])
    with MpiComm() as comm:
        cores = [core_of(0), core_of(1)]
        os.sched_setaffinity(0, cores)
        with ThreadPool(1, [cores[comm.rank % 2]]) as one, ThreadPool(2, cores) as both:
            for record in MEASURED[job["measure"]](comm, job, (one, both)):
                if comm.rank == 0:
                    print(json.dumps({"part": job["measure"], **record}), flush=True)


if __name__ == "__main__":
    main()
