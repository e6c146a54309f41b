"""Partitions on stars, trees and links: what is predicted, what a simulation is told of them."""

from collections import defaultdict
from itertools import combinations

import numpy as np

import evener as ev
from evener.graphs.generating.grid import grid
from evener.plans import metrics
from evener.plans.workload import Workload
from evener.platforms.platform import Connection, Device, Level, Link, Platform

SHAPES = ("star", "tree", "deep tree", "links")
INSTANCE_SEED = 2026
FREE = 1e15  # B/s of what costs nothing
MAKESPAN = 10.0  # seconds an iteration computes, so that SimGrid's precision is far away


def cases(shape, seed, shared):
    """Yield (what it is, predicted seconds, what the simulation is told with and without ports)."""
    rng = np.random.default_rng([INSTANCE_SEED, SHAPES.index(shape), seed, shared])
    graph = grid(rng.integers(40, 70, 2).tolist())
    share, latency = float(rng.choice([0.1, 0.3, 0.6])), float(rng.choice([0.05, 0.3]))
    platform, part = _scaled(PLATFORMS[shape](rng, shared), graph, share, latency, rng)
    for overlap in (False, True):
        workload = Workload("simulated", bytes_per_value=1000.0, overlap=overlap)
        told = {"shape": shape, "seed": seed, "shared": shared, "overlap": overlap,
                "k": platform.k, "share": share, "latency": latency}  # fmt: skip
        found = metrics.predicted_seconds(graph, part, platform, workload)
        yield (
            told,
            found,
            [described(graph, part, platform, workload, ports) for ports in (True, False)],
        )


def _scaled(platform, graph, share, latency, rng):
    """Give the links costs of which communication is about `share`, latency part of that."""
    plan = ev.plan(graph, platform, ev.PlanOptions(tool="kmeans", epsilon=0.05))
    part = plan.partition
    between = metrics.quotient(graph, part)
    n_bytes = 1000.0 * (between.sent + between.received)
    wanted = share / (1 - share) * MAKESPAN * part.k
    beta = wanted * (1 - latency) / n_bytes.sum()
    alpha = wanted * latency / n_bytes.size
    speed = graph.total_weight / MAKESPAN / platform.speeds.sum()

    def link(one):
        return Link(one.link.alpha * alpha, one.link.beta * beta)

    devices = [
        Device(d.name, d.speed * speed, at=d.at, fixed_seconds=float(rng.uniform(0, 0.5)))
        for d in platform.devices
    ]
    levels = [Level(one.name, link(one), one.shared) for one in platform.levels]
    links = [Connection(one.between, link(one), one.shared) for one in platform.connections]
    return Platform(tuple(devices), tuple(levels), tuple(links)), part


def _speeds(rng, k):
    return rng.choice([1.0, 2.0, 4.0, 8.0], k)


def _star(rng, shared):
    k = int(rng.integers(3, 13))
    devices = tuple(Device(f"d{b}", s) for b, s in enumerate(_speeds(rng, k)))
    wide = rng.choice([0.5, 1.0, 2.0], k)
    links = tuple(
        Connection((f"d{b}", "switch"), Link(0.5, float(w)), shared) for b, w in enumerate(wide)
    )
    return Platform(devices, connections=links)


def _tree(rng, shared, depth=2):
    width = [int(rng.integers(2, 5)) for _ in range(depth)]
    places = [()]
    for i in range(depth - 1):
        places = [(*p, f"{'ns'[i]}{j}") for p in places for j in range(width[i])]
    at = ["/".join(p) for p in places for _ in range(width[-1])]
    devices = tuple(Device(f"d{b}", s, at=at[b]) for b, s in enumerate(_speeds(rng, len(at))))
    ratio = rng.choice([0.25, 0.5], depth).cumprod()
    levels = tuple(
        Level(f"l{i}", Link(float(r), float(r)), shared and i < depth - 1)
        for i, r in enumerate(ratio)
    )
    return Platform(devices, levels)


def _deep_tree(rng, shared):
    return _tree(rng, shared, depth=3)


def _links(rng, shared):
    """Racks at a ring of switches, a chord across."""
    racks = int(rng.integers(3, 6))
    at = [f"r{i}" for i in range(racks) for _ in range(int(rng.integers(1, 4)))]
    devices = tuple(Device(f"d{b}", s, at=at[b]) for b, s in enumerate(_speeds(rng, len(at))))
    pairs = [(f"r{i}", f"s{i}") for i in range(racks)]
    pairs += [(f"s{i}", f"s{(i + 1) % racks}") for i in range(racks)]
    links = tuple(
        Connection(
            pair, Link(float(rng.uniform(0.3, 1)), float(rng.choice([0.25, 0.5, 1]))), shared
        )
        for pair in pairs
    )
    return Platform(devices, connections=links)


PLATFORMS = {"star": _star, "tree": _tree, "deep tree": _deep_tree, "links": _links}


def described(graph, part, platform, workload, ports):
    """What the simulation is told: hosts, links, routes and messages; seconds but of computing.

    With ports, each message has its alpha from the device's time; see `network_of`.
    """
    k = platform.k
    links, routes = network_of(platform, ports)
    between = metrics.quotient(graph, part)
    n_bytes = (between.sent + between.received) * workload.bytes_per_value
    alpha, _ = platform.link_costs(between.block, between.other)
    posts = np.bincount(between.block, alpha, k)
    own = zip(between.block.tolist(), between.other.tolist(), n_bytes.tolist(), strict=True)
    work = np.asarray(graph.weights(), float)
    after = np.zeros(k)
    if workload.overlap:
        after = metrics.boundary_weights(graph, part, work) / platform.speeds
    inside = metrics.summed(work, part) / platform.speeds - after
    return {
        "hosts": k,
        "links": links,
        "routes": routes,
        "messages": [[p, q, int(size)] for p, q, size in own if p < q],
        "before": (platform.fixed_seconds + inside * (not workload.overlap)).tolist(),
        "posts": (posts * ports).tolist(),
        "during": (inside * workload.overlap).tolist(),
        "after": after.tolist(),
    }


def network_of(platform, ports):
    """Links and routes as the simulation is told.

    With ports, a device's time is shared among its messages, and each has its alpha from it: its
    port is as wide as its widest link, and a byte over a link w times as narrow counts w times.
    Without, messages share links alone, and the alphas of several pass at the same time.
    """
    links, routes = (_tree_network if platform.levels else _link_network)(platform)
    if ports:
        links = [[width, 0.0, shared] for width, _, shared in links]
        widest = max(width for width, _, _ in links if width < FREE)
        for p, q in routes:
            narrowest = min(links[i][0] for i in routes[p, q])
            weight = round(widest / narrowest) if narrowest < FREE else 0
            routes[p, q] = routes[p, q] + [len(links) + p, len(links) + q] * weight
        links += [[widest, 0.0, True]] * platform.k
    return links, [[p, q, route] for (p, q), route in routes.items()]


def _tree_network(platform):
    """A line for each pair, as wide as the level they share; uplinks where levels are shared."""
    links, routes, uplink = [], {}, {}
    homes = [(*device.at.split("/"), device.name) for device in platform.devices]
    homes = [tuple(part for part in home if part) for home in homes]
    for p, q in combinations(range(platform.k), 2):
        apart = next(i for i, (a, b) in enumerate(zip(homes[p], homes[q], strict=False)) if a != b)
        own = platform.levels[apart].link
        routes[p, q] = [len(links)]
        links.append([1 / own.beta, own.alpha, True])
        for depth, level in enumerate(platform.levels):
            for b in (p, q) if level.shared and depth >= apart else ():
                key = depth, homes[b][: depth + 1]
                if key not in uplink:
                    uplink[key] = len(links)
                    links.append([1 / level.link.beta, 0.0, True])
                routes[p, q].append(uplink[key])
    return links, routes


def _link_network(platform):
    """The links themselves; routes by a router's search of its own."""
    links = [[1 / c.link.beta, c.link.alpha, c.shared] for c in platform.connections]
    joined = defaultdict(list)
    for i, c in enumerate(platform.connections):
        for a, b in (c.between, c.between[::-1]):
            joined[a].append((b, i, c.link.alpha + 1024 * c.link.beta))
    homes = [d.name if d.name in joined else d.at for d in platform.devices]
    routes = {}
    within = len(links)
    links.append([FREE, 0.0, False])  # between devices of one rack
    for p in range(platform.k):
        cost, route, done = {homes[p]: 0.0}, {homes[p]: []}, set()
        while len(done) < len(cost):
            here = min((c, place) for place, c in cost.items() if place not in done)[1]
            done.add(here)
            for place, i, more in joined[here]:
                if place not in cost or cost[here] + more < cost[place]:
                    cost[place], route[place] = cost[here] + more, [*route[here], i]
        for q in range(p + 1, platform.k):
            routes[p, q] = route[homes[q]] or [within]
    return links, routes
