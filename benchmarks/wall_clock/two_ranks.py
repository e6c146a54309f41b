"""Program of ranks on real cores: samples speeds, plans, then takes partitions in random order.

    mpiexec -n 2 python -m wall_clock.two_ranks JOB

A rank's kernel is repeated as often as JOB says, which makes cores unequal; so do rivals, which
whoever starts this has started. With "sample", speeds are sampled just before each run, together,
on stretches of rows that weigh as much as the blocks, and the run is predicted from them.
"""

import json
import sys

import numpy as np

from evener.apps.spmv import Product, averaging_matrix, run, verify
from evener.generating.delaunay import delaunay
from evener.running.comm import MpiComm
from evener.workloads import WORKLOADS
from wall_clock import figures, machines, plans
from wall_clock.timing import FEWEST, StandIn, iterated, pin, sampled

INSTANCE_SEED = 2026
WORKLOAD = WORKLOADS["spmv"]
SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 7 / 8, 15 / 16)  # of the first rank
TURNS = 3  # in which they are sampled


class Bench:
    """The matrix, the ranks, and what one product takes each of them."""

    def __init__(self, comm, job):
        self.comm, self.job = comm, job
        made = delaunay(job["vertices"], INSTANCE_SEED) if comm.rank == 0 else None
        self.graph = comm.bcast(made)
        self.work, self.A = WORKLOAD.work(self.graph), averaging_matrix(self.graph)
        self.repeat = 1
        self.rest = job.get("rest", 0.0)

    def stand_in(self, load):
        return StandIn(self.A, self.work, load, from_end=self.comm.rank == self.comm.size - 1)

    def together(self, own, window, fewest=FEWEST):
        """Sample all ranks at once: a list of times for each [s]."""
        self.comm.barrier()
        times = sampled(own, self.repeat, window, fewest)
        if self.rest > 0:
            self.comm.rest()
        return self.comm.allgather(times)

    def settle_repeats(self):
        """Repeat kernels so often that an iteration of balanced blocks lasts as long as asked."""
        base = self.job["repeats"][self.comm.rank]
        self.repeat = base
        own = self.stand_in(self.work.sum() / self.comm.size)
        sampled(own, base, self.job["window"])
        times = self.together(own, self.job["window"])
        rate = sum(1 / np.mean(one) for one in times)
        inner = max(round(self.job["seconds"] * rate / self.comm.size), 1)
        self.repeat = base * inner
        return inner

    def speed_samples(self):
        """For each rank: (load [units], seconds) at several shares, all ranks at work.

        In turns, so that what the machine does meanwhile falls on all shares alike.
        """
        scale = 2 * self.work.sum() / self.comm.size
        mine = [share if self.comm.rank % 2 == 0 else 1 - share for share in SHARES]
        own = [self.stand_in(scale * share) for share in mine]
        loads = self.comm.allgather([one.load for one in own])
        times = [[[] for _ in own] for _ in loads]
        for _ in range(TURNS):
            for i, one in enumerate(own):
                taken = self.together(one, self.job["window"] / TURNS, fewest=1)
                for rank, found in enumerate(taken):
                    times[rank][i] += found
        return [
            [(load, float(np.mean(own))) for load, own in zip(*pair, strict=True)]
            for pair in zip(loads, times, strict=True)
        ]

    def check(self, partition):
        """Whether the ranks multiply as SciPy does alone."""
        x = np.random.default_rng(INSTANCE_SEED).random(self.graph.n)
        return verify(self.A, x, run(self.comm, self.A, partition, x, 3, rest=self.rest))


def measure(comm, job):
    """Return the record of a case, on every rank."""
    bench = Bench(comm, job)
    inner = bench.settle_repeats()
    samples, link = bench.speed_samples(), machines.measured_link(comm, bench.rest)
    made = _partitions(bench, samples, link) if comm.rank == 0 else None
    comm.rest()
    partitions = comm.bcast(made)
    fine = all(bench.check(partitions[name]) for name in partitions)
    return {
        "case": job["case"],
        "inner": inner,
        "link": link,
        "samples": samples,
        "verified": fine,
        "partitions": plans.described(
            bench.graph, partitions, machines.curved_platform(samples, link), WORKLOAD
        ),
        "runs": _runs(bench, partitions, link),
    }


def _partitions(bench, samples, link):
    """The partitions asked for, by name; "again" is the plan once more."""
    graph, work, names = bench.graph, bench.work, bench.job["partitions"]
    middle = SHARES.index(1 / 2)
    equal_share = [own[middle][0] / own[middle][1] for own in samples]
    made = {
        "equal": lambda: plans.metis(graph, work, np.ones(len(samples))),
        "metis": lambda: plans.metis(graph, work, equal_share),
        "planned": lambda: plans.planned(graph, machines.curved_platform(samples, link), WORKLOAD),
    }
    found = {name: make() for name, make in made.items() if name in names}
    return found | ({"again": found["planned"]} if "again" in names else {})


def _runs(bench, partitions, link):
    """As many runs as asked, each of all partitions in random order."""
    comm, job = bench.comm, bench.job
    ones = np.ones(bench.graph.n)
    products = {name: Product(comm, bench.A, own, ones) for name, own in partitions.items()}
    own = {
        name: bench.stand_in(plans.loads(bench.work, p)[comm.rank])
        for name, p in partitions.items()
    }
    steps = {}
    for name, product in products.items():
        iterated(comm, product, bench.repeat, FEWEST, bench.rest)
        seconds, _ = iterated(comm, product, bench.repeat, FEWEST, bench.rest)
        steps[name] = max(round(job["window"] / seconds), FEWEST)
    rng, found = np.random.default_rng(INSTANCE_SEED), []
    for number in range(job["runs"]):
        for name in rng.permutation(list(products)):
            line = {"run": number, "partition": str(name)}
            times = bench.together(own[name], job["window"]) if job["sample"] else None
            measured, line["shares"] = iterated(
                comm, products[name], bench.repeat, steps[name], bench.rest
            )
            line["measured"] = measured
            if times is not None:
                again, _ = iterated(comm, products[name], bench.repeat, steps[name], bench.rest)
                loads = comm.allgather(own[name].load)
                line |= {"again": again, "iterations": steps[name]}
                line |= _predicted(bench, partitions[name], loads, times, link)
            found.append(line)
    return found


def _predicted(bench, partition, loads, times, link):
    """Seconds of an iteration from what was sampled just before: by means, and expected."""
    if bench.comm.rank != 0:
        return {}
    speeds = [load / np.mean(own) for load, own in zip(loads, times, strict=True)]
    seconds = plans.predicted(
        bench.graph, partition, machines.platform(speeds, link), WORKLOAD
    ).seconds
    return {"means": float(seconds.max()), "predicted": figures.expected_maximum(seconds, times)}


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    with MpiComm() as world:
        pin(world.rank)
        record = measure(world, asked)
        if not asked["sample"]:  # times alone, by partition
            runs = record.pop("runs")
            record["measured"] = {
                name: [run["measured"] for run in runs if run["partition"] == name]
                for name in asked["partitions"]
            }
        if world.rank == 0:
            print(json.dumps(record), flush=True)
