"""Measures devices load by load: chooses, measures, records, goes on until every plan is done."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from evener.measuring.benchmark import Gap, Outcome, Point
from evener.measuring.journal import Aside, Journal
from evener.measuring.plans import LoadPlan
from evener.samples import DeviceSpeeds, Sample

BUSY = 0.9  # of the time; with less, a core was shared
Progress = Callable[[str, float], None]


class Measuring(Protocol):
    """What can measure: processes (together.Bench), or an emulation of devices."""

    names: list[str]

    def measure(self, loads: Sequence[int | None]) -> list[Outcome | None]:
        """Measure device i at loads[i] units, all at once; None leaves it idle."""


@dataclass
class Record:
    """All that came of one device: points and gaps in the order they were measured.

    again: one of the points at the end once more. alone: while the others were idle.
    """

    name: str
    points: list[Point] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    again: list[Point] = field(default_factory=list)
    alone: list[Point] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Take an outcome in."""
        if isinstance(outcome, Point):
            self.points.append(outcome)
        else:
            self.gaps.append(outcome)

    def change(self, later: Point) -> float | None:
        """Return by what factor a load takes longer in `later`; None where it was not measured."""
        first = next((p.sample for p in self.points if p.load == later.load), None)
        return later.sample.seconds / first.seconds if first else None

    @property
    def last_load(self) -> int | None:
        """The load of the last point that was not stopped [units]."""
        loads = (p.load for p in reversed(self.points) if p.sample.status == "ok")
        return next((round(load) for load in loads), None)

    @property
    def samples(self) -> tuple[Sample, ...]:
        """The samples by load."""
        return tuple(sorted((p.sample for p in self.points), key=lambda sample: sample.load))

    @property
    def capacity(self) -> float:
        """The largest load measured, where memory ended above it [units]; else infinity."""
        ended = any(gap.kind == "memory" for gap in self.gaps)
        fits = [p.load for p in self.points if p.sample.status == "ok"]
        return max(fits) if ended and fits else math.inf

    def speeds(self, model: str, notes: Mapping[str, Any]) -> DeviceSpeeds:
        """Return what a file of speeds keeps, what was odd among the notes."""
        odd = {
            "gaps": "; ".join(f"{g.load:.0f} ({g.kind}): {g.message}" for g in self.gaps),
            "at_work": _share(self.points),
            "outliers": sum(point.outliers for point in self.points),
            "drift": ", ".join(f"{p.load:.0f}: {p.drift:+.1%}" for p in self.points if p.drift),
            "again": ", ".join(f"{p.load:.0f}: {p.sample.seconds!r} s" for p in self.again),
            "alone": ", ".join(f"{p.load:.0f}: {p.sample.seconds!r} s" for p in self.alone),
        }
        said = {key: value for key, value in odd.items() if value}
        return DeviceSpeeds(self.name, self.samples, self.capacity, model, {**notes, **said})


def _share(points: Sequence[Point]) -> str:
    """Return in how much of the time the device's core was its own, where that is not most."""
    least = min((point.share for point in points), default=1.0)
    return f"{least:.0%} of the time at least; others had its core" if least < BUSY else ""


def run_campaign(
    bench: Measuring,
    plans: Sequence[LoadPlan],
    journal: Journal | Aside,
    *,
    together: bool = True,
    groups: Sequence[object] = (),
    progress: Progress = lambda step, fraction: None,  # noqa: ARG005
    learn: Callable[[Sequence[Record]], None] = lambda records: None,  # noqa: ARG005
) -> list[Record]:
    """Follow one plan a device until all are done; return what was measured.

    together: one load of every device at a time, those that are done at their last one, else one
    device after the other; groups: then one of each group at a time, say of each computer. What
    the journal knows is not measured again. learn: told the records before each round.
    """
    records = [Record(name) for name in bench.names]
    while True:
        learn(records)
        loads = [plan.next() for plan in plans]
        if not together:
            loads = _first_alone(loads, groups or [0] * len(loads))
        if all(load is None for load in loads):
            return records
        progress(_described(bench.names, loads), _fraction(plans))
        company = [record.last_load for record in records] if together else [None] * len(records)
        for i, outcome in enumerate(_outcomes(bench, loads, company, journal)):
            if outcome is not None:
                records[i].add(outcome)
                plans[i].add(outcome)


def _outcomes(
    bench: Measuring,
    loads: Sequence[int | None],
    company: Sequence[int | None],
    journal: Journal | Aside,
) -> list[Outcome | None]:
    known = [
        None if load is None else journal.get(name, load)
        for name, load in zip(bench.names, loads, strict=True)
    ]
    if all(k is not None or load is None for k, load in zip(known, loads, strict=True)):
        return known
    # All of them, so that those still to be measured have the same company as at first.
    asked = [c if load is None else load for load, c in zip(loads, company, strict=True)]
    for i, outcome in enumerate(bench.measure(asked)):
        if outcome is not None and known[i] is None and loads[i] is not None:
            journal.add(bench.names[i], outcome)
            known[i] = outcome
    return known


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
