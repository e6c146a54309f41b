"""The messages of an exchange, simulated slowly: routes, shared links, max-min fair shares.

Written from docs/prediction.md and docs/machine-file.md alone, as tests/slow_certificate.py.
"""

import heapq
import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Shared:
    """A link that many messages pass: its name, and the seconds that each byte holds it."""

    name: tuple
    beta: float


@dataclass(frozen=True)
class Message:
    """What devices p and q send each other, as one: size [B], alpha [s], beta [s/B].

    shared: the shared links on its way. hops: the deepest level that both share, and the hops.
    """

    p: int
    q: int
    size: float
    alpha: float
    beta: float
    shared: tuple
    hops: tuple


def links_between(platform, p, q):
    """Return alpha, beta, shared links and (level, hops) of a message between two devices."""
    if platform.connections:
        return by_route(platform, p, q)
    if platform.levels:
        return by_levels(platform, p, q)
    return 0.0, 0.0, (), (None, 0)


def by_levels(platform, p, q):
    """Two devices use the link of the deepest level that both share."""
    at = [tuple(part for part in platform.devices[d].at.split("/") if part) for d in (p, q)]
    deepest = 0
    while deepest < min(len(at[0]), len(at[1])) and at[0][deepest] == at[1][deepest]:
        deepest += 1
    deepest = min(deepest, len(platform.levels) - 1)
    shared = []
    for depth in range(deepest, len(platform.levels)):
        level = platform.levels[depth]
        if not level.shared:
            continue
        for device, place in ((p, at[0]), (q, at[1])):
            # Its child of this level: the place one level deeper, itself where there is none.
            child = place[: depth + 1] if len(place) > depth else ("device", device)
            if depth == len(platform.levels) - 1:
                child = ("device", device)
            shared.append(Shared((depth, child), level.link.beta))
    link = platform.levels[deepest].link
    hops = 2 * (len(platform.levels) - deepest)
    return link.alpha, link.beta, tuple(shared), (deepest, hops)


def by_route(platform, p, q):
    """The route of least alpha + beta x 1 KiB; latencies add up, the narrowest link counts."""
    best = {}
    for one in platform.connections:
        for ends in (one.between, one.between[::-1]):
            if ends not in best or usual(one.link) < usual(best[ends].link):
                best[ends] = one
    named = {end for ends in best for end in ends}
    home = [d.name if d.name in named else d.at for d in platform.devices]
    cost, came, ahead = {home[p]: 0.0}, {}, [(0.0, home[p])]
    while ahead:
        far, here = heapq.heappop(ahead)
        if far > cost[here]:
            continue
        for (a, b), one in best.items():
            if a == here and far + usual(one.link) < cost.get(b, math.inf):
                cost[b] = far + usual(one.link)
                came[b] = (here, one)
                heapq.heappush(ahead, (cost[b], b))
    route, here = [], home[q]
    while here != home[p]:
        here, one = came[here]
        route.append(one)
    shared = tuple(Shared(one.between, one.link.beta) for one in route if one.shared)
    alpha = sum(one.link.alpha for one in route)
    return alpha, max((one.link.beta for one in route), default=0.0), shared, (None, len(route))


def usual(link):
    """Return what a message of 1 KiB costs."""
    return link.alpha + link.beta * 1024


def ends_of(messages, posts):
    """Return when each device's last message is through; posts: when it begins its exchange."""
    posted = list(posts)
    for m in messages:
        posted[m.p] += m.alpha
        posted[m.q] += m.alpha
    ends = list(posted)
    begins = {m: max(posted[m.p], posted[m.q]) for m in messages}
    left = {m: m.size for m in messages}
    now = min(begins.values(), default=0.0)
    while left:
        active = [m for m in left if begins[m] <= now]
        later = min((begins[m] for m in left if begins[m] > now), default=math.inf)
        rates = fair_rates(active)
        step = min((left[m] / rates[m] for m in active), default=math.inf)
        over = now + step >= later
        step = later - now if over else step
        for m in active:
            done = left[m] / rates[m] <= step * (1 + 1e-12)
            if rates[m] == math.inf or done:
                del left[m]
                for device in (m.p, m.q):
                    ends[device] = max(ends[device], now + step)
            else:
                left[m] -= rates[m] * step
        now = later if over else now + step
    return ends


def fair_rates(active):
    """Return the max-min fair bytes per second of messages that flow at once.

    All rise together until some port or shared link is full; those that use it stay as they are.
    """
    holds = {}  # resource -> the messages that need it, and for how many seconds a byte
    for m in active:
        for resource, beta in [(m.p, m.beta), (m.q, m.beta), *((s, s.beta) for s in m.shared)]:
            if beta > 0:
                holds.setdefault(resource, {})[m] = beta
    rates = {}
    while len(rates) < len(active):
        levels = {}
        for resource, users in holds.items():
            free = 1.0 - sum(beta * rates[m] for m, beta in users.items() if m in rates)
            rising = sum(beta for m, beta in users.items() if m not in rates)
            if rising:
                levels[resource] = max(free, 0.0) / rising
        if not levels:
            return rates | {m: math.inf for m in active if m not in rates}
        full = min(levels, key=lambda resource: levels[resource])
        for m in holds[full]:
            rates.setdefault(m, levels[full])
    return rates
