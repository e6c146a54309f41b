"""Program of ranks on real cores: samples speeds, plans, then takes partitions in random order.

    mpiexec -n 2 python -m wall_clock.two_ranks JOB

A rank's kernel is repeated as often as JOB says, which makes cores unequal; so do rivals, which
whoever starts this has started. With "sample", runs are made in turns; just before each, speeds are
sampled together, on stretches of rows that weigh as much as the blocks, and the turn is predicted.
Without, each run begins with samples at several loads, from which all partitions are made anew, and
takes them all in turn a few times: cores that are shared drift by a fifth within minutes, and a
plan is for the speeds it was told.
"""

import json
import sys
from functools import cached_property

import numpy as np

from evener.running.apps.spmv import Product, run, verify
from evener.running.mpi_comm import MpiComm
from wall_clock import figures, machines, plans
from wall_clock.timing import (
    FEWEST,
    INSTANCE_SEED,
    WORKLOAD,
    MatrixBench,
    StretchOfRows,
    iterated,
    pin,
    sampled,
)

SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 7 / 8, 15 / 16)  # of the first rank
TURNS = 3  # in which they are sampled
RUN_TURNS = 4  # of a run and the samples that it is predicted from
FEWEST_OF_A_TURN = 2
ANEW_TURNS = 3  # of a run whose partitions were made for it


class CoreBench(MatrixBench):
    """The matrix, the ranks, and what one product takes each of them."""

    def __init__(self, comm, job):
        super().__init__(comm, job)
        self.repeat = 1
        self.rest = job.get("rest", 0.0)

    def stand_in(self, load):
        return StretchOfRows(self.A, self.work, load, from_end=self.comm.rank == self.comm.size - 1)

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

    @cached_property
    def _stretches(self):
        """Of this rank, for each of SHARES."""
        scale = 2 * self.work.sum() / self.comm.size
        mine = [share if self.comm.rank % 2 == 0 else 1 - share for share in SHARES]
        return [self.stand_in(scale * share) for share in mine]

    def speed_samples(self):
        """For each rank: (load [units], seconds) at several shares, all ranks at work.

        In turns, so that what the machine does meanwhile falls on all shares alike.
        """
        own = self._stretches
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
    bench = CoreBench(comm, job)
    inner = bench.settle_repeats()
    link = machines.measured_link(comm, bench.rest)
    made = _sampled(bench, link) if job["sample"] else _planned_anew(bench, link)
    return {"case": job["case"], "inner": inner, "link": link, **made}


def _sampled(bench, link):
    """Runs of partitions made once, each run predicted from samples among its iterations."""
    samples = bench.speed_samples()
    partitions = _shared(bench, samples, link)
    taken = {name: RepeatedRun(bench, own, link) for name, own in partitions.items()}
    runs = [
        {"run": number, "partition": name, **taken[name].sampled()}
        for number, name in _in_turn(bench, taken)
    ]
    described = plans.described(
        bench.graph, partitions, machines.curved_platform(samples, link), WORKLOAD
    )
    verified = all(bench.check(own) for own in partitions.values())
    return {"samples": samples, "verified": verified, "partitions": described, "runs": runs}


def _planned_anew(bench, link):
    """Runs, each of partitions made from samples just before it."""
    measured, described, verified = {}, [], True
    for number in range(bench.job["runs"]):
        samples = bench.speed_samples()
        partitions = _shared(bench, samples, link)
        platform = machines.curved_platform(samples, link)
        described.append(plans.described(bench.graph, partitions, platform, WORKLOAD))
        taken = {name: RepeatedRun(bench, own, link) for name, own in partitions.items()}
        turns = [_once_each(taken, number, turn) for turn in range(ANEW_TURNS)]
        for name in taken:
            measured.setdefault(name, []).append(float(np.mean([one[name] for one in turns])))
        verified = verified and bench.check(partitions["planned"])
    return {"verified": verified, "partitions": plans.typical(described), "measured": measured}


def _shared(bench, samples, link):
    """The partitions, which the first rank makes."""
    made = _partitions(bench, samples, link) if bench.comm.rank == 0 else None
    bench.comm.rest()
    return bench.comm.bcast(made)


def _in_turn(bench, names):
    """(run, name): in each run all names in random order."""
    rng = np.random.default_rng(INSTANCE_SEED)
    for number in range(bench.job["runs"]):
        yield from ((number, str(name)) for name in rng.permutation(list(names)))


def _once_each(taken, *which):
    """A turn of a run: seconds of an iteration by name, taken in random order."""
    order = np.random.default_rng([INSTANCE_SEED, *which]).permutation(list(taken))
    return {str(name): taken[name].once() for name in order}


def _partitions(bench, samples, link):
    """The partitions asked for, by name; "again" is the plan once more."""
    graph, work, names = bench.graph, bench.work, bench.job["partitions"]
    machine = machines.curved_platform(samples, link)
    made = {
        "equal": lambda: plans.metis(graph, work, np.ones(len(samples))),
        "metis": lambda: plans.metis_at_best_sizes(graph, machine, WORKLOAD),
        "planned": lambda: plans.planned(graph, machine, WORKLOAD),
    }
    found = {name: make() for name, make in made.items() if name in names}
    return found | ({"again": found["planned"]} if "again" in names else {})


class RepeatedRun:
    """A partition that is run again and again."""

    def __init__(self, bench, partition, link):
        self.bench, self.partition, self.link = bench, partition, link
        self.product = Product(bench.comm, bench.A, partition, np.ones(bench.graph.n))
        self._go(FEWEST)
        seconds, _ = self._go(FEWEST)
        self.steps = max(round(bench.job["window"] / seconds), FEWEST)

    def once(self):
        """A turn of a run: seconds of an iteration."""
        return self._go(max(self.steps // 2, FEWEST))[0]

    @cached_property
    def _block(self):
        loads = plans.loads(self.bench.work, self.partition)
        return self.bench.stand_in(loads[self.bench.comm.rank])

    def sampled(self):
        """A run in turns, each predicted from the samples so far, the last of them just before it.

        The machine changes from one second to the next, whoever else is on it: what is sampled
        is to be spread over the same seconds as what is measured. Each turn is run twice.
        """
        bench, steps = self.bench, max(round(self.steps / RUN_TURNS), FEWEST_OF_A_TURN)
        loads = bench.comm.allgather(self._block.load)
        times = [[] for _ in loads]
        twice, shares, known = [], [], []
        for _ in range(RUN_TURNS):
            new = bench.together(self._block, bench.job["window"] / RUN_TURNS, FEWEST_OF_A_TURN)
            times = [[*own, *more] for own, more in zip(times, new, strict=True)]
            known.append(times)
            (first, share), (second, _) = self._go(steps), self._go(steps)
            twice.append((first, second))
            shares.append(share)
        guesses = [_predicted(bench, self.partition, loads, own, self.link) for own in known]
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
        if world.rank == 0:
            print(json.dumps(record), flush=True)
