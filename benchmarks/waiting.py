"""What it costs that waits for MPI can end: `mpiexec -n 2 python benchmarks/waiting.py`.

Per exchange of two ranks: MPI's own Waitall and allgather of mpi4py, and those of MpiComm, which
test, sleep and give up. Ranks alternate between the two ways. The constants of
evener.running.failures are chosen by this: SPINS and YIELDING so that what comes at once costs
nothing more, REST and LONGEST so that ranks which share a core leave it to each other.
"""

import sys
import time

import numpy as np
from mpi4py import MPI

from evener.running.comm import MpiComm

ROUNDS = 9  # times that each way is measured; the median counts


def exchange_of(comm, size):
    """Return the two ways of exchanging `size` bytes with the other rank."""
    world, other = MPI.COMM_WORLD, 1 - comm.rank
    out, into = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    swap = comm.swap({other: out}, {other: into})
    requests = [world.Recv_init(into, other, 7), world.Send_init(out, other, 7)]

    def plain():
        MPI.Prequest.Startall(requests)
        MPI.Prequest.Waitall(requests)

    def ours():
        swap.start()
        swap.finish()

    return plain, ours


def measured(way, count, work):
    MPI.COMM_WORLD.Barrier()
    began = time.perf_counter()
    for _ in range(count):
        end = time.perf_counter() + work
        while time.perf_counter() < end:
            pass
        way()
    return (time.perf_counter() - began) / count


def main():
    comm = MpiComm()
    gathered = (lambda: MPI.COMM_WORLD.allgather([1, 2, 3]), lambda: comm.allgather([1, 2, 3]))
    cases = {f"exchange of {size:,} B": exchange_of(comm, size) for size in (64, 2**14, 2**20)}
    for name, ways in {**cases, "allgather of three numbers": gathered}.items():
        for late in (0.0, 1e-4, 3e-3):  # seconds by which the second rank comes later
            count = 2000 if late < 1e-3 else 100
            work = late * comm.rank
            rounds = [[measured(way, count, work) for way in ways] for _ in range(ROUNDS)]
            plain, ours = np.median(rounds, axis=0)
            if comm.rank == 0:
                print(
                    f"{name}, {late * 1e6:5,.0f} us late: plain {plain * 1e6:9.2f} us, "
                    f"ours {ours * 1e6:9.2f} us, ratio {ours / plain:.3f}"
                )
                sys.stdout.flush()


main()
