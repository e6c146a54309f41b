"""All experiments of [LDHT]_: Algorithm 1, Figures 1 to 5, Tables III and IV.

setup.py says which graphs, machines and partitioners are taken, and how each differs from the
paper's. Rows of cells that are done are kept beside the results, from which an interrupted run goes
on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from statistics import median

from evener.errors import UsageError
from evener.partitioning.tools import TOOLS
from papers.command import Reproduction, Tell
from papers.findings import Finding, Panel, PaperResult, Plot, Row, not_tried
from papers.keeping import KeptRows
from papers.ldht import findings, runs, sizes, solved, table_iv
from papers.ldht.findings import of, relative, tools_in
from papers.ldht.setup import ALYA, BASE, COMPETITORS, FAST, FULL, HUGE, PaperEffort

Rows = Sequence[Row]
# How much of the time has gone when each step begins, about.
CELLS, CORES, LARGE = 0.02, 0.8, 0.85


def reproduce(
    fast: bool = False,
    tell: Tell = lambda *_: None,
    folder: str | Path | None = None,
    keep: str | Path | None = None,
) -> PaperResult:
    """Run all experiments, with smaller graphs and fewer machines if `fast`.

    tell: called with what is next, and the part that is done. folder: of the paper's graphs; those
    that are there are taken in the place of generated ones. keep: a folder for rows of cells, from
    which an interrupted run goes on. Raises UsageError without METIS, InputError where rows there
    are of another run.
    """
    effort = FAST if fast else FULL
    refuse_without_metis()
    settings = {"evener": version("evener"), "effort": asdict(effort), "data": str(folder or ""),
                "tools": [[one.name, one.tool] for one in effort.competitors]}  # fmt: skip
    return run(effort, KeptRows(keep, settings), tell, folder)


def refuse_without_metis() -> None:
    """Raise UsageError where METIS cannot be called, which stands for ParMETIS."""
    missing = TOOLS["metis"].available()
    if missing is not None:
        raise UsageError(f"partitioners are compared with METIS: {missing}")


def run(effort: PaperEffort, kept: KeptRows, tell: Tell, folder: str | Path | None) -> PaperResult:
    """Return the result of an effort, from rows that are kept and those that are run."""
    tell("sizes", 0.0)
    ratios = sizes.table_iii()
    timed = kept.rows("seconds of sizes", sizes.seconds_of_sizes)
    graphs = runs.Graphs(folder)

    def part(first: float, last: float) -> Tell:
        return lambda what, done: tell(what, first + done * (last - first))

    rows = runs.run_cells(effort.cells(), effort.competitors, kept, graphs, part(CELLS, CORES))
    tell("two cores", CORES)
    cores = kept.rows("two cores", lambda: runs.on_cores(effort, graphs))
    large = runs.of_table_iv(effort, kept, graphs, part(LARGE, 1.0))
    return result_of(ratios, timed, rows, cores, large)


def result_of(ratios: Rows, timed: Rows, rows: Rows, cores: Rows, large: Rows) -> PaperResult:
    """Return findings, plots and tables of what was measured."""
    said = [
        *sizes.all_findings(ratios, timed), *findings.all_findings(rows),
        *solved.all_findings(rows, cores), *(table_iv.all_findings(large) if large else []),
        *absent(rows),
    ]  # fmt: skip
    tables = {"table-iii": ratios, "sizes": timed, "cells": rows, "cores": cores, "table-iv": large}
    return PaperResult(said, plots(rows, cores), tables)


def absent(rows: Rows) -> list[Finding]:
    """Return the findings of statements about tools that cannot be had, or that were not run."""
    missing = {one.name: one.absent for one in COMPETITORS if one.tool is None}
    said = [
        not_tried("VI, tools", f"{name} in all figures", f"figures of {name}", why)
        for name, why in missing.items() if name in findings.PAPERS
    ]  # fmt: skip
    of_mj = of(rows, tool="MJ")
    worst = max((float(row["worst"]) for row in of_mj if "worst" in row), default=0.0)
    mj = f"; Evener's own accepts them, {worst:.1%} off at most here" if of_mj else ""
    return [
        *said,
        not_tried("VI, tool selection", "preliminary tests",
                  "xtraPulp has insufficient quality, MultiJagged and ParHip do not accept "
                  "sufficiently imbalanced weights",
                  f"none of these programs can be had{mj}"),
        not_tried("VI, test systems", "LAMA's CG and SpMV on a cluster of 16 nodes and on Lise",
                  "seconds of the cluster", "there is no cluster: seconds are emulated, or of two "
                  "cores"),
    ]  # fmt: skip


def plots(rows: Rows, cores: Rows) -> list[Plot]:
    """Return Figures 1 to 5; the lines are partitioners, relative to geoKM."""
    two = of(rows, figure="2")
    quality = {"cut": "edge cut", "max_volume": "maximum volume", "cpu_s": "CPU time"}
    first = [_panel(f"Figure 1, {name}: {title}", of(two, graph=graphs), key, ("geoHier",))
             for name, graphs in (("hugeX", HUGE), ("alya", ALYA))
             for key, title in list(quality.items())[:2]]  # fmt: skip
    found = [Plot("figure-1", first)]
    for name, own in (
        ("figure-2a", of(two, graph=HUGE)), ("figure-2b", of(two, graph=ALYA)),
        ("figure-3", of(rows, figure="3")), ("figure-4", of(rows, figure="4")),
    ):  # fmt: skip
        found.append(Plot(name, [
            _panel(f"{name.replace('-', ' ').capitalize()}: {title}", own, key, log=key == "cpu_s")
            for key, title in quality.items()]))  # fmt: skip
    figures = {"cut": "edge cut", "max_volume": "maximum volume", "cg_s": "CG, 2^29 vertices",
               "spmv_s": "SpMV, 2^29 vertices", "cg_small_s": "CG, the graph as it is"}  # fmt: skip
    of_solved = of(rows, figure="5")
    panels = [_panel(f"Figure 5: {title}", of_solved, key) for key, title in figures.items()]
    names = list(dict.fromkeys(str(row["tool"]) for row in cores))
    panels.append(Panel(
        "Figure 5: two cores here", "", "ms of an iteration, medians", range(len(names)),
        {what: [1e3 * median(float(row[key]) for row in of(cores, tool=name)) for name in names]
         for what, key in (("CG", "cg_s"), ("SpMV", "spmv_s"))}, x_names=names))  # fmt: skip
    return [*found, Plot("figure-5", panels)]


def _panel(
    title: str, rows: Rows, key: str, tools: Sequence[str] = (), *, log: bool = False
) -> Panel:
    """Return a diagram of a relative figure by machine, of these tools or all but geoKM."""
    chosen = tools or [one.name for one in COMPETITORS if one.name != BASE]
    by_machine = {
        (int(row["k"]), str(row["machine"])): of(rows, machine=row["machine"], k=row["k"])
        for row in rows
    }
    several = len({k for k, _ in by_machine}) > 1
    return Panel(
        title, "", "relative to geoKM", range(len(by_machine)),
        {name: [relative(own, name, key) for own in by_machine.values()]
         for name in tools_in(rows, chosen)} | {BASE: [1.0] * len(by_machine)},
        log_y=log, x_names=[f"{k} {label[3:]}" if several else label for k, label in by_machine],
    )  # fmt: skip


REPRODUCTION = Reproduction(
    "ldht",
    "Load distribution on heterogeneous topologies",
    "LDHT",
    "this computer, and emulated devices for seconds of SpMV and CG",
    reproduce,
    data="with graphs of its Table II, such as hugetric-00020.graph, with coordinates beside",
)
