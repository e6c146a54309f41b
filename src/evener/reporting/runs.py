"""The page of a run: timeline of its supersteps, breakdown per device, prediction, advice."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.files.writing import write_text
from evener.partitioning.policies.machines import machines_of
from evener.planning.breakdown import Breakdown, activities_of, limit_of
from evener.platforms.platform import Platform
from evener.reporting.bars import name_width, place
from evener.reporting.decisions import ticks
from evener.reporting.html import render
from evener.reporting.run_supersteps import superstep_chart
from evener.running.program_run import ProgramRun
from evener.wording import duration, memory, percent, plural, ratio, units

MAX_DEVICES = 32  # with a bar; of more, half of them busiest and half waiting most
WIDTH, LEFT, RIGHT, TOP, ROW, GAP, BOTTOM = 900.0, 96.0, 26.0, 20.0, 22.0, 6.0, 26.0
COLUMNS = 778  # of the timeline, one pixel each: shorter spans share a column by their seconds
MEANINGS = {  # of what devices spend a superstep with, in words
    "computing": "computing",
    "communicating": "sending and receiving messages",
    "packing": "packing messages",
    "waiting": "waiting for messages and other devices",
    "unpacking": "unpacking",
}
MAX_MARKS = 40  # supersteps up to which each beginning is marked


class Bar(NamedTuple):
    """One device: its activities with their lengths [%], and texts."""

    name: str
    lengths: list[tuple[str, float]]
    total: str
    waits: str
    split: str


class PredictedRow(NamedTuple):
    """A row of predicted and measured seconds, as text."""

    name: str
    load: str
    predicted: str
    measured: str
    ratio: str
    rest_predicted: str
    rest_measured: str


@dataclass(frozen=True)
class Track:
    """A device's row of the timeline: name, y of its top, an SVG path for each activity."""

    name: str
    y: float
    paths: list[tuple[str, str]]


@dataclass(frozen=True)
class Timeline:
    """The timeline as SVG: tracks by machine; ticks (x, text); beginnings of supersteps (x).

    moves: of vertices between devices (x, width, text).
    """

    width: float
    height: float
    left: float
    right: float
    top: float
    floor: float
    row: float
    tracks: list[Track]
    machines: list[tuple[float, str]]
    ticks: list[tuple[float, str]]
    marks: list[float]
    moves: list[tuple[float, float, str]]


class RunAdvice(NamedTuple):
    """A sentence on what limits the run, and a command that helps, or ""."""

    sentence: str
    command: str


def write_run(
    path: str | Path,
    run: ProgramRun,
    platform: Platform,
    breakdown: Breakdown,
    advice: RunAdvice,
    title: str,
) -> None:
    """Write the page of a run; title: name of the program and of the graph."""
    names, of = platform.names, machine_names(platform)
    shown = _shown(breakdown, of)
    page = render(
        "run.html.j2",
        title=title,
        advice=advice,
        figures=_figures(run, breakdown, names),
        timeline=_timeline(run, names, of, shown),
        supersteps=superstep_chart(run) if run.steps[0] else None,
        moves=move_rows(run),
        recent=len(run.since_last_move().steps[0]) if run.moves else 0,
        machines=[(name, _bars(breakdown, names, own)) for name, own in _grouped(of, shown)],
        compared=compared(breakdown, names),
        scaled=breakdown.is_scaled,
        activities=[(name, MEANINGS[name]) for name in activities_of(run)],
        emulated=run.is_emulated,
        measured="emulated" if run.is_emulated else "measured",
        name_width=name_width(names),
        has_links=platform.has_links,
        drawn=len(shown),
        k=len(names),
    )
    write_text(path, page)


def advice_of(
    breakdown: Breakdown, names: Sequence[str], commands: Mapping[str, Sequence[str]]
) -> RunAdvice:
    """Return what limits a superstep and what to do about it.

    commands: for each limit, words of the command that helps, if there is one: "units": plan by the
    kernel's work; "loads": plan with the measured speeds; "exchange": find which devices are worth
    using.
    """
    limit = limit_of(breakdown)
    waits, share = names[limit.waits], percent(limit.share)
    if (breakdown.loads > 0).sum() < 2:
        return RunAdvice(
            f"{waits} is the only device with a load: it waits for no other device.", ""
        )
    if limit.by == "nothing":
        return RunAdvice(f"No device waits long: {waits} waits most, {share} of the time.", "")
    if limit.by == "unknown":
        return RunAdvice(
            f"A run of {duration(breakdown.whole)} is too short to say why devices wait.", ""
        )
    last, longest = names[limit.last], float(breakdown.measured["computing"].max())
    sentence = f"{waits} waits {share} of the time"
    if limit.by == "units":
        sentence += (
            f", because {last} has more arcs for its load than other devices: plan by "
            "the app's work"
        )
    elif limit.by == "loads":
        sentence += (
            f", because {last} computes {duration(longest)} a superstep, but even loads "
            f"would take {duration(breakdown.evened)}: "
        )
        sentence += (
            "loads do not match the speeds of the emulated devices at these loads"
            if breakdown.is_emulated
            else "re-plan with the measured speeds"
        )
    else:
        sentence += (
            ", although loads match the speeds: exchanges take long; check whether fewer "
            "devices are faster"
        )
    return RunAdvice(sentence, shlex.join(commands.get(limit.by, ())))


def machine_names(platform: Platform) -> list[str]:
    """Return each device's machine by name: the common part of the locations of its devices.

    If no device has a location, all are treated as one machine.
    """
    if not any(device.at for device in platform.devices):
        return [platform.name or "all devices"] * platform.k
    machines = machines_of(platform)
    names = []
    for i in range(machines.n_machines):
        places = [platform.devices[b].at.split("/") for b in machines.devices(i)]
        common = [parts[0] for parts in zip(*places, strict=False) if len(set(parts)) == 1]
        names.append("/".join(common) or f"machine {i}")
    return [names[i] for i in machines.machine.tolist()]


def compared(breakdown: Breakdown, names: Sequence[str]) -> list[PredictedRow]:
    """Return predicted and measured seconds of each device."""
    rows = []
    for b, name in enumerate(names):
        predicted, own = float(breakdown.computing[b]), float(breakdown.measured["computing"][b])
        load = units(round(float(breakdown.loads[b]), 1))
        rest = float(breakdown.busy[b] + breakdown.measured["waiting"][b]) - own
        rows.append(
            PredictedRow(
                name, load, duration(predicted), duration(own),
                ratio(own / predicted) if predicted > 0 else ratio(None),
                duration(breakdown.makespan - predicted), duration(rest),
            )
        )  # fmt: skip
    return rows


def _figures(run: ProgramRun, breakdown: Breakdown, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return name, value and meaning of the figures below the heading."""
    limit = limit_of(breakdown)
    arcs = run.edges / run.seconds / 1e6 if run.seconds > 0 else 0.0
    sent = float(run.of_devices("sent").sum())
    said = "computing only, relative speeds" if breakdown.is_scaled else "by the plan's machine"
    return [
        (
            "a superstep took",
            duration(breakdown.seconds),
            f"mean of {len(run.since_last_move().steps[0]):,}",
        ),
        ("predicted", duration(breakdown.makespan), said),
        ("waits most", percent(limit.share), names[limit.waits]),
        ("arcs a second", f"{arcs:,.1f} M", f"{run.edges:,} visited"),
        ("sent", memory(sent), f"by {plural(len(names), 'device')} in all supersteps"),
    ]


def _shown(breakdown: Breakdown, machines: Sequence[str]) -> list[int]:
    """Return the devices to draw, grouped by machine."""
    order = list(dict.fromkeys(machines))
    devices = sorted(range(len(machines)), key=lambda b: order.index(machines[b]))
    if len(devices) <= MAX_DEVICES:
        return devices
    busiest = np.argsort(-breakdown.busy, kind="stable")[: MAX_DEVICES // 2].tolist()
    idle = np.argsort(-breakdown.waiting_share, kind="stable").tolist()
    chosen = {*busiest, *[b for b in idle if b not in busiest][: MAX_DEVICES // 2]}
    return [b for b in devices if b in chosen]


def _grouped(machines: Sequence[str], shown: Sequence[int]) -> list[tuple[str, list[int]]]:
    names = dict.fromkeys(machines[b] for b in shown)
    return [(name, [b for b in shown if machines[b] == name]) for name in names]


def _bars(breakdown: Breakdown, names: Sequence[str], devices: Sequence[int]) -> list[Bar]:
    """Return the bars of these devices; all bars of a page have one scale."""
    names_of = list(breakdown.measured)
    table = np.array([breakdown.measured[one] for one in names_of])
    scale = 100 / max(float(table.sum(axis=0).max()), 1e-300)
    bars = []
    for b in devices:
        own = table[:, b].tolist()
        split = ", ".join(f"{one} {duration(s)}" for one, s in zip(names_of, own, strict=True))
        lengths = [(one, place(scale * s)) for one, s in zip(names_of, own, strict=True)]
        waits = percent(float(breakdown.waiting_share[b])) if breakdown.loads[b] > 0 else "no load"
        bars.append(Bar(names[b], lengths, duration(sum(own)), waits, split))
    return bars


def _timeline(
    run: ProgramRun, names: Sequence[str], machines: Sequence[str], shown: Sequence[int]
) -> Timeline:
    """Return the timeline of these devices."""
    seconds = max(
        [began + took for steps in run.steps for step in steps for _, began, took in step.spans],
        default=0.0,
    ) or 1.0  # fmt: skip
    across = (WIDTH - LEFT - RIGHT) / seconds
    tracks, headings, y = [], [], TOP
    activities = activities_of(run)
    groups = _grouped(machines, shown)
    for name, devices in groups:
        if len(groups) > 1:
            headings.append((y + 11.0, name))
            y += 18.0
        for b in devices:
            spans = [span for step in run.steps[b] for span in step.spans]
            filled = _filled(spans, seconds, activities)
            tracks.append(Track(names[b], y, _paths(filled, y, activities)))
            y += ROW + GAP
    first = [step.spans[0][1] for step in run.steps[shown[0]] if step.spans]
    marks = first if len(first) <= MAX_MARKS else []
    return Timeline(
        WIDTH, y + BOTTOM, LEFT, WIDTH - RIGHT, TOP, y, ROW, tracks, headings,
        [(round(LEFT + across * at, 1), duration(at)) for at in ticks(seconds)],
        [round(LEFT + across * at, 1) for at in marks],
        move_spans(run, LEFT, across),
    )  # fmt: skip


def _filled(
    spans: Iterable[tuple[str, float, float]], seconds: float, activities: Sequence[str]
) -> FloatArray:
    """Return the fraction of each column that each activity takes, (activities, COLUMNS)."""
    filled = np.zeros((len(activities), COLUMNS))
    scale = COLUMNS / seconds
    for name, began, took in spans:
        row = filled[activities.index(name)]
        first, end = began * scale, min((began + took) * scale, float(COLUMNS))
        a, b = int(first), min(int(end), COLUMNS - 1)
        if a >= COLUMNS:
            continue
        if a == b:
            row[a] += end - first
        else:
            row[a] += a + 1 - first
            row[a + 1 : b] += 1.0
            row[b] += end - b
    return filled


def _paths(filled: FloatArray, y: float, activities: Sequence[str]) -> list[tuple[str, str]]:
    """Return an SVG path for each activity: stacked in each column, equal columns merged."""
    heights = np.round(ROW * np.minimum(filled, 1.0), 1)
    floors = y + ROW - np.cumsum(heights, axis=0)
    wide = (WIDTH - LEFT - RIGHT) / COLUMNS
    paths = []
    for name, height, top in zip(activities, heights, floors, strict=True):
        starts = _runs(height, top)
        words = [
            f"M{LEFT + wide * a:.1f} {top[a]:.1f}h{wide * (b - a):.1f}v{height[a]:.1f}"
            f"h{-wide * (b - a):.1f}z"
            for a, b in pairwise(starts.tolist())
            if height[a] > 0
        ]
        paths.append((name, "".join(words)))
    return paths


def _runs(height: FloatArray, top: FloatArray) -> IntArray:
    """Return the first column of each run of equal columns and, last, the number of all columns."""
    changes = np.flatnonzero((np.diff(height) != 0) | (np.abs(np.diff(top)) > 0.05)) + 1
    return np.concatenate([[0], changes, [height.size]])


AROUND = 30  # supersteps before and after a move, of which medians are shown


class RunMoveRow(NamedTuple):
    """A move of vertices, as text: after which superstep, number of vertices, duration.

    before, then: measured seconds of a superstep before and after it; saving: their difference, and
    the predicted one.
    """

    after: str
    vertices: str
    seconds: str
    before: str
    then: str
    saving: str
    predicted: str


def move_rows(run: ProgramRun) -> list[RunMoveRow]:
    """Return a row for each move."""
    seconds = np.array([sum(took for _, _, took in step.spans) for step in run.steps[0]])
    starts = [move.step - run.first for move in run.moves]
    rows = []
    for move, at, end in zip(run.moves, starts, [*starts[1:], seconds.size], strict=False):
        before = float(np.median(seconds[max(at - AROUND, 0) : at]))
        then = float(np.median(seconds[at : min(at + AROUND, end)]))
        saved = before - then
        rows.append(
            RunMoveRow(
                f"{move.step:,}", f"{move.vertices:,}", duration(move.seconds), duration(before),
                duration(then), f"{'-' if saved < 0 else ''}{duration(abs(saved))}",
                duration(move.saving),
            )
        )  # fmt: skip
    return rows


def move_spans(run: ProgramRun, left: float, across: float) -> list[tuple[float, float, str]]:
    """Return x, width and text of each move in a drawing; across: units per second, from `left`."""
    found = []
    for move in run.moves:
        vertices, took = plural(move.vertices, "vertex", "vertices"), duration(move.seconds)
        width = max(round(across * move.seconds, 1), 1.0)
        text = f"{vertices} changed device in {took}"
        found.append((round(left + across * move.began, 1), width, text))
    return found
