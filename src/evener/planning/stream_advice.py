"""Finds what limits the period of a stream plan, and which changes would make it shorter.

Each change makes a new problem. Its period is computed for the unchanged mapping, and for the
mapping that a descent from there reaches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, Part
from evener.graphs.stream_graph import StreamGraph
from evener.planning.bottleneck import MIN_GAIN, called, kinds_of, wider
from evener.platforms.platform import Connection, Device, Link, Platform
from evener.streams.period import Period, StreamProblem, seconds_of, work_of
from evener.streams.processors import MIPS, WIDTH
from evener.streams.search import SearchLimits, search
from evener.wording import duration, memory, percent, plural, ranges, times

MOST_TRIED = 1 << 24  # filters x processors, above which a moved filter's gain is not searched
HEAVY = 0.5  # share of the period from which a single filter is reported to limit it
DEAR = 0.02  # of the period, from which an edge is named
NEAR = 1.05  # period / bound up to which other mappings are reported to gain little
MOST_LINKS = 4  # links tried with twice their bandwidth: the busiest
MOST_ROUTED = 512  # devices up to which routes are sought again for other links
MOST_MOVES = 512  # of a filter of the busiest device to an idle one, that are tried
MOST_HOSTS = 256  # devices tried for half of a filter, those with least load
MOST_SPLIT = 4  # filters split at once, if several are about equally heavy
SLICE = 512  # filters looked at on all devices at once
SEED = 7  # of the descents


class PeriodChange(NamedTuple):
    """A change in words, and its periods [s]: with the same mapping, and after filters moved.

    moved: None if filters and devices are too many for a descent.
    """

    text: str
    seconds: float
    moved: float | None

    @property
    def best(self) -> float:
        """The shorter of the two periods."""
        return self.seconds if self.moved is None else min(self.seconds, self.moved)


@dataclass(frozen=True)
class StreamAdvice:
    """What limits a period, in sentences.

    changes: those that shorten the period by 0.5 % or more, the best first.
    """

    sentences: tuple[str, ...]
    changes: tuple[PeriodChange, ...]


class Halves(NamedTuple):
    """A graph in which one filter was split in two; how: a description of the split.

    The second half is the last filter.
    """

    graph: StreamGraph
    how: str


def advise_on_stream(
    problem: StreamProblem, part: Part, period: Period, bound: float
) -> StreamAdvice:
    """Return what limits a mapping (n,), and what would make it faster.

    period: of the mapping; bound [s]: lower bound on the period of any mapping.
    """
    if problem.n == 0 or period.seconds == 0:
        return StreamAdvice((), ())
    said = (
        _shares(problem, period),
        _heaviest(problem, part, period),
        _dearest(problem, part, period),
        _idle(problem, part, period),
        _room(period, bound),
    )
    found = [
        PeriodChange(text, seconds_of(other, placed), _moved(other, placed))
        for text, other, placed in changes_of(problem, part, period)
    ]
    helpful = [one for one in found if one.best < MIN_GAIN * period.seconds]
    helpful.sort(key=lambda one: one.best)
    return StreamAdvice(tuple(filter(None, said)), tuple(helpful))


def changes_of(
    problem: StreamProblem, part: Part, period: Period
) -> Iterator[tuple[str, StreamProblem, Part]]:
    """Yield each change in words, with the changed problem and its initial mapping."""
    yield "the machine as it is", problem, part
    yield from _split(problem, part, period)
    yield from _abler(problem, part, period)
    yield from _one_more(problem, part)
    yield from _links(problem, part, period)


def _moved(problem: StreamProblem, part: Part) -> float | None:
    if problem.n * problem.k > MOST_TRIED or problem.reading.route == "transit":
        return None
    return search(problem, [("", part)], SearchLimits(proposals=0), SEED).period


def _shares(problem: StreamProblem, period: Period) -> str:
    """Return a sentence on how the busiest device spends its time."""
    b, names = period.bottleneck, problem.processors.platform.names
    alike = int((period.loads >= MIN_GAIN * period.seconds).sum()) - 1
    others = f"; {plural(alike, 'other device')} within 0.5 % of its load" if alike else ""
    return (
        f"{names[b]} is busiest: {percent(period.computing[b] / period.seconds)} of the period "
        f"computing, {percent(period.communicating[b] / period.seconds)} communicating{others}."
    )


def _heaviest(problem: StreamProblem, part: Part, period: Period) -> str:
    """Return sentences on a filter that takes much of the period, and on a faster device for it."""
    v, seconds = _heaviest_of(problem, part, period)
    if seconds[part[v]] < HEAVY * period.seconds:
        return ""
    graph, names = problem.graph, problem.processors.platform.names
    best, here = int(np.argmin(seconds)), int(part[v])
    text = (
        f"Filter {graph.names[v]} takes {duration(seconds[here])} on {names[here]}, "
        f"{percent(seconds[here] / period.seconds)} of the period"
    )
    if seconds[best] < MIN_GAIN * seconds[here]:
        text += f"; {names[best]} would need {duration(seconds[best])}"
    else:
        text += "; no device is faster for it"
    if _is_stateful(graph, v):
        text += ". It is stateful, so copies cannot share its work"
    return f"{text}."


def _heaviest_of(problem: StreamProblem, part: Part, period: Period) -> tuple[int, FloatArray]:
    """Return the heaviest filter of the busiest device, and its seconds on each device (k,)."""
    own = np.flatnonzero(part == period.bottleneck)
    if own.size == 0:  # it carries what others send
        own = np.arange(problem.n)
    seconds = work_of(problem, own)
    v = int(np.argmax(seconds[np.arange(own.size), part[own]]))
    return int(own[v]), seconds[v]


def _is_stateful(graph: StreamGraph, v: int) -> bool:
    assert graph.stateful is not None
    return bool(graph.stateful[v])


def _dearest(problem: StreamProblem, part: Part, period: Period) -> str:
    """Return a sentence on the two filters whose traffic takes the busiest device longest."""
    if problem.reading.route == "transit":
        return ""
    filters, cost, b = problem.filters, problem.machine.cost, period.bottleneck
    rows = np.repeat(np.arange(problem.n), np.diff(filters.offsets))
    seconds = np.where(part[rows] == b, filters.here * cost[b, part[filters.ends]], 0.0)
    if seconds.size == 0 or seconds.max() < DEAR * period.seconds:
        return ""
    e = int(np.argmax(seconds))
    names, devices = problem.graph.names, problem.processors.platform.names
    other = devices[part[filters.ends[e]]]
    return (
        f"Traffic between {names[rows[e]]} and {names[filters.ends[e]]}, "
        f"{memory(float(filters.here[e]))} per iteration, takes {devices[b]} "
        f"{duration(float(seconds[e]))} to or from {other}, "
        f"{percent(seconds[e] / period.seconds)} of the period."
    )


def _idle(problem: StreamProblem, part: Part, period: Period) -> str:
    """Return a sentence on idle devices, and what moving a filter there would change."""
    names, b = problem.processors.platform.names, period.bottleneck
    idle = np.flatnonzero(np.bincount(part, minlength=problem.k) == 0)
    own = np.flatnonzero(part == b)
    if idle.size == 0 or own.size == 0:
        return ""
    are = f"{ranges([names[p] for p in idle])} {'is' if idle.size == 1 else 'are'} idle"
    seconds = work_of(problem, own)[:, idle]
    least = float(seconds.min())
    if not np.isfinite(least):
        return f"{are}: no filter of {names[b]} may run there."
    if least >= period.seconds:
        ratio = times(least / period.seconds)
        return (
            f"{are}: every filter of {names[b]} would take at least {duration(least)} there, "
            f"{ratio} times the period."
        )
    tried = np.argsort(seconds, axis=None, kind="stable")[:MOST_MOVES]
    pairs = [(int(own[i]), int(idle[j])) for i, j in zip(*np.unravel_index(tried, seconds.shape),
             strict=True) if np.isfinite(seconds[i, j])]  # fmt: skip
    after = [seconds_of(problem, _moved_to(part, *pair)) for pair in pairs]
    v, p = pairs[int(np.argmin(after))]
    move = f"{problem.graph.names[v]} of {names[b]} to {names[p]}"
    best = "the best single move" if tried.size == seconds.size else "a single move"
    return f"{are}: {best}, {move}, makes the period {duration(min(after))}."


def _moved_to(part: Part, v: int, p: int) -> Part:
    placed = part.copy()
    placed[v] = p
    return placed


def _room(period: Period, bound: float) -> str:
    """Return a sentence on how little other mappings could gain, if the bound is near."""
    if bound <= 0 or period.seconds > NEAR * bound:
        return ""
    if period.seconds <= bound * (1 + 1e-9):
        return "No mapping of these filters on this machine has a shorter period."
    least = percent(1 - bound / period.seconds)
    return f"No mapping of these filters on this machine shortens the period by more than {least}."


def _split(
    problem: StreamProblem, part: Part, period: Period
) -> Iterator[tuple[str, StreamProblem, Part]]:
    """Yield one change: filters that take much of the period are split in two."""
    own = own_seconds(problem, part)
    heavy = np.flatnonzero(own >= max(HEAVY * period.seconds, MIN_GAIN * own.max()))[:MOST_SPLIT]
    if heavy.size == 0:
        return
    other, placed, said = problem, part, []
    for v in heavy.tolist():
        graph, how = divided(other.graph, v)
        other = StreamProblem(graph, problem.processors, problem.reading)
        placed, host = _with_second(other, placed, v)
        said.append(f"{problem.graph.names[v]} split in two ({how}), one of them on {host}")
    yield "; ".join(said), other, placed


def _with_second(problem: StreamProblem, part: Part, v: int) -> tuple[Part, str]:
    """Map the last filter, the second half of v, to another device.

    Returns the best mapping and the name of the device.
    """
    last = np.array([problem.n - 1])
    loads = np.bincount(part, own_seconds(problem, np.append(part, part[v]))[:-1], problem.k)
    adds = work_of(problem, last)[0] + loads
    if problem.k > 1:
        adds[part[v]] = np.inf
    hosts = np.argsort(adds, kind="stable")[:MOST_HOSTS]
    placed = [np.append(part, np.int32(p)) for p in hosts if np.isfinite(adds[p])]
    best = min(placed or [np.append(part, part[v])], key=lambda one: seconds_of(problem, one))
    return best, problem.processors.platform.names[best[-1]]


def own_seconds(problem: StreamProblem, part: Part) -> FloatArray:
    """Return the seconds of each filter on its own device (n,)."""
    found = np.empty(problem.n)
    for start in range(0, problem.n, SLICE):
        some = np.arange(start, min(start + SLICE, problem.n))
        found[some] = work_of(problem, some)[np.arange(some.size), part[some]]
    return found


def divided(graph: StreamGraph, v: int) -> Halves:
    """Return a graph in which filter v is split in two; the second half is the last filter.

    A filter that may have copies becomes two copies, which share its data and the bytes to and from
    it. Any other filter becomes two successive filters of half its instructions each; between them
    flow as many bytes as it sends or receives, whichever is more.
    """
    assert graph.stateful is not None and graph.tokens is not None
    scalar, vector = np.append(graph.scalar, graph.scalar[v]), np.append(graph.vector, 1.0)
    second, into, out = graph.n, graph.heads == v, graph.tails == v
    tails, heads, nbytes, tokens = graph.tails, graph.heads, graph.nbytes, graph.tokens
    if graph.vector[v] > 1:
        how = "copies, each for half its data"
        vector[v], vector[second] = np.ceil(graph.vector[v] / 2), max(graph.vector[v] // 2, 1.0)
        shared = into | out
        nbytes = np.where(shared, nbytes / 2, nbytes)
        tails = np.append(tails, np.where(out[shared], second, tails[shared]))
        heads = np.append(heads, np.where(into[shared], second, heads[shared]))
        nbytes, tokens = np.append(nbytes, nbytes[shared]), np.append(tokens, tokens[shared])
    else:
        how = "steps of half its instructions"
        scalar[v] = scalar[second] = graph.scalar[v] / 2
        between = max(float(nbytes[into].sum()), float(nbytes[out].sum()))
        tails, heads = np.append(np.where(out, second, tails), v), np.append(heads, second)
        nbytes, tokens = np.append(nbytes, between), np.append(tokens, 0.0)
    made = StreamGraph(
        (*graph.names, _free_name(graph, v)), scalar, vector, tails, heads, nbytes,
        np.append(graph.stateful, graph.stateful[v]), tokens,
        {key: np.append(values, values[v]) for key, values in graph.needs.items()},
    )  # fmt: skip
    return Halves(made, how)


def _free_name(graph: StreamGraph, v: int) -> str:
    name = f"{graph.names[v]}'"
    while name in graph.names:
        name += "'"
    return name


def _abler(
    problem: StreamProblem, part: Part, period: Period
) -> Iterator[tuple[str, StreamProblem, Part]]:
    """Yield problems in which the busiest device, or its kind, has twice the mips or vector
    length."""
    platform, b = problem.processors.platform, period.bottleneck
    kind = next(own for own in kinds_of(platform).values() if b in own)
    groups: list[Sequence[int]] = [[b]]
    groups += [kind] if len(kind) > 1 else []
    for own in groups:
        for key, noun in ((MIPS, "mips"), (WIDTH, "vector length")):
            devices = _doubled(platform.devices, own, key)
            yield f"twice the {noun} of {called(platform, own)}", _on(problem, devices), part


def _doubled(devices: Sequence[Device], chosen: Sequence[int], key: str) -> list[Device]:
    able = [*devices]
    for p in chosen:
        had = devices[p].capabilities
        able[p] = replace(devices[p], capabilities={**had, key: 2 * had.get(key, 1.0)})
    return able


def _on(problem: StreamProblem, devices: Sequence[Device]) -> StreamProblem:
    return StreamProblem(problem.graph, problem.processors.like(devices), problem.reading)


def _one_more(problem: StreamProblem, part: Part) -> Iterator[tuple[str, StreamProblem, Part]]:
    """Yield one more device like the first of each kind, if it needs no link of its own."""
    platform = problem.processors.platform
    if problem.k >= MOST_ROUTED:
        return
    for own in kinds_of(platform).values():
        first = platform.devices[own[0]]
        ends = {end for one in platform.connections for end in one.between}
        if platform.connections and first.name in ends:
            continue
        twin = replace(first, name=_new_name(platform, first.name))
        more = replace(platform, devices=(*platform.devices, twin))
        made = StreamProblem.of(problem.graph, more, problem.reading)
        yield f"one more device like {first.name}", made, part


def _new_name(platform: Platform, name: str) -> str:
    stem, number = name.rstrip("0123456789"), 0
    while f"{stem}{number}" in platform.names:
        number += 1
    return f"{stem}{number}"


def _links(
    problem: StreamProblem, part: Part, period: Period
) -> Iterator[tuple[str, StreamProblem, Part]]:
    """Yield wider links (each level, each of the busiest links, all links), and a new link."""
    platform = problem.processors.platform
    if not platform.has_links or problem.k > MOST_ROUTED:
        return
    for text, other in (*_wider_links(platform, period), *_new_link(problem, part, period)):
        yield text, StreamProblem.of(problem.graph, other, problem.reading), part


def _wider_links(platform: Platform, period: Period) -> Iterator[tuple[str, Platform]]:
    for i, level in enumerate(platform.levels):
        levels = [*platform.levels]
        levels[i] = replace(level, link=wider(level.link))
        yield f"twice the bandwidth of level {level.name}", replace(platform, levels=tuple(levels))
    if not platform.connections:
        return
    busy = {period.link_names[i] for i in np.argsort(-period.links, kind="stable")[:MOST_LINKS]
            if period.links[i] > 0}  # fmt: skip
    for i, one in enumerate(platform.connections):
        a, b = one.between
        if {f"{a} - {b}", f"{b} - {a}"} & busy:
            own = [*platform.connections]
            own[i] = replace(one, link=wider(one.link))
            yield f"twice the bandwidth of {a} - {b}", replace(platform, connections=tuple(own))
    own = [replace(one, link=wider(one.link)) for one in platform.connections]
    yield "twice the bandwidth of all links", replace(platform, connections=tuple(own))


def _new_link(problem: StreamProblem, part: Part, period: Period) -> Iterator[tuple[str, Platform]]:
    """Yield a new link between the busiest device and the one that exchanges most with it."""
    platform, filters, b = problem.processors.platform, problem.filters, period.bottleneck
    links = [one.link for one in platform.connections if one.link.beta > 0]
    if not links or problem.reading.route == "transit":
        return
    rows = np.repeat(part, np.diff(filters.offsets))
    spent = filters.here * problem.machine.cost[rows, part[filters.ends]]
    spent = np.bincount(part[filters.ends][rows == b], spent[rows == b], problem.k)
    home, places = platform.network.home, platform.network.names
    p = int(np.argmax(spent))
    ends = places[home[b]], places[home[p]]
    joined = {frozenset(one.between) for one in platform.connections}
    if spent[p] == 0 or ends[0] == ends[1] or frozenset(ends) in joined:
        return
    fastest = min(links, key=lambda link: link.beta)
    made = Connection(ends, Link(fastest.alpha, fastest.beta))
    text = f"a link of {1e-9 / fastest.beta:.3g} GB/s between {ends[0]} and {ends[1]}"
    yield text, replace(platform, connections=(*platform.connections, made))
