"""Statements of [LDHT]_, section VI-C and Figure 5, beside what we see: cuts, SpMV and CG.

Seconds are those of the virtual clock, on TOPO3 with 2^29 vertices; and of two cores here, of which
one multiplies four times as long. See runs.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from papers.findings import Criterion, Finding, Row, against
from papers.intervals import Interval, all_of, geometric_mean
from papers.ldht.findings import (
    CUT,
    GEOMETRIC,
    PAPERS,
    VOLUME,
    CellRows,
    by_cell,
    change,
    finding,
    less,
    listed,
    means,
    of,
    ratios,
    reversed_speeds,
    swapped,
    tools_in,
)
from papers.ldht.setup import BASE, REFINED, ZOLTAN

Rows = Sequence[Row]

SIMILAR = 0.02  # "similar to CG"
FIGURE = "TOPO3, rdg_2d_29: cut and seconds of a CG iteration"
EMULATED = "seconds of a virtual clock, whose links and arcs/s are ours"


def spread(cell: CellRows, key: str) -> float:
    """Return the largest by the least figure of the paper's tools on a cell."""
    found = [float(cell[name][key]) for name in PAPERS if name in cell]
    return max(found) / min(found)


def spreads(rows: Rows, key: str, beside: str | None = None) -> Interval:
    """Return the geometric mean of `spread` over cells, by that of another figure if any."""
    return geometric_mean([spread(cell, key) / (spread(cell, beside) if beside else 1.0)
                      for cell in by_cell(rows)])  # fmt: skip


def cuts_as_before(rows: Rows) -> Finding:
    """Figure 5: the trend of cuts continues."""
    cuts = means(rows, PAPERS, CUT)
    refined = min((name for name in REFINED if name in cuts), key=cuts.__getitem__, default=BASE)
    others = [name for name in cuts if name not in REFINED]
    return finding(
        rows,
        ("VI-C, Figure 5: cut", FIGURE, "the trend regarding the cut continues"),
        "cut " + listed(cuts),
        [Criterion("least with refined k-means", less(rows, refined, others, CUT)),
         Criterion("k-means is the best geometric method",
                   less(rows, BASE, [name for name in ZOLTAN if name in cuts], CUT))],
        (*GEOMETRIC, *REFINED),
    )  # fmt: skip


def seconds_differ_less(rows: Rows) -> Finding:
    """Figure 5: volume and time of an iteration deviate less than the cut."""
    found = finding(
        rows,
        ("VI-C, Figure 5: seconds", FIGURE,
         "cuts differ across tools; volume and time of a CG iteration show smaller deviations"),
        f"largest by least of the tools, mean over machines: cut {spreads(rows, CUT):.3f}, maximum "
        f"volume {spreads(rows, VOLUME):.3f}, CG {spreads(rows, 'cg_s'):.4f}; on a graph as small "
        f"as ours is {spreads(rows, 'cg_small_s'):.4f}; " + _share(rows),
        [Criterion("the volume differs less than the cut", spreads(rows, VOLUME, CUT).below(1)),
         Criterion("the time differs less than the cut", spreads(rows, "cg_s", CUT).below(1))],
    )  # fmt: skip
    return replace(found, lacking="; ".join(filter(None, (EMULATED, found.lacking))))


def _share(rows: Rows) -> str:
    """Return in words how much of an iteration is not computing, by the virtual clock."""
    rest = [1 - float(row["cg_computing_s"]) / float(row["cg_s"]) for row in rows if "cg_s" in row]
    return f"messages and waiting for them are {max(rest, default=0):.1g} of it at most"


def spmv_as_cg(rows: Rows) -> Finding:
    """Section VI-C: the results of SpMV are similar to those of CG."""
    tools = [name for name in tools_in(rows, PAPERS) if name != BASE]
    apart = {
        name: geometric_mean([one / other for one, other in zip(
            ratios(rows, name, "spmv_s"), ratios(rows, name, "cg_s"), strict=True)])
        for name in tools
    }  # fmt: skip
    return finding(
        rows,
        ("VI-C: SpMV", "TOPO3, rdg_2d_29", "the results of SpMV are similar to those of CG"),
        "relative time of SpMV by that of CG: " + listed(apart, 4),
        [Criterion(f"within {SIMILAR:.0%} for each tool",
                   all_of(one.within(1 - SIMILAR, 1 + SIMILAR) for one in apart.values()),
                   own=True)],
    )  # fmt: skip


def more_with_heterogeneity(rows: Rows) -> Finding:
    """Section VI-C: more severe heterogeneity means higher differences of time."""
    rows = of(rows, topo="topo3", k=96)
    found = {what: change(rows, "speed", lambda cell, key=key: spread(cell, key), ())  # type: ignore[misc]
             for what, key in (("2^29 vertices", "cg_s"), ("as small", "cg_small_s"))}  # fmt: skip
    return finding(
        rows,
        ("VI-C: conjecture", "none: it is a conjecture",
         "a more severe heterogeneity also means higher differences in the real world"),
        "largest by least CG seconds of the tools, at the largest speed by that at the least: "
        + listed(found, 4),
        [Criterion(f"{what}: more", one.above(1)) for what, one in found.items()],
    )  # fmt: skip


def on_two_cores(rows: Rows) -> Finding:
    """Figure 5 by seconds of two cores."""
    turns = [{str(row["tool"]): row for row in of(rows, turn=turn)}
             for turn in dict.fromkeys(row["turn"] for row in rows)]  # fmt: skip
    shares = {key: geometric_mean([spread(turn, key) / spread(turn, CUT) for turn in turns])
              for key in ("cg_s", "spmv_s")}  # fmt: skip
    seen = {key: geometric_mean([spread(turn, key) for turn in turns]) for key in shares}
    # Where turns of one tool differ as much as tools do in the cut, the largest is one of noise.
    noise = {key: float(np.median([max(own) / min(own) for name in turns[0] for own in (
        [float(turn[name][key]) for turn in turns],)])) for key in shares}  # fmt: skip
    told = {key: None if noise[key] > spread(turns[0], CUT) else share.below(1)
            for key, share in shares.items()}  # fmt: skip
    each = ", ".join(f"{name} {1e3 * float(np.median([turn[name]['cg_s'] for turn in turns])):.2f}"
                     for name in turns[0])  # fmt: skip
    n = int(rows[0]["n"])
    return Finding(
        "VI-C, Figure 5: two cores", FIGURE,
        "cuts differ across tools; the time of an iteration shows smaller deviations",
        f"CG with Jacobi preconditioner and SpMV on two cores, {n:,} vertices in two blocks; one "
        f"core multiplies four times as long; {len(turns)} turns",
        f"largest by least: cut {spread(turns[0], CUT):.3f}, CG {seen['cg_s']:.3f}, SpMV "
        f"{seen['spmv_s']:.3f}; of one tool's turns, in the median: CG {noise['cg_s']:.2f}, SpMV "
        f"{noise['spmv_s']:.2f}; medians in ms of a CG iteration {each}",
        [Criterion("CG differs less than the cut", told["cg_s"]),
         Criterion("SpMV differs less than the cut", told["spmv_s"])],
        lacking="two devices in place of 96; one is slowed in products alone",
    )  # fmt: skip


def all_findings(rows: Rows, cores: Rows) -> list[Finding]:
    """Return the findings of Figure 5 beside counter-examples."""
    topo3 = of(rows, figure="5", topo="topo3")
    as_cuts = [{**row, VOLUME: row[CUT], "cg_s": float(row[CUT]) ** 2} for row in topo3]
    of_cores = against(on_two_cores, cores, "all tools with the cut of k-means",
                       [{**row, CUT: 1.0} for row in cores])  # fmt: skip
    if not topo3:
        return [of_cores]
    return [
        against(cuts_as_before, topo3, "the curve in the place of k-means and of its refinements",
                swapped(swapped(topo3, BASE, "zSFC"), "geoRef", "zRIB")),
        against(seconds_differ_less, topo3, "seconds as the square of the cut", as_cuts),
        against(spmv_as_cg, topo3, "SpMV as the cut",
                [{**row, "spmv_s": row[CUT]} for row in topo3]),
        against(more_with_heterogeneity, topo3, "the speeds of fast devices in reverse order",
                reversed_speeds(of(topo3, k=96))),
        of_cores,
    ]  # fmt: skip
