"""The families DP, PD and C of [Guo16]_: graphs divided over the CPUs and GPUs of machines.

DP divides over machines first (O or R), then in each between its CPUs and its GPUs (H or L); PD the
other way round; C at once (PG or R, and others that the paper names but does not evaluate).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import InfeasibleError, UsageError, one_of
from evener.partitioning.policies import greedy_kernels as kernels
from evener.partitioning.policies import orders, ratios
from evener.partitioning.policies.footprint import AnyGraph, Footprint
from evener.partitioning.policies.machines import Machines, machines_of
from evener.plans.partition import Partition
from evener.platforms.platform import Platform
from evener.wording import memory

# The ten combinations that the paper evaluates (Table II, Figure 5).
EVALUATED = (
    "DP-OH", "DP-OL", "DP-RH", "DP-RL", "PD-HO", "PD-HR", "PD-LO", "PD-LR", "C-PG", "C-R",
)  # fmt: skip
# What it names in Table I but does not evaluate; MW and MI are ours, after [17] of the paper.
OTHERS = ("C-hash", "C-chunk", "C-IO", "C-LDG", "C-MW", "C-MI")
NAMES = EVALUATED + OTHERS
CHUNK = 1000  # vertices of a piece of the file (C-chunk); the paper does not say how many

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PolicyBlocks:
    """What a policy made of a graph.

    partition: of k blocks, block i on device i. cpu_share: the share of out-edges that the CPUs
    were given, None where the policy does not use one. ratio: r, CPU seconds / GPU seconds for
    equal edges, as used. n_bytes (k,): what each block needs on its device, messages counted [B].
    """

    partition: Partition
    cpu_share: float | None
    ratio: float
    n_bytes: FloatArray


@dataclass(frozen=True, eq=False)
class _Task:
    """A graph to be divided: out-degrees (n,), its machines, and what limits them."""

    graph: AnyGraph
    degrees: Numbers
    machines: Machines
    ratio: float
    footprint: Footprint
    seed: int

    def fits(self, part: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """(k,) whether each GPU holds its block; a CPU always does."""
        needed = self.footprint.of_blocks(self.graph, part, self.machines.k)
        return (needed <= self.machines.memories) | ~self.machines.gpu


def policy_blocks(
    graph: AnyGraph,
    platform: Platform,
    policy: str,
    *,
    ratio: float | str | None = None,
    cpu_share: float | None = None,
    level: str | None = None,
    footprint: Footprint | None = None,
    seed: int = 7,
) -> PolicyBlocks:
    """Divide a graph over the devices of a platform by a policy of [Guo16]_, such as "DP-OH".

    ratio: r, CPU seconds / GPU seconds for equal edges; "paper" for the paper's fit by edges a
    machine; None for the speeds that the platform states. cpu_share: of out-edges for the CPUs (the
    paper's alpha); None for max(the least at which every GPU fits, 1 / (r + 1)). level: of the
    platform whose parts are machines; None: the deepest with both kinds. Raises UsageError for an
    unknown policy, InfeasibleError where a block does not fit its GPU.
    """
    task = _task(graph, platform, policy, ratio, level, footprint, seed)
    part, share = _placed(task, policy, cpu_share)
    _refuse_overflow(task, part, policy)
    n_bytes = task.footprint.of_blocks(graph, part, task.machines.k)
    return PolicyBlocks(Partition(part, task.machines.k), share, task.ratio, n_bytes)


def policy_part(
    graph: AnyGraph,
    platform: Platform,
    policy: str,
    *,
    ratio: float | str | None = None,
    cpu_share: float | None = None,
    seed: int = 7,
) -> npt.NDArray[np.int32]:
    """Return (n,) the device of each vertex, as policy_blocks, but do not count the blocks' bytes.

    For timing policies: counting takes longer than most of them.
    """
    return _placed(_task(graph, platform, policy, ratio, None, None, seed), policy, cpu_share)[0]


def _task(
    graph: AnyGraph,
    platform: Platform,
    policy: str,
    ratio: float | str | None,
    level: str | None,
    footprint: Footprint | None,
    seed: int,
) -> _Task:
    one_of("policy", policy, NAMES)
    machines = machines_of(platform, level=level)
    arcs = graph.arcs_out()
    found = _ratio(ratio, machines, float(arcs.adjncy.size))
    return _Task(graph, np.diff(arcs.xadj), machines, found, footprint or Footprint(), seed)


def _placed(
    task: _Task, policy: str, cpu_share: float | None
) -> tuple[npt.NDArray[np.int32], float | None]:
    """Return the device of each vertex, and the CPUs' share, None where the policy uses none."""
    family, phases = policy.split("-")
    if family == "C":
        return _combined(task, phases), None
    made = partial(_dp if family == "DP" else _pd, task, phases)
    share = _share(task, made, cpu_share)
    return made(share), share


def _ratio(given: float | str | None, machines: Machines, arcs: float) -> float:
    if given is None:
        return ratios.platform_ratio(machines)
    if isinstance(given, str):
        one_of("ratio", given, ("paper",))
        return ratios.paper_ratio(arcs / machines.n_machines)
    if not given > 0:
        raise UsageError(f"the ratio r must be above zero, and is {given}")
    return float(given)


def _share(
    task: _Task, made: Callable[[float], npt.NDArray[np.int32]], given: float | None
) -> float:
    """Return the CPUs' share of out-edges: `given`, or the least that balances and fits."""
    if given is not None:
        if not 0 <= given <= 1:
            raise UsageError(f"the CPUs' share must lie in [0, 1], and is {given}")
        return given
    gpu, speeds = task.machines.gpu, task.machines.speeds
    if gpu.all():
        return 0.0
    gpus = speeds[gpu].sum() / speeds[gpu].mean() if gpu.any() else 0.0
    share = ratios.balanced_share(task.ratio, float(speeds[~gpu].sum()), float(gpus))
    if not np.isfinite(task.machines.memories[gpu]).any():
        return share
    return ratios.least_share(lambda one: bool(task.fits(made(one)).all()), share)


def _refuse_overflow(task: _Task, part: npt.NDArray[np.int32], policy: str) -> None:
    over = np.flatnonzero(~task.fits(part))
    if over.size:
        first = int(over[0])
        needed = float(task.footprint.of_blocks(task.graph, part, task.machines.k)[first])
        short = needed - float(task.machines.memories[first])
        raise InfeasibleError(
            f"{policy}: the block of {task.machines.names[first]} needs {memory(needed)}, which is "
            f"{memory(short)} more than it has",
            hint="C-PG, and DP and PD without a share given, keep to the GPUs' memory.",
        )


# DP and PD.


def _dp(task: _Task, phases: str, share: float) -> npt.NDArray[np.int32]:
    """Over machines by O or R, then in each machine between CPUs and GPUs by H or L."""
    machines, n = task.machines, task.degrees.size
    speeds = [machines.speeds[machines.devices(i)].sum() for i in range(machines.n_machines)]
    place = _distributed(task, np.arange(n), np.array(speeds), phases[0], draw=0)
    part = np.empty(n, np.int32)
    for i in range(machines.n_machines):
        vertices = np.flatnonzero(place == i)
        order = orders.by_degree(vertices, task.degrees, falling=phases[1] == "H")
        devices, shares = _sides(machines, machines.devices(i), share)
        part[order] = devices[orders.filled(order, task.degrees, shares)]
    return part


def _pd(task: _Task, phases: str, share: float) -> npt.NDArray[np.int32]:
    """Between all CPUs and all GPUs by H or L, then over the machines of each side by O or R."""
    machines, n = task.machines, task.degrees.size
    order = orders.by_degree(np.arange(n), task.degrees, falling=phases[0] == "H")
    side = np.empty(n, np.int64)
    split = np.array([share, 1 - share]) if machines.gpu.any() else np.array([1.0, 0.0])
    side[order] = orders.filled(order, task.degrees, split)
    part = np.empty(n, np.int32)
    for gpu in (False, True):
        vertices = np.flatnonzero(side == gpu)
        devices = np.array(machines.devices(gpu=gpu), np.int64)
        if vertices.size:
            shares = machines.speeds[devices]
            place = _distributed(task, vertices, shares, phases[1], draw=1 + gpu)
            part[vertices] = devices[place]
    return part


def _distributed(
    task: _Task, vertices: Numbers, shares: FloatArray, policy: str, *, draw: int
) -> Numbers:
    """Return the part of each vertex, ascending, by O (shares of out-edges) or R (all alike)."""
    if policy == "R":
        rng = np.random.default_rng([task.seed, draw])
        return orders.at_random(vertices, shares.size, rng)
    return orders.filled(vertices, task.degrees, shares)


def _sides(
    machines: Machines, devices: list[int], share: float
) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """Return a machine's devices, CPUs first, and the share of its out-edges for each.

    Within a kind, shares are as the speeds. A machine of one kind gives that kind everything.
    """
    both = []
    for gpu in (False, True):
        chosen = [device for device in devices if machines.gpu[device] == gpu]
        both.append((chosen, machines.speeds[chosen]))
    (cpus, of_cpus), (gpus, of_gpus) = both
    if not gpus or not cpus:
        return np.array(devices), machines.speeds[devices]
    shares = [share * of_cpus / of_cpus.sum(), (1 - share) * of_gpus / of_gpus.sum()]
    return np.array(cpus + gpus), np.concatenate(shares)


# C.


def _combined(task: _Task, policy: str) -> npt.NDArray[np.int32]:
    """Over all devices at once."""
    n, machines = task.degrees.size, task.machines
    if policy == "PG":
        return _greedy(task, kernels.LOAD)
    if policy in ("LDG", "MW", "MI"):
        rules = {"LDG": kernels.NEIGHBOURS, "MW": kernels.COMBINED, "MI": kernels.INCREASE}
        return _greedy(task, rules[policy])
    if policy == "R":
        rng = np.random.default_rng([task.seed, 0])
        return orders.at_random(np.arange(n), machines.k, rng).astype(np.int32)
    if policy == "hash":
        return orders.hashed(n, machines.k).astype(np.int32)
    if policy == "chunk":
        return orders.in_chunks(n, machines.k, CHUNK).astype(np.int32)
    total = task.degrees + np.diff(task.graph.arcs_in().xadj)
    return orders.filled(np.arange(n), total, np.ones(machines.k)).astype(np.int32)


def _greedy(task: _Task, rule: int) -> npt.NDArray[np.int32]:
    """Return blocks made by placing one vertex after another; InfeasibleError where none fits."""
    machines, costs = task.machines, task.footprint
    weights = machines.speeds.copy()
    if machines.gpu.any():
        gpus = machines.speeds[machines.gpu]
        weights[machines.gpu] = task.ratio * gpus / gpus.mean()
    limits = np.where(machines.gpu, machines.memories, np.inf)
    prices = np.array([costs.vertex, costs.arc, costs.outbox, costs.inbox])
    part = np.full(task.degrees.size, -1, np.int32)
    leaving, reaching = task.graph.arcs_out(), task.graph.arcs_in()
    if rule == kernels.LOAD:
        failed = kernels.place_by_load(
            task.degrees, np.diff(reaching.xadj), weights, limits, prices, part
        )
    else:
        failed = kernels.place_by_neighbours(
            leaving[:2], reaching[:2], rule, weights, limits, prices, part
        )
    if failed >= 0:
        raise InfeasibleError(
            f"no device has memory for vertex {failed} of {part.size:,} (counted from 0)",
            hint="The platform has no CPU, whose memory is not limited.",
        )
    return part
