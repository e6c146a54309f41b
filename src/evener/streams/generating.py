"""Random stream graphs and machines with the parameters of [Muralidharan13]_, section IV-B.

Where the paper leaves a choice open, the docstrings state Evener's choice. The paper's average
in-degree equals the mean out-degree: both are edges / filters. In the paper, a CPU's cores have
their own vector lengths and MIPS; here a CPU is one processor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.errors import one_of
from evener.graphs.generating.checks import at_least, between, check_memory, refuse_negative
from evener.graphs.stream_graph import StreamGraph
from evener.platforms.device import Connection, Device, Link
from evener.platforms.platform import Platform
from evener.streams.period import StreamProblem, work_of
from evener.streams.processors import MOST_PROCESSORS
from evener.streams.readings import CostReading

SIZES = (128, 256, 512, 1024, 4096, 8192, 16384)
DEGREES = (2, 4, 8)
RATIOS = (0.0001, 0.001, 0.01, 0.1, 1.0)
SHAPES = (0.1, 1.0, 10.0)
SHARES = (5, 25, 50, 75, 95)
SPREADS = (5, 25, 50, 75, 95)
MACHINES = tuple(64 << i for i in range(7))
# Size of the sets from which processors' values are drawn; the paper does not give it.
SET_SIZE = 16
LENGTHS, MIPS, BANDWIDTHS = (1e4, 1e5), (1e3, 1e5), (100.0, 1e5)  # data, MIPS, MB/s
CPU_LENGTHS = (4.0, 8.0, 16.0, 32.0)  # setting A; the paper names cores, not their number
GPU_SLOWER = 10.0  # setting A: "the GPU nodes have a lower MIPS count" (III-A)
MOST_DEGREE, MOST_RATIO, MOST_SHAPE, MOST_SPREAD = 1000, 1e9, 1e6, 1000.0
BYTES_A_FILTER, BYTES_AN_EDGE = 1000, 200  # peak memory, about
LARGE, SMALL = (1e3, 1e5), (1.0, 1e3)  # ranges of a filter's larger and smaller requirement


@dataclass(frozen=True)
class GraphParameters:
    """Parameters of a random stream graph.

    n: number of filters. degree: mean out-degree. ratio: mean time of an edge over that of a filter
    (CCR). shape: alpha. share: percentage of filters suited to GPUs (beta). spread: gamma.
    """

    n: int
    degree: int = 4
    ratio: float = 0.1
    shape: float = 1.0
    share: float = 50.0
    spread: float = 25.0

    def __post_init__(self) -> None:
        at_least(self.n, 2, "n")
        between(self.degree, 1, MOST_DEGREE, "the degree")
        between(self.ratio, 0, MOST_RATIO, "the ratio (CCR)")
        between(self.shape, 1 / MOST_SHAPE, MOST_SHAPE, "the shape (alpha)")
        between(self.share, 0, 100, "the share (beta)")
        between(self.spread, 0, MOST_SPREAD, "the spread (gamma)")
        check_memory(self.n, BYTES_A_FILTER + BYTES_AN_EDGE * min(self.degree, self.n), "filters")


def random_machine(k: int, setting: str = "A", seed: int = 7) -> Platform:
    """Return a mesh of k processors, nearly square, with random bandwidths.

    GPUs are at random places; their share is drawn from a normal distribution in 25 to 75 %. For a
    normal distribution in a range, the mean is the middle of the range, sigma is a sixth of the
    range, and values outside are drawn again. setting "A": CPUs have one of CPU_LENGTHS, and GPUs a
    tenth of the MIPS (III-A); "B": all lengths are drawn from the GPUs' set (IV-B). Each link has
    its own bandwidth [MB/s]. Raises UsageError for other settings, invalid k, and a negative seed.
    """
    one_of("setting", setting, ("A", "B"))
    between(k, 1, MOST_PROCESSORS, "k")
    refuse_negative(seed)
    rng = np.random.default_rng([k, seed, ord(setting)])
    gpu = np.zeros(k, np.bool_)
    gpu[rng.permutation(k)[: round(float(_normal(rng, (0.25 * k, 0.75 * k), 1)[0]))]] = True
    lengths, mips = _normal(rng, LENGTHS, SET_SIZE), _normal(rng, MIPS, SET_SIZE)
    rate, width = rng.choice(mips, k), np.round(rng.choice(lengths, k))
    if setting == "A":
        width = np.where(gpu, width, rng.choice(CPU_LENGTHS, k))
        rate = np.where(gpu, rate / GPU_SLOWER, rate)
    ends = _mesh_edges(k)
    bandwidth = 1e6 * _normal(rng, BANDWIDTHS, len(ends))
    devices = tuple(
        Device(
            f"p{i}", 1e6 * float(rate[i]), "gpu" if gpu[i] else "cpu",
            capabilities={"mips": float(rate[i]), "vector_length": float(width[i])},
        )
        for i in range(k)
    )  # fmt: skip
    links = tuple(
        Connection((f"p{a}", f"p{b}"), Link(0.0, 1.0 / float(b_per_s)))
        for (a, b), b_per_s in zip(ends.tolist(), bandwidth, strict=True)
    )
    return Platform(devices, (), links, f"mesh of {k} ({setting})")


def _normal(rng: np.random.Generator, limits: tuple[float, float], size: int) -> FloatArray:
    low, high = limits
    drawn = rng.normal((low + high) / 2, (high - low) / 6, size)
    while True:
        outside = (drawn < low) | (drawn > high)
        if not outside.any():
            return drawn
        drawn[outside] = rng.normal((low + high) / 2, (high - low) / 6, int(outside.sum()))


def _mesh_edges(k: int) -> IntArray:
    """Return neighbours (links, 2) in a mesh as close to a square as the divisors of k allow."""
    rows = max(d for d in range(1, int(k**0.5) + 1) if k % d == 0)
    place = np.arange(k).reshape(rows, k // rows)
    across = np.column_stack([place[:, :-1].ravel(), place[:, 1:].ravel()])
    down = np.column_stack([place[:-1].ravel(), place[1:].ravel()])
    return np.concatenate([across, down])


READINGS = {"A": CostReading("ceil"), "B": CostReading("literal")}  # by setting


def random_stream_graph(
    parameters: GraphParameters, platform: Platform, seed: int, reading: CostReading | None = None
) -> StreamGraph:
    """Return a random layered graph; its edges take `ratio` times as long as its filters.

    platform: gives the times of filters and edges.

    There are max(2, round(sqrt(n) / alpha)) layers; each gets one filter, and the other filters get
    random layers. A filter has edges to a random number of filters in the next layers, such that
    the mean over all filters is `degree`; filters of the last layer have none. A filter that no
    edge reaches gets one from the previous layer. With a probability of beta per cent, a filter is
    suited to GPUs: its vector width is then the larger requirement, uniform in LARGE times a
    lognormal variable with sigma gamma / 50, and its number of instructions is uniform in SMALL;
    for other filters these two are exchanged. Bytes of edges are uniform within a factor of three.
    The time of filters is the mean over 512 of them, each on a processor with the mean rate for it;
    the time of edges is that on a link of mean bandwidth.
    """
    refuse_negative(seed)
    rng = np.random.default_rng([parameters.n, seed, 5])
    tails, heads = _layered(parameters, rng)
    n = parameters.n
    is_wide = rng.random(n) < parameters.share / 100
    large = rng.uniform(*LARGE, n) * np.exp(rng.normal(0, parameters.spread / 50, n))
    small = rng.uniform(*SMALL, n)
    scalar, vector = np.where(is_wide, small, large), np.where(is_wide, large, small)
    graph = StreamGraph(
        tuple(f"f{i}" for i in range(n)), np.ceil(scalar), np.ceil(vector), tails, heads,
        rng.uniform(0.5, 1.5, tails.size),
    )  # fmt: skip
    scale = parameters.ratio * _mean_seconds(graph, platform, reading) / _mean_beta(platform)
    nbytes = graph.nbytes * (scale / graph.nbytes.mean())
    return StreamGraph(graph.names, graph.scalar, graph.vector, tails, heads, nbytes)


def _layered(parameters: GraphParameters, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    n = parameters.n
    height = min(max(2, round(n**0.5 / parameters.shape)), n)  # the paper's sqrt(n) / alpha
    layer = np.sort(np.concatenate([np.arange(height), rng.integers(0, height, n - height)]))
    first = np.searchsorted(layer, np.arange(height + 1))
    senders = int(first[height - 1])  # no edge leaves the last layer
    most = 2.0 * parameters.degree * n / senders
    tails, heads = [], []
    for v in range(senders):
        low, above = int(first[layer[v] + 1]), int(layer[v]) + 2
        while first[above] - low < most and above < height:
            above += 1
        room = int(first[above]) - low
        count = min(int(rng.uniform(1, most)), room)
        heads.append(low + rng.choice(room, count, replace=False))
        tails.append(np.full(count, v))
    tail, head = np.concatenate(tails), np.concatenate(heads)
    lonely = np.setdiff1d(np.flatnonzero(layer > 0), head)
    given = np.array([rng.integers(first[layer[v] - 1], first[layer[v]]) for v in lonely], np.int64)
    return np.concatenate([tail, given]), np.concatenate([head, lonely])


def _mean_seconds(graph: StreamGraph, platform: Platform, reading: CostReading | None) -> float:
    """Return the mean time [s] of a filter on a processor with the platform's mean rate for it."""
    some = np.linspace(0, graph.n - 1, min(graph.n, 512)).astype(np.int64)
    seconds = work_of(StreamProblem.of(graph, platform, reading), some)
    return float(np.mean(1.0 / (1.0 / seconds).mean(axis=1)))


def _mean_beta(platform: Platform) -> float:
    """Return the time per byte [s] of a link with the mean bandwidth."""
    if not platform.connections:
        return 1.0
    return 1.0 / float(np.mean([1.0 / one.link.beta for one in platform.connections]))
