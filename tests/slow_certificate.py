"""A certificate and a prediction counted again, slowly: dictionaries, loops, and nothing of ours.

Written from docs/prediction.md, docs/contract.md, docs/sizing.md and
docs/machine-file.md alone; of Evener it takes only the data: the graph's arrays, the devices, the
levels, the links, the samples. tests/slow_exchange.py has the seconds of an exchange.
"""

import math
from itertools import pairwise

import scipy.interpolate

from tests.slow_exchange import Message, ends_of, links_between


def certificate(graph, part, k, loads, contract, ends, of_faces=False):
    """Return a dictionary of what the certificate says of blocks, and of all of them together.

    loads: the weight of every vertex, each a tuple of as many numbers as the contract has weights.
    ends: when each device is done.
    """
    near = [neighbours_of(graph, v) for v in range(graph.n)]
    blocks = [[v for v in range(graph.n) if part[v] == b] for b in range(k)]
    others = [{part[w] for w in near[v]} - {part[v]} for v in range(graph.n)]
    sends = sent_values(graph, part, of_faces)
    several = len(contract.further) + 1
    weights = [[math.fsum(loads[v][c] for v in block) for c in range(several)] for block in blocks]
    n_bytes = [
        graph.bytes_per_vertex * len(block)
        + graph.bytes_per_edge * sum(len(near[v]) for v in block)
        for block in blocks
    ]
    limits = [contract, *contract.further]
    return {
        "weights": weights,
        "vertices": [len(block) for block in blocks],
        "bytes": n_bytes,
        "boundary": [sum(bool(others[v]) for v in block) for block in blocks],
        "components": [pieces(block, near) for block in blocks],
        "neighbours": [sum(pair[0] == b for pair in sends) for b in range(k)],
        "volumes": [sum(n for (p, _), n in sends.items() if p == b) for b in range(k)],
        "holds": [
            holds(b, weights[b], n_bytes[b], len(blocks[b]), contract)
            and ends[b] <= contract.makespan * (1 + 1e-6)
            for b in range(k)
        ],
        "sends": sends,
        "edge_cut": edge_cut(graph, part),
        "imbalance": max(
            over(weights[b][c], float(one.targets[b]))
            for c, one in enumerate(limits)
            for b in range(k)
        ),
    }


def sent_values(graph, part, of_faces):
    """Return how many values each block sends to each other one."""
    sends = {}
    for v in range(graph.n):
        places = range(graph.xadj[v], graph.xadj[v + 1])
        cut = [place for place in places if part[graph.adjncy[place]] != part[v]]
        if of_faces:
            found = [(part[graph.adjncy[i]], 1 if graph.adjwgt is None else graph.adjwgt[i])
                     for i in cut]  # fmt: skip
        else:
            found = [(other, 1) for other in {part[graph.adjncy[i]] for i in cut}]
        for other, values in found:
            sends[part[v], other] = sends.get((part[v], other), 0) + int(values)
    return sends


def neighbours_of(graph, v):
    """Return the neighbours of a vertex."""
    return [int(w) for w in graph.adjncy[graph.xadj[v] : graph.xadj[v + 1]]]


def edge_cut(graph, part):
    """Return the weight of the edges whose ends are in different blocks; each stands twice."""
    cut = []
    for v in range(graph.n):
        for place in range(graph.xadj[v], graph.xadj[v + 1]):
            w = int(graph.adjncy[place])
            if v < w and part[v] != part[w]:
                cut.append(1 if graph.adjwgt is None else graph.adjwgt[place])
    return math.fsum(cut)


def pieces(block, near):
    """Return the number of connected pieces of a block."""
    left, found = set(block), 0
    while left:
        found += 1
        ahead = [left.pop()]
        while ahead:
            for w in near[ahead.pop()]:
                if w in left:
                    left.remove(w)
                    ahead.append(w)
    return found


def holds(b, weights, n_bytes, vertices, contract):
    """Return whether block b keeps its contract, each of its weights and its memory."""
    limits = [contract, *contract.further]
    if not vertices and contract.may_be_unused:
        return True
    if not vertices and any(one.high[b] > 0 for one in limits):
        return False
    for weight, one in zip(weights, limits, strict=True):
        slack = 1e-9 * abs(one.targets[b])
        if not one.low[b] - slack <= weight <= one.high[b] + slack:
            return False
    return n_bytes <= contract.caps[b] * (1 + 1e-9)


def over(weight, target):
    """Return weight / target - 1; of a target of zero, 0 if it is kept and infinity if not."""
    if target > 0:
        return weight / target - 1
    return math.inf if weight > 0 else 0.0


def work(graph, workload, constraint=0):
    """Return the weight of every vertex that the seconds are predicted from."""
    if graph.vwgt is None:
        own = [1] * graph.n
    elif graph.vwgt.ndim == 1:
        own = [float(w) for w in graph.vwgt]
    else:
        own = [float(row[constraint]) for row in graph.vwgt]
    vertex, edge = workload.bytes_per_vertex, workload.bytes_per_edge
    if not (vertex or edge):
        vertex, edge = workload.flops_per_vertex, workload.flops_per_edge
    if not (vertex or edge):
        return own
    cost = [vertex + edge * len(neighbours_of(graph, v)) for v in range(graph.n)]
    total = math.fsum(graph.weights())
    return [c * total / math.fsum(cost) for c in cost]


def seconds(graph, part, platform, workload, load):
    """Return a dictionary of the prediction; load: every vertex's work."""
    k = platform.k
    near = [neighbours_of(graph, v) for v in range(graph.n)]
    others = [{part[w] for w in near[v]} - {part[v]} for v in range(graph.n)]
    values = sent_values(graph, part, workload.exchange == "faces")
    sent = {pair: n * workload.bytes_per_value for pair, n in values.items()}
    loads, inner = [], []
    for b in range(k):
        mine = [v for v in range(graph.n) if part[v] == b]
        loads.append(math.fsum(load[v] for v in mine))
        inside = math.fsum(load[v] for v in mine if not others[v])
        inner.append(inside / loads[b] if loads[b] else 1.0)
    compute = [time_of(platform.devices[b], loads[b]) for b in range(k)]
    touched = {p for p, _ in sent}
    fixed = [
        platform.devices[b].fixed_seconds + workload.fixed_seconds
        if loads[b] or b in touched
        else 0.0
        for b in range(k)
    ]
    messages = []
    for p, q in sorted(pair for pair in sent if pair[0] < pair[1]):
        alpha, beta, shared, hops = links_between(platform, p, q)
        messages.append(Message(p, q, sent[p, q] + sent[q, p], alpha, beta, shared, hops))
    hidden = [inner[b] * compute[b] if workload.overlap else 0.0 for b in range(k)]
    # With overlap the interior is computed during the exchange, the boundary after it.
    posts = [fixed[b] + (0.0 if workload.overlap else compute[b]) for b in range(k)]
    ends = ends_of(messages if platform.has_links else [], posts)
    result = {"compute": compute, "fixed": fixed, "interior": inner}
    for b in range(k):
        mine = [m for m in messages if b in (m.p, m.q)]
        own = sum(m.alpha + m.beta * m.size for m in mine)
        busiest = 0.0
        for link in {link for m in mine for link in m.shared}:
            busiest = max(busiest, link.beta * sum(m.size for m in messages if link in m.shared))
        waits = max(ends[b] - posts[b] - own, 0.0)
        contention = min(waits, max(busiest - own, 0.0))
        exchange = own + contention
        overlapped = min(hidden[b], exchange)
        end = max(ends[b], posts[b] + hidden[b]) + (
            compute[b] - hidden[b] if workload.overlap else 0
        )
        delay = end - (compute[b] + fixed[b] + exchange - overlapped)
        for name, value in [("ends", end), ("communicate", exchange), ("contention", contention),
                            ("overlapped", overlapped), ("delay", delay)]:  # fmt: skip
            result.setdefault(name, []).append(value)
    hop_bytes = {}
    for m in messages:
        level, hops = m.hops
        hop_bytes[level] = hop_bytes.get(level, 0.0) + m.size * hops
    result["hop_bytes"] = hop_bytes
    return result


def time_of(device, load):
    """Return the seconds that a device needs for a load, alone."""
    if not load:
        return 0.0
    if device.curve is None:
        return load / device.speed
    return load / speed_at(device.curve, load) if load <= device.curve.capacity else math.inf


def speed_at(curve, load):
    """Return the speed at a load, by the samples and the kind of model."""
    points = [
        (s.load, s.load / s.seconds / (1 if s.status == "ok" else 5)) for s in pooled(curve.samples)
    ]
    if curve.model == "constant":
        done = {s.load for s in pooled(curve.samples) if s.status == "ok"}
        measured = [p for p in points if p[0] in done] or points
        return measured[-1][1]
    if curve.model == "shaped":
        points = shaped(points)
    if load <= points[0][0]:
        return points[0][1]
    if load >= points[-1][0]:
        return points[-1][1]
    if curve.model == "akima":
        return akima(points, load)
    for (x, y), (u, v) in pairwise(points):
        if x <= load <= u:
            return y + (v - y) * (load - x) / (u - x)
    raise AssertionError(load)


def pooled(samples):
    """Return one sample for each load: the mean of those that ended, by their repetitions."""
    result = []
    for load in sorted({s.load for s in samples}):
        alike = [s for s in samples if s.load == load]
        done = [s for s in alike if s.status == "ok"]
        if done:
            count = sum(s.repetitions for s in done)
            mean = sum(s.seconds * s.repetitions for s in done) / count
            result.append(type(done[0])(load, mean))
        else:
            result.append(max(alike, key=lambda s: s.seconds))
    return result


def shaped(points):
    """Return the points that the shape rule keeps: rising and concave, then falling."""
    top = max(range(len(points)), key=lambda i: points[i][1])
    kept = [(0.0, 0.0)]
    for x, y in points[: top + 1]:
        if y < kept[-1][1]:
            continue
        while len(kept) > 1 and slope(kept[-1], (x, y)) > slope(kept[-2], kept[-1]):
            kept.pop()
        kept.append((x, y))
    kept = kept[1:]
    for x, y in points[top + 1 :]:
        if y <= kept[-1][1]:
            kept.append((x, y))
    return kept


def slope(a, b):
    """Return the slope of the line through two points."""
    return (b[1] - a[1]) / (b[0] - a[0])


def akima(points, load):
    """Return Akima's spline through the points, three more of the same speed at each end.

    The slope at a sample lies within three speeds a distance to its neighbours: a cubic whose inner
    Bernstein coefficients are not below zero is not below zero anywhere.
    """
    first, last = points[0], points[-1]
    before = [(first[0] * (1 - i / 4), first[1]) for i in (3, 2, 1)]
    after = [(last[0] * (1 + i / 4), last[1]) for i in (1, 2, 3)]
    xs, ys = zip(*before, *points, *after, strict=True)
    free = scipy.interpolate.Akima1DInterpolator(xs, ys)
    slopes = [float(s) for s in free([x for x, _ in points], 1)]
    for i, (a, b) in enumerate(pairwise(points)):
        slopes[i] = max(slopes[i], -3 * a[1] / (b[0] - a[0]))
        slopes[i + 1] = min(slopes[i + 1], 3 * b[1] / (b[0] - a[0]))
    loads, speeds = zip(*points, strict=True)
    return float(scipy.interpolate.CubicHermiteSpline(loads, speeds, slopes)(load))
