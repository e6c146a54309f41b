"""Cuts, volumes and seconds of all partitioners on the cells of [LDHT]_'s figures and Table IV.

Blocks are judged as the tools left them. Targets are those of Algorithm 1; every tool may be 3 %
above them. CPU seconds are the tool's own, without the start of a process.

SpMV and CG take seconds per iteration on blocks of TOPO3: on emulated devices, and on two cores.
Both are of the shifted Laplacian, CG with Jacobi's preconditioner, as in [LDHT]_, section VI-A. The
emulated machine is shrunk as the graph is, so that seconds are those of the paper's size: speeds as
vertices, bandwidths as borders, which grow with the square root; latencies stay. CG's two sums over
all devices are not charged: they are the same for every partition.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evener.arrays import FloatArray, Part
from evener.errors import InfeasibleError, ToolError
from evener.graphs.graph import Graph
from evener.partitioning.initial.trees import device_tree
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.plans.metrics import block_weights, comm_volumes, edge_cut, imbalance, quotient
from evener.plans.partition import Partition
from evener.platforms.platform import Platform
from evener.running.apps import laplacian, laplacian_kernels, spmv
from evener.running.comm import Comm, run_threads
from evener.running.distributing import distribute
from evener.running.emulated_run import VirtualMachine
from evener.running.engine.pool import ThreadPool
from evener.running.on_device import wanted_arcs
from evener.sizing.memory_capped import target_sizes
from papers.findings import Row
from papers.keeping import KeptRows
from papers.ldht.setup import (
    COMPETITORS,
    EPSILON,
    GRAPHS,
    STRONG,
    Competitor,
    Machine,
    PaperCell,
    PaperEffort,
    graph_of,
)

PAPER_N = 2**29  # vertices of rdg_2d_29
# Arcs/s of a fast device, ours: a core that reads 12 bytes an arc at 1.2 GB/s. Slow ones have that
# by the machine's ratio of speeds.
FAST_ARCS = 1e8
# Passing a vertex takes as long as so many arcs, by bytes: of SpMV the row's begin, the diagonal, x
# and y; of CG also x, r, q and p, read and written.
VERTEX_ARCS = {"spmv": 3.0, "cg": 9.0}
SUPERSTEPS = 2
ITERATIONS = 30  # of each turn on two cores
TURNS = 5
NEVER = 1e-300  # a tolerance that is not reached


def clocked(machine: Machine, n: int, app: str, paper_n: int) -> Platform:
    """Return a machine with arcs/s as speeds, for a graph of n vertices that stands for paper_n."""
    whole = machine.platform(n)
    factor = paper_n / n
    devices = tuple(
        replace(
            device, speed=FAST_ARCS * device.speed / machine.speed / factor, memory_units=None,
            capabilities={"vertex_arcs": VERTEX_ARCS[app]},
        )
        for device in whole.devices
    )  # fmt: skip
    levels = tuple(
        replace(level, link=replace(level.link, beta=level.link.beta * math.sqrt(factor)))
        for level in whole.levels
    )
    return Platform(devices, levels, name=whole.name)


def emulated(graph: Graph, part: Part, machine: Machine) -> dict[str, float]:
    """Return seconds of an iteration by the virtual clock: spmv_s and cg_s.

    With them spmv_small_s and cg_small_s, of the graph as it is, where borders weigh more; and
    cg_computing_s, the longest computing in cg_s.
    """
    parts = distribute(graph, Partition(part, machine.k), want=wanted_arcs(laplacian.CG))
    programs: dict[str, tuple[Any, dict[str, float]]] = {
        "spmv": (spmv.SPMV, {"averaging": 0}), "cg": (laplacian.CG, {"tolerance": NEVER}),
    }  # fmt: skip
    found: dict[str, float] = {}
    for app, (program, parameters) in programs.items():
        clock = VirtualMachine(clocked(machine, graph.n, app, PAPER_N))
        run = clock.run_on(program, parts, most=SUPERSTEPS, parameters=parameters)
        small = VirtualMachine(clocked(machine, graph.n, app, graph.n)).charged(run.run, parts)
        found[f"{app}_s"] = float(run.step_seconds[-1])
        found[f"{app}_small_s"] = float(small.step_seconds[-1])
        if app == "cg":
            found["cg_computing_s"] = float(run.computing[-1].max())
    return found


# Two cores.


class SlowedPool:
    """A device's threads, which multiply `times` times where once is asked, as if slower.

    A product may be repeated, as its result is the same; updates of vectors are not.
    """

    def __init__(self, pool: ThreadPool, times: int) -> None:
        self.pool, self.times = pool, times
        self.threads = pool.threads

    def prepare(self, kernel: Callable[..., object], *arguments: Any) -> None:
        """Compile as ThreadPool does."""
        self.pool.prepare(kernel, *arguments)

    def run(self, kernel: Callable[..., object], *arguments: Any) -> None:
        """Run as ThreadPool does, products several times."""
        for _ in range(self.times if kernel is laplacian_kernels.multiply else 1):
            self.pool.run(kernel, *arguments)


def shifted_laplacian(graph: Graph) -> Any:
    """Return L + shift I as a SciPy matrix (n, n) in CSR."""
    from scipy.sparse import csr_array, diags_array

    degrees = np.diff(graph.xadj).astype(np.float64)
    arcs = csr_array((np.full(graph.adjncy.size, -1.0), graph.adjncy, graph.xadj),
                     shape=(graph.n, graph.n))  # fmt: skip
    return csr_array(arcs + diags_array(degrees + laplacian.SHIFT))


def cg_seconds(graph: Graph, part: Part, slower: int, iterations: int) -> tuple[float, FloatArray]:
    """Return the seconds of a CG iteration on two devices, and x (n,) after all of them.

    slower: how many times the second device multiplies where once is needed.
    """
    parts = distribute(graph, Partition(part, 2), want=wanted_arcs(laplacian.CG))

    def work(comm: Comm) -> tuple[float, Any]:
        with ThreadPool(1) as pool:
            slowed: Any = SlowedPool(pool, slower if comm.rank == 1 else 1)
            comm.barrier()
            began = time.perf_counter()
            run = laplacian.conjugate_gradients(
                comm, parts[comm.rank], slowed, most=iterations, tolerance=NEVER
            )
            return (time.perf_counter() - began) / iterations, run.values

    found = run_threads(2, work)
    x = np.empty(graph.n)
    for local, (_, values) in zip(parts, found, strict=True):
        x[local.owned] = values
    return max(seconds for seconds, _ in found), x


def spmv_seconds(graph: Graph, part: Part, slower: int, iterations: int) -> float:
    """Return the seconds of a product with the shifted Laplacian on two devices."""
    matrix, x = shifted_laplacian(graph), np.ones(graph.n)

    def work(comm: Comm) -> spmv.SpmvRun:
        repeat = slower if comm.rank == 1 else 1
        return spmv.run(comm, matrix, Partition(part, 2), x, iterations, repeat=repeat)

    run = run_threads(2, work)[0]
    return float(np.median((run.compute + run.exchange).max(axis=1)))


def on_two_cores(graph: Graph, parts: dict[str, Part], slower: int) -> list[Row]:
    """Return the seconds of SpMV and CG on two cores, a row for each turn and partition.

    parts: two blocks, of sizes `slower` to 1, by partitioner. Partitioners take turns.
    """
    rows: list[Row] = []
    for turn in range(TURNS + 1):
        for name, part in parts.items():
            seconds = {"spmv_s": spmv_seconds(graph, part, slower, ITERATIONS),
                       "cg_s": cg_seconds(graph, part, slower, ITERATIONS)[0]}  # fmt: skip
            if turn:  # the first only loads
                rows.append({"tool": name, "turn": turn, **seconds})
    return rows


def equal_finish_sizes(n: int, slower: int) -> Sequence[float]:
    """Return two targets with which both devices multiply equally long."""
    return (n * slower / (slower + 1), n / (slower + 1))


Tell = Callable[[str, float], None]
Rows = Sequence[Row]
SOLVED = "5"  # the figure whose cells have seconds per iteration
TABLE_IV = ("geoKM", "geoPMRef", "pmGraph", "zSFC", STRONG)  # those beside its rdg row
SLOWER = 4  # times that the second of two cores multiplies in place of once


class Graphs:
    """Graphs of cells, the last one kept: cells come graph by graph."""

    def __init__(self, folder: str | Path | None) -> None:
        self._folder = folder
        self._last: tuple[tuple[str, int], tuple[Graph, bool]] | None = None

    def get(self, name: str, n: int) -> tuple[Graph, bool]:
        """Return the graph, and whether it is the paper's own."""
        if self._last is None or self._last[0] != (name, n):
            self._last = None  # two do not fit where one does
            self._last = (name, n), graph_of(name, n, self._folder)
        return self._last[1]


def run_cells(
    cells: Sequence[PaperCell],
    competitors: Sequence[Competitor],
    kept: KeptRows,
    graphs: Graphs,
    tell: Tell,
) -> list[Row]:
    """Return a row for each cell and competitor. tell: with the part of the cells done."""
    rows: list[Row] = []
    for i, cell in enumerate(cells):
        tell(cell.key, i / len(cells))
        rows += kept.rows(cell.key, lambda cell=cell: run_cell(cell, competitors, graphs))  # type: ignore[misc]
    return rows


def run_cell(cell: PaperCell, competitors: Sequence[Competitor], graphs: Graphs) -> list[Row]:
    """Return the rows of a cell; one of a tool that fails has "failed" in place of figures."""
    graph, is_real = graphs.get(cell.graph, cell.n)
    platform = cell.machine.platform(graph.n)
    sizes = target_sizes(platform, graph.n, epsilon=EPSILON)
    about: dict[str, float | int | str] = {
        "figure": cell.figure, "graph": cell.graph, "dims": GRAPHS[cell.graph].dimensions,
        "real": int(is_real), "n": graph.n, "m": graph.m, **cell.machine.row(),
        "target_ratio": round(float(sizes.targets.max() / sizes.targets.min()), 4),
    }  # fmt: skip
    node = platform.places[-1]
    rows: list[Row] = []
    for one in competitors:
        request = Request(
            sizes.targets, EPSILON, preset=one.preset, tree=device_tree(platform), time_limit=None
        )
        own = about | {"tool": one.name, "by": str(one.tool)}
        try:
            made = partition_with(str(one.tool), graph, request)
        except (ToolError, InfeasibleError) as error:
            rows.append(own | {"failed": str(error)})
            continue
        partition = Partition(made.part, cell.machine.k)
        between = quotient(graph, partition)
        apart = node[between.block] != node[between.other]
        found = own | {
            "cut": edge_cut(between), "max_volume": int(comm_volumes(between).max()),
            "volume": int(between.sent.sum()), "far_volume": int(between.sent[apart].sum()),
            "cpu_s": max(round(made.cpu_seconds, 6), 1e-6),
            "worst": round(imbalance(block_weights(graph, partition), sizes.targets), 4),
        }  # fmt: skip
        if cell.figure == SOLVED:
            found |= emulated(graph, made.part, cell.machine)
        rows.append(found)
    return rows


def on_cores(effort: PaperEffort, graphs: Graphs) -> list[Row]:
    """Return seconds of SpMV and CG on two cores here, of which one is slowed, by competitor."""
    graph, _ = graphs.get("rdg_2d", effort.sizes["cores"])
    targets = np.array(equal_finish_sizes(graph.n, SLOWER))
    parts = {
        one.name: partition_with(
            str(one.tool), graph, Request(targets, EPSILON, preset=one.preset)
        ).part
        for one in effort.competitors
    }
    about: dict[str, float | int | str] = {"graph": "rdg_2d", "n": graph.n, "m": graph.m}
    cuts = {name: edge_cut(quotient(graph, Partition(part, 2))) for name, part in parts.items()}
    return [about | dict(row) | {"cut": cuts[str(row["tool"])]}
            for row in on_two_cores(graph, parts, SLOWER)]  # fmt: skip


def of_table_iv(effort: PaperEffort, kept: KeptRows, graphs: Graphs, tell: Tell) -> list[Row]:
    """Return the rows of Table IV's graph, with and without memory, of some tools."""
    chosen = [one for one in COMPETITORS if one.name in TABLE_IV and one.tool]
    return run_cells(effort.cells_of_table_iv(), chosen, kept, graphs, tell)
