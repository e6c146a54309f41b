"""Measures devices load by load until the plan of every device is complete.

A sample that differs much from its neighbours is measured a second time before it counts: another
process on the core, or a clock that jumped, makes one sample far slower or faster than its
neighbours. A real cliff does so, too, but then the second measurement agrees with the first. A load
that was stopped because it took too long is measured again, too, because no larger load is measured
after a stop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from evener.measuring.journal import Aside, Journal
from evener.measuring.loads import LoadPlan
from evener.measuring.outcomes import BUSY, Gap, Outcome, Point
from evener.platforms.models.fitting import SLOWER
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.wording import duration

FAR_SPEED = math.log(2.0)  # a sample is measured again if it differs by this from both neighbours
NEAR_LOAD = math.log(2.0)  # at an end of the curve: the only neighbour must be this close
SLOWER_SAID = f"stopped before they were done; models count {SLOWER:g} times their seconds"
Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Check:
    """A point far from its neighbours, and the outcome of its second measurement."""

    first: Point
    second: Outcome

    @property
    def load(self) -> float:
        """The load of both [units]."""
        return self.first.load

    def kept(self, samples: Sequence[Sample]) -> Point:
        """Return the point that is closer to its neighbours.

        If the first measurement was stopped, return the second unless it was stopped, too. samples:
        of all loads, by load.
        """
        if not (isinstance(self.second, Point) and self.second.sample.status == "ok"):
            return self.first
        if is_stop(self.first):
            return self.first if is_stop(self.second) else self.second
        i = next(i for i, sample in enumerate(samples) if sample.load == self.load)
        beside = [*samples[max(i - 1, 0) : i], *samples[i + 1 : i + 2]]

        def distance(point: Point) -> float:
            return sum(abs(math.log(point.sample.speed / other.speed)) for other in beside)

        return min(self.first, self.second, key=distance)

    def __str__(self) -> str:
        second = self.second
        again = duration(second.sample.seconds) if isinstance(second, Point) else second.message
        return f"{self.load:.0f}: {duration(self.first.sample.seconds)}, then {again}"


def is_stop(outcome: Outcome) -> bool:
    """Whether a load took so long that no larger load should be tried."""
    return isinstance(outcome, Point) and (outcome.slow or outcome.sample.status == "slower")


def odd_load(samples: Sequence[Sample], checked: Collection[float]) -> int | None:
    """Return a load whose speed is far above or below the speeds of both neighbours, or None.

    samples: by load. checked: loads that were already measured twice. At an end of the curve, the
    load of the only neighbour must be near.
    """
    fine = [sample for sample in samples if sample.status == "ok"]
    for i, sample in enumerate(fine):
        beside = [*fine[max(i - 1, 0) : i], *fine[i + 1 : i + 2]]
        if sample.load not in checked and _stands_out(sample, beside):
            return round(sample.load)
    return None


def _stands_out(sample: Sample, beside: Sequence[Sample]) -> bool:
    off = [math.log(sample.speed / other.speed) for other in beside]
    if not off or (len(off) == 1 and abs(math.log(sample.load / beside[0].load)) > NEAR_LOAD):
        return False
    return min(off) > FAR_SPEED or max(off) < -FAR_SPEED


class Measuring(Protocol):
    """Measures devices, with processes (together.Bench) or by emulation."""

    names: list[str]

    def measure(self, loads: Sequence[int | None]) -> list[Outcome | None]:
        """Measure each device i at loads[i] units, all at once; None leaves a device idle."""


@dataclass
class DeviceRecord:
    """All measurements of one device: points and gaps in the order in which they were measured.

    again: one load measured once more at the end. alone: one load measured while the other devices
    were idle. checks: points that were measured twice. skipped, why_skipped: loads never tried.
    """

    name: str
    points: list[Point] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    again: list[Point] = field(default_factory=list)
    alone: list[Point] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)
    why_skipped: str = ""

    def add(self, outcome: Outcome) -> None:
        """Add an outcome."""
        if isinstance(outcome, Point):
            self.points.append(outcome)
        else:
            self.gaps.append(outcome)

    @property
    def odd_load(self) -> int | None:
        """A load measured once that was stopped or is far from its neighbours, or None."""
        checked = {check.load for check in self.checks}
        stops = (round(p.load) for p in self.points if is_stop(p) and p.load not in checked)
        return next(stops, None) or odd_load(self.samples, checked)

    def check(self, second: Outcome) -> Point:
        """Add the second measurement of a load; return the point that counts."""
        i = next(i for i, point in enumerate(self.points) if point.load == second.load)
        check = Check(self.points[i], second)
        self.checks.append(check)
        self.points[i] = check.kept([s for s in self.samples if s.status == "ok"])
        return self.points[i]

    def change(self, later: Point) -> float | None:
        """Return the ratio of the time of `later` to the first time of its load, or None."""
        first = next((p.sample for p in self.points if p.load == later.load), None)
        return later.sample.seconds / first.seconds if first else None

    @property
    def last_load(self) -> int | None:
        """The load of the last point that was not stopped [units], or None."""
        loads = (p.load for p in reversed(self.points) if p.sample.status == "ok")
        return next((round(load) for load in loads), None)

    @property
    def samples(self) -> tuple[Sample, ...]:
        """The samples, by load."""
        return tuple(sorted((p.sample for p in self.points), key=lambda sample: sample.load))

    @property
    def capacity(self) -> float:
        """The largest load measured [units] if memory ran out above it; otherwise infinity."""
        ended = any(gap.kind == "memory" for gap in self.gaps)
        fits = [p.load for p in self.points if p.sample.status == "ok"]
        return max(fits) if ended and fits else math.inf

    def speeds(self, model: str, notes: Mapping[str, Any]) -> DeviceSpeeds:
        """Return the device as a file of speeds stores it; its notes list unusual results."""
        slower = ", ".join(f"{s.load:.0f}" for s in self.samples if s.status == "slower")
        odd = {
            "gaps": "; ".join(f"{g.load:.0f} ({g.kind}): {g.message}" for g in self.gaps),
            "skipped": ", ".join(map(str, self.skipped)) + f": {self.why_skipped}"
            if self.skipped
            else "",
            "slower": f"{slower}: {SLOWER_SAID}" if slower else "",
            "checked": "; ".join(map(str, self.checks)),
            "at_work": _share(self.points),
            "outliers": sum(point.outliers for point in self.points),
            "drift": ", ".join(f"{p.load:.0f}: {p.drift:+.1%}" for p in self.points if p.drift),
            "again": ", ".join(f"{p.load:.0f}: {p.sample.seconds!r} s" for p in self.again),
            "alone": ", ".join(f"{p.load:.0f}: {p.sample.seconds!r} s" for p in self.alone),
        }
        said = {key: value for key, value in odd.items() if value}
        return DeviceSpeeds(self.name, self.samples, self.capacity, model, {**notes, **said})


def _share(points: Sequence[Point]) -> str:
    """Return the least fraction of exclusive core time as text if it is below BUSY, else ""."""
    least = min((point.share for point in points), default=1.0)
    return (
        f"{least:.0%} of the time at least; otherwise other processes used its core"
        if least < BUSY
        else ""
    )


def run_campaign(
    bench: Measuring,
    plans: Sequence[LoadPlan],
    journal: Journal | Aside,
    *,
    checks: Aside | None = None,
    together: bool = True,
    groups: Sequence[object] = (),
    progress: Progress = lambda step, fraction: None,  # noqa: ARG005
    learn: Callable[[Sequence[DeviceRecord]], None] = lambda records: None,  # noqa: ARG005
) -> list[DeviceRecord]:
    """Follow the plan of each device until all are complete; return the measurements.

    together: all devices are measured at once, and those with a complete plan repeat their last
    load; otherwise one device of each group, for example of each computer, is measured at a time.
    Loads in the journal are not measured again. checks: the part of the journal for second
    measurements of points far from their neighbours; None: no second measurements. learn: called
    with the records before each round.
    """
    records = [DeviceRecord(name) for name in bench.names]
    while True:
        learn(records)
        odd = [None if checks is None else record.odd_load for record in records]
        is_check = any(load is not None for load in odd)
        loads = odd if is_check else [plan.next() for plan in plans]
        if not together:
            loads = _first_alone(loads, groups or [0] * len(loads))
        if all(load is None for load in loads):
            break
        progress(_described(bench.names, loads), _fraction(plans))
        company = [record.last_load for record in records] if together else [None] * len(records)
        source = checks if is_check and checks is not None else journal
        for i, outcome in enumerate(outcomes_of(bench, loads, company, source)):
            if outcome is not None and is_check:
                plans[i].add(records[i].check(outcome))
            elif outcome is not None:
                records[i].add(outcome)
                if checks is None or not is_stop(outcome):  # a stop is measured again first
                    plans[i].add(outcome)
    for record, plan in zip(records, plans, strict=True):
        record.skipped, record.why_skipped = list(plan.left_out), plan.ceiling.why
    return records


def outcomes_of(
    bench: Measuring,
    loads: Sequence[int | None],
    company: Sequence[int | None],
    journal: Journal | Aside,
) -> list[Outcome | None]:
    """Return the outcome of each device i at loads[i] units, all at once; None leaves it idle.

    Outcomes in the journal are not measured again; new outcomes are added to it. company: loads for
    devices that would otherwise be idle, so that the other devices are measured while these work.
    """
    known = [
        None if load is None else journal.get(name, load)
        for name, load in zip(bench.names, loads, strict=True)
    ]
    if all(k is not None or load is None for k, load in zip(known, loads, strict=True)):
        return known
    # All devices run, so that those still to be measured have the same neighbours as at first.
    asked = [c if load is None else load for load, c in zip(loads, company, strict=True)]
    for i, outcome in enumerate(_measured(bench, asked)):
        if outcome is not None and known[i] is None and loads[i] is not None:
            journal.add(bench.names[i], outcome)
            known[i] = outcome
    return known


def _measured(bench: Measuring, asked: Sequence[int | None]) -> Sequence[Outcome | None]:
    """Measure, and repeat if a process was killed; a second kill counts as lack of memory."""
    outcomes = list(bench.measure(asked))
    killed = [i for i, outcome in enumerate(outcomes) if _is_killed(outcome)]
    again = bench.measure(asked) if killed else []
    for i in killed:
        second = again[i]
        if isinstance(second, Gap) and _is_killed(second):
            second = replace(second, kind="memory", message=f"{second.message}, twice")
        outcomes[i] = second
    return outcomes


def _is_killed(outcome: Outcome | None) -> bool:
    return isinstance(outcome, Gap) and outcome.kind == "killed"


def _fraction(plans: Sequence[LoadPlan]) -> float:
    done = sum(plan.done for plan in plans)
    return done / max(sum(max(plan.expected, plan.done) for plan in plans), 1)


def _first_alone(loads: Sequence[int | None], groups: Sequence[object]) -> list[int | None]:
    first: dict[object, int] = {}
    for i, (load, group) in enumerate(zip(loads, groups, strict=True)):
        if load is not None:
            first.setdefault(group, i)
    chosen = set(first.values())
    return [load if i in chosen else None for i, load in enumerate(loads)]


def _described(names: Sequence[str], loads: Sequence[int | None]) -> str:
    parts = [f"{n} at {x:,}" for n, x in zip(names, loads, strict=True) if x is not None]
    return ", ".join(parts[:3]) + (", ..." if len(parts) > 3 else "")
