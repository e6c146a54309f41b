"""Program of ranks that are emulated devices: real kernels and halos, then asleep until it is time.

    mpiexec -n 8 python -m wall_clock.emulated JOB

Each rank multiplies its block and exchanges its halo, both really, on two cores; then it sleeps
until its emulated device would be done, as the speed curve in JOB has it at the block's load, and
until its messages would have arrived: each neighbour's costs alpha + beta x bytes sent and
received, one after the other, from when both have computed. A wait that the real cores could not
keep up with counts as late, and shifts everything behind it.
"""

import ctypes
import json
import sys
import time

import numpy as np

from evener.platforms.models.fitting import Constant
from evener.platforms.models.piecewise import Piecewise
from evener.running.apps.spmv import Product, run, verify
from evener.running.mpi_comm import MpiComm
from wall_clock import machines, plans
from wall_clock.timing import INSTANCE_SEED, WORKLOAD, MatrixBench, StretchOfRows, now, pin

SHARES = np.linspace(0.05, 1.0, 20)  # of the matrix, at which speeds are sampled
REPEATS = 5  # of each sample
REST = 3e-5  # seconds between two looks for messages: ranks share cores
AHEAD = 5e-3  # seconds from the word to the start
LATE = 3e-4  # seconds beyond its time that a sleep may end
TIMER_SLACK = 29  # of prctl: how far the kernel may put off the end of a sleep
VALUE_BYTES = 8


def until(moment):
    """Sleep until then; return whether that was possible."""
    left = moment - now()
    if left <= 0:
        return left > -LATE
    time.sleep(left)
    return now() - moment < LATE


class Clocked:
    """A block on an emulated device, iterated in real time."""

    def __init__(self, comm, bench, partition):
        self.comm, self.late = comm, 0
        self.product = Product(comm, bench.A, partition, np.ones(bench.graph.n))
        load = plans.loads(bench.work, partition)[comm.rank]
        self.compute = float(bench.model.time(load))
        alpha, beta = bench.link
        local = self.product.local
        receives = local.receives
        self.costs = {}
        for q in set(local.sends) | set(receives):
            a, b = receives.get(q, (0, 0))
            values = len(local.sends.get(q, ())) + b - a
            self.costs[q] = alpha + beta * VALUE_BYTES * values
        self.done = {q: np.zeros(1) for q in self.costs}
        self.theirs = {q: np.zeros(1) for q in self.costs}
        self.stamps = comm.swap(self.done, self.theirs)

    def go(self, steps):
        """Seconds of an iteration, until the last device has ended it, in the mean."""
        self.comm.rest()
        first = t = self.comm.bcast(now() + AHEAD)
        until(first)
        for _ in range(steps):
            t = self._step(t)
        spent = now() - first
        self.comm.rest()  # who has nothing to do leaves the core to the others
        return max(self.comm.allgather(spent)) / steps

    def _step(self, t):
        if self.product.local.n_owned:
            self.product.multiply()
            t = self._wait(t + self.compute)
        for stamp in self.done.values():
            stamp[0] = t
        self.stamps.start()
        self.product.exchange(REST)
        self.stamps.finish(REST)
        for q in sorted(self.costs, key=lambda q: self.theirs[q][0]):
            t = max(t, self.theirs[q][0]) + self.costs[q]
        return self._wait(t)

    def _wait(self, moment):
        if until(moment):
            return moment
        self.late += 1
        return max(now(), moment)


class EmulatedBench(MatrixBench):
    """The matrix, and what this rank's device is to be."""

    def __init__(self, comm, job):
        super().__init__(comm, job)
        self.model = _model(job["devices"], comm.rank, self.work.sum(), job["seconds"])
        self.link = tuple(job["link"])

    def speed_samples(self):
        """For each device (load [units], seconds), measured by the clock, all at once."""
        own = []
        for share in SHARES:
            block = StretchOfRows(self.A, self.work, share * self.work.sum(), from_end=False)
            own.append((block.load, float(np.median([self._once(block) for _ in range(REPEATS)]))))
        return self.comm.allgather(own)

    def _once(self, block):
        self.comm.rest()
        begin = now()
        block.multiply(1)
        until(begin + float(self.model.time(block.load)))
        return now() - begin


def _model(devices, rank, total, seconds):
    """The speed model of a device: relative speeds, at shares of the matrix where it is a curve.

    seconds: of all devices together for the whole matrix, at the speed each has for little.
    """
    scale = total / (seconds * sum(np.atleast_1d(one["speed"])[0] for one in devices))
    own = devices[rank]
    if "share" not in own:
        return Constant(own["speed"] * scale)
    return Piecewise(np.array(own["share"]) * total, np.array(own["speed"]) * scale)


def measure(comm, job):
    """Return the record of a case, on every rank."""
    bench = EmulatedBench(comm, job)
    samples = bench.speed_samples()
    made = _partitions(bench, samples) if comm.rank == 0 else None
    comm.rest()
    partitions, platform, bench.link = comm.bcast(made)
    x = np.random.default_rng(INSTANCE_SEED).random(bench.graph.n)
    fine = all(
        verify(bench.A, x, run(comm, bench.A, own, x, 3, rest=REST)) for own in partitions.values()
    )
    return {
        "case": job["case"],
        "link": bench.link,
        "verified": fine,
        "partitions": plans.described(bench.graph, partitions, platform, WORKLOAD),
        **_runs(bench, partitions),
    }


def _partitions(bench, samples):
    """Equal blocks, METIS at the best sizes by all that is measured, and the plan, twice.

    The link is slowed until METIS at the speeds measured at equal share has its share of exchange.
    """
    graph, work, job = bench.graph, bench.work, bench.job
    equal = work.sum() / len(samples)
    near = [min(own, key=lambda point: abs(point[0] - equal)) for own in samples]
    speeds = [load / seconds for load, seconds in near]
    metis = plans.metis(graph, work, speeds)
    link = bench.link
    if "comm_share" in job:
        link = plans.link_of_share(graph, metis, speeds, link, WORKLOAD, job["comm_share"])
    has_curves = any("share" in one for one in job["devices"])
    platform = machines.platform(speeds, link)
    if has_curves:
        platform = machines.curved_platform(samples, link)
    made = {
        "equal": plans.metis(graph, work, np.ones(len(samples))),
        "metis": plans.metis_at_best_sizes(graph, platform, WORKLOAD),
    }
    made["planned"] = made["again"] = plans.planned(graph, platform, WORKLOAD)
    return made, platform, link


def _runs(bench, partitions):
    """As many runs as asked, each of all partitions in random order."""
    comm, job = bench.comm, bench.job
    clocked = {name: Clocked(comm, bench, own) for name, own in partitions.items()}
    for own in clocked.values():
        own.go(2)
        own.late = 0
    rng, found = np.random.default_rng(INSTANCE_SEED), {name: [] for name in clocked}
    for _ in range(job["runs"]):
        for name in rng.permutation(list(clocked)):
            found[name].append(clocked[name].go(job["steps"]))
    waits = 2 * job["runs"] * job["steps"] * comm.size
    late = {name: sum(comm.allgather(own.late)) / waits for name, own in clocked.items()}
    return {"late": late, "measured": found}


if __name__ == "__main__":
    ctypes.CDLL(None).prctl(TIMER_SLACK, 1, 0, 0, 0)
    asked = json.loads(sys.argv[1])
    with MpiComm() as world:
        pin(world.rank)
        record = measure(world, asked)
        if world.rank == 0:
            print(json.dumps(record), flush=True)
