"""All experiments of [Muralidharan13]_: Figure 3, seconds, and real graphs, with our search beside.

setup.py says which cells are drawn, in which two readings of the paper, and by which two
equations periods are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from evener.errors import UsageError
from evener.partitioning.external import metis
from papers.command import Reproduction, Tell
from papers.findings import Finding, Panel, PaperResult, Plot, Row
from papers.hmap import findings, runs
from papers.hmap.runs import (
    BARS,
    HMAPS,
    METHODS,
    WIDTH,
    MeanBar,
    bars,
    chosen,
    gain,
    over_machines,
)
from papers.hmap.setup import (
    CLASSES,
    EQUATIONS,
    FAST,
    FULL,
    PAPERS,
    SEED,
    SETTINGS,
    Sampling,
    real_graphs,
)
from papers.keeping import KeptRows

Rows = Sequence[Row]
ALL, NO_FOLDER = "mean", "no --data FOLDER of real graphs was given"
# How much of the time has gone when each step begins, about.
CELLS, FEWER, TIMED, REAL = 0.0, 0.75, 0.8, 0.85


def reproduce(
    fast: bool = False,
    tell: Tell = lambda *_: None,
    folder: str | Path | None = None,
    keep: str | Path | None = None,
) -> PaperResult:
    """Run all experiments, on fewer cells and machines if `fast`.

    tell: called with what is next, and the part that is done. folder: of real stream graphs. keep:
    a folder for rows of cells, from which an interrupted run goes on. Raises UsageError where METIS
    cannot be called, InputError for a folder without graphs, and where rows there are of another
    run.
    """
    missing = metis.missing()
    if missing is not None:
        raise UsageError(f"HMAP is compared with METIS: {missing}")
    graphs = {} if folder is None else real_graphs(folder)
    sampling = FAST if fast else FULL
    settings = {
        "evener": version("evener"), "sampling": asdict(sampling), "seed": SEED,
        "methods": METHODS, "equations": EQUATIONS,
    }  # fmt: skip
    kept = KeptRows(keep, settings)

    def part(first: float, last: float) -> Tell:
        return lambda what, done: tell(what, first + done * (last - first))

    cells = runs.sampled(sampling, kept, part(CELLS, FEWER))
    fewer = runs.with_fewer_filters(sampling, kept, part(FEWER, TIMED))
    seconds = runs.timed(sampling, kept, part(TIMED, REAL))
    real = runs.real(graphs, kept, part(REAL, 1.0))
    return result_of(cells, fewer, seconds, real, sampling)


def result_of(
    cells: Rows, fewer: Rows, seconds: Rows, real: Rows, sampling: Sampling
) -> PaperResult:
    """Return findings, plots and tables of what was measured on such a sample."""
    found = [bar for equation in EQUATIONS for setting in SETTINGS for k in _machines(cells)
             for bar in bars(cells, setting, k, equation)]  # fmt: skip
    last = over_machines(found)
    null = findings.without_clusters(cells)
    judges: list[Callable[[Rows], Finding]] = [
        findings.faster_on_average, findings.faster_on_the_largest,
        findings.slower_on_the_smallest, findings.ahead_by_class,
        findings.larger_where_bytes_are_dear,
        lambda rows: findings.worse_where_halves_are_unequal(rows, seconds),
        findings.filters_where_they_run_best,
    ]  # fmt: skip
    ours = findings.beside_ours(cells)
    said: list[Finding] = [
        *(judge(cells).beside_counter(findings.NULL, judge(null)) for judge in judges),
        findings.within_seconds(seconds),
        findings.narrow_intervals([bar for bar in found if bar.equation == PAPERS], WIDTH,
                                  sampling),
        findings.clusters_or_bisection(cells).beside_counter(
            findings.BISECTION, findings.clusters_or_bisection(findings.by_bisection(cells))),
        ours.beside_counter("the shortest of the four, not searched from",
                            findings.beside_ours(findings.without_search(cells))),
        findings.with_fewer_filters(fewer), findings.real_graphs(real, NO_FOLDER),
    ]  # fmt: skip
    plots = [Plot(f"figure-3-{s.lower()}", _panels([*found, *last], s)) for s in SETTINGS]
    tables: dict[str, Rows] = {
        "bars": [bar.row for bar in [*found, *last]], "cells": cells, "fewer": fewer,
        "seconds": seconds, "real": real,
    }  # fmt: skip
    return PaperResult(said, [*plots, Plot("gains", _gains(cells))], tables)


def _machines(rows: Rows) -> list[int]:
    return sorted({int(row["k"]) for row in rows})


def _panels(found: Sequence[MeanBar], setting: str) -> list[Panel]:
    """Return the six parts of Figure 3 in a setting, by equation (2); last the mean of machines."""
    machines = sorted({bar.k for bar in found if bar.k})
    values = {(bar.paper_class, bar.k, bar.method): 1e3 * bar.mean
              for bar in found if (bar.setting, bar.equation) == (setting, PAPERS)}  # fmt: skip
    return [
        Panel(f"{paper_class.title}, {setting}", "processors", f"period by {PAPERS}, ms",
              range(len(machines) + 1),
              {findings.NAMES[method]: [values.get((letter, k, method), float("nan"))
                                for k in (*machines, 0)] for method in BARS},
              log_y=True, x_names=[*(f"{k:,}" for k in machines), ALL])
        for letter, paper_class in CLASSES.items()
    ]  # fmt: skip


def _gains(cells: Rows) -> list[Panel]:
    """Return METIS / HMAP by machine and equation; the paper's of 64 and 4,096 beside."""
    machines = _machines(cells)
    paper = {64: 1 / findings.SMALLEST, 4096: findings.LARGEST}
    return [
        Panel(f"METIS k-way / HMAP by {equation}", "processors", "mean period / mean period",
              range(len(machines)),
              {**{f"{s}, clusters of {findings.CLUSTERS[way]}": [
                  gain(chosen(cells, s, k, equation=equation), "metis", way).of_means.value
                  for k in machines] for s in SETTINGS for way in HMAPS},
               "paper": [paper.get(k, float("nan")) for k in machines]},
              x_names=[f"{k:,}" for k in machines])
        for equation in EQUATIONS
    ]  # fmt: skip


REPRODUCTION = Reproduction(
    "hmap",
    "HMAP",
    "Muralidharan13",
    "random machines, by predicted periods",
    reproduce,
    data="with real stream graphs",
)
