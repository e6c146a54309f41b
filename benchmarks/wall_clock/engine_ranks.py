"""Program of two ranks that run vertex programs, in ways that take turns.

    mpiexec -n 2 python -m wall_clock.engine_ranks JOB

What else the machine does falls on all ways alike; a rank that has nothing to do is asleep. JOB
names one of MEASURED; rank 0 prints its records as a JSON list.
"""

import json
import os
import sys
import time

import numpy as np

import evener as ev
from evener.graphs.generating.delaunay import triangle_mesh
from evener.graphs.generating.random_graphs import rmat
from evener.plans.workload import Workload
from evener.running.apps import bfs, pagerank, sssp, wcc
from evener.running.distributing import distribute
from evener.running.engine import Engine, ThreadPool
from evener.running.engine.supersteps import SuperstepLoop
from evener.running.mpi_comm import MpiComm
from wall_clock.engine_plans import planned
from wall_clock.launching import core_of

SEED = 7
MOST_WEIGHT = 255  # of an arc, as in GAPBS
ITERATIONS = 10  # of PageRank
NO_BOUND = 1 << 40
# How many arcs a vertex counts for when parts are made for an application: of 3 (as in PageRank's
# workload), 16 and 64 that with the least CPU time of the slower part, on Kronecker graphs.
ARCS_OF_VERTEX = {"pagerank": 3, "bfs": 64, "wcc": 64, "sssp": 16}
PROGRAMS = {
    "pagerank": pagerank.PROGRAM,
    "bfs": bfs.PROGRAM,
    "wcc": wcc.PROGRAM,
    "sssp": sssp.PROGRAM,
}


def graph_of(name, scale):
    """A mesh or a Kronecker graph of 2^scale vertices, with random weights."""
    graph = rmat(scale, SEED) if name == "rmat" else triangle_mesh(1 << scale, SEED).nodal_graph()
    tails = np.repeat(np.arange(graph.n), np.diff(graph.xadj))
    low, high = np.minimum(tails, graph.adjncy), np.maximum(tails, graph.adjncy)
    mixed = (low * 2654435761 + high * 40503) >> 7  # the same both ways
    return graph.with_(adjwgt=mixed % MOST_WEIGHT + 1)


class RankedGraph:
    """A graph on the first rank, and the parts of two equal devices for an application."""

    def __init__(self, comm, name, scale):
        self.comm, source = comm, None
        if comm.rank == 0:
            self.graph = graph_of(name, scale)
            alone = ev.Partition(np.zeros(self.graph.n, np.int32), 1)
            self.whole = distribute(self.graph, alone, want="both")[0]
            source = int(np.argmax(self.whole.degrees))
        comm.rest()
        self.source = comm.bcast(source)

    def divide(self, app):
        """Make the parts anew, balanced for this application."""
        made = None
        if self.comm.rank == 0:
            counted = Workload(app, flops_per_vertex=ARCS_OF_VERTEX[app], flops_per_edge=1.0)
            plan = ev.plan(self.graph, self.comm.size, workload=counted)
            made = distribute(self.graph, plan, want="both")
        self.comm.rest()
        self.local = self.comm.bcast(made)[self.comm.rank]

    def engine(self, app, part, pool):
        program = PROGRAMS[app]
        given = {"source": self.source} if "source" in program.parameters else {}
        return Engine(program, part, pool, given)

    def as_ranks(self, app, pool, most=None):
        """The run of this rank, of one core, and its loop."""
        engine = self.engine(app, self.local, pool)
        loop = SuperstepLoop(self.comm, self.local, engine)
        with pool.bound():  # also while it waits for messages
            return loop.run(most or most_of(app)), loop

    def as_threads(self, app, pool):
        """Values and seconds of one process, on the first rank alone."""
        self.comm.rest()
        found = None, 0.0
        if self.comm.rank == 0:
            engine = self.engine(app, self.whole, pool)
            engine.compile()
            with pool.bound():
                began = time.perf_counter()
                engine.advance(most_of(app))
                found = engine.values, time.perf_counter() - began
        self.comm.rest()
        return found


def most_of(app):
    return ITERATIONS if app == "pagerank" else NO_BOUND


def ranks_and_threads(comm, job, pools):
    """Seconds of each app in both ways."""
    for name, scale in job["graphs"]:
        instance = RankedGraph(comm, name, scale)
        for app in job["apps"]:
            instance.divide(app)
            pairs = []
            for turn in range(job["rounds"] + 1):
                run, _ = instance.as_ranks(app, pools[0])
                values, threads = instance.as_threads(app, pools[1])
                seconds = max(comm.allgather(run.seconds))
                found = comm.allgather((instance.local.owned, run.values.copy()))
                if turn:
                    pairs.append((seconds, threads))
                elif comm.rank == 0:
                    check(app, values, found)
            steps = comm.allgather(run.steps)
            yield {
                "graph": f"{name}{scale}", "app": app, "pairs": pairs,
                "supersteps": len(run.steps), "breakdown": breakdown(steps),
            }  # fmt: skip


def breakdown(steps):
    """Of the last run and each device: seconds computing, packing, waiting, unpacking; bytes."""
    names = ("computing", "packing", "waiting", "unpacking", "sent")
    return {name: [sum(getattr(one, name) for one in own) for own in steps] for name in names}


def check(app, values, found):
    """Whether ranks found the values of one process: floats up to rounding."""
    whole = np.empty_like(values)
    for owned, own in found:
        whole[owned] = own
    is_right = np.allclose(whole, values, rtol=1e-3, atol=0)
    if not (is_right if app == "pagerank" else np.array_equal(whole, values)):
        raise SystemExit(f"{app}: ranks and threads find different values")


MEASURED = {"ranks_and_threads": ranks_and_threads, "planned": planned}


def main():
    job = json.loads(sys.argv[1])
    with MpiComm() as comm:
        cores = [core_of(0), core_of(1)]
        os.sched_setaffinity(0, cores)
        with ThreadPool(1, [cores[comm.rank % 2]]) as one, ThreadPool(2, cores) as both:
            measure = MEASURED[job["measure"]]
            if measure is ranks_and_threads:  # binds itself by turns: one thread, or two
                records = list(measure(comm, job, (one, both)))
            else:
                with one.bound():
                    records = list(measure(comm, job, (one, both)))
        if comm.rank == 0:
            print(json.dumps(records), flush=True)


if __name__ == "__main__":
    main()
