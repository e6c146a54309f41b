"""Program of ranks on real cores: samples speeds, plans, then takes partitions in random order.

    mpiexec -n 2 python -m wall_clock.two_ranks JOB

A rank's kernel is repeated as often as JOB says, which makes cores unequal; so do rivals, which
whoever starts this has started. With "sample", runs are made in turns; just before each, speeds are
sampled together, on stretches of rows that weigh as much as the blocks, and the turn is predicted.
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
RUN_TURNS = 4  # of a run and the samples that it is predicted from
FEWEST_OF_A_TURN = 2


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
    taken = {}
    for name, own in partitions.items():
        block = bench.stand_in(plans.loads(bench.work, own)[comm.rank])
        taken[name] = Taken(bench, Product(comm, bench.A, own, ones), block, own, link)
    rng, found = np.random.default_rng(INSTANCE_SEED), []
    for number in range(job["runs"]):
        for name in rng.permutation(list(taken)):
            line = {"run": number, "partition": str(name)}
            found.append(line | (taken[name].sampled() if job["sample"] else taken[name].once()))
    return found


class Taken:
    """A partition that is run again and again."""

    def __init__(self, bench, product, block, partition, link):
        self.bench, self.product, self.block = bench, product, block
        self.partition, self.link = partition, link
        self.loads = bench.comm.allgather(block.load)
        self._go(FEWEST)
        seconds, _ = self._go(FEWEST)
        self.steps = max(round(bench.job["window"] / seconds), FEWEST)

    def once(self):
        """One run."""
        measured, shares = self._go(self.steps)
        return {"measured": measured, "shares": shares}

    def sampled(self):
        """A run in turns, each predicted from the samples so far, the last of them just before it.

        The machine changes from one second to the next, whoever else is on it: what is sampled
        is to be spread over the same seconds as what is measured. Each turn is run twice.
        """
        bench, steps = self.bench, max(round(self.steps / RUN_TURNS), FEWEST_OF_A_TURN)
        times = [[] for _ in self.loads]
        twice, shares, known = [], [], []
        for _ in range(RUN_TURNS):
            new = bench.together(self.block, bench.job["window"] / RUN_TURNS, FEWEST_OF_A_TURN)
            times = [[*own, *more] for own, more in zip(times, new, strict=True)]
            known.append(times)
            (first, share), (second, _) = self._go(steps), self._go(steps)
            twice.append((first, second))
            shares.append(share)
        guesses = [_predicted(bench, self.partition, self.loads, own, self.link) for own in known]
        measured, again = np.mean(twice, axis=0).tolist()
        found = {"measured": measured, "again": again, "iterations": RUN_TURNS * steps}
        found["shares"] = np.mean(shares, axis=0).tolist()
        return found | {key: float(np.mean([one[key] for one in guesses])) for key in guesses[0]}

    def _go(self, steps):
        bench = self.bench
        return iterated(bench.comm, self.product, bench.repeat, steps, bench.rest)


def _predicted(bench, partition, loads, times, link):
    """Seconds of an iteration from samples: by means, and expected."""
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
