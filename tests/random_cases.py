"""Random partitions of random graphs on random machines, to be judged; the same for each seed."""

from dataclasses import dataclass

import numpy as np

from evener.graphs.graph import Graph
from evener.plans.partition import Contract, Further, Partition
from evener.plans.workload import WORKLOADS, Workload
from evener.platforms.device import Connection, Device, Level, Link
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.platforms.platform import Platform


@dataclass(frozen=True)
class RandomCase:
    """What evaluate takes."""

    graph: Graph
    partition: Partition
    platform: Platform
    contract: Contract
    workload: Workload
    constraint: int


def random_case(seed, k=None, n=None):
    """Return a case of up to 12 devices and 60 vertices, or of as many as are asked for."""
    draw = np.random.default_rng(seed)
    k = k or int(draw.integers(1, 13))
    graph = random_graph(draw, n or int(draw.integers(1, 61)))
    platform = random_platform(draw, k, graph)
    blocks = draw.permutation(k)[: draw.integers(1, k + 1)] if draw.random() < 0.3 else np.arange(k)
    near = draw.random() < 0.5  # blocks that are runs of vertices, or scattered ones
    order = np.sort(draw.random(graph.n)) if near else draw.random(graph.n)
    part = blocks[np.minimum((order * blocks.size).astype(int), blocks.size - 1)]
    workload = random_workload(draw, graph)
    several = graph.n_constraints
    constraint = int(draw.integers(several)) if several > 1 and draw.random() < 0.5 else 0
    every = constraint == 0 and several > 1 and draw.random() < 0.8
    contract = random_contract(draw, graph, platform, part, several if every else 1, constraint)
    return RandomCase(graph, Partition(part, k), platform, contract, workload, constraint)


def random_graph(draw, n):
    """Return a graph with some edges, isolated vertices, and weights of some kind."""
    m = int(draw.integers(0, 3 * n + 1))
    u, v = draw.integers(0, n, (2, m))
    if draw.random() < 0.5:
        v = (u + draw.integers(1, 4, m)) % n
    weights = [None, draw.integers(0, 5, m), draw.random(m)][draw.integers(3)]
    graph = Graph.from_edges(
        n,
        u,
        v,
        weights=weights,
        bytes_per_vertex=float(draw.choice([24.0, 0.0, 7.3])),
        bytes_per_edge=float(draw.choice([12.0, 0.0, 0.7])),
    )
    kind = draw.integers(6)
    if kind == 0:
        return graph
    vwgt = draw.integers(0, 4, (n, 3)) if kind % 2 else draw.random((n, 3)) * 100
    if kind > 2:
        return graph.with_(vwgt=vwgt[:, : kind - 1])
    return graph.with_(vwgt=vwgt[:, 0])


def random_workload(draw, graph):
    """Return a kernel; one that counts edges only where there are some."""
    overlap = bool(draw.random() < 0.4)
    kind = draw.integers(4)
    if kind == 0:
        base = list(WORKLOADS.values())[draw.integers(len(WORKLOADS))]
        return Workload(**{**vars(base), "overlap": overlap})
    numbers = draw.random(4) * 40 * (draw.random(4) < 0.5)
    if kind == 1 or not graph.m:
        numbers[:] = 0
    size = float(draw.choice([8, 8, 40, 0, 1.5]))
    fixed = float(draw.choice([0, 0, 1e-6, 3e-5, 1.0]))
    return Workload("random", *numbers.tolist(), size, fixed, overlap)


def random_contract(draw, graph, platform, part, several, constraint):
    """Return limits that some blocks keep and others do not."""
    k = platform.k
    limits = []
    for c in range(several):
        weights = np.bincount(part, graph.weights(constraint + c), minlength=k)
        targets = weights * draw.choice([0.5, 1.0, 1.0, 1.02, 2.0], k)
        low = targets * draw.choice([0.0, 0.9, 1.0], k)
        high = targets * draw.choice([1.0, 1.0, 1.1, 3.0], k) * (draw.random() < 0.97)
        limits.append((targets, np.minimum(low, high), high))
    caps = platform.memories if draw.random() < 0.8 else np.empty(0)
    return Contract(
        *limits[0],
        caps,
        tuple(Further(*one) for one in limits[1:]),
        may_be_unused=bool(draw.random() < 0.3),
        makespan=float(10.0 ** draw.uniform(-4, 4)) if draw.random() < 0.4 else np.inf,
    )


def random_platform(draw, k, graph):
    """Return devices with memory, curves and fixed seconds; levels, a graph of links, or none."""
    joined = draw.choice(["none", "levels", "levels", "links", "links"])
    share = [0.0, 0.5, 1.0][draw.integers(3)]  # of the links that are shared
    depth = int(draw.integers(1, 4))
    curved = draw.random() < 0.4
    memory = [None, float(draw.random() * 2 * (graph.total_bytes + 1) / k)]
    fixed = draw.choice([0.0, 0.0, 1e-5, 1.0])
    work = max(graph.total_weight, 1e-3)
    speed = float(10.0 ** draw.uniform(0, 7))
    devices = []
    for b in range(k):
        parts = [f"p{draw.integers(3)}" for _ in range(depth - 1 - (draw.random() < 0.2))]
        own = speed * float(draw.choice([1, 2, 8, draw.random() + 0.1]))
        devices.append(
            Device(
                f"d{b}",
                own,
                memory=memory[int(draw.random() < 0.3)],
                at="/".join(parts) if joined == "levels" else "",
                curve=random_curve(draw, f"d{b}", own, work / k) if curved else None,
                fixed_seconds=float(fixed * draw.random()),
            )
        )
    if joined == "levels":
        levels = [Level(f"l{i}", random_link(draw), draw.random() < share) for i in range(depth)]
        return Platform(tuple(devices), tuple(levels))
    if joined == "links" and k > 1:
        return linked(draw, devices, share)
    return Platform(tuple(devices))


def linked(draw, devices, share):
    """Return devices at places, the places joined by a tree of links and some more."""
    k = len(devices)
    places = [f"s{i}" for i in range(int(draw.integers(1, k + 1)))]
    homes = [places[int(draw.integers(len(places)))] for _ in devices]
    names, placed = list(places), []
    for device, home in zip(devices, homes, strict=True):
        alone = draw.random() < 0.6
        placed.append(Device(**{**{f: getattr(device, f) for f in device.__slots__},
                                "at": "" if alone else home}))  # fmt: skip
        if alone:
            names.append(device.name)
    pairs = [(names[i], names[int(draw.integers(i))]) for i in range(1, len(names))]
    pairs += [
        (names[a], names[b])
        for a, b in draw.integers(0, len(names), (int(draw.integers(0, 6)), 2)).tolist()
        if a != b
    ]
    pairs = pairs or [(places[0], "far")]
    mentioned = [end for pair in pairs for end in pair]
    known = {one.name for one in placed} | {one.at for one in placed}
    # A switch that one link alone mentions leads nowhere.
    for name in dict.fromkeys(mentioned):
        if mentioned.count(name) == 1 and name not in known:
            pairs.append((name, next(end for end in mentioned if end != name)))
    links = [Connection(pair, random_link(draw), draw.random() < share) for pair in pairs]
    return Platform(tuple(placed), connections=tuple(links))


def random_link(draw):
    """Return a link; some without latency, some without end in bandwidth."""
    alpha = float(draw.choice([0.0, 1.0, 1.0]) * 10 ** draw.uniform(-7, -2))
    beta = float(draw.choice([0.0, 1.0, 1.0, 1.0, 1.0]) * 10 ** draw.uniform(-9, -2))
    return Link(alpha, beta)


# Kinds of models that the slow twin knows; "time" is a Piecewise with more knots.
TWINNED = ("constant", "piecewise", "shaped", "akima")


def random_curve(draw, name, speed, load):
    """Return samples about a load, of every kind, some stopped, some of the same load."""
    count = int(draw.integers(1, 7))
    loads = np.round(load * 4.0 ** draw.uniform(-2, 2, count), 3) + 0.001
    speeds = speed * draw.uniform(0.3, 1.0, count)
    samples = [
        Sample(
            float(x),
            float(x / y),
            repetitions=int(draw.integers(1, 5)),
            status="slower" if draw.random() < 0.15 else "ok",
        )
        for x, y in zip(loads, speeds, strict=True)
    ]
    if draw.random() < 0.3:
        samples.append(Sample(samples[0].load, samples[0].seconds * 1.3, repetitions=2))
    return DeviceSpeeds(name, tuple(samples), model=str(draw.choice(TWINNED)))
