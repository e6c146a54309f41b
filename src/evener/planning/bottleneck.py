"""Finds what limits a partition on a platform, and which changes of the platform would help most.

The effect of a change is predicted for unchanged blocks, by the same prediction as in the search.
Only for more memory do the sizes of blocks change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evener.arrays import BoolArray, FloatArray
from evener.planning.device_sets.set_loads import EqualFinish
from evener.plans import metrics
from evener.plans.costs import MAX_PAIRED, costs_of
from evener.plans.partition import FULL_SHARE
from evener.plans.plan import Evaluation, Prediction
from evener.plans.workload import WEIGHTS, Workload
from evener.platforms.models.samples import DeviceSpeeds
from evener.platforms.platform import Connection, Device, Level, Link, Platform
from evener.platforms.shared_links import shared_names, shared_routes

MIN_GAIN = 0.995  # of the makespan: a change that leaves more of it is not reported
LAST_DEVICES = 3  # devices tried with twice their speed: those that finish last
# Levels, and connections of machines of up to 128 devices, that are tried one by one; connections
# of larger machines. They bound the time: each is a prediction.
MAX_LINKS, LARGE_MACHINE, MAX_LINKS_IF_LARGE = 48, 128, 4
MAX_FULL = 3  # full devices, and kinds of devices, tried with twice their memory


@dataclass(frozen=True)
class Change:
    """A change in words, the predicted makespan with it [s], and its ratio to the present one."""

    text: str
    seconds: float
    ratio: float


@dataclass(frozen=True)
class Bottleneck:
    """How the device that finishes last spends its time [s], and helpful changes, the best first.

    Its seconds are compute, latency (alpha), transfer (beta x bytes), waiting (for shared links),
    delay (by partners) and fixed, minus overlapped. neighbours: number of devices it exchanges
    with. link: the shared link it waits for, "" if none. next_device, next_seconds: the device that
    would finish last if this one were faster and no device were delayed; None if one device does
    all the work.
    """

    device: str
    seconds: float
    compute: float
    latency: float
    transfer: float
    waiting: float
    delay: float
    fixed: float
    overlapped: float
    neighbours: int
    link: str
    next_device: str
    next_seconds: float | None
    changes: tuple[Change, ...]


def bottleneck_of(
    judged: Evaluation, platform: Platform, workload: Workload = WEIGHTS
) -> Bottleneck:
    """Return what limits an evaluated partition, and which changes would make it faster.

    The seconds are those of the evaluation. platform, workload: those it was evaluated with.
    """
    between, now = quotient_of(judged, platform.k), judged.prediction
    changes = helpful_changes(judged, platform, workload, between)
    last = now.bottleneck
    row = slice(between.starts[last], between.starts[last + 1])
    alpha, _ = platform.link_costs(between.block[row], between.other[row])
    order = np.argsort(-now.seconds, kind="stable")
    others = order[(order != last) & (now.seconds[order] > 0)]
    after = int(others[0]) if others.size else None
    waiting, latency = float(now.contention[last]), float(alpha.sum())
    return Bottleneck(
        platform.names[last],
        now.makespan,
        float(now.compute[last]),
        latency,
        float(now.communicate[last]) - waiting - latency,
        waiting,
        float(now.delay[last]),
        float(now.fixed[last]),
        float(now.overlapped[last]),
        int(alpha.size),
        _busiest(between, platform, last) if waiting > 0 else "",
        "" if after is None else platform.names[after],
        None if after is None else float(now.seconds[after]),
        tuple(changes),
    )


def helpful_changes(
    judged: Evaluation, platform: Platform, workload: Workload, between: metrics.Quotient
) -> list[Change]:
    """Return the changes that lower the makespan by more than half a percent, the best first."""
    loads, now, found = judged.certificate.weights, judged.prediction, list[Change]()
    if now.makespan == 0:
        return []
    for text, changed, does in _changes(platform, workload, between, now):
        predicted = metrics.prediction_of(
            between, loads, now.interior, changed, does, bound=now.bound
        )
        found.append(Change(text, predicted.makespan, predicted.makespan / now.makespan))
    kinds = [own for own in kinds_of(platform).values() if len(own) > 1]
    for own, ratio in more_memory(judged, platform, workload, kinds):
        text = f"twice the memory of {called(platform, own)} (sizes recomputed)"
        found.append(Change(text, ratio * now.makespan, ratio))
    helpful = [change for change in found if change.seconds < MIN_GAIN * now.makespan]
    return sorted(helpful, key=lambda change: change.seconds)


def quotient_of(judged: Evaluation, k: int) -> metrics.Quotient:
    """Return the quotient graph of an evaluated partition; its edge weights are zero."""
    exchange = judged.exchange
    starts = np.searchsorted(exchange.sender, np.arange(k + 1))
    return metrics.Quotient(
        starts,
        exchange.receiver,
        exchange.values,
        np.zeros(exchange.values.size),
        judged.certificate.boundary,
    )


def _busiest(between: metrics.Quotient, platform: Platform, b: int) -> str:
    """Name the shared link that block b waits for."""
    routes = shared_routes(platform, between.block, between.other)
    busy = routes.seconds(between.sent.astype(np.float64))
    own = routes.link[between.block[routes.pair] == b]
    return shared_names(platform)[int(own[np.argmax(busy[own])])]


def _changes(
    platform: Platform, workload: Workload, between: metrics.Quotient, now: Prediction
) -> Iterator[tuple[str, Platform, Workload]]:
    """Yield each change in words, with the changed platform and workload."""
    yield from ((text, changed, workload) for text, changed in _devices(platform, now))
    yield from ((text, changed, workload) for text, changed in _levels(platform, between, now))
    yield from ((text, changed, workload) for text, changed in _connections(platform, now))
    if now.communicate.any():
        half = replace(workload, bytes_per_value=workload.bytes_per_value / 2)
        yield "half the bytes per value", platform, half
        if not workload.overlap:
            hidden = replace(workload, overlap=True)
            yield "overlap communication with computation", platform, hidden
    if now.fixed.any():
        devices = [replace(d, fixed_seconds=d.fixed_seconds / 2) for d in platform.devices]
        sooner = replace(workload, fixed_seconds=workload.fixed_seconds / 2)
        yield "half the fixed seconds", replace(platform, devices=tuple(devices)), sooner


def _devices(platform: Platform, now: Prediction) -> Iterator[tuple[str, Platform]]:
    """Yield doubled speeds: of the devices that finish last, of their kinds, of all devices."""
    groups = kinds_of(platform)
    latest = np.argsort(-now.seconds, kind="stable")[:LAST_DEVICES].tolist()
    for b in latest:
        yield f"twice the speed of {platform.names[b]}", _faster(platform, [b])
    stems = dict.fromkeys(platform.names[b].rstrip("0123456789") for b in latest)
    for stem in stems:
        if len(groups[stem]) > 1:
            text = f"twice the speed of {called(platform, groups[stem])}"
            yield text, _faster(platform, groups[stem])
    if len(groups) > 1:
        yield "twice the speed of all devices", _faster(platform, range(platform.k))


def kinds_of(platform: Platform) -> dict[str, list[int]]:
    """Return groups of devices of one kind: their names differ only by a number."""
    kinds: dict[str, list[int]] = {}
    for b, device in enumerate(platform.devices):
        kinds.setdefault(device.name.rstrip("0123456789"), []).append(b)
    return kinds


def called(platform: Platform, chosen: Sequence[int]) -> str:
    """Return a name for a device, or for all devices of its kind."""
    name = platform.names[chosen[0]]
    if len(chosen) == 1:
        return name
    many = "both" if len(chosen) == 2 else f"all {len(chosen):,}"
    return f"{many} {name.rstrip('0123456789').rstrip('.-_/') or 'numbered'} devices"


def _faster(platform: Platform, chosen: Sequence[int]) -> Platform:
    """Return the platform with doubled speeds of the chosen devices, at every load."""
    devices: list[Device] = list(platform.devices)
    curves: dict[int, DeviceSpeeds] = {}
    for b in chosen:
        device = devices[b]
        curve = device.curve
        if curve is not None:
            if id(curve) not in curves:
                samples = tuple(
                    replace(s, seconds=s.seconds / 2, half_width=s.half_width / 2)
                    for s in curve.samples
                )
                curves[id(curve)] = replace(curve, samples=samples)
            curve = curves[id(curve)]
        devices[b] = replace(device, speed=2 * device.speed, curve=curve)
    return replace(platform, devices=tuple(devices))


def _levels(
    platform: Platform, between: metrics.Quotient, now: Prediction
) -> Iterator[tuple[str, Platform]]:
    """Yield faster links for up to MAX_LINKS levels, the busiest of those that messages use."""
    if not platform.levels:
        return

    def changed(i: int, **fields: object) -> Platform:
        levels: list[Level] = list(platform.levels)
        levels[i] = replace(levels[i], **fields)  # type: ignore[arg-type]
        return replace(platform, levels=tuple(levels))

    met = platform.shared_level(between.block, between.other)
    own = np.bincount(met, between.sent + 1.0, len(platform.levels))
    # A message uses the shared links of all levels below the deepest level that both ends share.
    passed = np.where([level.shared for level in platform.levels], np.cumsum(own), own)
    busy = np.argsort(-passed, kind="stable")[:MAX_LINKS]
    for i in np.sort(busy[passed[busy] > 0]).tolist():
        level = platform.levels[i]
        if level.link.beta > 0:
            text = f"twice the bandwidth of level {level.name}"
            yield text, changed(i, link=wider(level.link))
        if level.link.alpha > 0:
            text = f"half the latency of level {level.name}"
            yield text, changed(i, link=_sooner(level.link))
        if level.shared and now.contention.any():
            text = f"a separate link for each pair at level {level.name}"
            yield text, changed(i, shared=False)


def _connections(platform: Platform, now: Prediction) -> Iterator[tuple[str, Platform]]:
    """Yield doubled bandwidths of single links, then better links everywhere.

    Links of the devices that finish last come first.
    """
    if not platform.connections:
        return
    latest = np.argsort(-now.seconds, kind="stable")[:LAST_DEVICES].tolist()
    homes = {place for b in latest for place in (platform.names[b], platform.devices[b].at)}
    links: list[Connection] = list(platform.connections)
    order = sorted(range(len(links)), key=lambda i: not homes & set(links[i].between))
    for i in order[: MAX_LINKS if platform.k <= LARGE_MACHINE else MAX_LINKS_IF_LARGE]:
        a, b = links[i].between
        own = [*links]
        own[i] = replace(links[i], link=wider(links[i].link))
        yield f"twice the bandwidth of {a} - {b}", replace(platform, connections=tuple(own))
    for text, change in (
        ("twice the bandwidth of all links", wider),
        ("half the latency of all links", _sooner),
    ):
        own = [replace(one, link=change(one.link)) for one in links]
        yield text, replace(platform, connections=tuple(own))


def wider(link: Link) -> Link:
    """Return a link of twice the bandwidth."""
    return Link(link.alpha, link.beta / 2)


def _sooner(link: Link) -> Link:
    return Link(link.alpha / 2, link.beta)


def more_memory(
    judged: Evaluation, platform: Platform, workload: Workload, kinds: Sequence[Sequence[int]]
) -> Iterator[tuple[Sequence[int], float]]:
    """Yield groups of devices with full memory, and the relative makespan with twice their memory.

    kinds: groups of devices of one kind. The relative makespan, at most 1, is with the additional
    memory / without; in both cases, sizes are such that all devices finish together, each device
    exchanges as much as now, and devices without a block get none.
    """
    loads = judged.certificate.weights
    room, full = _room(judged, platform)
    if not full.any() or platform.k > MAX_PAIRED or (loads > 0).sum() < 2:
        return
    certificate, now, costs = judged.certificate, judged.prediction, costs_of(platform, workload)
    exchange = now.communicate[None], 1.0 - now.interior[None]  # without delays: all end together

    def even_seconds(room: FloatArray) -> float:
        """Return the makespan [s] if each device holds at most room (k,) [units]."""
        even = EqualFinish(costs, float(loads.sum()), int(certificate.vertices.sum()), room)
        return float(even.loads_of(loads[None] > 0, lambda *_: exchange).seconds[0])

    before = even_seconds(room)
    chosen: list[Sequence[int]] = [[b] for b in _first_of_kinds(platform, full, kinds)[:MAX_FULL]]
    chosen += [own for own in kinds if len(own) > 1 and full[list(own)].any()][:MAX_FULL]
    for own in chosen:
        more = room.copy()
        more[list(own)] *= 2
        yield own, min(even_seconds(more) / before, 1.0)


def _first_of_kinds(
    platform: Platform, full: BoolArray, kinds: Sequence[Sequence[int]]
) -> list[int]:
    """Return one full device of each kind, the fastest first.

    Other full devices of the kind would gain the same.
    """
    kind_of = {b: kind for kind, own in enumerate(kinds) for b in own}
    fastest = [b for b in np.argsort(-platform.speeds, kind="stable").tolist() if full[b]]
    first = {kind_of.get(b, -1 - b): b for b in reversed(fastest)}
    return sorted(first.values(), key=fastest.index)


def _room(judged: Evaluation, platform: Platform) -> tuple[FloatArray, BoolArray]:
    """Return the capacity of each device [units], at least its load, and whether it is full.

    Both arrays have shape (k,).
    """
    certificate = judged.certificate
    loads = certificate.weights
    busy = (loads > 0) & (certificate.bytes > 0)
    density = np.where(busy, certificate.bytes, 1.0) / np.where(busy, loads, 1.0)
    by_bytes = np.where(busy, platform.memories / density, np.inf)
    memory = np.minimum(by_bytes, platform.memory_units)
    full = busy & (loads >= FULL_SHARE * memory)
    return np.maximum(memory, loads), full
