"""Slow obvious references: what an iteration costs, by loops over filters and edges."""

import itertools
import math

import networkx as nx
import numpy as np

from evener.graphs.stream_graph import StreamGraph
from evener.platforms.device import Connection, Device, Link
from evener.platforms.platform import Platform
from evener.streams.period import StreamProblem
from evener.streams.readings import CostReading


def processor(name, mips, width=1.0, **more):
    return Device(name, 1.0, capabilities={"mips": mips, "vector_length": width, **more})


def small_case(seed, reading=None, n=7, k=3):
    """A random problem: a ring of processors with one link more, and a random graph."""
    rng = np.random.default_rng(seed)
    devices = [processor(f"p{i}", rng.uniform(1, 9), rng.integers(1, 9)) for i in range(k)]
    pairs = [(i, (i + 1) % k) for i in range(k)] if k > 2 else [(0, 1)] if k == 2 else []
    links = [
        Connection((f"p{a}", f"p{b}"), Link(0.0, float(rng.uniform(1e-9, 9e-9)))) for a, b in pairs
    ]
    platform = Platform(tuple(devices), (), tuple(links))
    arcs = [(i, j) for i, j in itertools.combinations(range(n), 2) if rng.random() < 0.4]
    arcs += arcs[:1]  # two edges between the same filters
    tails, heads = np.array(arcs, np.int64).reshape(-1, 2).T
    graph = StreamGraph(
        tuple(f"f{i}" for i in range(n)), rng.integers(1, 90, n), rng.integers(1, 20, n),
        tails, heads, rng.integers(0, 900, tails.size),
    )  # fmt: skip
    return StreamProblem.of(graph, platform, reading or CostReading())


def slow_loads(problem, part):
    """(k, 2) seconds of computing and communicating of each processor."""
    graph, reading = problem.graph, problem.reading
    devices = problem.processors.platform.devices
    network = nx.Graph()
    network.add_nodes_from(device.name for device in devices)
    for link in problem.processors.platform.connections:
        network.add_edge(*link.between, beta=link.link.beta)
    loads = np.zeros((problem.k, 2))
    for i in range(graph.n):
        able = devices[part[i]].capabilities
        times = graph.vector[i] / able["vector_length"]
        times = {"ceil": math.ceil(times), "literal": times, "max1": max(times, 1)}[reading.compute]
        loads[part[i], 0] += graph.scalar[i] * times / (able["mips"] * 1e6)
    place = {device.name: p for p, device in enumerate(devices)}
    for tail, head, nbytes in zip(graph.tails, graph.heads, graph.nbytes, strict=True):
        a, b = int(part[tail]), int(part[head])
        if a == b:
            continue
        route = nx.dijkstra_path(network, devices[a].name, devices[b].name, "beta")
        betas = [network.edges[pair]["beta"] for pair in itertools.pairwise(route)]
        if reading.route == "transit":
            for (u, v), beta in zip(itertools.pairwise(route), betas, strict=True):
                loads[place[u], 1] += nbytes * beta
                loads[place[v], 1] += nbytes * beta
            continue
        cost = nbytes * (max(betas) if reading.route == "least" else sum(betas))
        loads[a, 1] += cost
        if reading.pays == "both":
            loads[b, 1] += cost
    return loads


def slow_period(problem, part):
    loads = slow_loads(problem, part)
    return float((loads.max(axis=1) if problem.reading.overlap else loads.sum(axis=1)).max())


def shortest(problem):
    """The period of the best of all mappings."""
    every = itertools.product(range(problem.k), repeat=problem.n)
    return min(slow_period(problem, part) for part in every)
