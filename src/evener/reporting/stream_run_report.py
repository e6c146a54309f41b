"""The page of a stream program's run: measured and planned period, stalls of filters, channels."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray
from evener.files.writing import write_text
from evener.planning.stream import problem_of
from evener.plans.stream_plan import StreamPlan
from evener.reporting.bars import name_width, place
from evener.reporting.certificates import MAX_ROWS, CertificateCell, CertificateColumn
from evener.reporting.decisions import ticks
from evener.reporting.html import render
from evener.reporting.provenance import provenance
from evener.running.streams.processor import FilterTimes
from evener.running.streams.program import StreamProgram
from evener.running.streams.results import StreamRun
from evener.running.streams.stages import SLOTS, PipelineStages
from evener.running.streams.turns import FilterTurns
from evener.streams.emulating import StreamSeconds
from evener.wording import NOTHING, count, duration, memory, percent, plural, ratio

MAX_BARS = 32  # of processors, and of filters
MAX_TRACKS = 16  # processors of the timeline
PERIODS = 4  # of the timeline
WIDTH, LEFT, RIGHT, TOP, ROW, GAP, BOTTOM = 900.0, 96.0, 26.0, 12.0, 22.0, 6.0, 26.0
CHARACTER = 6.6  # pixels of one of 11 px
COLOURS = 7  # of the style sheet
ON_A_CORE = 0.9  # of a processor's busy time, below which other programs are said to disturb
SAME = 5e-4  # of a period from the predicted one, up to which it is as predicted
FAR = 0.15  # of a period from the predicted one, from which the page says why
PARTS = {
    "computing": "on a core",
    "fixed": "off the core, while other programs or transfers use it",
    "waiting": "waiting for data",
    "communicate": "waiting for space",
}
FILTER_COLUMNS = (
    CertificateColumn("filter", "name in the program"),
    CertificateColumn("device", "processor of the filter"),
    CertificateColumn("an iteration", "seconds per iteration in which the filter was busy"),
    CertificateColumn("on a core", "part of these seconds spent on a core"),
    CertificateColumn("predicted", "by the plan"),
    CertificateColumn("ratio", "busy seconds / predicted seconds"),
    CertificateColumn(
        "no data", "seconds per iteration that its processor waited because input was missing"
    ),
    CertificateColumn(
        "no room", "seconds per iteration that its processor waited because an output was full"
    ),
    CertificateColumn("ran", "total number of times"),
)
CHANNEL_COLUMNS = (
    CertificateColumn("channel", "from filter to filter"),
    CertificateColumn("from", "device, or several if filters have copies"),
    CertificateColumn("to", "device, or several if filters have copies"),
    CertificateColumn("bytes", "an iteration"),
    CertificateColumn("bytes/s", "in steady state"),
    CertificateColumn("slots", "maximum number of arrays in the channel"),
    CertificateColumn("reader waited", "seconds per iteration, for data in the channel"),
    CertificateColumn(
        "writer waited", "seconds per iteration, for space in the channel: back-pressure"
    ),
)


class StallBar(NamedTuple):
    """A processor or filter: lengths of its parts and position of the prediction [%], texts."""

    name: str
    lengths: list[tuple[str, float]]
    predicted: float
    total: str
    said: str
    split: str


class FiringBox(NamedTuple):
    """One run of a filter on the timeline: x, y, width [px], colour, text inside, tooltip."""

    x: float
    y: float
    width: float
    colour: int
    text: str
    title: str


class StreamTimeline(NamedTuple):
    """Some iterations in steady state: names of processors with y, boxes, ticks."""

    height: float
    floor: float
    names: list[tuple[float, str]]
    boxes: list[FiringBox]
    ticks: list[tuple[float, str]]
    left: float = LEFT
    right: float = WIDTH - RIGHT
    top: float = TOP
    row: float = ROW
    width: float = WIDTH


def write_stream_run(
    path: str | Path, run: StreamRun, program: StreamProgram, plan: StreamPlan
) -> None:
    """Write the page of a run of a program on a plan; if spans were recorded, with a timeline."""
    own = predicted_seconds(plan)
    stalls = _stalls(run, program, plan)
    processors, filters = _processor_bars(run, plan), _filter_bars(run, own)
    page = render(
        "stream_run.html.j2",
        title=f"{program.name}: {verdict(run)}",
        verdict=verdict(run),
        program=program.name,
        run=run,
        plan=plan,
        figures=_figures(run),
        findings=findings(run, plan, own, stalls),
        parts=PARTS,
        processors=processors,
        filters=filters,
        name_width=name_width(one.name for one in (*processors, *filters)),
        timeline=_timeline(run),
        filter_columns=FILTER_COLUMNS,
        filter_rows=_filter_rows(run, own),
        n_channels=len(program.channels),
        channel_columns=CHANNEL_COLUMNS,
        channel_rows=_channel_rows(run, program, plan, stalls),
        provenance=provenance(plan),
    )
    write_text(path, page)


def predicted_seconds(plan: StreamPlan) -> FloatArray:
    """Return predicted seconds per iteration of the plan's filters (c,).

    Sending and receiving are included unless devices compute at the same time.
    """
    reading = problem_of(plan).reading
    took = StreamSeconds.of(plan, reading)
    if reading.overlap:
        return took.filters
    graph, n = plan.graph, plan.graph.n
    sent = np.bincount(graph.tails, took.sending, n)
    return np.asarray(took.filters + sent + np.bincount(graph.heads, took.receiving, n))


def verdict(run: StreamRun) -> str:
    """Return a sentence that compares the time of an iteration with the plan's prediction."""
    said = duration(run.predicted)
    if run.period is None:
        return f"Too few iterations for a period; predicted {said}."
    off = run.period / run.predicted - 1 if run.predicted > 0 else float("inf")
    if abs(off) < SAME:
        return f"Period {duration(run.period)}, as predicted."
    way = "longer" if off >= 0 else "shorter"
    return f"Period {duration(run.period)}, {percent(abs(off))} {way} than predicted ({said})."


def findings(
    run: StreamRun, plan: StreamPlan, own: FloatArray, stalls: list[ChannelStall]
) -> list[str]:
    """Return sentences on what limited the period. own (c,): predicted seconds of filters [s]."""
    at, each = int(run.busy.argmax()), run.busy / run.iterations
    name = run.names[at]
    part = run.busy[at] / max(_whole(run)[at], 1e-300)
    took = f"{duration(float(each[at]))} an iteration, {percent(part)} of its time"
    said = [f"{name} is busiest: {took}; predicted {duration(float(plan.loads[at]))}."]
    share = run.cpu[at] / run.busy[at] if run.busy[at] > 0 else 1.0
    if share < ON_A_CORE and not run.is_emulated:
        said.append(
            f"Its filters had a core for {percent(share)} of that; the rest went to other "
            "programs, other processors of this plan on the same core, or waits in the filters."
        )
    if run.period is not None and abs(run.period / max(run.predicted, 1e-300) - 1) > FAR:
        used = np.array([one.cpu for one in run.filters]) / run.iterations
        worst = int(np.abs(used - own).argmax())
        said.append(
            f"The filter furthest from the plan is {run.filters[worst].name}: "
            f"{duration(float(used[worst]))} on a core, predicted {duration(float(own[worst]))}."
        )
    for kind, why in ((1, "no room"), (0, "no data")):
        longest = max(stalls, key=lambda one: one.seconds[kind], default=None)
        if longest is not None and longest.seconds[kind] > 0.01 * max(run.period or 0, 1e-300):
            who, other = (longest.source, longest.to) if kind else (longest.to, longest.source)
            verb = "takes" if kind else "gives"
            said.append(
                f"{who} waits longest with {why}, {duration(longest.seconds[kind])} an iteration, "
                f"until {other} {verb} more."
            )
    return said


class ChannelStall(NamedTuple):
    """A channel's ends, and how long its reader and its writer waited for it per iteration [s]."""

    source: str
    to: str
    seconds: tuple[float, float]


def _stalls(run: StreamRun, program: StreamProgram, plan: StreamPlan) -> list[ChannelStall]:
    """Return, for each channel, how long its ends waited; copies of filters are summed."""
    turns = FilterTurns(program, plan, run.iterations)
    reading, writing = np.zeros((2, len(program.channels)))
    for c, one in enumerate(run.filters):
        i = int(turns.of[c])
        for place_, seconds in one.starved.items():
            reading[program.incoming[i][place_]] += seconds / run.iterations
        for place_, seconds in one.full.items():
            writing[program.outgoing[i][place_]] += seconds / run.iterations
    return [
        ChannelStall(channel.source, channel.to, (float(reading[e]), float(writing[e])))
        for e, channel in enumerate(program.channels)
    ]


def _whole(run: StreamRun) -> FloatArray:
    """Return the seconds that processors were busy or waited, (k,)."""
    return run.busy + run.no_input + run.no_room


def _figures(run: StreamRun) -> list[tuple[str, str, str]]:
    at = int(run.busy.argmax())
    waiting = max(run.filters, key=lambda one: one.no_input + one.no_room)
    waits = (waiting.no_input + waiting.no_room) / run.iterations
    for_what = "room" if waiting.no_room > waiting.no_input else "data"
    rate = NOTHING if run.throughput is None else f"{run.throughput:,.4g}"
    return [
        ("period", duration(run.period), "between iterations in steady state"),
        ("predicted", duration(run.predicted), "by the plan"),
        ("iterations a second", rate, f"{count(run.iterations)} in {duration(run.seconds)}"),
        ("busiest", run.names[at], f"{percent(run.busy[at] / max(_whole(run)[at], 1e-300))} busy"),
        ("waits most", waiting.name, f"{duration(waits)} an iteration, for {for_what}"),
    ]


def _bar(
    name: str, parts: tuple[float, float, float, float], predicted: float, scale: float
) -> StallBar:
    """Return a bar. parts [s]: on a core, off it, waiting for data, for space; scale [% / s]."""
    kinds = list(PARTS)
    lengths = [(kind, place(s * scale)) for kind, s in zip(kinds, parts, strict=True)]
    words = list(PARTS.values())
    words[1] = "off the core"
    split = ", ".join(f"{duration(s)} {word}" for word, s in zip(words, parts, strict=True))
    busy = parts[0] + parts[1]
    return StallBar(name, lengths, place(predicted * scale), duration(busy), duration(predicted),
                   f"{split}; predicted {duration(predicted)}")  # fmt: skip


def _processor_bars(run: StreamRun, plan: StreamPlan) -> list[StallBar]:
    """Return a bar for each processor with filters; if very many, only for the busiest."""
    n = run.iterations
    scale = 98 / max(float(_whole(run).max()) / n, float(plan.loads.max()), 1e-300)
    used = np.unique(plan.part)
    if used.size > MAX_BARS:
        used = used[np.argsort(-run.busy[used], kind="stable")[:MAX_BARS]]
    return [
        _bar(
            run.names[p],
            (run.cpu[p] / n, max(run.busy[p] - run.cpu[p], 0.0) / n, run.no_input[p] / n,
             run.no_room[p] / n),
            float(plan.loads[p]),
            scale,
        )
        for p in used.tolist()
    ]  # fmt: skip


def _filter_bars(run: StreamRun, own: FloatArray) -> list[StallBar]:
    """Return a bar for each filter; if many, only for those that are busy or wait longest."""
    n = run.iterations
    whole = np.array([one.seconds + one.no_input + one.no_room for one in run.filters]) / n
    scale = 98 / max(float(whole.max(initial=0.0)), float(own.max(initial=0.0)), 1e-300)
    chosen = np.sort(np.argsort(-whole, kind="stable")[:MAX_BARS])
    return [_filter_bar(run.filters[c], n, float(own[c]), scale) for c in chosen.tolist()]


def _filter_bar(one: FilterTimes, n: int, predicted: float, scale: float) -> StallBar:
    parts = one.cpu, max(one.seconds - one.cpu, 0.0), one.no_input, one.no_room
    cpu, off, empty, full = (seconds / n for seconds in parts)
    return _bar(one.name, (cpu, off, empty, full), predicted, scale)


def _timeline(run: StreamRun) -> StreamTimeline | None:
    """Return the timeline of some periods in the middle of the run; None without spans."""
    if run.period is None or not all(one.spans for one in run.filters if one.firings):
        return None
    used = sorted({one.processor for one in run.filters})[:MAX_TRACKS]
    firings = [one for one in run.filters if one.spans and one.processor in used]
    begin = min(one.spans[0][0] for one in firings)
    end = max(one.spans[-1][1] for one in firings)
    long = min(PERIODS * run.period, end - begin)
    first = max(begin, (begin + end - long) / 2)
    across = (WIDTH - LEFT - RIGHT) / long
    boxes = []
    for c, one in enumerate(run.filters):
        if one not in firings:
            continue
        y = TOP + (ROW + GAP) * used.index(one.processor)
        turns = one.turns or range(len(one.spans))
        for iteration, (a, b) in zip(turns, one.spans, strict=False):
            if b <= first or a >= first + long:
                continue
            x, wide = (
                (max(a, first) - first) * across,
                (min(b, first + long) - max(a, first)) * across,
            )
            text = one.name if len(one.name) * CHARACTER < wide - 4 else ""
            title = f"{one.name}, iteration {iteration}: {duration(b - a)}"
            boxes.append(FiringBox(round(LEFT + x, 1), y, round(max(wide, 0.4), 1), c % COLOURS,
                                   text, title))  # fmt: skip
    floor = TOP + (ROW + GAP) * len(used)
    names = [(TOP + (ROW + GAP) * i, run.names[p]) for i, p in enumerate(used)]
    marks = [(round(LEFT + across * at, 1), duration(at)) for at in ticks(long)]
    return StreamTimeline(floor + BOTTOM, floor, names, boxes, marks)


def _filter_rows(run: StreamRun, own: FloatArray) -> list[tuple[CertificateCell, ...]]:
    """Return a row for each filter; if very many, only for the first."""
    rows = []
    for one, predicted in list(zip(run.filters, own.tolist(), strict=True))[:MAX_ROWS]:
        each = [s / run.iterations for s in (one.seconds, one.cpu, one.no_input, one.no_room)]
        over = each[0] / predicted if predicted > 0 else None
        rows.append((
            CertificateCell(one.name),
            CertificateCell(run.names[one.processor]),
            *(CertificateCell(duration(s), s) for s in (*each[:2], predicted)),
            CertificateCell(ratio(over), over),
            *(CertificateCell(duration(s), s) for s in each[2:]),
            CertificateCell(count(one.firings), one.firings),
        ))  # fmt: skip
    return rows


def _channel_rows(
    run: StreamRun, program: StreamProgram, plan: StreamPlan, stalls: list[ChannelStall]
) -> list[tuple[CertificateCell, ...]]:
    """Return a row for each channel; if very many, only for the first."""
    turns = FilterTurns(program, plan, run.iterations)
    slots = PipelineStages(program, turns.homes, SLOTS, turns.ahead).of_channels

    def where(i: int) -> str:
        own = {int(plan.part[c]) for c in turns.copies(i)}
        return run.names[own.pop()] if len(own) == 1 else plural(len(own), "device")

    graph, rows = program.graph, []
    for e, channel in enumerate(program.channels[:MAX_ROWS]):
        each = float(channel.nbytes)
        flow = None if run.period is None else each / run.period
        rows.append((
            CertificateCell(f"{channel.source} → {channel.to}"),
            CertificateCell(where(int(graph.tails[e]))),
            CertificateCell(where(int(graph.heads[e]))),
            CertificateCell(memory(each), each),
            CertificateCell(NOTHING if flow is None else f"{memory(flow)}/s", flow),
            CertificateCell(count(int(slots[e])), int(slots[e])),
            *(CertificateCell(duration(s), s) for s in stalls[e].seconds),
        ))  # fmt: skip
    return rows
