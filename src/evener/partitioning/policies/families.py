"""The families DP, PD and C of [Guo16]_: they divide graphs among the CPUs and GPUs of machines.

DP divides the graph among the machines first (O or R), then in each machine between CPUs and GPUs
(H or L). PD does the same in reverse order. C divides among all devices at once (PG or R, and
others that the paper names but does not evaluate).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector, mixed
from evener.arrays_kernels import SPREAD
from evener.errors import InfeasibleError, InputError, UsageError, one_of
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.partitioning.policies import greedy_kernels as kernels
from evener.partitioning.policies.machines import Machines, machines_of
from evener.plans.partition import Partition
from evener.platforms.platform import Platform
from evener.wording import memory, plural

AnyGraph = Graph | DirectedGraph


@dataclass(frozen=True)
class Footprint:
    """Memory that a device needs [B].

    vertex: for each vertex of its block: offset of its list, value, and value sent to neighbours.
    arc: for each arc that leaves these vertices. outbox: for each vertex of another block to which
    it sends a message. inbox: for each message received. Defaults are those of PageRank with 4-byte
    numbers: 4 + 4 + 4, 4, 4 + 4 (number and value of the vertex), and 4 + 4.
    """

    vertex: float = 12.0
    arc: float = 4.0
    outbox: float = 8.0
    inbox: float = 8.0

    def of_blocks(self, graph: AnyGraph, part: npt.NDArray[np.int32], k: int) -> FloatArray:
        """Return the bytes (k,) that each block needs [B], with messages counted exactly.

        A block sends one message to each vertex of another block that one of its arcs reaches, and
        receives one for each of its vertices from each block with an arc to that vertex.
        """
        arcs = graph.arcs_out()
        sent, received = np.zeros(k, np.int64), np.zeros(k, np.int64)
        seen = np.full(graph.n, -1, np.int64)
        order = np.argsort(part, kind="stable")
        kernels.count_messages(arcs.xadj, arcs.adjncy, part, order, seen, sent, received)
        vertices = np.bincount(part, minlength=k)
        edges = np.bincount(part, weights=np.diff(arcs.xadj), minlength=k)
        return np.asarray(
            self.vertex * vertices + self.arc * edges + self.outbox * sent + self.inbox * received
        )


# The ten combinations that the paper evaluates (Table II, Figure 5).
EVALUATED = (
    "DP-OH", "DP-OL", "DP-RH", "DP-RL", "PD-HO", "PD-HR", "PD-LO", "PD-LR", "C-PG", "C-R",
)  # fmt: skip
# What it names in Table I but does not evaluate; MW and MI follow [17] of the paper.
OTHERS = ("C-hash", "C-chunk", "C-IO", "C-LDG", "C-MW", "C-MI")
NAMES = EVALUATED + OTHERS
CHUNK = 1000  # vertices of a piece of the file (C-chunk); the paper does not say how many

Numbers = npt.NDArray[np.int64]
Ratio = float | str  # r of a kind of machine, or "paper"


@dataclass(frozen=True, eq=False)
class PolicyBlocks:
    """The blocks that a policy made of a graph.

    partition: of k blocks, block i on device i. cpu_share: share of out-edges that was given to the
    CPUs, None if the policy does not use such a share. ratios: the r (CPU seconds / GPU seconds for
    equal edges) that was used for each kind of machine. n_bytes (k,): bytes that each block needs
    on its device, with messages counted exactly [B]. memory_left (k,): fraction of a GPU's memory
    that its block leaves free; nan for CPUs, and for GPUs without a stated memory.
    """

    partition: Partition
    cpu_share: float | None
    ratios: tuple[float, ...]
    n_bytes: FloatArray
    memory_left: FloatArray


@dataclass(frozen=True, eq=False)
class _Task:
    """A graph to be divided: out-degrees (n,), machines, and limits.

    weights (k,): speeds of the devices, by r of each kind of machine.
    """

    graph: AnyGraph
    degrees: Numbers
    machines: Machines
    ratios: tuple[float, ...]
    weights: FloatArray
    footprint: Footprint
    seed: int

    def fits(self, part: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """Return whether each GPU can hold its block (k,); a CPU always can."""
        needed = self.footprint.of_blocks(self.graph, part, self.machines.k)
        return (needed <= self.machines.memories) | ~self.machines.gpu


def policy_blocks(
    graph: AnyGraph,
    platform: Platform,
    policy: str,
    *,
    ratio: Ratio | Sequence[Ratio] | None = None,
    cpu_share: float | None = None,
    level: str | None = None,
    footprint: Footprint | None = None,
    seed: int = 7,
) -> PolicyBlocks:
    """Divide a graph among the devices of a platform by a policy of [Guo16]_, such as "DP-OH".

    ratio: r, CPU seconds / GPU seconds for equal edges; "paper" for the paper's formula, which
    depends on the edges per machine; for several kinds of machines a sequence of r, ordered by
    their first devices; None for the speeds that the platform states. cpu_share: share of out-edges
    for the CPUs (the paper's alpha); None for the larger of 1 / (r + 1) and the least share at
    which every GPU can hold its block. level: the platform's level whose parts are machines; None:
    the deepest level with both kinds of devices. Raises UsageError for an unknown policy and for a
    wrong number of r, InfeasibleError if a block does not fit its GPU.
    """
    task = _task(graph, platform, policy, ratio, level, footprint, seed)
    part, share = _placed(task, policy, cpu_share)
    _refuse_overflow(task, part, policy)
    machines = task.machines
    n_bytes = task.footprint.of_blocks(graph, part, machines.k)
    has_limit = machines.gpu & np.isfinite(machines.memories)
    left = np.where(has_limit, 1 - n_bytes / machines.memories, np.nan)
    return PolicyBlocks(Partition(part, machines.k), share, task.ratios, n_bytes, left)


def policy_part(
    graph: AnyGraph,
    platform: Platform,
    policy: str,
    *,
    ratio: Ratio | Sequence[Ratio] | None = None,
    cpu_share: float | None = None,
    seed: int = 7,
) -> npt.NDArray[np.int32]:
    """Return the device of each vertex (n,), like policy_blocks, but without counting bytes.

    This is for timing policies: counting takes longer than most policies.
    """
    return _placed(_task(graph, platform, policy, ratio, None, None, seed), policy, cpu_share)[0]


def _task(
    graph: AnyGraph,
    platform: Platform,
    policy: str,
    ratio: Ratio | Sequence[Ratio] | None,
    level: str | None,
    footprint: Footprint | None,
    seed: int,
) -> _Task:
    one_of("policy", policy, NAMES)
    machines = machines_of(platform, level=level)
    arcs = graph.arcs_out()
    found = _ratios(ratio, machines, float(arcs.adjncy.size))
    weights = machines.weights(found)
    used = found or _stated(machines)
    return _Task(graph, np.diff(arcs.xadj), machines, used, weights, footprint or Footprint(), seed)


def _placed(
    task: _Task, policy: str, cpu_share: float | None
) -> tuple[npt.NDArray[np.int32], float | None]:
    """Return the device of each vertex, and the CPUs' share, None if the policy uses none."""
    family, phases = policy.split("-")
    if family == "C":
        return _combined(task, phases), None
    made = partial(_dp if family == "DP" else _pd, task, phases)
    shares = _shares(task, made, cpu_share, by_machine=family == "DP")
    speeds = np.bincount(task.machines.machine, weights=task.weights)
    return made(shares), float((shares * speeds).sum() / speeds.sum())


def _ratios(
    given: Ratio | Sequence[Ratio] | None, machines: Machines, arcs: float
) -> tuple[float, ...] | None:
    """Return r of each kind of machine; None if the platform's stated speeds are to be used."""
    if given is None:
        return None
    listed = [given] if isinstance(given, (str, int, float)) else list(given)
    if len(listed) != machines.n_kinds:
        kinds, values = plural(machines.n_kinds, "kind"), plural(len(listed), "value")
        raise UsageError(
            f"there are {kinds} of machines but {values} of r",
            hint="Give one r for each kind of machine, in the order of their first devices, or "
            "give none.",
        )
    found = []
    for one, own in zip(listed, machines.arcs_of_kinds(arcs), strict=True):
        if isinstance(one, str):
            one_of("ratio", one, ("paper",))
            found.append(paper_ratio(own))
        elif not one > 0:
            raise UsageError(f"the ratio r must be above zero, but is {one}")
        else:
            found.append(float(one))
    return tuple(found)


def _stated(machines: Machines) -> tuple[float, ...]:
    """Return r of each kind from the platform's stated speeds; 1 if there are not both kinds."""
    gpu, speeds = machines.gpu, machines.speeds
    if gpu.all() or not gpu.any():
        return (1.0,)
    if machines.kinds.max() < 0:
        return (float(speeds[gpu].mean() / speeds[~gpu].mean()),)
    first = [int(np.argmax(machines.kinds == kind)) for kind in range(machines.n_kinds)]
    return tuple(
        float(speeds[machines.devices(i, gpu=True)].mean()
              / speeds[machines.devices(i, gpu=False)].mean()) for i in first
    )  # fmt: skip


def _shares(
    task: _Task,
    made: Callable[[FloatArray], npt.NDArray[np.int32]],
    given: float | None,
    *,
    by_machine: bool,
) -> FloatArray:
    """Return the CPUs' share of out-edges (n_machines,): `given`, or the least that fits.

    Unless memory requires a larger share, the CPUs and GPUs of each machine (or of all machines,
    unless by_machine) finish together.
    """
    machines = task.machines
    if given is not None:
        if not 0 <= given <= 1:
            raise UsageError(f"the CPUs' share (cpu_share) must lie in [0, 1], but is {given}")
        return np.full(machines.n_machines, given)
    of_cpus = np.where(machines.gpu, 0.0, task.weights)
    if by_machine:
        cpus, both = (np.bincount(machines.machine, weights=w) for w in (of_cpus, task.weights))
        balanced = cpus / both
    else:
        balanced = np.full(machines.n_machines, of_cpus.sum() / task.weights.sum())
    if machines.gpu.all() or not np.isfinite(machines.memories[machines.gpu]).any():
        return balanced

    def fits(least: float) -> bool:
        return bool(task.fits(made(np.maximum(least, balanced))).all())

    return np.maximum(least_share(fits, float(balanced.min())), balanced)


def _refuse_overflow(task: _Task, part: npt.NDArray[np.int32], policy: str) -> None:
    over = np.flatnonzero(~task.fits(part))
    if over.size:
        first = int(over[0])
        needed = float(task.footprint.of_blocks(task.graph, part, task.machines.k)[first])
        short = needed - float(task.machines.memories[first])
        raise InfeasibleError(
            f"{policy}: the block of {task.machines.names[first]} needs {memory(needed)}, "
            f"{memory(short)} more than the device has",
            hint="C-PG respects the memory of GPUs; DP and PD do so if no share is given.",
        )


# DP and PD.


def _dp(task: _Task, phases: str, shares: FloatArray) -> npt.NDArray[np.int32]:
    """Divide among machines by O or R, then in each machine between CPUs and GPUs by H or L."""
    machines, n = task.machines, task.degrees.size
    speeds = np.asarray(np.bincount(machines.machine, weights=task.weights), np.float64)
    place = _distributed(task, np.arange(n), speeds, phases[0], draw=0)
    part = np.empty(n, np.int32)
    for i in range(machines.n_machines):
        vertices = np.flatnonzero(place == i)
        order = by_degree(vertices, task.degrees, falling=phases[1] == "H")
        devices, own = _sides(task, machines.devices(i), float(shares[i]))
        part[order] = devices[filled(order, task.degrees, own)]
    return part


def _pd(task: _Task, phases: str, shares: FloatArray) -> npt.NDArray[np.int32]:
    """Divide between all CPUs and all GPUs by H or L, then among the machines of each by O or R."""
    machines, n = task.machines, task.degrees.size
    order = by_degree(np.arange(n), task.degrees, falling=phases[0] == "H")
    side = np.empty(n, np.int64)
    share = float(shares[0])  # of all machines
    split = np.array([share, 1 - share]) if machines.gpu.any() else np.array([1.0, 0.0])
    side[order] = filled(order, task.degrees, split)
    part = np.empty(n, np.int32)
    for gpu in (False, True):
        vertices = np.flatnonzero(side == gpu)
        devices = np.array(machines.devices(gpu=gpu), np.int64)
        if vertices.size:
            place = _distributed(task, vertices, task.weights[devices], phases[1], draw=1 + gpu)
            part[vertices] = devices[place]
    return part


def _distributed(
    task: _Task, vertices: Numbers, shares: FloatArray, policy: str, *, draw: int
) -> Numbers:
    """Return the part of each vertex, ascending, by O (shares of out-edges) or R (random)."""
    if policy == "R":
        rng = np.random.default_rng([task.seed, draw])
        return at_random(vertices, shares.size, rng)
    return filled(vertices, task.degrees, shares)


def _sides(
    task: _Task, devices: list[int], share: float
) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """Return a machine's devices, CPUs first, and the share of its out-edges for each.

    Within a kind, shares are proportional to speeds. In a machine with only one kind, this kind
    gets everything.
    """
    both = []
    for gpu in (False, True):
        chosen = [device for device in devices if task.machines.gpu[device] == gpu]
        both.append((chosen, task.weights[chosen]))
    (cpus, of_cpus), (gpus, of_gpus) = both
    if not gpus or not cpus:
        return np.array(devices), task.weights[devices]
    shares = [share * of_cpus / of_cpus.sum(), (1 - share) * of_gpus / of_gpus.sum()]
    return np.array(cpus + gpus), np.concatenate(shares)


# C.


def _combined(task: _Task, policy: str) -> npt.NDArray[np.int32]:
    """Divide among all devices at once."""
    n, machines = task.degrees.size, task.machines
    if policy == "PG":
        return _greedy(task, kernels.LOAD)
    if policy in ("LDG", "MW", "MI"):
        rules = {"LDG": kernels.NEIGHBOURS, "MW": kernels.COMBINED, "MI": kernels.INCREASE}
        return _greedy(task, rules[policy])
    if policy == "R":
        rng = np.random.default_rng([task.seed, 0])
        return at_random(np.arange(n), machines.k, rng).astype(np.int32)
    if policy == "hash":
        return hashed(n, machines.k).astype(np.int32)
    if policy == "chunk":
        return in_chunks(n, machines.k, CHUNK).astype(np.int32)
    total = task.degrees + np.diff(task.graph.arcs_in().xadj)
    return filled(np.arange(n), total, np.ones(machines.k)).astype(np.int32)


def _greedy(task: _Task, rule: int) -> npt.NDArray[np.int32]:
    """Return blocks made by placing vertices one by one; raise InfeasibleError if they do not fit.

    While blocks grow, their final messages are unknown; only an upper bound is known, which is
    several times too large. So only a fraction of this bound is counted: the least fraction with
    which every GPU can hold its block when messages are counted exactly. It is found like the CPUs'
    share of DP and PD.
    """
    if not np.isfinite(task.machines.memories[task.machines.gpu]).any():
        return _streamed(task, rule, 1.0)

    def fits(worst: float) -> bool:
        try:
            return bool(task.fits(_streamed(task, rule, worst)).all())
        except InfeasibleError:  # no room, the less the more of the worst case counts
            return True

    return _streamed(task, rule, least_share(fits, 0.0))


def _streamed(task: _Task, rule: int, worst: float) -> npt.NDArray[np.int32]:
    """Return the blocks of a rule that counts `worst` x the upper bound of message bytes."""
    machines, costs = task.machines, task.footprint
    limits = np.where(machines.gpu, machines.memories, np.inf)
    prices = np.array([costs.vertex, costs.arc, worst * costs.outbox, worst * costs.inbox])
    part = np.full(task.degrees.size, -1, np.int32)
    leaving, reaching = task.graph.arcs_out(), task.graph.arcs_in()
    if rule == kernels.LOAD:
        failed = kernels.place_by_load(
            task.degrees, np.diff(reaching.xadj), task.weights, limits, prices, part
        )
    else:
        failed = kernels.place_by_neighbours(
            leaving[:2], reaching[:2], rule, task.weights, limits, prices, part
        )
    if failed >= 0:
        raise InfeasibleError(
            f"no device has memory left for vertex {failed} of {part.size:,} (counted from 0)",
            hint="The platform has no CPU; policies take the memory of CPUs as unlimited.",
        )
    return part


# Section IV-B of [Guo16]_, of a Xeon E5620 and a GeForce GTX 480: r by millions of arcs a machine.
PAPER_SMALL, PAPER_MIDDLE = 50.0, 125.0
PAPER_RATIOS = 19.5, 23.7
SHARE_STEPS = 20  # halvings of the interval in which the least share that fits lies


def paper_ratio(arcs_per_machine: float) -> float:
    """Return r = CPU seconds / GPU seconds for equal arcs, by the fit for PageRank in [Guo16]_."""
    millions = arcs_per_machine / 1e6
    if not millions >= 0:
        raise InputError(f"a machine has {arcs_per_machine} arcs, for which r is not defined")
    if millions <= PAPER_SMALL:
        return 9.3 + 0.2 * millions
    return PAPER_RATIOS[0] if millions <= PAPER_MIDDLE else PAPER_RATIOS[1]


def least_share(fits: Callable[[float], bool], share: float) -> float:
    """Return the least share from `share` to 1, such as the CPUs' share, at which every block fits.

    fits(share): whether every GPU can hold its block; assumed true for all larger shares, too.
    Returns 1 if no smaller share fits. Found by bisection, with an error of 1e-6.
    """
    if fits(share):
        return share
    low, high = share, 1.0
    for _ in range(SHARE_STEPS):
        middle = (low + high) / 2
        if fits(middle):
            high = middle
        else:
            low = middle
    return high


def filled(order: IntVector, work: Numbers, shares: FloatArray) -> Numbers:
    """Return the part of each entry of `order` (m,): parts are filled one after another.

    A part takes vertices until their work reaches its share of all work; the last part takes the
    rest. order (m,): vertices. work (n,): work of the vertices, such as their out-degrees. shares
    (k,): sizes of the parts; only their proportions matter.
    """
    reached = np.cumsum(work[order], dtype=np.float64)
    total = float(reached[-1]) if order.size else 0.0
    part, first, done = np.full(order.size, shares.size - 1), 0, 0.0
    for p, share in enumerate((shares / shares.sum() * total).tolist()[:-1]):
        # The vertex with which the share is reached is the part's last one.
        end = int(np.searchsorted(reached, done + share, side="left")) + 1 if share > 0 else first
        end = max(first, min(end, order.size))
        part[first:end] = p
        first, done = end, float(reached[end - 1]) if end else 0.0
    return part


def by_degree(vertices: IntVector, degrees: Numbers, *, falling: bool) -> Numbers:
    """Return the vertices by falling (H) or rising (L) degree; ties are broken by number."""
    key = degrees[vertices]
    return vertices[np.lexsort((vertices, -key if falling else key))]


def at_random(vertices: IntVector, k: int, rng: np.random.Generator) -> Numbers:
    """Return a random part for each vertex, with equal probabilities (policy R)."""
    return rng.integers(0, k, vertices.size)


def in_chunks(n: int, k: int, chunk: int) -> Numbers:
    """Return the part of each vertex: chunks of `chunk` consecutive vertices go round robin."""
    return np.arange(n) // chunk % k


def hashed(n: int, k: int) -> Numbers:
    """Return the part of each vertex by a hash of its number (SplitMix64), as in Pregel."""
    words = mixed(np.arange(n, dtype=np.uint64) + SPREAD)
    return (words % np.uint64(k)).astype(np.int64)
