"""Ratio r of a GPU's to a CPU's speed at PageRank, by number of arcs: section IV-B of [Guo16]_.

Both devices compute the same part of an R-MAT graph, one after the other: first the CPU computes
the part and the GPU the rest, then the GPU computes the part. r is the CPU's time divided by the
GPU's for the same part. A line is fitted for few arcs, and constants for more arcs.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import InputError
from evener.files.writing import write_text
from evener.graphs.directed import DirectedGraph
from evener.graphs.generating.random_graphs import rmat
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.platforms.platform import Platform
from evener.running.apps.registry import APPS
from evener.running.devices import Cuda
from evener.running.emulated_run import VirtualMachine
from evener.running.executing import run_program

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5)  # arcs on one device, the rest on the other; then swapped
SEEDS = 5  # random divisions per share
SCALES, FEW_SCALES = (16, 17, 18, 19, 20), (12, 13, 14)  # of R-MAT; the paper's are 20 to 24
EDGE_FACTOR = 16  # of Graph500
SUPERSTEPS = 10
# Ends of the fit's pieces, as shares of the most arcs: the paper's 50 and 125 of 350 million.
PIECES = (50 / 350, 125 / 350)

AnyGraph = Graph | DirectedGraph
# (graph, partition) -> computing times [s] of the CPU, block 0, and of the GPU, block 1.
Timed = Callable[[AnyGraph, Partition], tuple[float, float]]
Tell = Callable[[str, float], None]


@dataclass(frozen=True)
class RatioPoint:
    """r for a graph of a scale and a number of arcs: the mean over seeds, and their deviation."""

    scale: int
    arcs: float
    r: float
    deviation: float


@dataclass(frozen=True)
class RatioFit:
    """Fit of r by arcs: offset + slope x arcs up to ends[0], middle up to ends[1], then large."""

    offset: float
    slope: float
    ends: tuple[float, float]
    middle: float
    large: float

    def at(self, arcs: float) -> float:
        """Return r for this number of arcs."""
        if arcs <= self.ends[0]:
            return self.offset + self.slope * arcs
        return self.middle if arcs <= self.ends[1] else self.large


def ratio_points(
    timed: Timed,
    scales: Sequence[int],
    graph_of: Callable[[int], AnyGraph] = lambda scale: rmat(scale, 7, EDGE_FACTOR),
    *,
    seeds: int = SEEDS,
    tell: Tell = lambda *_: None,
) -> list[RatioPoint]:
    """Return r for all scales and shares of arcs from 10 to 90 %, by rising number of arcs."""
    points = []
    for i, scale in enumerate(scales):
        graph = graph_of(scale)
        for j, share in enumerate(SHARES):
            tell(f"scale {scale}, {share:.0%}", (i + j / len(SHARES)) / len(scales))
            points += _both_ways(timed, graph, scale, share, seeds)
    return sorted(points, key=lambda point: point.arcs)


def _both_ways(
    timed: Timed, graph: AnyGraph, scale: int, share: float, seeds: int
) -> list[RatioPoint]:
    """Return r for a share of the arcs and for the rest, each computed by both devices in turn."""
    found = []
    for seed in range(seeds):
        part = _at_random(graph, share, seed)
        cpu_part, gpu_rest = timed(graph, Partition(part, 2))
        cpu_rest, gpu_part = timed(graph, Partition(1 - part, 2))
        found.append((cpu_part / gpu_part, cpu_rest / gpu_rest))
    ratios = np.array(found)
    arcs = graph.arcs_out().adjncy.size
    return [
        RatioPoint(scale, part * arcs, float(own.mean()), float(own.std()))
        for part, own in zip((share, 1 - share), ratios.T, strict=True)
    ]


def _at_random(graph: AnyGraph, share: float, seed: int) -> npt.NDArray[np.int32]:
    """Return 0 for random vertices that have about this share of the arcs, 1 for others, (n,)."""
    degrees = np.diff(graph.arcs_out().xadj)
    order = np.random.default_rng([seed, round(100 * share)]).permutation(degrees.size)
    part = np.ones(degrees.size, np.int32)
    reached = np.cumsum(degrees[order])
    part[order[: int(np.searchsorted(reached, share * reached[-1])) + 1]] = 0
    return part


def fit_ratio(points: Sequence[RatioPoint]) -> RatioFit:
    """Return the fit to two or more points. A piece without points continues the previous one."""
    if len(points) < 2:
        raise InputError("a fit of r by numbers of arcs needs at least two measured points")
    arcs, r = np.array([p.arcs for p in points]), np.array([p.r for p in points])
    ends = PIECES[0] * float(arcs.max()), PIECES[1] * float(arcs.max())
    small = arcs <= ends[0]
    offset, slope = _line(arcs[small], r[small]) if small.sum() > 1 else (float(r.min()), 0.0)
    pieces = [r[(arcs > ends[0]) & (arcs <= ends[1])], r[arcs > ends[1]]]
    middle = float(pieces[0].mean()) if pieces[0].size else offset + slope * ends[0]
    return RatioFit(offset, slope, ends, middle, float(pieces[1].mean()))


def _line(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    slope, offset = np.polyfit(x, y, 1)
    return float(offset), float(slope)


def emulated_timer(platform: Platform) -> Timed:
    """Return a function that times PageRank on a platform's two devices by a virtual clock."""
    if platform.k != 2:
        raise InputError(f"r compares a CPU and a GPU, but the machine has {platform.k} devices")
    machine = VirtualMachine(platform)

    def timed(graph: AnyGraph, partition: Partition) -> tuple[float, float]:
        found = machine.run(APPS["pagerank"].program, graph, partition, most=1)
        cpu, gpu = found.computing.sum(axis=0).tolist()
        return cpu, gpu

    return timed


def timer_here(devices: Sequence[Sequence[int] | Cuda], most: int = SUPERSTEPS) -> Timed:
    """Return a function that times PageRank on two devices of this computer, running at once."""
    if len(devices) != 2:
        raise InputError(f"r compares two devices, but {len(devices)} are given")

    def timed(graph: AnyGraph, partition: Partition) -> tuple[float, float]:
        program = APPS["pagerank"].program
        found = run_program(program, graph, partition, devices=devices, most=most)
        first, second = np.median(found.of_devices("computing"), axis=0).tolist()
        return first, second

    return timed


def write_ratio(
    path: str | Path, fit: RatioFit, points: Sequence[RatioPoint], devices: Sequence[str], how: str
) -> None:
    """Write a fit of r and its points as TOML. devices: the two; how: "here" or "emulated"."""
    lines = ["[ratio]", f"devices = {json.dumps(list(devices))}", f"how = {json.dumps(how)}"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in asdict(fit).items()]
    for point in points:
        lines += ["", "[[point]]"]
        lines += [f"{name} = {json.dumps(value)}" for name, value in asdict(point).items()]
    write_text(Path(path), "\n".join(lines) + "\n")


def read_ratio(path: str | Path) -> RatioFit:
    """Return the fit of r in a file of write_ratio. Raises InputError for other files."""
    try:
        found = tomllib.loads(Path(path).read_text())["ratio"]
        numbers = {one.name: found[one.name] for one in fields(RatioFit)}
        first, second = numbers.pop("ends")
        made = {name: float(value) for name, value in numbers.items()}
        return RatioFit(ends=(float(first), float(second)), **made)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise InputError("is not a file of `evener measure pagerank --ratio`", file=path) from error
