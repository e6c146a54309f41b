"""Three lines balance a loop while it runs: here Jacobi's method on an emulated cluster.

    python examples/balance_while_running.py
    mpiexec -n 4 python examples/balance_while_running.py mpi

Four servers, of which two page to disk when they get an even share of the rows. Nothing is known of
them beforehand. With "mpi" the ranks are processes, else threads.
"""

import sys

import numpy as np

import evener as ev
from evener.platforms.models.examples import curve_set
from evener.running.apps.jacobi import dominant_rows
from evener.running.comm import run_threads
from evener.running.emulation import EmulatedMachine
from evener.running.mpi_comm import MpiComm
from evener.running.spreading import move_rows, starts_of

N, ITERATIONS = 440, 6
ROWS_OF = 25  # of the emulated system of 11,000, in one of ours


def work(comm):
    machine = EmulatedMachine([curve.model for curve in curve_set("cluster2")], noise=0.02)
    rows_of = dominant_rows(N)
    sizes = np.full(comm.size, N // comm.size)
    first = starts_of(sizes)[comm.rank]
    A, b = rows_of(first, first + sizes[comm.rank])
    x = np.zeros(N)
    balancer = ev.Balancer(sizes=sizes)  # 1: no models, these sizes
    for iteration in range(ITERATIONS):
        first = starts_of(sizes)[comm.rank]
        diagonal = A[np.arange(b.size), first + np.arange(b.size)]
        mine = x[first : first + b.size] + (b - A @ x) / diagonal
        x = np.concatenate(comm.allgather(mine))
        times = machine.run(sizes * ROWS_OF)  # of a real loop: comm.allgather(seconds)
        if comm.rank == 0:
            print(f"{iteration:2}  rows {sizes}  {times.max():6.2f} s", flush=True)
        new = balancer.observe(times)  # 2: what this iteration took
        if new is not None:  # 3: data move, now or in the next quiet moment
            (A, b), sizes = move_rows(comm, (A, b), sizes, new), new
    return x


if __name__ == "__main__":
    if "mpi" in sys.argv:
        with MpiComm() as world:
            work(world)
    else:
        run_threads(4, work)

# It prints:
#  0  rows [110 110 110 110]    2.02 s
#  1  rows [  8   7 211 214]    1.01 s
#  2  rows [ 71  67 134 168]    0.11 s
# ...
