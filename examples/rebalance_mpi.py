"""Ten lines that rebalance a loop of one's own: here the values of a graph, averaged over and over.

    mpiexec -n 2 python examples/rebalance_mpi.py mpi

Each rank has the vertices of its block and swaps the values of others' vertices in every iteration.
From the tenth on the last rank pretends to be three times slower. Without "mpi" ranks are threads.
"""

import sys
import time

import numpy as np

import evener as ev
from evener.graphs.generating.grid import grid
from evener.running.apps.spmv import averaging_matrix
from evener.running.comm import run_threads


def work(comm):
    graph = grid((60, 60))
    A, x = averaging_matrix(graph), np.random.default_rng(7).random(graph.n)
    platform = ev.Platform(tuple(ev.Device(f"rank{r}", 2e6) for r in range(comm.size)),
                           (ev.Level("net", ev.Link(1e-6, 1e-9)),))  # fmt: skip
    plan = ev.plan(graph, platform, ev.PlanOptions(threads=1))
    rebalancer = ev.Rebalancer(plan, graph, replan=ev.replan)  # 1: rank 0's is asked
    own = np.flatnonzero(plan.partition.part == comm.rank)
    for iteration in range(1, 31):
        x[own] = A[own] @ x  # one's own loop: compute ...
        slow = 3 if iteration > 10 and comm.rank == comm.size - 1 else 1
        seconds = own.size / 2e6 * slow  # of a real loop: time.perf_counter() around the computing
        for ids, values in comm.allgather((own, x[own])):  # ... and exchange
            x[ids] = values
        times = comm.allgather(seconds)  # 2: what each rank took
        begin = time.perf_counter()
        move = comm.bcast(rebalancer.observe(times) if comm.rank == 0 else None)  # 3: one decides
        if move is not None:  # 4: from now on this rank has other vertices
            own = np.flatnonzero(move.part == comm.rank)  # 5: here is sent what belongs to them
            comm.barrier()
            if comm.rank == 0:  # 6: later moves are priced by what this one took
                rebalancer.moved(time.perf_counter() - begin)
                sizes = np.bincount(move.part, minlength=comm.size)
                print(f"after iteration {iteration}: {sizes} vertices", flush=True)
    if comm.rank == 0:
        print("least and largest value", np.round([x.min(), x.max()], 2))


if __name__ == "__main__":
    if "mpi" in sys.argv:
        from mpi4py import MPI

        work(MPI.COMM_WORLD)
    else:
        run_threads(2, work)

# It prints:
# after iteration 14: [...] vertices
# ...least and largest value [...]
