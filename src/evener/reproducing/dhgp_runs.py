"""The experiments of [Guo16]_ on emulated machines: configurations, shares, scaling, partitioning.

Every row is of one run, whose values are computed here and whose seconds are those of the virtual
clock; seconds of partitioning alone are measured on this computer.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evener.arrays import FloatArray
from evener.errors import InfeasibleError
from evener.graphs.directed import DirectedGraph
from evener.partitioning.policies.families import PolicyBlocks, policy_blocks, policy_part
from evener.platforms.platform import Platform
from evener.reproducing.dhgp_setup import HOST_MEMORY, MESSAGES, StandIn, das4
from evener.reproducing.findings import Row
from evener.running.apps import bfs, pagerank
from evener.running.distributing import distribute
from evener.running.emulated_run import EmulatedMachineRun, VirtualMachine
from evener.running.engine.program import VertexProgram
from evener.running.local_graphs import LocalGraph

APPS = ("BFS", "PageRank", "WCC")
PAGERANK_STEPS = 10  # section IV-A
REPEATS = 3  # of a partitioning that is timed; the least counts
BYTES_OF_ARC, BYTES_OF_VERTEX = 4, 8  # as a worker receives them


def _own_number(vertex: int) -> int:
    return vertex


# Labels that spread from each vertex to its neighbours, as in TOTEM. Our own WCC goes to a fixpoint
# on every device in each superstep, which is another algorithm.
LABELS = VertexProgram(init=_own_number, combine="min", dtype="uint32", name="labels")


@dataclass(frozen=True, eq=False)
class Configured:
    """A graph divided by a policy over machines: blocks, parts, and the machine."""

    made: PolicyBlocks
    parts: list[LocalGraph]
    machine: VirtualMachine

    def run(self, app: str, source: int) -> EmulatedMachineRun:
        """Run one of APPS."""
        if app == "PageRank":
            return self.machine.run_on(pagerank.PROGRAM, self.parts, most=PAGERANK_STEPS)
        if app == "BFS":
            return self.machine.run_on(bfs.PROGRAM, self.parts, parameters={"source": source})
        return self.machine.run_on(LABELS, self.parts)


def configured(
    stand_in: StandIn,
    policy: str,
    n_machines: int = 4,
    *,
    app: str = "PageRank",
    graph: DirectedGraph | None = None,
    cpu_share: float | None = None,
) -> Configured:
    """Return a stand-in divided by a policy with the paper's r, for an app.

    graph: in place of the stand-in's own. Raises InfeasibleError where a GPU's memory is too
    small for its block, or a machine's for the part that it receives and the one that it builds.
    """
    chosen = graph or (stand_in.both_ways if app == "WCC" else stand_in.graph)
    platform = das4(n_machines, stand_in.shrink)
    ratio = stand_in.ratio(n_machines)
    made = policy_blocks(
        chosen, platform, policy, ratio=ratio, cpu_share=cpu_share, footprint=MESSAGES
    )
    parts = distribute(chosen, made.partition, want="both")
    _refuse_full_hosts(made, parts, stand_in.shrink)
    return Configured(made, parts, VirtualMachine(platform))


def _refuse_full_hosts(made: PolicyBlocks, parts: Sequence[LocalGraph], shrink: float) -> None:
    """Raise InfeasibleError where a machine cannot hold what it receives beside its CPU's block."""
    received = np.array([
        BYTES_OF_VERTEX * part.n_owned + BYTES_OF_ARC * _out_arcs(part) for part in parts
    ])  # fmt: skip
    needed = received[0::2] + received[1::2] + made.n_bytes[0::2]
    if (needed > HOST_MEMORY / shrink).any():
        raise InfeasibleError(
            f"a machine needs {needed.max() * shrink / 2**30:.0f} GiB to build its part of the "
            f"graph, of {HOST_MEMORY / 2**30:.0f}"
        )


def _out_arcs(part: LocalGraph) -> int:
    assert part.out is not None
    return int(part.out.ends.size)


def overview(stand_in: StandIn, policies: Sequence[str], apps: Sequence[str] = APPS) -> list[Row]:
    """Return a row for each policy and app on four machines (Figure 5).

    DP and PD have one share of the CPUs on a graph, as in section IV-B: the least with which all of
    them fit the GPUs.
    """
    rows: list[Row] = []
    forms = {"WCC": "WCC" if stand_in.is_directed else "PageRank"}
    kinds = dict.fromkeys(forms.get(app, "PageRank") for app in apps)
    ready = {kind: _all_configured(stand_in, policies, kind) for kind in kinds}
    for policy in policies:
        for app in apps:
            made = ready[forms.get(app, "PageRank")][policy]
            row: Row = {"graph": stand_in.name, "policy": policy, "app": app}
            if isinstance(made, str):
                rows.append({**row, "refused": made})
                continue
            share = -1.0 if made.made.cpu_share is None else made.made.cpu_share
            found = made.run(app, stand_in.source)
            rows.append({**row, **_figures(found), "cpu_share": share})
    return rows


def _all_configured(
    stand_in: StandIn, policies: Sequence[str], app: str
) -> dict[str, Configured | str]:
    """Return the stand-in divided by each policy, or why it cannot be."""
    made: dict[str, Configured | str] = {}
    for policy in policies:
        try:
            made[policy] = configured(stand_in, policy, app=app)
        except InfeasibleError as error:
            made[policy] = error.message
    shares = {name: own.made.cpu_share for name, own in made.items() if isinstance(own, Configured)}
    most = max((share for share in shares.values() if share is not None), default=0.0)
    for policy, share in shares.items():
        if share is not None and share < most:
            made[policy] = configured(stand_in, policy, app=app, cpu_share=most)
    return made


def _figures(found: EmulatedMachineRun) -> dict[str, float]:
    return {"seconds": found.seconds, "supersteps": float(found.run.supersteps)}


def swept(stand_in: StandIn, policy: str, app: str, shares: Sequence[float]) -> list[Row]:
    """Return a row for each share of the CPUs (Figure 4); without a run where a GPU is too full."""
    rows: list[Row] = []
    for share in shares:
        row: Row = {"graph": stand_in.name, "policy": policy, "app": app, "cpu_share": share}
        try:
            ready = configured(stand_in, policy, app=app, cpu_share=share)
        except InfeasibleError as error:
            rows.append({**row, "refused": error.message})
            continue
        rows.append({**row, **_figures(ready.run(app, stand_in.source))})
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
         "gpu_vertices": ready.parts[2 * i + 1].n_owned,
         "gpu_arcs": _out_arcs(ready.parts[2 * i + 1])}
        for i in range(len(ready.parts) // 2)
    ]  # fmt: skip


def scaled(stand_in: StandIn, policy: str, machines: Sequence[int]) -> list[Row]:
    """Return a row of PageRank for each number of machines (Figure 7)."""
    rows: list[Row] = []
    for count in machines:
        row: Row = {"graph": stand_in.name, "policy": policy, "machines": count}
        try:
            ready = configured(stand_in, policy, count)
        except InfeasibleError as error:
            rows.append({**row, "refused": error.message})
            continue
        share = _cpu_part(ready)
        rows.append({**row, **_figures(ready.run("PageRank", 0)), "cpu_share": share})
    return rows


def _cpu_part(ready: Configured) -> float:
    """Return the part of the arcs that the CPUs hold."""
    arcs: FloatArray = np.array([_out_arcs(part) for part in ready.parts], np.float64)
    return float(arcs[0::2].sum() / arcs.sum())


def partitioned(graph: DirectedGraph, policy: str, n_machines: int) -> float:
    """Return the CPU seconds that a policy takes on this computer, the least of some runs."""
    platform = _without_caps(das4(n_machines))
    taken = []
    for _ in range(REPEATS):
        began = time.process_time()
        policy_part(graph, platform, policy, ratio=20.0)
        taken.append(time.process_time() - began)
    return min(taken)


def _without_caps(platform: Platform) -> Platform:
    """Return the platform with memory for everything: no share has to be searched for."""
    devices = tuple(replace(device, memory=None) for device in platform.devices)
    return replace(platform, devices=devices)
