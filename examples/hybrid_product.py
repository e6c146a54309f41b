"""A matrix product on nodes of cores and GPUs, sized by measuring it: INPA and IDPA.

    python examples/hybrid_product.py
    mpiexec -n 2 python examples/hybrid_product.py mpi

Two nodes, threads or, with "mpi", processes: a core and a GPU, and a core alone, emulated by the
clock; real ones are CpuProduct() and, of evener.measuring.cuda_product, CudaProduct(). The GPU has
the speed of a core here, the cores a quarter of it; OPENBLAS_NUM_THREADS=1 makes a core a core.
"""

import sys
from timeit import timeit

import numpy as np

from evener.measuring.dynamic_sizes import measure_nested
from evener.running.apps.matmul import verify
from evener.running.apps.matmul_nested import CpuProduct, EmulatedProduct, NodeDevices, run_nested
from evener.running.comm import run_threads
from evener.running.mpi_comm import MpiComm

N, BLOCK = 768, 32


def entries_per_second():
    """Return how many entries of C a core updates a second by a pivot of BLOCK."""
    core, column = CpuProduct(), np.ones((N, BLOCK))
    core.take(N, N, BLOCK)
    return 5 * N * N / timeit(lambda: core.add(column, column.T.copy()), number=5)


def work(comm):
    A, B = np.random.default_rng(3).random((2, N, N))  # else nodes make their own parts alone
    speed = comm.bcast(entries_per_second() / 4 if comm.rank == 0 else 0.0)
    core = EmulatedProduct(lambda rows, columns, _: rows * columns / speed)
    gpu = EmulatedProduct(lambda rows, columns, _: rows * columns / (4 * speed))
    with NodeDevices([core, gpu] if comm.rank == 0 else [core]) as node:
        sizes = measure_nested(comm, node, N, BLOCK)  # 1: rectangles of nodes, slices within
        columns = sizes.slices[comm.rank].columns
        parts = (lambda a, b, c, d: A[a:b, c:d]), (lambda a, b, c, d: B[a:b, c:d])
        run = run_nested(comm, node, parts, N, sizes.nodes, columns)  # 2: the product
    if comm.rank == 0:
        for i, (area, own) in enumerate(zip(sizes.nodes.areas, sizes.slices, strict=True)):
            took = ", ".join(f"{seconds:.3f} s" for seconds in run.seconds[i])
            print(f"node {i}: {area} blocks, slices of {own.columns} columns, computed {took}")
        print(f"{len(sizes.rounds)} rounds; the product is right: {verify(A, B, run.C)}")


if __name__ == "__main__":
    if "mpi" in sys.argv:
        with MpiComm() as world:
            work(world)
    else:
        run_threads(2, work)

# It prints:
# node 0: ... blocks, slices of [...] columns, computed ... s, ... s
# ...the product is right: True
