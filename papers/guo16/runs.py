"""The experiments of [Guo16]_ on emulated machines: configurations, shares, scaling, partitioning.

Every row is of one run, whose values are computed here and whose seconds are those of the virtual
clock; seconds of partitioning alone are measured on this computer.

Beside the policies stands our plan for seconds, by the same r and the same memory. A vertex weighs
as much as its arcs and the arcs that passing it is worth on a GPU; a GPU is r times as fast as a
CPU, with the r that the policies get. Links are those of the emulated machines. Where the messages
of a block overflow a GPU, which a plan does not count, it gets less, and the plan is made again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.errors import InfeasibleError
from evener.graphs.directed import DirectedGraph
from evener.partitioning.policies.families import (
    Footprint,
    PolicyBlocks,
    policy_blocks,
    policy_part,
)
from evener.partitioning.policies.machines import machines_of
from evener.planning.in_memory import plan
from evener.planning.options import PlanOptions
from evener.plans.workload import Workload
from evener.platforms.platform import Platform
from evener.running.apps import bfs, pagerank
from evener.running.emulated_run import EmulatedMachineRun, VirtualMachine
from evener.running.engine.program import VertexProgram
from papers.findings import Row
from papers.guo16.setup import (
    HOST_MEMORY,
    MESSAGES,
    SEED,
    DegreesAlone,
    StandIn,
    das4,
    gpus_alone,
)

OWN = "plan"  # its name beside the policies'
BYTES_PER_VALUE = 4.0  # of PageRank's messages
ROUNDS = 12  # plans at most; each gives GPUs that are too full less
LESS = 0.97  # of the part of the memory at which a GPU would be full
OPTIONS = PlanOptions(
    preset="fast",
    objective="seconds",
    workload=Workload("pagerank", bytes_per_value=BYTES_PER_VALUE),
)


def own_blocks(
    graph: DirectedGraph, platform: Platform, ratio: float, footprint: Footprint
) -> PolicyBlocks:
    """Return the blocks of our plan for seconds, one on each device.

    Raises InfeasibleError where no plan of ROUNDS fits the GPUs, messages counted.
    """
    is_gpu = machines_of(platform).gpu
    passing = max(device.capabilities.get("vertex_arcs", 0.0) for device in platform.devices
                  if device.kind != "cpu")  # fmt: skip
    edges = graph.undirected()
    weighted = replace(edges, vwgt=np.rint(graph.degrees + passing).astype(np.int64))
    limits = np.full(platform.k, np.inf)
    for _ in range(ROUNDS):
        part = plan(weighted, _planned(platform, ratio, limits), OPTIONS).partition
        n_bytes = footprint.of_blocks(graph, part.part, part.k)
        over = is_gpu & (n_bytes > platform.memories)
        if not over.any():
            left = np.where(is_gpu, 1 - n_bytes / platform.memories, np.nan)
            return PolicyBlocks(part, None, (ratio,), n_bytes, left)
        loads = np.bincount(part.part, weights=weighted.weights(), minlength=part.k)
        fitting = loads * platform.memories / n_bytes * LESS
        limits = np.where(over, np.minimum(limits, fitting), limits)
    raise InfeasibleError(f"no plan of {ROUNDS} fits the memory of all GPUs, messages counted")


def _planned(platform: Platform, ratio: float, limits: FloatArray) -> Platform:
    """Return the platform with CPUs `ratio` times as slow as GPUs, and limits of weight."""
    fastest = max(device.speed for device in platform.devices)
    devices = [
        replace(
            device,
            speed=fastest / (ratio if device.kind == "cpu" else 1.0),
            memory=None,
            memory_units=float(limit) if np.isfinite(limit) else None,
            capabilities={},
        )
        for device, limit in zip(platform.devices, limits, strict=True)
    ]
    return replace(platform, devices=tuple(devices))


APPS = ("BFS", "PageRank", "WCC")
PAGERANK_STEPS = 10  # section IV-A
BYTES_OF_ARC, BYTES_OF_VERTEX = 4, 8  # as a worker receives them
# Bytes that the paper does not give, by which G5's share is 0.85 to 0.01: ours, and others.
BYTES = (MESSAGES, Footprint(24, 4, 12, 8), Footprint(32, 4, 12, 8), Footprint(24, 4, 8, 12),
         Footprint(28, 4, 8, 12))  # fmt: skip


def _own_number(vertex: int) -> int:
    return vertex


# Labels that spread from each vertex to its neighbours, as in TOTEM. Our own WCC goes to a fixpoint
# on every device in each superstep, which is another algorithm.
LABELS = VertexProgram(init=_own_number, combine="min", dtype="uint32", name="labels")


@dataclass(frozen=True, eq=False)
class Configured:
    """A graph divided by a policy over machines: blocks, and the machine."""

    graph: DirectedGraph
    made: PolicyBlocks
    machine: VirtualMachine

    def run(self, app: str, source: int) -> EmulatedMachineRun:
        """Run one of APPS; devices exchange the values of the arcs that it reads."""
        run = partial(self.machine.run, graph=self.graph, divided=self.made.partition)
        if app == "PageRank":
            return run(pagerank.PROGRAM, most=PAGERANK_STEPS)
        if app == "BFS":
            return run(bfs.PROGRAM, parameters={"source": source})
        return run(LABELS)

    @property
    def vertices(self) -> IntArray:
        """(k,) Vertices of each block."""
        return np.bincount(self.made.partition.part, minlength=self.made.partition.k)

    @property
    def arcs(self) -> FloatArray:
        """(k,) Arcs that leave the vertices of each block."""
        part = self.made.partition
        sums = np.bincount(part.part, weights=self.graph.degrees, minlength=part.k)
        return np.asarray(sums, np.float64)


def configured(
    stand_in: StandIn,
    policy: str,
    n_machines: int = 4,
    *,
    app: str = "PageRank",
    graph: DirectedGraph | None = None,
    cpu_share: float | None = None,
    seed: int = SEED,
) -> Configured:
    """Return a stand-in divided by a policy, or by OWN, with the paper's r, for an app.

    graph: in place of the stand-in's own. Raises InfeasibleError where a GPU's memory is too
    small for its block, or a machine's for the part that it receives and the one that it builds.
    """
    chosen = graph or (stand_in.both_ways if app == "WCC" else stand_in.graph)
    platform = das4(n_machines, stand_in.shrink)
    ratio = stand_in.ratio(n_machines)
    if policy == OWN:
        made = own_blocks(chosen, platform, ratio, MESSAGES)
    else:
        made = policy_blocks(
            chosen, platform, policy, ratio=ratio, cpu_share=cpu_share, footprint=MESSAGES,
            seed=seed,
        )  # fmt: skip
    found = Configured(chosen, made, VirtualMachine(platform))
    _refuse_full_hosts(found, stand_in.shrink)
    return found


def _refuse_full_hosts(found: Configured, shrink: float) -> None:
    """Raise InfeasibleError where a machine cannot hold what it receives beside its CPU's block."""
    received = BYTES_OF_VERTEX * found.vertices + BYTES_OF_ARC * found.arcs
    needed = received[0::2] + received[1::2] + found.made.n_bytes[0::2]
    if (needed > HOST_MEMORY / shrink).any():
        raise InfeasibleError(
            f"a machine needs {needed.max() * shrink / 2**30:.0f} GiB to build its part of the "
            f"graph, of {HOST_MEMORY / 2**30:.0f}"
        )


def draws_of(
    stand_in: StandIn, policy: str, app: str, runs: int, n_machines: int, share: float | None
) -> list[Configured]:
    """Return the stand-in divided by a policy: once, or `runs` times where the policy draws lots.

    The paper repeats every run ten times, which differ by less than 5 %. Here seconds are the same
    in every run; a policy with R places vertices anew by another seed. A draw that does not fit the
    GPUs by the CPUs' share gets the least share by which it does.
    """
    draws = runs if "R" in policy.rsplit("-", maxsplit=1)[-1] else 1
    return [_drawn(stand_in, policy, app, n_machines, share, SEED + i) for i in range(draws)]


def _drawn(
    stand_in: StandIn, policy: str, app: str, n_machines: int, share: float | None, seed: int
) -> Configured:
    try:
        return configured(stand_in, policy, n_machines, app=app, cpu_share=share, seed=seed)
    except InfeasibleError:
        if share is None or seed == SEED:
            raise
        return configured(stand_in, policy, n_machines, app=app, seed=seed)


def mean_figures(ready: Sequence[Configured], app: str, source: int) -> dict[str, float]:
    """Return mean seconds and supersteps of an app, and by how much its runs deviate."""
    found = [one.run(app, source) for one in ready]
    seconds = np.array([one.seconds for one in found])
    return {
        "seconds": float(seconds.mean()),
        "supersteps": float(np.mean([one.run.supersteps for one in found])),
        "runs": float(len(found)),
        "deviation": float(seconds.std() / seconds.mean()),
    }


def overview(
    stand_in: StandIn, policies: Sequence[str], apps: Sequence[str] = APPS, runs: int = 1
) -> list[Row]:
    """Return a row for each policy and app on four machines (Figure 5), means of `runs` draws.

    DP and PD have one share of the CPUs on a graph, as in section IV-B: the least with which all of
    them fit the GPUs.
    """
    rows: list[Row] = []
    # Blocks of an undirected graph are the same for all apps.
    forms = {"WCC": ("WCC",), "PageRank": tuple(app for app in apps if app != "WCC")}
    if not stand_in.is_directed:
        forms = {"PageRank": tuple(apps)}
    for form, own in forms.items():
        if not set(own) <= set(apps):
            continue
        for policy, share in _shares(stand_in, policies, form).items():
            row: Row = {"graph": stand_in.name, "policy": policy}
            if isinstance(share, str):
                rows += [{**row, "app": app, "refused": share} for app in own]
                continue
            ready = draws_of(stand_in, policy, form, runs, 4, share)
            full = 1 - ready[0].made.memory_left[1::2]
            row = {**row, "cpu_share": -1.0 if share is None else share}
            row = {**row, "gpu_fill_low": float(full.min()), "gpu_fill_high": float(full.max())}
            for app in own:
                rows.append({**row, "app": app, **mean_figures(ready, app, stand_in.source)})
    return rows


def _shares(stand_in: StandIn, policies: Sequence[str], app: str) -> dict[str, float | str | None]:
    """Return the CPUs' share by each policy, None where it uses none, or why none fits."""
    found: dict[str, float | str | None] = {}
    for policy in policies:
        try:
            found[policy] = (
                None if policy == OWN else configured(stand_in, policy, app=app).made.cpu_share
            )
        except InfeasibleError as error:
            found[policy] = error.message
    most = max((share for share in found.values() if isinstance(share, float)), default=0.0)
    return {name: most if isinstance(own, float) else own for name, own in found.items()}


def swept(
    stand_in: StandIn, policy: str, app: str, shares: Sequence[float], runs: int = 1
) -> list[Row]:
    """Return a row for each share of the CPUs (Figure 4); without a run where a GPU is too full."""
    rows: list[Row] = []
    for share in shares:
        row: Row = {"graph": stand_in.name, "policy": policy, "app": app, "cpu_share": share}
        try:
            ready = draws_of(stand_in, policy, app, runs, 4, share)
        except InfeasibleError as error:
            rows.append({**row, "refused": error.message})
            continue
        rows.append({**row, **mean_figures(ready, app, stand_in.source)})
    return rows


def breakdown(stand_in: StandIn, policy: str, graph: DirectedGraph | None = None) -> list[Row]:
    """Return a row for each machine of PageRank's seconds (Figure 6)."""
    ready = configured(stand_in, policy, graph=graph)
    found = ready.run("PageRank", 0)
    computing = found.computing.sum(axis=0)
    exchange = found.communicating.sum(axis=0)
    share = -1.0 if ready.made.cpu_share is None else ready.made.cpu_share
    return [
        {"graph": stand_in.name, "policy": policy, "machine": i + 1, "cpu_share": share,
         "seconds": found.seconds, "cpu_s": float(computing[2 * i]),
         "gpu_s": float(computing[2 * i + 1]),
         "exchange_s": float(exchange[2 * i : 2 * i + 2].max()),
         "gpu_vertices": int(ready.vertices[2 * i + 1]),
         "gpu_arcs": float(ready.arcs[2 * i + 1])}
        for i in range(ready.made.partition.k // 2)
    ]  # fmt: skip


def scaled(stand_in: StandIn, policy: str, machines: Sequence[int], runs: int = 1) -> list[Row]:
    """Return a row of PageRank for each number of machines (Figure 7)."""
    rows: list[Row] = []
    for count in machines:
        row: Row = {"graph": stand_in.name, "policy": policy, "machines": count}
        try:
            ready = draws_of(stand_in, policy, "PageRank", runs, count, None)
        except InfeasibleError as error:
            rows.append({**row, "refused": error.message})
            continue
        figures = mean_figures(ready, "PageRank", 0)
        rows.append({**row, **figures, "cpu_share": _cpu_part(ready[0])})
    return rows


def without_cpus(stand_in: StandIn, count: int) -> Row:
    """Return a row of PageRank on so many GPUs of one machine, and no CPU (section IV-G)."""
    platform = gpus_alone(count, stand_in.shrink)
    made = policy_blocks(stand_in.graph, platform, "C-PG", ratio=1.0, footprint=MESSAGES)
    found = Configured(stand_in.graph, made, VirtualMachine(platform)).run("PageRank", 0)
    return {"graph": stand_in.name, "policy": f"{count} GPUs", "machines": 1,
            "seconds": found.seconds, "supersteps": float(found.run.supersteps)}  # fmt: skip


def _cpu_part(ready: Configured) -> float:
    """Return the part of the arcs that the CPUs hold."""
    return float(ready.arcs[0::2].sum() / ready.arcs.sum())


def shares_by_bytes(stand_in: StandIn, hubs_first: DirectedGraph, largest: StandIn) -> list[Row]:
    """Return the least CPUs' share of G4 and G5 by DP-OH, for some bytes of vertices and messages.

    hubs_first: the stand-in of G4, numbered by degree.
    """
    rows: list[Row] = []
    for footprint in BYTES:
        row: Row = {"vertex_B": footprint.vertex, "outbox_B": footprint.outbox,
                    "inbox_B": footprint.inbox}  # fmt: skip
        for one, graph in ((stand_in, hubs_first), (largest, largest.graph)):
            made = policy_blocks(graph, das4(4, one.shrink), "DP-OH", ratio=one.ratio(4),
                                 footprint=footprint)  # fmt: skip
            row = {**row, one.name: -1.0 if made.cpu_share is None else made.cpu_share}
        rows.append(row)
    return rows


def partitioned(
    graph: DirectedGraph | DegreesAlone, policy: str, n_machines: int, runs: int = 1
) -> list[float]:
    """Return the CPU seconds that a policy takes on this computer, of each run."""
    platform = _without_caps(das4(n_machines))
    taken = []
    for _ in range(runs):
        began = time.process_time()
        policy_part(cast(DirectedGraph, graph), platform, policy, ratio=20.0)
        taken.append(time.process_time() - began)
    return taken


def _without_caps(platform: Platform) -> Platform:
    """Return the platform with memory for everything: no share has to be searched for."""
    devices = tuple(replace(device, memory=None) for device in platform.devices)
    return replace(platform, devices=devices)
