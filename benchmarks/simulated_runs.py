"""Seconds of emulated runs beside SimGrid's, superstep by superstep.

    python benchmarks/simulated_runs.py [--seeds 8]   -> results/simulated_runs.jsonl
    python benchmarks/simulated_runs.py --table       the table of results/simulated_runs.jsonl

PageRank, BFS and connected components are executed here; `VirtualMachine` charges a virtual clock
for the stars, trees and meshes of links of simulated_cases.py. SimGrid is given each superstep's
seconds of computing and bytes between devices, with hosts, links and routes; which messages share
what, and for how long, it finds out alone. A run's seconds are the sum of its supersteps'. Needs
Debian's python3-simgrid.
"""

from dataclasses import replace

import numpy as np
from records import answer, parser
from simulated import FIRST, HERE, simulated, table
from simulated_cases import INSTANCE_SEED, PLATFORMS, SHAPES, network_of

import evener as ev
from evener.graphs.generating.grid import grid
from evener.platforms.platform import Connection, Level, Link
from evener.running.apps import bfs, pagerank, wcc
from evener.running.distributing import distribute
from evener.running.emulated_run import VirtualMachine
from evener.running.executing import run_on_parts

RESULTS = HERE / "results" / "simulated_runs.jsonl"
PROGRAMS = {"pagerank": (pagerank.PROGRAM, 3), "bfs": (bfs.PROGRAM, 12), "wcc": (wcc.PROGRAM, 12)}
STEP = 10.0  # seconds that a superstep computes, so that SimGrid's precision is far away


def case(shape, seed, shared, app):
    """Return what is run, emulated seconds, and supersteps for SimGrid with and without ports."""
    rng = np.random.default_rng([INSTANCE_SEED, SHAPES.index(shape), seed, shared])
    graph = grid(rng.integers(30, 50, 2).tolist())
    share, latency = float(rng.choice([0.1, 0.3, 0.6])), float(rng.choice([0.05, 0.3]))
    platform = PLATFORMS[shape](rng, shared)
    part = ev.plan(graph, platform, ev.PlanOptions(tool="kmeans", epsilon=0.05)).partition
    program, most = PROGRAMS[app]
    parts = distribute(graph, part, want="both")
    found = run_on_parts(program, parts, most=most)
    platform = scaled(platform, found, share, latency)
    charged = VirtualMachine(platform).charged(found, parts)
    told = {"shape": shape, "seed": seed, "shared": shared, "app": app, "k": platform.k,
            "share": share, "latency": latency, "supersteps": found.supersteps}  # fmt: skip
    steps = [
        [
            superstep(platform, found, charged.computing[step], step, ports)
            for ports in (True, False)
        ]
        for step in range(found.supersteps)
    ]
    return told, charged.seconds, steps


def scaled(platform, found, share, latency):
    """Give devices and links costs by which supersteps compute STEP seconds, and communicate."""
    edges, steps = found.of_devices("edges").sum(), found.supersteps
    sent = [one for device in found.steps for step in device for one in step.sent_to.values()]
    wanted = share / (1 - share) * STEP * platform.k * steps
    alpha = wanted * latency / max(2 * len(sent), 1)
    beta = wanted * (1 - latency) / max(2 * sum(sent), 1)
    speed = edges / steps / STEP / platform.speeds.sum()
    return replace(
        platform,
        devices=tuple(replace(d, speed=d.speed * speed) for d in platform.devices),
        levels=tuple(Level(one.name, cost(one.link, alpha, beta), one.shared)
                     for one in platform.levels),
        connections=tuple(Connection(one.between, cost(one.link, alpha, beta), one.shared)
                          for one in platform.connections),
    )  # fmt: skip


def cost(link, alpha, beta):
    return Link(link.alpha * alpha, link.beta * beta)


def superstep(platform, found, computing, step, ports):
    """What the simulation is told of one superstep."""
    k = platform.k
    n_bytes = np.zeros((k, k))
    for p, device in enumerate(found.steps):
        for q, size in device[step].sent_to.items():
            n_bytes[p, q] += size
    n_bytes += n_bytes.T
    p, q = np.nonzero(n_bytes)
    sizes = zip(p.tolist(), q.tolist(), n_bytes[p, q].tolist(), strict=True)
    links, routes = network_of(platform, ports)
    posts = np.bincount(p, platform.link_costs(p, q)[0], k) if p.size else np.zeros(k)
    nothing = [0.0] * k
    return {
        "hosts": k,
        "links": links,
        "routes": routes,
        "messages": [[a, b, int(size)] for a, b, size in sizes if a < b],
        "before": computing.tolist(),
        "posts": (posts * ports).tolist(),
        "during": nothing,
        "after": nothing,
    }


def measured(shapes, seeds):
    """One line a run: emulated and simulated seconds, with ports and without."""
    lines = []
    for shape in shapes:
        for shared in (False, True):
            for seed in seeds:
                for app in PROGRAMS:
                    told, seconds, steps = case(shape, seed, shared, app)
                    found = simulated([one for both in steps for one in both])
                    lines.append(told | {"predicted": seconds, "simulated": sum(found[::2]),
                                         "links_alone": sum(found[1::2])})  # fmt: skip
    return lines


def main():
    made = parser(__doc__, RESULTS)
    made.add_argument("--seeds", type=int, default=8)
    made.when_small(seeds=1)
    args = made.parse_args()
    shapes = SHAPES[:1] if args.small else SHAPES
    answer(args, lambda args: measured(shapes, range(FIRST, FIRST + args.seeds)), table)


if __name__ == "__main__":
    main()
