"""A twin of the prediction that goes vertex by vertex and message by message."""

from collections import defaultdict

import numpy as np


def slow_route(platform, p, q):
    """(alpha, beta, {name of a shared link: beta}) of a message, by trying every simple path."""
    p, q = min(p, q), max(p, q)
    a, b = platform.devices[p], platform.devices[q]
    if platform.levels:
        parts = [one.at.split("/") if one.at else [] for one in (a, b)]
        deepest = 0
        while deepest < min(map(len, parts)) and parts[0][deepest] == parts[1][deepest]:
            deepest += 1
        used = {}
        for depth in range(deepest, len(platform.levels)):
            level = platform.levels[depth]
            for one, own in zip((a, b), parts, strict=True):
                last = depth == len(platform.levels) - 1 or len(own) <= depth
                child = ("device", one.name) if last else tuple(own[: depth + 1])
                if level.shared:
                    used[depth, child] = level.link.beta
        link = platform.levels[deepest].link
        return link.alpha, link.beta, used
    joined = {}
    for c in platform.connections:
        for x, y in (c.between, c.between[::-1]):
            joined.setdefault(x, []).append((y, c))
    homes = [one.name if one.name in joined else one.at for one in (a, b)]
    best = None

    def go(place, seen, links):
        nonlocal best
        if place == homes[1]:
            cost = sum(c.link.alpha + 1024 * c.link.beta for c in links)
            if best is None or cost < best[0]:
                best = cost, links
            return
        for further, c in joined[place]:
            if further not in seen:
                go(further, seen | {further}, [*links, c])

    go(homes[0], {homes[0]}, [])
    links = best[1]
    used = {tuple(sorted(c.between)): c.link.beta for c in links if c.shared}
    narrowest = max((c.link.beta for c in links), default=0.0)
    return sum(c.link.alpha for c in links), narrowest, used


def slow_seconds(graph, partition, platform, workload):
    """Seconds (k,) without delays, and when devices are done, by dictionaries alone."""
    part, k = partition.part.tolist(), partition.k
    vertex, edge = workload.shares
    if vertex or edge:
        raw = [vertex + edge * int(degree) for degree in graph.degrees]
        total = sum(graph.weights().tolist())
        work = [one * total / sum(raw) for one in raw]
    else:
        work = [float(weight) for weight in graph.weights()]
    load, outside = [0.0] * k, [0.0] * k
    values, busy, uses, routes = {}, {}, {}, {}
    for v in range(graph.n):
        near = {part[u] for u in graph.adjncy[graph.xadj[v] : graph.xadj[v + 1]]} - {part[v]}
        load[part[v]] += work[v]
        outside[part[v]] += work[v] if near else 0.0
        for c in near:
            b = part[v]
            values[b, c] = values.get((b, c), 0) + 1
            routes[b, c] = slow_route(platform, b, c)
            for name, beta in routes[b, c][2].items():
                busy[name] = busy.get(name, 0.0) + beta * workload.bytes_per_value
                for end in (b, c):
                    uses.setdefault(end, set()).add(name)
    found = {"seconds": [], "ends": []}
    ready, direct, floor, inside, after = [], [], [], [], []
    for b in range(k):
        model = platform.devices[b].model
        compute = load[b] / model.speed(load[b])
        near = [c for a, c in values if a == b]
        fixed = platform.devices[b].fixed_seconds + workload.fixed_seconds
        fixed = fixed if load[b] or near else 0.0
        after.append(compute * outside[b] / load[b] if load[b] and workload.overlap else 0.0)
        inside.append(compute - after[b] if workload.overlap else 0.0)
        ready.append(fixed + compute - inside[b] - after[b])
        floor.append(max((busy[name] for name in uses.get(b, ())), default=0.0))
        direct.append((sum(routes[b, c][0] for c in near), 0.0))
        bytes_of = {c: workload.bytes_per_value * (values[b, c] + values[c, b]) for c in near}
        direct[b] = direct[b][0], sum(routes[b, c][1] * bytes_of[c] for c in near)
    begin = [one + posting for one, (posting, _) in zip(ready, direct, strict=True)]
    flows = {
        (b, c): (
            max(begin[b], begin[c]),
            workload.bytes_per_value * (values[b, c] + values[c, b]),
            {b: routes[b, c][1], c: routes[b, c][1], **routes[b, c][2]},
        )
        for b, c in values
        if b < c
    }
    done = slow_flows(flows) if platform.has_links else {}
    for b in range(k):
        alone = ready[b] + sum(direct[b])
        end = max([alone, *(t for pair, t in done.items() if b in pair)])
        exchanged = min(end, max(alone, ready[b] + floor[b]))
        found["seconds"].append(max(ready[b] + inside[b], exchanged) + after[b])
        found["ends"].append(max(ready[b] + inside[b], end) + after[b])
    return found


def slow_flows(flows):
    """When each flow (begin, bytes, {resource: seconds a byte}) ends; shares are max-min fair."""
    left, now, done = {pair: one[1] for pair, one in flows.items()}, 0.0, {}
    while left:
        active = [pair for pair in left if flows[pair][0] <= now]
        rate = fair_rates({pair: flows[pair][2] for pair in active})
        for pair in active:
            if left[pair] <= 1e-12 * flows[pair][1] or rate[pair] == np.inf:
                done[pair] = now
                del left[pair]
        if any(pair in done for pair in active):
            continue
        nexts = [flows[pair][0] - now for pair in left if pair not in active]
        step = min([left[pair] / rate[pair] for pair in active] + nexts)
        for pair in active:
            left[pair] -= rate[pair] * step
        now = now + step if active else min(flows[pair][0] for pair in left)
    return done


def fair_rates(costs):
    """Bytes a second of each flow {resource: seconds a byte}: one full resource after the other."""
    room, rate, left = defaultdict(lambda: 1.0), {}, dict(costs)
    while left:
        load = defaultdict(float)
        for own in left.values():
            for name, cost in own.items():
                load[name] += cost
        stops = {name: room[name] / one for name, one in load.items() if one > 0}
        if not stops:
            return rate | dict.fromkeys(left, np.inf)
        full = min(stops, key=stops.get)
        for pair in [pair for pair, own in left.items() if own.get(full, 0.0) > 0]:
            rate[pair] = stops[full]
            for name, cost in left.pop(pair).items():
                room[name] = max(room[name] - cost * rate[pair], 0.0)
    return rate
