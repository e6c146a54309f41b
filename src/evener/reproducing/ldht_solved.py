"""Statements of [LDHT]_, section VI-C and Figure 5, beside what we see: cuts, SpMV and CG.

Seconds are those of the virtual clock, on TOPO3 with 2^29 vertices; and of two cores here, of which
one multiplies four times as long. See ldht_solving.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evener.reproducing.findings import Criterion, Finding, Row
from evener.reproducing.ldht_findings import (
    CUT,
    GEOMETRIC,
    PAPERS,
    VOLUME,
    against,
    finding,
    listed,
    means,
)
from evener.reproducing.ldht_ratios import (
    of,
    relative,
    reversed_speeds,
    swapped,
    tools_in,
)
from evener.reproducing.ldht_setup import BASE, REFINED, ZOLTAN

Rows = Sequence[Row]

SIMILAR = 0.02  # "similar to CG"
FIGURE = "TOPO3, rdg_2d_29: cut and seconds of a CG iteration"
EMULATED = "seconds of a virtual clock, whose links and arcs/s are ours"


def spread(rows: Rows, key: str) -> float:
    """Return the largest by the least relative figure of the paper's tools, geometric means."""
    found = [relative(rows, name, key) for name in tools_in(rows, PAPERS)]
    return max(found) / min(found) if found else float("nan")


def cuts_as_before(rows: Rows) -> Finding:
    """Figure 5: the trend of cuts continues."""
    cuts = means(rows, PAPERS, CUT)
    refined = [cuts[name] for name in REFINED if name in cuts]
    return finding(
        rows,
        ("VI-C, Figure 5: cut", FIGURE, "the trend regarding the cut continues"),
        "cut " + listed(cuts),
        [Criterion("least with refined k-means", min(refined, default=9) == min(cuts.values())),
         Criterion("k-means is the best geometric method",
                   all(cuts[BASE] <= cuts[name] for name in ZOLTAN if name in cuts))],
        (*GEOMETRIC, *REFINED),
    )  # fmt: skip


def seconds_differ_less(rows: Rows) -> Finding:
    """Figure 5: volume and time of an iteration deviate less than the cut."""
    spreads = {key: spread(rows, key) for key in (CUT, VOLUME, "cg_s", "cg_small_s")}
    found = finding(
        rows,
        ("VI-C, Figure 5: seconds", FIGURE,
         "cuts differ across tools; volume and time of a CG iteration show smaller deviations"),
        f"largest by least of the tools: cut {spreads[CUT]:.3f}, maximum volume "
        f"{spreads[VOLUME]:.3f}, CG {spreads['cg_s']:.4f}; on a graph as small as ours is "
        f"{spreads['cg_small_s']:.4f}; " + _share(rows),
        [Criterion("the volume differs less than the cut", spreads[VOLUME] < spreads[CUT]),
         Criterion("the time differs less than the cut", spreads["cg_s"] < spreads[CUT])],
    )  # fmt: skip
    return replace(found, lacking="; ".join(filter(None, (EMULATED, found.lacking))))


def _share(rows: Rows) -> str:
    """Return in words how much of an iteration is not computing, by the virtual clock."""
    rest = [1 - float(row["cg_computing_s"]) / float(row["cg_s"]) for row in rows if "cg_s" in row]
    return f"messages and waiting for them are {max(rest, default=0):.1g} of it at most"


def spmv_as_cg(rows: Rows) -> Finding:
    """Section VI-C: the results of SpMV are similar to those of CG."""
    tools = [name for name in tools_in(rows, PAPERS) if name != BASE]
    apart = {name: relative(rows, name, "spmv_s") / relative(rows, name, "cg_s") for name in tools}
    return finding(
        rows,
        ("VI-C: SpMV", "TOPO3, rdg_2d_29", "the results of SpMV are similar to those of CG"),
        "relative time of SpMV by that of CG: " + listed(apart, 4),
        [Criterion(f"within {SIMILAR:.0%} for each tool",
                   bool(apart) and all(abs(one - 1) <= SIMILAR for one in apart.values()),
                   own=True)],
    )  # fmt: skip


def more_with_heterogeneity(rows: Rows) -> Finding:
    """Section VI-C: more severe heterogeneity means higher differences of time."""
    rows = of(rows, topo="topo3", k=96)
    speeds = sorted({float(row["speed"]) for row in rows}) or [1.0]
    found = {key: [spread(of(rows, speed=s), key) for s in (speeds[0], speeds[-1])]
             for key in ("cg_s", "cg_small_s")}  # fmt: skip
    return finding(
        rows,
        ("VI-C: conjecture", "none: it is a conjecture",
         "a more severe heterogeneity also means higher differences in the real world"),
        "; ".join(f"{what}: largest by least CG seconds {a:.4f} at speed {speeds[0]:g}, {b:.4f} at "
                  f"{speeds[-1]:g}" for what, (a, b) in
                  (("2^29 vertices", found["cg_s"]), ("as small", found["cg_small_s"]))),
        [Criterion(f"{what}: larger at speed {speeds[-1]:g}", found[key][1] > found[key][0])
         for what, key in (("2^29 vertices", "cg_s"), ("as small", "cg_small_s"))],
    )  # fmt: skip


def on_two_cores(rows: Rows) -> Finding:
    """Figure 5 by seconds of two cores."""
    tools = tools_in(rows, PAPERS)
    own = {str(row["tool"]): row for row in rows}
    spreads = {
        key: max(float(own[name][key]) for name in tools)
        / min(float(own[name][key]) for name in tools) for key in (CUT, "cg_s", "spmv_s")
    }  # fmt: skip
    each = ", ".join(f"{name} {1e3 * float(own[name]['cg_s']):.2f}" for name in own)
    n = int(rows[0]["n"])
    return Finding(
        "VI-C, Figure 5: two cores", FIGURE,
        "cuts differ across tools; the time of an iteration shows smaller deviations",
        f"CG with Jacobi preconditioner and SpMV on two cores, {n:,} vertices in two blocks; one "
        "core multiplies four times as long",
        f"largest by least: cut {spreads[CUT]:.3f}, CG {spreads['cg_s']:.3f}, SpMV "
        f"{spreads['spmv_s']:.3f}; ms of a CG iteration {each}",
        [Criterion("CG differs less than the cut", spreads["cg_s"] < spreads[CUT]),
         Criterion("SpMV differs less than the cut", spreads["spmv_s"] < spreads[CUT])],
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
