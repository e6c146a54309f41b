"""The graphs and machines of [Guo16]_, shrunk alike: stand-ins of its graphs, DAS-4 emulated.

A vertex and an arc of a stand-in stand for `shrink` of the paper's. So that seconds, memory and the
edges by which r depends are the paper's, the machine for a stand-in has 1 / shrink of its
speeds, of its memory, of its cache and of the bandwidth of its links; latencies stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.errors import InputError
from evener.graphs.directed import DirectedGraph
from evener.graphs.generating.random_graphs import rmat_ends
from evener.graphs.graph import Graph
from evener.graphs.lists import Arcs
from evener.io.read import read
from evener.partitioning.policies.families import Footprint, paper_ratio
from evener.platforms.platform import Device, Level, Link, Platform

SEED = 7
EDGES_PER_VERTEX, ZERO_BIT = 16, 0.57 + 0.19  # of Graph500

# A GeForce GTX 480 [arcs/s]: 1.05e9 arcs, ten times, on 8 machines in 5.3 s, of which the GPUs have
# 0.96 (section IV-G: C-PG on G4). A Xeon E5620 while values fit its cache: r is 9.3 then (IV-B).
GPU_SPEED = 2.37e8
CPU_SPEED = GPU_SPEED / 9.3
GPU_MEMORY = 1.5 * 2**30  # [B], section IV-A
HOST_MEMORY = 24.0 * 2**30
# What the paper does not state. An arc to a value beyond the cache takes 2.5 times as long: r of
# its largest graphs is 23.7 = 2.5 x 9.3. Cached values, and the arcs that passing a vertex is
# worth: chosen so that r by edges is near Figure 3. One of 15 multiprocessors handles a vertex. Of
# a CPU all cores do: lists of stand-ins are relatively longer, too long for one core.
CPU_TERMS = {"vertex_arcs": 4.0, "near_values": 6e5, "far_factor": 2.5}
GPU_TERMS = {"vertex_arcs": 2.0, "list_share": 1 / 15}
LAUNCHES = 5e-5  # [s] of the GPU's kernels in a superstep; the CPU's loops take a fifth of it
# Of a message: which vertex, its value, and the value of the next superstep, 4 B each, and the same
# where it arrives (section II: inbox and outbox buffers; the paper does not give their size). With
# the second value the memory of the GPUs bounds the CPUs' share of G5 to nearly the paper's 0.85.
MESSAGES = Footprint(outbox=12.0, inbox=12.0)
NETWORK = Link(2e-6, 1 / 3e9)  # InfiniBand of 24 Gbit/s, section IV-A; 2 us: usual
BUS = Link(1e-5, 1 / 5e9)  # PCI Express 2.0 with 16 lanes: 10 us and 5 GB/s are usual


def das4(n_machines: int, shrink: float = 1.0) -> Platform:
    """Return machines of a CPU and a GPU each, as in section IV-A, for graphs shrunk so much."""
    near = {"near_values": CPU_TERMS["near_values"] / shrink}
    devices = []
    for i in range(n_machines):
        devices += [
            Device(f"cpu{i}", CPU_SPEED / shrink, at=f"m{i}", fixed_seconds=LAUNCHES / 5,
                   memory=HOST_MEMORY / shrink, capabilities=CPU_TERMS | near),
            Device(f"gpu{i}", GPU_SPEED / shrink, "cuda", GPU_MEMORY / shrink, at=f"m{i}",
                   fixed_seconds=LAUNCHES, capabilities=GPU_TERMS),
        ]  # fmt: skip
    levels = (
        Level("network", Link(NETWORK.alpha, NETWORK.beta * shrink), shared=True),
        Level("machine", Link(BUS.alpha, BUS.beta * shrink)),
    )
    return Platform(tuple(devices), levels, name="DAS-4")


def gpus_alone(count: int, shrink: float = 1.0) -> Platform:
    """Return a machine with so many GPUs, and no CPU that computes (section IV-G)."""
    whole = das4(count, shrink)
    devices = tuple(replace(device, at="m0") for device in whole.devices if device.kind != "cpu")
    return replace(whole, devices=devices)


@dataclass(frozen=True, eq=False)
class StandIn:
    """A graph that stands for one of the paper's (Table IV).

    arcs: of the paper's graph. degree: its mean out-degree. draw: makes the stand-in;
    draw_numbered: the same with the generator's own numbers, where those are not what draw gives.
    is_real: whether it is the paper's own graph, from a file.
    """

    name: str
    original: str
    arcs: float
    degree: float
    is_directed: bool
    draw: Callable[[], DirectedGraph]
    draw_numbered: Callable[[], DirectedGraph] | None = None
    is_real: bool = False

    @cached_property
    def graph(self) -> DirectedGraph:
        """The stand-in; an edge of an undirected graph is two arcs."""
        return self.draw()

    @cached_property
    def both_ways(self) -> DirectedGraph:
        """The graph for WCC: with the arcs of the other direction, as in section IV-A."""
        if not self.is_directed:
            return self.graph
        return DirectedGraph.of_edges(self.graph.undirected())

    @property
    def shrink(self) -> float:
        """How many arcs of the paper's graph one stands for."""
        return self.arcs / self.graph.m

    def ratio(self, n_machines: int) -> float:
        """Return the paper's r for its graph on so many machines."""
        return paper_ratio(self.arcs / n_machines)

    @property
    def source(self) -> int:
        """The vertex where BFS starts: of most arcs."""
        return int(np.argmax(self.graph.degrees))


def stand_ins(part: float = 1.0, folder: str | Path | None = None) -> dict[str, StandIn]:
    """Return stand-ins of G1 to G5, of so many arcs relative to the largest used here.

    folder: with files of the paper's graphs, which are taken as they are: WikiTalk.txt and so on,
    or wiki-Talk.txt.gz as SNAP calls it. Raises InputError where it has none of them.

    Mean out-degree and direction are those of Table IV. Degrees of G4 are those of R-MAT, of the
    others log-normal: sigma 0.5 for G2, which is dense, 1 for G3, 1.5 for G5; of G1, where few
    users write to most others, 2.5 out and 1 in.
    """
    rows = (
        ("G1", "WikiTalk", 5_018_445, 2, True, lambda: _talk(24_000 * part, 2)),
        ("G2", "DotaLeague", 101_740_632, 1663, False, lambda: _dense(3000, 1663, 0.5)),
        ("G3", "Datagen_p10m", 687_174_631, 70, True,
         lambda: _log_normal(10_000 * part, 70, 1.0, directed=True)),
        ("G4", "Scale-25", 1_047_207_019, 61, False, lambda: _rmat_of(16_000 * part, 61),
         lambda: _rmat_of(16_000 * part, 61, shuffled=False)),
        ("G5", "Friendster", 3_612_134_270, 55, False, lambda: _log_normal(32_000 * part, 55, 1.5)),
    )  # fmt: skip
    found = {row[0]: StandIn(*row) for row in rows}
    return found if folder is None else found | _real_graphs(found, Path(folder))


def _real_graphs(known: Mapping[str, StandIn], folder: Path) -> dict[str, StandIn]:
    """Return those of the paper's graphs that are files of a folder, by their names in the paper.

    Case, hyphens, underscores, suffixes and a leading "com-" of a file's name do not matter.
    """
    try:
        paths = sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=folder) from error
    by_name = {_plain(path.name.split(".")[0].removeprefix("com-")): path for path in paths}
    found = {}
    for name, one in known.items():
        path = by_name.get(_plain(one.original))
        if path is not None:
            draw = partial(_read, path, directed=one.is_directed)
            numbered = None if one.draw_numbered is None else draw
            found[name] = replace(one, draw=draw, draw_numbered=numbered, is_real=True)
    if not found:
        names = ", ".join(one.original for one in known.values())
        raise InputError(
            f"has none of the graphs {names}",
            file=folder,
            hint="The files are called as the graphs, such as WikiTalk.txt.",
        )
    return found


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def _read(path: Path, *, directed: bool) -> DirectedGraph:
    graph = read(path, directed=directed).graph
    return graph if isinstance(graph, DirectedGraph) else DirectedGraph.of_edges(graph)


def ordered_by_degree(graph: DirectedGraph) -> DirectedGraph:
    """Return the graph numbered by falling out-degree; the paper says that its G4 nearly is."""
    rank = np.empty(graph.n, np.int64)
    rank[np.argsort(-graph.degrees, kind="stable")] = np.arange(graph.n)
    tails = np.repeat(np.arange(graph.n), graph.degrees)
    return DirectedGraph.from_arcs(graph.n, rank[tails], rank[graph.adjncy])


def scale_graph(scale: int, degree: float = 61) -> DirectedGraph:
    """Return an R-MAT graph of up to 2^scale vertices, an edge two arcs (Graph500)."""
    return _rmat_of(2**scale, degree)


@dataclass(frozen=True, eq=False)
class DegreesAlone:
    """A graph of which the out-degrees are known: what policies look at, memory apart."""

    xadj: npt.NDArray[np.int64]

    @property
    def m(self) -> int:
        """Number of arcs."""
        return int(self.xadj[-1])

    def arcs_out(self) -> Arcs:
        """Return offsets; the ends take no memory and mean nothing."""
        return Arcs(self.xadj, np.broadcast_to(np.int32(0), self.m), None)

    def arcs_in(self) -> Arcs:
        """Return the same: an edge is two arcs."""
        return self.arcs_out()


def scale_degrees(scale: int) -> DegreesAlone:
    """Return degrees as of Graph500's graph of this scale, 16 edges for each of 2^scale vertices.

    Each vertex has a degree by Poisson's law, whose mean is that of R-MAT: an end has each bit of
    its number 0 in 76 of 100 cases. Numbers are random; vertices without arcs are left out.
    """
    rng = np.random.default_rng(SEED)
    mean = np.array([2.0 * EDGES_PER_VERTEX * 2**scale])
    for _ in range(scale):
        mean = np.concatenate([mean * ZERO_BIT, mean * (1 - ZERO_BIT)])
    degrees = rng.poisson(mean)
    degrees = rng.permutation(degrees[degrees > 0])
    return DegreesAlone(np.concatenate([[0], np.cumsum(degrees)]))


def _rmat_of(n: float, degree: float, *, shuffled: bool = True) -> DirectedGraph:
    """Return an R-MAT graph; vertices without arcs are left out, as of Scale-25 in Table IV.

    shuffled: vertices have random numbers, else those of R-MAT, whose small ones have more arcs.
    """
    rng = np.random.default_rng(SEED)
    scale = int(np.ceil(np.log2(n)))
    tails, heads = rmat_ends(scale, int(2**scale * degree / 2), rng)
    for _ in range(2):  # loops, repeats and vertices without arcs change the mean degree
        made = _finished(tails, heads, directed=False, shuffled=shuffled)
        more = int(tails.size * (degree * made.n / made.m - 1))
        if more <= 0:
            break
        further = rmat_ends(scale, more, rng)
        tails, heads = np.append(tails, further[0]), np.append(heads, further[1])
    return _finished(tails, heads, directed=False, shuffled=shuffled)


def _talk(n: float, degree: float) -> DirectedGraph:
    """Return a directed graph in which an arc reaches every vertex, and few have most arcs out."""
    rng = np.random.default_rng(SEED)
    size = int(n)
    out, into = rng.lognormal(0, 2.5, size), rng.lognormal(0, 1.0, size)
    count = int(size * degree * 1.1)  # some are repeated, which are left out
    tails = rng.choice(size, count, p=out / out.sum())
    further = rng.choice(size, count - size, p=into / into.sum())
    heads = np.append(rng.permutation(size), further)
    return _finished(tails, heads, directed=True, shuffled=False)


def _log_normal(n: float, degree: float, sigma: float, *, directed: bool = False) -> DirectedGraph:
    """Return a graph whose ends are drawn in proportion to log-normal weights (Chung and Lu)."""
    rng = np.random.default_rng(SEED)
    weights = rng.lognormal(0, sigma, int(n))
    count = int(n * degree / (1 if directed else 2) * 1.05)
    ends = rng.choice(int(n), (2, count), p=weights / weights.sum())
    return _finished(ends[0], ends[1], directed=directed, shuffled=False)


def _dense(n: int, degree: float, sigma: float) -> DirectedGraph:
    """Return an undirected graph, each pair joined with a probability by log-normal weights."""
    rng = np.random.default_rng(SEED)
    weights = rng.lognormal(0, sigma, n)
    low, high = 0.0, 1e3
    for _ in range(40):  # the factor that gives the mean degree
        factor = (low + high) / 2
        chances = np.minimum(factor * np.outer(weights, weights), 1.0)
        low, high = (factor, high) if chances.sum() < n * degree else (low, factor)
    tails, heads = np.nonzero(np.triu(rng.random((n, n)) < chances, 1))
    return _finished(tails, heads, directed=False, shuffled=False)


def _finished(
    tails: npt.NDArray[Any], heads: npt.NDArray[Any], *, directed: bool, shuffled: bool
) -> DirectedGraph:
    """Return the graph of these arcs without vertices that have none, in drawn or random order."""
    used = np.unique(np.concatenate([tails, heads]))
    order = np.arange(used.size)
    if shuffled:
        order = np.random.default_rng(SEED).permutation(used.size)
    u, v = (order[np.searchsorted(used, end)] for end in (tails, heads))
    if directed:
        return DirectedGraph.from_arcs(used.size, u, v)
    return DirectedGraph.of_edges(Graph.from_edges(used.size, u, v))
