"""Partitions for a machine made unequal, run by the engine: seconds, and what was predicted.

Ranks sample their speeds by some supersteps of equal blocks, all at once; from these METIS's
blocks at the best sizes and the plan are made, and all are run in random order, the plan twice.
The program computes each message as often as JOB says, so that a superstep is long enough for a
core that is shared; a device that computes more often is a slower one.
"""

import numpy as np

from evener.graphs.generating.delaunay import triangle_mesh
from evener.graphs.generating.random_graphs import rmat
from evener.plans.workload import Workload
from evener.running.distributing import local_graph
from evener.running.engine import Engine, VertexProgram
from evener.running.engine.supersteps import SuperstepLoop
from wall_clock import figures, machines, plans

SEED = 7
WORKLOAD = Workload("repeated", flops_per_vertex=0.1, flops_per_edge=1.0, bytes_per_value=4.0)
STEPS = 6  # of a run, after one that is not counted
SAMPLED = 10  # supersteps from which speeds are taken
TRIED = 20  # times that a message is computed, before it is known how often it is to be


def init(n):
    return 1.0 / n


def emit(value, degree):
    return value / degree if degree > 0 else 0.0


def along(payload, repeats):
    for _ in range(repeats):
        payload = payload * 0.999 + 1e-9
    return payload


REPEATED = VertexProgram(
    init=init, emit=emit, along=along, combine="sum", dtype="float32",
    parameters={"repeats": 1}, name="repeated",
)  # fmt: skip


class Block:
    """A partition on this rank: its engine, kept from run to run."""

    def __init__(self, machine, partition):
        self.machine, self.partition = machine, partition
        local = local_graph(machine.graph, partition, machine.comm.rank, want="into", threads=1)
        engine = Engine(REPEATED, local, machine.pool, {"repeats": machine.repeats})
        self.loop = SuperstepLoop(machine.comm, local, engine)

    def run(self, steps):
        """Seconds of a superstep; (steps, k) of computing; (steps,) of whole supersteps."""
        self.loop.steps.steps.clear()
        run = self.loop.run(steps + 1)
        kept = run.steps[1:]
        whole = [one.computing + one.packing + one.waiting + one.unpacking for one in kept]
        comm = self.machine.comm
        own = comm.allgather(([one.computing for one in kept], whole))
        computing = np.array([computed for computed, _ in own]).T
        whole = np.array([seconds for _, seconds in own]).max(axis=0)
        return float(whole.mean()), computing, whole


class TwoRanks:
    """Two ranks, how often each computes a message, and the graph."""

    def __init__(self, comm, job, pool):
        self.comm, self.pool = comm, pool
        name, scale = job["graph"]
        made = None
        if comm.rank == 0:
            made = rmat(scale, SEED) if name == "rmat" else triangle_mesh(1 << scale, SEED)
            made = made if name == "rmat" else made.nodal_graph()
        comm.rest()
        self.graph = comm.bcast(made)
        self.work = WORKLOAD.work(self.graph)
        equal = plans.metis(self.graph, self.work, np.ones(comm.size)) if comm.rank == 0 else None
        comm.rest()
        self.equal = comm.bcast(equal)
        self.repeats, self.link = TRIED, machines.measured_link(comm)
        _, computing, _ = Block(self, self.equal).run(SAMPLED)
        each = float(computing.mean(axis=0).min()) / TRIED
        self.repeats = max(round(job["seconds"] / each), 1) * job["slower"][comm.rank]

    def sampled(self, block):
        """Speeds of the devices [units/s], from supersteps of equal blocks; these (SAMPLED, k)."""
        _, computing, _ = block.run(SAMPLED)
        loads = plans.loads(self.work, self.equal)
        return (loads / computing.mean(axis=0)).tolist(), computing

    def partitions(self, speeds):
        """Equal blocks, METIS's at the best sizes, the plan, and the plan again."""
        made = None
        if self.comm.rank == 0:
            machine = machines.platform(speeds, self.link)
            made = {
                "equal": self.equal,
                "metis": plans.metis_at_best_sizes(self.graph, machine, WORKLOAD),
                "planned": plans.planned(self.graph, machine, WORKLOAD),
            }
            made["again"] = made["planned"]
        self.comm.rest()
        return self.comm.bcast(made)


def planned(comm, job, pools):
    """Seconds of all partitions, of each run; how far predictions were off."""
    machine = TwoRanks(comm, job, pools[0])
    equal = Block(machine, machine.equal)
    measured, errors = {}, {"device": [], "superstep": []}
    rng = np.random.default_rng(SEED)
    for _ in range(job["runs"]):
        speeds, samples = machine.sampled(equal)
        blocks = {name: Block(machine, own) for name, own in machine.partitions(speeds).items()}
        for name in rng.permutation(list(blocks)):
            seconds, computing, whole = blocks[name].run(STEPS)
            measured.setdefault(str(name), []).append(seconds)
            guess = plans.predicted(
                machine.graph, blocks[name].partition, machines.platform(speeds, machine.link),
                WORKLOAD,
            )  # fmt: skip
            errors["device"] += (guess.compute / computing - 1).ravel().tolist()
            expected = figures.expected_maximum(guess.seconds, samples.T)
            errors["superstep"] += (expected / whole - 1).tolist()
    yield {
        "case": job["case"], "measured": measured, "errors": errors, "speeds": speeds,
        "repeats": comm.allgather(machine.repeats),
    }  # fmt: skip
