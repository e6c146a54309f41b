"""A product repeated: by itself, to sample a device's speed, or iterated with its halo."""

import os
import time

import numpy as np

from evener.graphs.generating.delaunay import delaunay
from evener.plans.partition import Partition
from evener.plans.workload import WORKLOADS
from evener.running.apps.spmv import averaging_matrix, local_rows
from wall_clock.launching import core_of

INSTANCE_SEED = 2026
WORKLOAD = WORKLOADS["spmv"]
FEWEST = 3  # products of a sample
now = time.perf_counter


def pin(rank):
    """Bind this process to its core."""
    os.sched_setaffinity(0, {core_of(rank)})


class MatrixBench:
    """The matrix of a mesh that all ranks hold, what its rows weigh, and the job asked for."""

    def __init__(self, comm, job):
        self.comm, self.job = comm, job
        made = delaunay(job["vertices"], INSTANCE_SEED) if comm.rank == 0 else None
        self.graph = comm.bcast(made)
        self.work, self.A = WORKLOAD.work(self.graph), averaging_matrix(self.graph)


class StretchOfRows:
    """A stretch of rows that weighs as much as a block: what a model may know of it.

    load [units]: what the rows weigh. From the first row on, or up to the last one.
    """

    def __init__(self, A, work, load, from_end):  # noqa: N803
        ordered = work[::-1] if from_end else work
        rows = min(int(np.searchsorted(np.cumsum(ordered), load)) + 1, work.size)
        inside = np.zeros(work.size, np.int32)
        chosen = slice(work.size - rows, None) if from_end else slice(rows)
        inside[chosen] = 1
        local, self.rows = local_rows(A, Partition(inside, 2), 1)
        self.load = float(work[chosen].sum())
        self.x = np.ones(local.n_local)

    def multiply(self, repeat):
        for _ in range(repeat):
            y = self.rows @ self.x
        self.x[: y.size] = y


def sampled(own, repeat, window, fewest=FEWEST):
    """What products take that begin within `window` seconds, `repeat` of them at a time [s]."""
    times = []
    begin = first = now()
    while begin < first + window or len(times) < fewest:
        own.multiply(repeat)
        end = now()
        times.append(end - begin)
        begin = end
    return times


def iterated(comm, product, repeat, steps, rest=0.0):
    """Seconds of an iteration, until the last rank has ended it, in the mean; and CPU shares."""
    comm.barrier()
    begin, cpu = now(), time.process_time()
    for _ in range(steps):
        if product.local.n_owned:
            product.multiply(repeat)
        product.exchange(rest)
    spent, cpu = now() - begin, time.process_time() - cpu
    found = comm.allgather((spent, cpu / spent))
    return max(seconds for seconds, _ in found) / steps, [share for _, share in found]
