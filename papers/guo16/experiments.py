"""All experiments of [Guo16]_ on emulated machines with shrunken graphs: Figures 3 to 9.

Values are computed, seconds are of a virtual clock: setup.py says by which terms, runs.py
what is run. Findings that follow from these terms alone say "by construction". Seconds of
partitioning are measured on this computer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from evener.graphs.directed import DirectedGraph
from evener.measuring.ratio import RatioFit, RatioPoint, emulated_timer, fit_ratio, ratio_points
from evener.partitioning.policies.families import EVALUATED, paper_ratio
from papers.command import Reproduction, Tell
from papers.findings import Panel, PaperResult, Plot, Row
from papers.guo16 import findings
from papers.guo16.runs import (
    APPS,
    OWN,
    breakdown,
    overview,
    partitioned,
    scaled,
    shares_by_bytes,
    swept,
    without_cpus,
)
from papers.guo16.setup import (
    StandIn,
    das4,
    ordered_by_degree,
    scale_degrees,
    scale_graph,
    stand_ins,
)

Rows = Sequence[Row]

MACHINES = (1, 2, 4, 6, 8, 10)
BEST = ("C-PG", "DP-RH", "PD-HR", "C-R")  # section IV-E
PARTITIONERS = ("C-PG", "DP-RH", "PD-HR")
UNSORTED = "C-IO"  # a policy that sorts nothing: of it Figure 8's statement does not hold
SHARES = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32)  # Figure 4; 0.04 is what PageRank's r gives
PROFILED = (10, 11, 12, 13, 14)  # scales that stand for Scale-20 to Scale-24 of section III-E
MOST_ARCS = 5.2e8  # of Scale-24, about half of Scale-25 in Table IV
LARGER = 4.0  # stand-ins without --fast, relative to those with it


@dataclass(frozen=True)
class _Sizes:
    """part: of the stand-ins. seeds: of r. scales: of R-MAT graphs that are partitioned.

    runs: of a configuration that draws lots; timings: of a partitioning. Figures are their means.
    """

    part: float
    seeds: int
    scales: tuple[int, ...]
    runs: int = 10
    timings: int = 10


FAST = _Sizes(1.0, 5, (15, 16, 17, 18, 19, 20), runs=3)
WHOLE = _Sizes(LARGER, 5, (20, 21, 22, 23, 24, 25), timings=3)
EIGHT = 8  # GPUs in one machine, and machines of a CPU and a GPU, of section IV-G


def reproduce(
    fast: bool = False, tell: Tell = lambda *_: None, folder: str | Path | None = None
) -> PaperResult:
    """Run all experiments, with smaller graphs if `fast`.

    tell: called with the name of the next experiment, and the part that is done. folder: of the
    paper's own graphs, which take the place of stand-ins. Raises InputError where it has none.
    """
    sizes = FAST if fast else WHOLE
    graphs = stand_ins(sizes.part, folder)
    generated = [name for name, one in graphs.items() if not one.is_real]
    results = []
    for i, (name, experiment) in enumerate(_experiments(graphs, sizes).items()):
        tell(name, i / 6)
        result = experiment()
        on_graphs = name not in ("ratio", "partitioning")
        results.append(_of_stand_ins(result, generated) if on_graphs and generated else result)
    about: Rows = [
        {"graph": one.name, "original": one.original, "n": one.graph.n, "m": one.graph.m,
         "shrink": one.shrink, "from": "file" if one.is_real else "generated"}
        for one in graphs.values()
    ]  # fmt: skip
    return PaperResult(
        [one for result in results for one in result.findings],
        [plot for result in results for plot in result.plots],
        {"graphs": about}
        | {name: rows for result in results for name, rows in result.tables.items()},
    )


def _of_stand_ins(result: PaperResult, names: Sequence[str]) -> PaperResult:
    """Return the result, whose findings say which graphs of the paper others stand for."""
    said = f"generated graphs stand for {', '.join(names)}"
    found = [
        one if one.beside else replace(one, lacking="; ".join(filter(None, (one.lacking, said))))
        for one in result.findings
    ]
    return replace(result, findings=found)


def _experiments(
    graphs: Mapping[str, StandIn], sizes: _Sizes
) -> dict[str, Callable[[], PaperResult]]:
    return {
        "ratio": lambda: ratio(sizes.seeds),
        "overview": lambda: all_configurations(graphs.values(), sizes.runs),
        "shares": lambda: shares(graphs["G4"], sizes.runs),
        "breakdown": lambda: breakdowns(graphs["G4"], graphs["G5"]),
        "scaling": lambda: scaling(graphs, sizes.runs),
        "partitioning": lambda: partitioning(sizes.scales, sizes.timings),
    }


def ratio(seeds: int) -> PaperResult:
    """Figure 3: r by the arcs of the part that a device has."""
    largest = scale_graph(PROFILED[-1])
    shrink = MOST_ARCS / largest.m
    points = ratio_points(emulated_timer(das4(1, shrink)), PROFILED, scale_graph, seeds=seeds)
    real = [RatioPoint(p.scale, p.arcs * shrink, p.r, p.deviation) for p in points]
    fit = fit_ratio(real)
    x = [point.arcs / 1e6 for point in real]
    lines = {
        "emulated": [point.r for point in real],
        "fitted to it": [fit.at(point.arcs) for point in real],
        "paper's fit": [paper_ratio(point.arcs) for point in real],
    }
    panel = Panel("r by arcs", "million arcs", "CPU seconds / GPU seconds", x, lines)
    tables: dict[str, Rows] = {"ratio": [asdict(p) for p in real], "fit": [_fit_row(fit)]}
    return PaperResult([findings.ratio_varies(real, fit)], [Plot("figure-3", [panel])], tables)


def _fit_row(fit: RatioFit) -> Row:
    return {"offset": fit.offset, "slope": fit.slope, "first_end": fit.ends[0],
            "second_end": fit.ends[1], "middle": fit.middle, "large": fit.large}  # fmt: skip


def all_configurations(graphs: Iterable[StandIn], runs: int) -> PaperResult:
    """Figures 5 and 9: ten configurations and our plan on four machines; TOTEM's on one."""
    names, rows, alone = [], [], []
    for stand_in in graphs:
        names.append(stand_in.name)
        rows += overview(stand_in, (*EVALUATED, OWN), runs=runs)
        alone += scaled(stand_in, "DP-RH", (1,))
        if stand_in.name == "G4":
            eight = [without_cpus(stand_in, EIGHT), *scaled(stand_in, "C-PG", (EIGHT,))]
    panels = [
        Panel(f"{app}, {family} and C", "graph", "seconds", range(len(names)),
              {policy: [_seconds(rows, app=app, policy=policy, graph=name) for name in names]
               for policy in (*EVALUATED, OWN) if policy.startswith((family, "C", OWN))},
              log_y=True, x_names=names)
        for app in APPS for family in ("DP", "PD")
    ]  # fmt: skip
    policies = [row for row in rows if row["policy"] != OWN]
    found = [
        findings.no_winner(policies), findings.greedy_is_good(policies),
        findings.high_above_low(policies), findings.friendster_alike(policies),
        findings.beside_others(policies, alone), findings.eight_gpus(eight),
        findings.own_plan(rows),
    ]  # fmt: skip
    lines = {
        "C-PG, 4 machines": [
            _seconds(rows, app="PageRank", policy="C-PG", graph=name) for name in names
        ],
        "one machine, HIGH": [_seconds(alone, graph=name) for name in names],
    }
    nine = Panel(
        "PageRank", "graph", "seconds", range(len(names)), lines, log_y=True, x_names=names
    )
    return PaperResult(
        found, [Plot("figure-5", panels), Plot("figure-9", [nine])],
        {"configurations": rows, "one machine": [*alone, *eight]},
    )  # fmt: skip


def _seconds(rows: Rows, **keys: str | float) -> float:
    """Return the seconds of the row with these values; nan where there was no run."""
    for row in rows:
        if all(row.get(key) == value for key, value in keys.items()):
            return float(row.get("seconds", np.nan))
    return float("nan")


def shares(stand_in: StandIn, runs: int) -> PaperResult:
    """Figure 4: BFS and WCC with other shares of the CPUs than PageRank's."""
    rows = [
        row for app in ("BFS", "WCC") for policy in ("DP-RH", "PD-HR")
        for row in swept(stand_in, policy, app, SHARES, runs)
    ]  # fmt: skip
    panels = [
        Panel(app, "CPUs' share", "seconds", SHARES,
              {policy: [_seconds(rows, app=app, policy=policy, cpu_share=s) for s in SHARES]
               for policy in ("DP-RH", "PD-HR")}, log_x=True)
        for app in ("BFS", "WCC")
    ]  # fmt: skip
    found = findings.share_of_pagerank(rows, SHARES[2])
    return PaperResult([found], [Plot("figure-4", panels)], {"shares": rows})


def breakdowns(stand_in: StandIn, largest: StandIn) -> PaperResult:
    """Figure 6: seconds of each machine by C-PG and DP-OH; G4 with other numbers, too.

    largest: G5, of whose share the bytes of a message were chosen.
    """
    assert stand_in.draw_numbered is not None
    greedy, high = breakdown(stand_in, "C-PG"), breakdown(stand_in, "DP-OH")
    hubs_first, drawn = ordered_by_degree(stand_in.graph), stand_in.draw_numbered()
    first = _numbered(stand_in, hubs_first, "hubs first", ("DP-OH", "PD-HO", "DP-OL", "PD-LO"))
    own = _numbered(stand_in, drawn, "by R-MAT", ("DP-OH", "PD-HO"))
    hubs = [row for row in first if row["policy"] == "DP-OH"]
    panels = [
        Panel(title, "machine", "seconds", range(len(rows)),
              {key: [float(row[f"{key}_s"]) for row in rows] for key in ("cpu", "gpu", "exchange")},
              log_y=True, x_names=[str(row["machine"]) for row in rows])
        for title, rows in (("C-PG", greedy), ("DP-OH, hubs first", hubs))
    ]  # fmt: skip
    by_bytes = shares_by_bytes(stand_in, hubs_first, largest)
    found = [
        findings.computing_dominates(greedy, hubs), findings.greedy_is_balanced(greedy),
        findings.order_fails(greedy, high, hubs, own),
        findings.share_for_memory(first, by_bytes),
    ]  # fmt: skip
    tables: dict[str, Rows] = {"breakdown": [*greedy, *high, *first, *own], "bytes": by_bytes}
    return PaperResult(found, [Plot("figure-6", panels)], tables)


def _numbered(
    stand_in: StandIn, graph: DirectedGraph, how: str, policies: Sequence[str]
) -> list[Row]:
    """Return the breakdown by each policy of the stand-in with other numbers."""
    return [
        {**row, "numbered": how}
        for policy in policies
        for row in breakdown(stand_in, policy, graph)
    ]


def scaling(graphs: Mapping[str, StandIn], runs: int) -> PaperResult:
    """Figure 7: PageRank on G4 and G5, one machine to ten."""
    rows = [row for name in ("G4", "G5") for policy in BEST
            for row in scaled(graphs[name], policy, MACHINES, runs)]  # fmt: skip
    panels = [
        Panel(name, "machines", "seconds", MACHINES,
              {policy: [_seconds(rows, graph=name, policy=policy, machines=m) for m in MACHINES]
               for policy in BEST}, log_y=True)
        for name in ("G4", "G5")
    ]  # fmt: skip
    return PaperResult(
        [findings.scales(rows), findings.share_falls(rows)], [Plot("figure-7", panels)],
        {"scaling": rows},
    )  # fmt: skip


def partitioning(scales: Sequence[int], runs: int) -> PaperResult:
    """Figure 8: seconds of partitioning, by machines and by the graph's size, means of `runs`."""
    by_size: list[Row] = []
    for scale in scales:
        graph = scale_degrees(scale)
        for policy in (*PARTITIONERS, UNSORTED):
            partitioned(graph, policy, 2)  # compiles what is not
            by_size += [{"policy": policy, "machines": 4, "scale": scale, "cpu_s": seconds}
                        for seconds in partitioned(graph, policy, 4, runs)]  # fmt: skip
    by_count: list[Row] = [
        {"policy": policy, "machines": m, "scale": scales[-1], "cpu_s": seconds}
        for policy in PARTITIONERS for m in MACHINES
        for seconds in partitioned(graph, policy, m, runs)
    ]  # fmt: skip
    panels = [
        Panel(title, label, "CPU seconds", values,
              {policy: [one.value for one in findings.means(rows, policy, label).values()]
               for policy in PARTITIONERS})
        for title, label, values, rows in (
            (f"R-MAT of scale {scales[-1]}", "machines", MACHINES, by_count),
            ("4 machines", "scale", scales, by_size),
        )
    ]  # fmt: skip
    unsorted = [{**row, "policy": policy} for row in by_size for policy in PARTITIONERS[1:]
                if row["policy"] == UNSORTED]  # fmt: skip
    greedy = [row for row in by_size if row["policy"] == "C-PG"]
    found = [
        findings.greedy_partitions_fast(by_count),
        findings.size_matters(by_size).beside_counter(
            f"{UNSORTED}, which sorts nothing, in the place of both",
            findings.size_matters([*greedy, *unsorted])),
    ]  # fmt: skip
    tables = {"partitioning": [*by_count, *by_size]}
    return PaperResult(found, [Plot("figure-8", panels)], tables)


REPRODUCTION = Reproduction(
    "guo16",
    "Distributed heterogeneous graph processing",
    "Guo16",
    "emulated machines",
    lambda fast, tell, data, _: reproduce(fast, tell, data),
    data="with the paper's graphs, such as WikiTalk.txt, which are taken in the place of generated "
    "ones",
)
