"""The page of a stream plan, and the page of `evener compare --stream`.

The first shows the filters on devices, loads, links and helpful changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.files.writing import write_text
from evener.graphs.stream_graph import StreamGraph
from evener.planning.compare import StreamComparison
from evener.planning.stream import counted, problem_of
from evener.planning.stream_advice import StreamAdvice, advise_on_stream, own_seconds
from evener.plans.stream_plan import StreamPlan
from evener.platforms.platform import Platform
from evener.reporting.bars import FOREMOST, MAX_BARS, ClassBar, name_width, place
from evener.reporting.certificates import MAX_ROWS, CertificateCell, CertificateColumn
from evener.reporting.comparisons import Compared, FurtherColumns, Measure, side_by_side
from evener.reporting.html import render
from evener.reporting.marks import block_colours, in_css
from evener.reporting.networks import MAX_NODES, Joined, QuotientDrawing, draw_joined
from evener.reporting.provenance import device_rows, option_rows, provenance
from evener.reporting.stream_graphs import draw_stream_graph, ranks_of
from evener.streams.period import Period, StreamProblem
from evener.streams.placing import least_work
from evener.wording import (
    NOTHING,
    count,
    duration,
    memory,
    percent,
    plural,
    ratio,
    spread,
    times,
    units,
)

EDGES_SHOWN = 40  # between devices, those that cost most
ADVICE_COLUMNS = ("what if", "filters stay", "filters move")
MAX_CHANGES = 8
FILTER_COLUMNS = (
    CertificateColumn("filter", "name in the stream graph"),
    CertificateColumn("device", "device of the filter"),
    CertificateColumn("takes", "time of an iteration on this device"),
    CertificateColumn("of period", "share of the period"),
    CertificateColumn("best", "time on the fastest device for this filter"),
    CertificateColumn("instructions", "sequential instructions per iteration"),
    CertificateColumn("vector", "data to which each instruction applies"),
    CertificateColumn("receives", "bytes per iteration"),
    CertificateColumn("sends", "bytes per iteration"),
    CertificateColumn("stateful", "whether each run needs the previous run"),
)
DEVICE_COLUMNS = (
    CertificateColumn("device", "name in the machine file"),
    CertificateColumn("filters", "filters on the device"),
    CertificateColumn("computing", "computing time of an iteration"),
    CertificateColumn("communicating", "communicating time of an iteration"),
    CertificateColumn("load", "sum of both or, if they overlap, the larger"),
    CertificateColumn("of period", "load / period"),
    CertificateColumn("MIPS", "10^6 instructions/s"),
    CertificateColumn("vector length", "data to which one instruction applies"),
)


class Counted(NamedTuple):
    """A plan, its problem and recounted period, and the seconds of its filters (n,) [s]."""

    plan: StreamPlan
    problem: StreamProblem
    period: Period
    own: FloatArray

    @classmethod
    def of(cls, plan: StreamPlan) -> Counted:
        """Recount a plan. Raises InputError if the plan states another period."""
        problem = problem_of(plan)
        return cls(plan, problem, counted(plan, problem), own_seconds(problem, plan.part))


def write_stream_report(path: str | Path, plan: StreamPlan) -> StreamAdvice:
    """Write the page of a stream plan, and return its advice on changes.

    Equal plans give equal bytes. Raises InputError if the plan's figures do not match its mapping.
    """
    seen = Counted.of(plan)
    advice = advise_on_stream(seen.problem, plan.part, seen.period, plan.bound)
    write_text(path, _page(seen, advice))
    return advice


def _page(seen: Counted, advice: StreamAdvice) -> str:
    plan = seen.plan
    colours = device_colours(plan)
    drawing = draw_stream_graph(
        plan.graph, plan.part, seen.own / max(plan.period, 1e-300), colours, _titles(seen)
    )
    chosen = load_charts(seen.plan, seen.period, colours)
    links = link_bars(seen.period)
    columns, rows = advice_table(advice, plan.period)
    return render(
        "stream_report.html.j2",
        plan=plan,
        figures=_figures(seen),
        drawing=drawing,
        network=None if drawing is not None else _network(seen, colours),
        summary=_summary(plan),
        legend=_legend(plan, colours),
        loads=chosen,
        links=links,
        n_links=int((seen.period.links > 0).sum()),
        link_width=name_width((one.name for one in links), 26),
        advice=advice,
        advice_columns=columns,
        advice_rows=rows,
        edges=_edges(seen),
        n_between=_n_between(plan),
        filter_columns=FILTER_COLUMNS,
        filters=_filter_rows(seen),
        device_columns=DEVICE_COLUMNS,
        devices=_device_rows(seen),
        provenance=provenance(plan),
    )


def advice_table(
    advice: StreamAdvice, period: float
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return columns, and a row for each of the changes that help most."""

    def said(seconds: float | None) -> str:
        if seconds is None:
            return NOTHING
        saved = 1 - seconds / period
        return f"{duration(seconds)} (−{percent(saved)})" if saved > 5e-4 else duration(seconds)

    shown = advice.changes[:MAX_CHANGES]
    wide = any(one.moved is not None for one in shown)
    columns = ADVICE_COLUMNS if wide else ADVICE_COLUMNS[:2]
    cells = [(one.text, said(one.seconds), said(one.moved)) for one in shown]
    return columns, [row[: len(columns)] for row in cells]


def _summary(plan: StreamPlan) -> str:
    """Return how many filters devices have, and how much flows between devices."""
    graph = plan.graph
    if graph.n == 0:
        return "There is no filter."
    counts = np.bincount(plan.part)
    counts = counts[counts > 0]
    text = f"{plural(graph.n, 'filter')} in {plural(int(np.ptp(ranks_of(graph))) + 1, 'rank')}"
    text += (
        f"; {spread(counts)} on each of {counts.size:,} devices"
        if counts.size > 1
        else "; all on one device"
    )
    cut = plan.part[graph.tails] != plan.part[graph.heads]
    if graph.m and graph.nbytes.sum() > 0:
        share = float(graph.nbytes[cut].sum() / graph.nbytes.sum())
        text += (
            f"; {count(int(cut.sum()))} of {plural(graph.m, 'edge')} between devices, with "
            f"{percent(share)} of all bytes"
        )
    return f"{text}."


def _figures(seen: Counted) -> list[tuple[str, str, str]]:
    """Return name, value and meaning of the figures below the heading."""
    plan, period = seen.plan, seen.period
    rate = (
        f"{count(float(f'{1 / plan.period:.3g}'))} iterations per second"
        if plan.period > 0
        else NOTHING
    )
    over = times(plan.period / plan.bound) if plan.bound > 0 else NOTHING
    at = period.bottleneck
    share = period.computing[at] / plan.period if plan.period > 0 else 0.0
    link = ("no link carries anything", NOTHING)
    if period.slowest_link > 0:
        name = period.link_names[int(np.argmax(period.links))]
        link = (f"{name} carries bytes", duration(period.slowest_link))
    return [
        ("period", duration(plan.period), rate),
        ("lower bound", duration(plan.bound), f"the period is {over} of it"),
        ("busiest device", plan.bottleneck, f"{percent(share)} of the period computing"),
        ("devices with filters", f"{plan.used:,}", f"of {plan.platform.k:,}"),
        ("busiest link", link[1], link[0]),
    ]


def device_colours(plan: StreamPlan) -> list[str]:
    """Return the colours (k,) of devices.

    Devices that exchange data differ if 16 colours suffice.
    """
    low, high, _ = _exchanges(plan)
    both = np.concatenate([low, high]), np.concatenate([high, low])
    return in_css(block_colours(plan.platform.k, *both))


def _exchanges(plan: StreamPlan) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the pairs of devices p < q that exchange data, and the bytes."""
    graph, k = plan.graph, plan.platform.k
    a, b = plan.part[graph.tails].astype(np.int64), plan.part[graph.heads].astype(np.int64)
    cut = a != b
    keys, inverse = np.unique(
        np.minimum(a, b)[cut] * k + np.maximum(a, b)[cut], return_inverse=True
    )
    nbytes = np.bincount(inverse.ravel(), graph.nbytes[cut], keys.size).astype(np.float64)
    return keys // k, keys % k, nbytes


def _network(seen: Counted, colours: list[str]) -> QuotientDrawing | None:
    """Return a drawing of the devices with filters as discs; None if there are too many."""
    plan = seen.plan
    used = np.unique(plan.part)
    if not 0 < used.size <= MAX_NODES:
        return None
    low, high, nbytes = _exchanges(plan)
    counts, loads, names = np.bincount(plan.part), plan.loads, plan.platform.names
    titles = [
        f"{names[p]}: {plural(int(counts[p]), 'filter')}, {duration(float(loads[p]))}"
        for p in used.tolist()
    ]
    shown = Joined(
        used, np.searchsorted(used, low), np.searchsorted(used, high), nbytes,
        np.maximum(loads[used], 1e-300), names, colours, titles,
    )  # fmt: skip
    return draw_joined(
        shown,
        f"{plan.graph.n:,} filters are too many to draw. A disc is a device with filters, its area "
        "the device's load",
        "a line joins devices between which bytes flow; its width shows how many",
    )


def _titles(seen: Counted) -> list[str]:
    """Return the tooltips of filters (n,)."""
    plan, graph = seen.plan, seen.plan.graph
    assert graph.stateful is not None
    names, period = plan.platform.names, max(plan.period, 1e-300)
    return [
        f"{graph.names[v]}: {names[p]}, {duration(float(seen.own[v]))}, "
        f"{percent(float(seen.own[v]) / period)} of the period; {count(float(graph.scalar[v]))} "
        f"instructions for {count(float(graph.vector[v]))} data each"
        f"{', stateful' if graph.stateful[v] else ''}"
        for v, p in enumerate(plan.part.tolist())
    ]


def _legend(plan: StreamPlan, colours: Sequence[str]) -> list[tuple[int, str, str]]:
    """Return number, colour and name of the devices with filters; nothing if there are many."""
    used = np.unique(plan.part).tolist()
    return [(p, colours[p], plan.platform.names[p]) for p in used] if len(used) <= MAX_BARS else []


def _n_between(plan: StreamPlan) -> int:
    return int((plan.part[plan.graph.tails] != plan.part[plan.graph.heads]).sum())


def _edges(seen: Counted) -> list[tuple[str, str, str, str, str]]:
    """Return edges between devices, longest transfers first: ends, bytes, seconds."""
    plan, graph = seen.plan, seen.plan.graph
    a, b = plan.part[graph.tails], plan.part[graph.heads]
    seconds = np.where(a != b, graph.nbytes * seen.problem.machine.cost[a, b], -1.0)
    order = np.argsort(-seconds, kind="stable")[:EDGES_SHOWN]
    names, devices = graph.names, plan.platform.names
    return [
        (
            f"{names[graph.tails[e]]} → {names[graph.heads[e]]}",
            devices[a[e]],
            devices[b[e]],
            memory(float(graph.nbytes[e])),
            duration(float(seconds[e])),
        )
        for e in order.tolist()
        if seconds[e] >= 0
    ]


def _filter_rows(seen: Counted) -> list[tuple[CertificateCell, ...]]:
    """Return a row for each filter; if very many, only for those with the longest times."""
    plan, graph = seen.plan, seen.plan.graph
    assert graph.stateful is not None
    least, best = least_work(seen.problem)
    chosen = np.arange(graph.n)
    if graph.n > MAX_ROWS:
        chosen = np.sort(np.argsort(-seen.own, kind="stable")[:MAX_ROWS])
    received = np.bincount(graph.heads, graph.nbytes, graph.n)
    sent = np.bincount(graph.tails, graph.nbytes, graph.n)
    names, period = plan.platform.names, max(plan.period, 1e-300)
    rows = []
    for v in chosen.tolist():
        own = float(seen.own[v])
        better = least[v] < own * (1 - 1e-9)
        there = f"{duration(float(least[v]))} on {names[best[v]]}" if better else "here"
        rows.append((
            CertificateCell(graph.names[v]),
            CertificateCell(names[plan.part[v]]),
            CertificateCell(duration(own), own),
            CertificateCell(percent(own / period), own),
            CertificateCell(there, float(least[v])),
            CertificateCell(units(float(graph.scalar[v])), float(graph.scalar[v])),
            CertificateCell(units(float(graph.vector[v])), float(graph.vector[v])),
            *(CertificateCell(memory(float(of[v])), float(of[v])) for of in (received, sent)),
            CertificateCell("yes" if graph.stateful[v] else "no"),
        ))  # fmt: skip
    return rows


def _device_rows(seen: Counted) -> list[tuple[CertificateCell, ...]]:
    """Return a row for each device; if very many, only for those with the longest times."""
    plan, period, k = seen.plan, seen.period, seen.plan.platform.k
    counts = np.bincount(plan.part, minlength=k)
    chosen = np.arange(k)
    if k > MAX_ROWS:
        chosen = np.sort(np.argsort(-period.loads, kind="stable")[:MAX_ROWS])
    able = seen.problem.processors
    return [
        (
            CertificateCell(plan.platform.names[p]),
            CertificateCell(count(int(counts[p])), int(counts[p])),
            *(
                CertificateCell(duration(float(of[p])), float(of[p]))
                for of in (period.computing, period.communicating, period.loads)
            ),
            CertificateCell(
                percent(period.loads[p] / max(plan.period, 1e-300)), float(period.loads[p])
            ),
            CertificateCell(count(float(able.rate[p]) / 1e6), float(able.rate[p])),
            CertificateCell(count(float(able.width[p])), float(able.width[p])),
        )
        for p in chosen.tolist()
    ]


LINKS_SHOWN = 16
CLASSES = 10  # of loads, of equal width


class DeviceBar(NamedTuple):
    """One device: lengths of its parts [%], texts, and whether it is the busiest."""

    number: int
    colour: str
    name: str
    compute: float
    communicate: float
    filters: str
    total: str
    split: str
    is_last: bool


class LinkBar(NamedTuple):
    """A link: name, length [%], seconds as text, share of the period, whether that exceeds 1."""

    name: str
    bar: float
    text: str
    share: str
    is_over: bool


@dataclass(frozen=True)
class LoadCharts:
    """Loads of devices: bars, a histogram if there are many, and the devices without filters.

    If there are many devices, only the busiest have bars. bound: position of the lower bound [%].
    """

    bars: list[DeviceBar]
    classes: list[ClassBar]
    bound: float
    shown: int
    idle: str

    @property
    def name_width(self) -> int:
        """Width of the column of names in characters; longer names are shortened."""
        return name_width(bar.name for bar in self.bars)


def load_charts(plan: StreamPlan, period: Period, colours: Sequence[str]) -> LoadCharts:
    """Return the charts of the devices' loads. period: of the plan; colours: of its devices."""
    k, loads, names = plan.platform.k, period.loads, plan.platform.names
    counts = np.bincount(plan.part, minlength=k)
    busy = np.flatnonzero((counts > 0) | (loads > 0))
    chosen = busy
    if busy.size > MAX_BARS:
        chosen = np.argsort(-loads, kind="stable")[:FOREMOST]
    scale = 100 / (1.02 * max(plan.period, plan.bound, 1e-300))
    # Where both overlap the longer one counts, and the other lies within it.
    beside = period.loads - period.computing
    bars = [
        DeviceBar(
            p, colours[p], names[p],
            compute=place(period.computing[p] * scale),
            communicate=place(max(beside[p], 0.0) * scale),
            filters=f"{counts[p]:,}",
            total=duration(float(loads[p])),
            split=f"{duration(float(period.computing[p]))} computing, "
            f"{duration(float(period.communicating[p]))} communicating",
            is_last=p == period.bottleneck,
        )
        for p in chosen.tolist()
    ]  # fmt: skip
    return LoadCharts(
        bars,
        classes_of(loads, counts, plan.period) if busy.size > MAX_BARS else [],
        place(plan.bound * scale),
        chosen.size,
        plural(int((counts == 0).sum()), "device") if (counts == 0).any() else "",
    )


def classes_of(loads: FloatArray, counts: IntArray, period: float) -> list[ClassBar]:
    """Return a histogram: devices without filters, with a load up to a tenth of the period, etc."""
    busy = loads[counts > 0] / max(period, 1e-300)
    level = np.clip(np.ceil(busy * CLASSES - 1e-9).astype(np.int64) - 1, 0, CLASSES - 1)
    sizes = np.bincount(level, minlength=CLASSES)
    idle = int((counts == 0).sum())
    most = max(int(sizes.max()), idle, 1)
    named = [("no filter", idle)] if idle else []
    step = 100 // CLASSES
    named += [(f"{i * step} to {(i + 1) * step} %", int(size)) for i, size in enumerate(sizes)]
    return [ClassBar(name, place(100 * size / most), count(size)) for name, size in named]


def link_bars(period: Period) -> list[LinkBar]:
    """Return the links that carry bytes for the longest time."""
    order = np.argsort(-period.links, kind="stable")[:LINKS_SHOWN]
    scale = 100 / max(period.slowest_link, period.seconds, 1e-300)
    return [
        LinkBar(
            period.link_names[i],
            place(period.links[i] * scale),
            duration(float(period.links[i])),
            percent(period.links[i] / period.seconds if period.seconds > 0 else None),
            bool(period.links[i] > period.seconds),
        )
        for i in order.tolist()
        if period.links[i] > 0
    ]


STREAM_MEASURES: tuple[Measure, ...] = (
    ("period_seconds", "period", "time of an iteration on the busiest device"),
    ("link_seconds", "slowest link", "time of an iteration's bytes on the slowest link"),
    ("cpu_seconds", "CPU", "CPU time of the method, including routes"),
)
STREAM_COLUMNS = (
    ("period / bound", "no mapping's period is shorter than the bound"),
    ("devices", "devices with a filter"),
    ("busiest", "device on which an iteration takes longest"),
    ("communicating", "share of the period on the busiest device"),
)


def write_stream_comparison(
    path: str | Path,
    results: Sequence[StreamComparison],
    graph: StreamGraph,
    platform: Platform,
    *,
    options: Mapping[str, Any],
    inputs: Mapping[str, str],
) -> None:
    """Write a page on several methods' mappings of the same filters; equal arguments, equal bytes.

    results: of `compare_filters`. options: common to all methods; inputs: file name -> SHA-256.
    """
    page = render(
        "comparison.html.j2",
        view=methods_compared(results),
        what=" of placed filters",
        counts=f"{plural(graph.n, 'filter')}, {plural(graph.m, 'edge')}",
        platform=platform,
        options=option_rows(options),
        devices=device_rows(platform),
        inputs=inputs,
    )
    write_text(path, page)


def methods_compared(results: Sequence[StreamComparison]) -> Compared:
    """Return the page's content for these methods, the shortest period first."""
    ordered = sorted((_row(one) for one in results), key=_rank)
    further = FurtherColumns(STREAM_COLUMNS, [row["cells"] for row in ordered])
    view = side_by_side(
        ordered, STREAM_MEASURES, further, best=lambda _: "", noun="method", order="period"
    )
    return replace(view, verdict=_verdict(ordered, results))


def _rank(row: Mapping[str, Any]) -> tuple[bool, float]:
    return row["period_seconds"] is None, row["period_seconds"] or 0.0


def _row(result: StreamComparison) -> dict[str, Any]:
    """Return the figures of a method; they are None if it made no mapping."""
    row: dict[str, Any] = {
        "tool": result.method, "family": "", "note": result.note, "holds": None,
    }  # fmt: skip
    plan = result.plan
    if plan is None:
        keys = (key for key, _, _ in STREAM_MEASURES)
        return row | dict.fromkeys(keys) | {"cells": [NOTHING] * len(STREAM_COLUMNS)}
    at = int(plan.loads.argmax())
    share = plan.communicating[at] / plan.period if plan.period > 0 else 0.0
    return row | {
        "period_seconds": plan.period,
        "link_seconds": max(plan.links.values(), default=0.0),
        "cpu_seconds": plan.cpu_seconds,
        "cells": [
            ratio(plan.period / plan.bound if plan.bound > 0 else None),
            count(plan.used),
            plan.bottleneck,
            percent(share),
        ],
    }


def _verdict(ordered: Sequence[Mapping[str, Any]], results: Sequence[StreamComparison]) -> str:
    """Return which method has the shortest period, and the ratio of the next method's period."""
    done = [row for row in ordered if row["period_seconds"] is not None]
    if not done:
        return "No method placed the filters."
    best = done[0]["period_seconds"]
    plan = next(one.plan for one in results if one.plan and one.method == done[0]["tool"])
    said = f"{done[0]['tool']} has the shortest period, {duration(best)}"
    if plan.bound > 0:
        said += f", {ratio(best / plan.bound)} of its lower bound"
    others = [row for row in done[1:] if row["period_seconds"] > best * (1 + 1e-9)]
    equal = len(done) - 1 - len(others)
    said += f"; {plural(equal, 'other method has', 'other methods have')} the same" if equal else ""
    if others and best > 0:
        said += f"; {others[0]['tool']} follows at {ratio(others[0]['period_seconds'] / best)}"
    return f"{said}."
