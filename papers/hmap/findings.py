"""The statements of section IV-C of [Muralidharan13]_ beside what we see, by rows of cells.

"A", "B": the two settings of setup.py, each a reading of the paper; "IV-A", "III-A": the
section by which processors are clustered. Gains are METIS's periods over HMAP's, of arithmetic
means as the paper's figures. Criteria are on periods by equation (2), and open where the 95 %
interval includes the figure; our reading of what a message costs stands beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from papers.findings import Criterion, Finding, Row, not_tried
from papers.hmap.runs import (
    DIVIDED,
    HMAPS,
    WIDTH,
    Gain,
    MeanBar,
    chosen,
    gain,
)
from papers.hmap.setup import CLASSES, DEAR, EQUATIONS, PAPERS, SETTINGS, Sampling
from papers.intervals import Interval, all_of, interval_of, mean_of

Rows = Sequence[Row]

AVERAGE, LARGEST, SMALLEST = 1.5, 3.0, 1.2  # the paper's speed-ups: METIS is ahead in the last
SECONDS, MORE_SECONDS = 74.0, 50.0  # of HMAP at 4,096, and how many more than METIS
CELLS = 55_125
CLUSTERS = {"hmap": "IV-A", "hmap-up": "III-A"}
NAMES = {"metis": "METIS k-way", "metis-recursive": "METIS recursive", "hmap": "HMAP of IV-A",
         "hmap-up": "HMAP of III-A"}  # fmt: skip
CASES = [(setting, way) for setting in SETTINGS for way in HMAPS]
# Systems for which a statement does not hold: what takes the place of HMAP.
NULL, BISECTION = "METIS k-way in the place of HMAP", "METIS recursive in the place of HMAP"


def without_clusters(rows: Rows) -> list[Row]:
    """Return the rows with METIS k-way's figures in the place of HMAP's: no statement holds."""
    return [
        {**row, **{f"{kind}{way}": row[f"{kind}metis"] for way in HMAPS
                   for kind in ("", "wide_", "narrow_") if f"{kind}metis" in row}}
        for row in rows
    ]  # fmt: skip


def by_bisection(rows: Rows) -> list[Row]:
    """Return the rows with METIS recursive's periods in the place of HMAP's."""
    return [
        {**row, **{way: row["metis-recursive"] for way in HMAPS if "metis-recursive" in row}}
        for row in rows
    ]  # fmt: skip


def _machines(rows: Rows) -> list[int]:
    return sorted({int(row["k"]) for row in rows})


def _gains(
    rows: Rows, setting: str, way: str, paper_class: str = "f", equation: str = PAPERS
) -> dict[int, Gain]:
    """Return METIS / HMAP by processors of the machine."""
    by_size = {k: chosen(rows, setting, k, paper_class, equation) for k in _machines(rows)}
    return {k: gain(own, "metis", way) for k, own in by_size.items() if own}


def _in_cases(say: Callable[[str, str, str], str]) -> str:
    """Return what is seen by each equation, in each setting, by each kind of clusters."""
    return "; ".join(
        f"by {equation}: " + ", ".join(
            f"{setting}, {CLUSTERS[way]}: {say(equation, setting, way)}" for setting, way in CASES)
        for equation in EQUATIONS
    )  # fmt: skip


def _finding(
    rows: Rows, texts: tuple[str, str, str], seen: str, criteria: Iterable[Criterion]
) -> Finding:
    """Return a finding of the sampled cells. texts: where, what the paper did, what it says."""
    where, did, says = texts
    drawn = {(row["k"], row["setting"], row["round"], row["seed"]) for row in rows}
    return Finding(
        where, did, says,
        "METIS k-way and HMAP by METIS, the same targets; METIS / HMAP of arithmetic means, 95 % "
        "intervals in brackets; criteria by equation (2)",
        seen, list(criteria),
        f"{len(drawn):,} cells, of {CELLS:,} in each of two settings, which are our readings; a "
        "processor is a CPU or a GPU: the paper's CPUs have cores from a set C, of which it states "
        "no elements",
    )  # fmt: skip


def faster_on_average(rows: Rows) -> Finding:
    """Figure 3(f): 1.5 times on machines of more than 64 processors."""

    def beyond(equation: str, setting: str, way: str) -> dict[int, Interval]:
        found = _gains(rows, setting, way, equation=equation)
        return {k: one.of_means for k, one in found.items() if k > 64}

    def said(equation: str, setting: str, way: str) -> str:
        found = beyond(equation, setting, way)
        listed = ", ".join(f"{k:,} {one}" for k, one in found.items())
        return f"{mean_of(list(found.values()))} on average, {listed}"

    return _finding(
        rows,
        ("Figure 3(f): on average", "7,875 graphs on machines of 64 to 4,096 processors",
         "HMAP's period is shorter on all machines beyond 64, by more than 1.5 times on average"),
        _in_cases(said),
        [
            criterion
            for s, way in CASES
            for criterion in (
                Criterion(f"{AVERAGE} on average beyond 64 processors, {s}, {CLUSTERS[way]}",
                          mean_of(list(beyond(PAPERS, s, way).values())).above(AVERAGE)),
                Criterion(f"above 1 on each machine beyond 64, {s}, {CLUSTERS[way]}",
                          all_of(g.above(1) for g in beyond(PAPERS, s, way).values())),
            )
        ],
    )  # fmt: skip


def faster_on_the_largest(rows: Rows) -> Finding:
    """Figure 3(f): 3 times at 4,096."""
    where = "Figure 3(f): 4,096 processors", "the same", "HMAP's period is 3 times shorter"
    k = 4096
    if k not in _machines(rows):
        return not_tried(*where, "no cell of such a machine")
    found = {(s, way): _gains(rows, s, way)[k].of_means for s, way in CASES}
    return _finding(
        rows,
        where,
        _in_cases(lambda equation, s, way: str(_gains(rows, s, way, equation=equation)[k])),
        [Criterion(f"{LARGEST:g} times or more, {s}, {CLUSTERS[way]}", one.above(LARGEST))
         for (s, way), one in found.items()],
    )  # fmt: skip


def slower_on_the_smallest(rows: Rows) -> Finding:
    """Figure 3(f): METIS is 1.2 times better at 64."""
    k = _machines(rows)[0]
    found = {(s, way): _gains(rows, s, way)[k].of_means for s, way in CASES}
    return _finding(
        rows,
        (f"Figure 3(f): {k:,} processors", "the same", "METIS's period is 1.2 times shorter"),
        _in_cases(lambda equation, s, way: str(_gains(rows, s, way, equation=equation)[k])),
        [
            criterion
            for (s, way), one in found.items()
            for criterion in (
                Criterion(f"METIS's is shorter, {s}, {CLUSTERS[way]}", one.below(1)),
                Criterion(f"by {SMALLEST} or more, {s}, {CLUSTERS[way]}",
                          one.below(1 / SMALLEST)),
            )
        ],
    )  # fmt: skip


def ahead_by_class(rows: Rows) -> Finding:
    """Figures 3(a) to (e): METIS is ahead on small machines only, in each class."""
    letters = [letter for letter in CLASSES if letter != "f"]
    first = _machines(rows)[0]

    def ahead(equation: str, setting: str, way: str, k: int | None) -> list[bool | None]:
        """Whether METIS is ahead on k processors, or HMAP beyond 64, by class and machine."""
        found = (_gains(rows, setting, way, c, equation) for c in letters)
        return [
            g.of_means.below(1) if k else g.of_means.above(1)
            for own in found for size, g in own.items() if (size == k if k else size > 64)
        ]  # fmt: skip

    def counted(answers: list[bool | None]) -> str:
        return f"{answers.count(True)} of {len(answers)} ({answers.count(None)} open)"

    return _finding(
        rows,
        ("Figures 3(a) to (e): classes", "the same by class of graphs",
         "in each class METIS is ahead on small machines only, HMAP on all others"),
        _in_cases(lambda equation, s, way:
                  f"METIS ahead at {first} in {counted(ahead(equation, s, way, first))} classes, "
                  f"HMAP beyond 64 in {counted(ahead(equation, s, way, None))} bars"),
        [
            criterion
            for s, way in CASES
            for criterion in (
                Criterion(f"METIS ahead at {first} in each class, {s}, {CLUSTERS[way]}",
                          all_of(ahead(PAPERS, s, way, first))),
                Criterion(f"HMAP ahead on each machine beyond 64 in each class, {s}, "
                          f"{CLUSTERS[way]}", all_of(ahead(PAPERS, s, way, None))),
            )
        ],
    )  # fmt: skip


def _by_ratio(rows: Rows, equation: str, setting: str, above: str, below: str) -> tuple[Gain, Gain]:
    """Return the gain where bytes are dear, class (e), and on all other graphs."""
    own = chosen(rows, setting, equation=equation)
    dear = [row for row in own if CLASSES["e"].has(row)]
    return gain(dear, above, below), gain([row for row in own if row not in dear], above, below)


def larger_where_bytes_are_dear(rows: Rows) -> Finding:
    """Figure 3(e): communication-intensive graphs on larger machines."""
    large = [row for row in rows if int(row["k"]) > 64]

    def said(equation: str, setting: str, way: str) -> str:
        dear, others = _by_ratio(large, equation, setting, "metis", way)
        return f"(e) {dear.of_means}, others {others.of_means}"

    criteria = []
    for s, way in CASES:
        dear, others = _by_ratio(large, PAPERS, s, "metis", way)
        criteria += [
            Criterion(f"above 1 in (e), {s}, {CLUSTERS[way]}", dear.of_means.above(1)),
            Criterion(f"larger in (e) than in others, {s}, {CLUSTERS[way]}",
                      dear.of_means.over(others.of_means).above(1), own=True),
        ]  # fmt: skip
    return _finding(
        rows,
        ("Figure 3(e): dear communication", "graphs of high CCR",
         "significantly better on larger machines: heavy edges get links of high bandwidth"),
        "beyond 64 processors, " + _in_cases(said), criteria,
    )  # fmt: skip


def worse_where_halves_are_unequal(rows: Rows, seconds: Rows) -> Finding:
    """The end of IV-C: meshes twice as wide as high. seconds: with the unequal clusters of each."""

    def both(equation: str, setting: str, way: str) -> tuple[Interval, Interval]:
        found = _gains(rows, setting, way, equation=equation)
        means: tuple[list[Interval], list[Interval]] = ([], [])
        for k, one in found.items():
            if k > 64:
                means[round(k**0.5) ** 2 == k].append(one.of_means)
        return mean_of(means[0]), mean_of(means[1])

    counts = ", ".join(f"{int(row['k']):,}: {row['unequal']}" for row in seconds)
    return _finding(
        rows,
        ("IV-C: clusters of unequal numbers", "2,048 processors, a mesh of 64 x 32",
         "HMAP does less well where clusters have unequal numbers of processors, as here"),
        _in_cases(lambda *case: "2:1 {}, square {}".format(*both(*case)))
        + f"; clusters whose halves are unequal, by processors: {counts}: on square meshes as well",
        [Criterion(f"smaller gain on meshes 2:1 than on square ones, {s}, {CLUSTERS[way]}",
                   wide.over(square).below(1), own=True)
         for s, way in CASES for wide, square in [both(PAPERS, s, way)]],
    )  # fmt: skip


def filters_where_they_run_best(rows: Rows) -> Finding:
    """The conclusion: which filters land on GPUs. Only in A do processors differ in kind."""
    own = chosen(rows, "A")
    shares = {
        (kind, name): interval_of(
            [float(row[key]) for row in own if (key := f"{kind}_{name}") in row])
        for kind in ("wide", "narrow") for name in ("metis", *HMAPS)
    }  # fmt: skip
    seen = "; ".join(
        f"{NAMES[name]}: {shares['wide', name].value:.0f} % of the vector filters, "
        f"{shares['narrow', name].value:.0f} % of the scalar ones"
        for name in ("metis", *HMAPS)
    )
    return _finding(
        rows,
        ("VI: kinds of filters", "nothing of its own: a conclusion",
         "CPUs get the task parallel, compute intensive filters, GPUs the data parallel ones"),
        f"on GPUs, which are half of the processors on average, in A: {seen}",
        [
            criterion
            for way in HMAPS
            for criterion in (
                Criterion(f"most vector filters are on GPUs, {CLUSTERS[way]}",
                          shares["wide", way].above(50), own=True),
                Criterion(f"most scalar filters are on CPUs, {CLUSTERS[way]}",
                          shares["narrow", way].below(50), own=True),
            )
        ],
    )  # fmt: skip


def within_seconds(seconds: Rows) -> Finding:
    """IV-C: seconds of partitioning at 4,096 processors."""
    listed = ", ".join(
        f"{int(row['k']):,} processors {float(row['hmap_s']):.1f} s, III-A "
        f"{float(row['hmap_up_s']):.1f} s (METIS {float(row['metis_s']):.1f} s)"
        for row in seconds
    )
    last = seconds[-1]
    found = {CLUSTERS[way]: float(last[f"{way.replace('-', '_')}_s"]) for way in HMAPS}
    least = SECONDS / (SECONDS - MORE_SECONDS)
    return Finding(
        "IV-C: seconds", "a Xeon E5620 of 2.4 GHz",
        "74 s on average at 4,096 processors, 50 s more than METIS; hundreds of processors within "
        "seconds",
        "CPU seconds of one graph on each machine, routes excluded, with the processes of METIS",
        listed,
        [
            criterion
            for where, taken in found.items()
            for criterion in (
                Criterion(f"no more than {SECONDS:g} s at {int(last['k']):,} processors, {where}",
                          taken <= SECONDS),
                Criterion(f"{least:.1f} times METIS's or more, as there, {where}",
                          taken / max(float(last["metis_s"]), 0.01) >= least, own=True),
            )
        ],
        "another computer; routes, by Floyd and Warshall there, are not counted here",
    )  # fmt: skip


def clusters_or_bisection(rows: Rows) -> Finding:
    """Ours: what clusters add to METIS's recursive bisection, which knows no links."""

    def said(equation: str, setting: str, way: str) -> str:
        dear, others = _by_ratio(rows, equation, setting, "metis-recursive", way)
        return f"CCR of {DEAR} and more {dear.geometric}, less {others.geometric}"

    return Finding(
        "clusters or bisection", "nothing: it is ours",
        "HMAP's periods are shorter than METIS's recursive bisection's where bytes are dear",
        "the same cells; METIS recursive / HMAP, geometric means, 95 % intervals in brackets",
        _in_cases(said),
        [Criterion(f"METIS recursive / HMAP above 1 at a CCR of {DEAR} and more by {equation}, "
                   f"{s}, {CLUSTERS[way]}",
                   _by_ratio(rows, equation, s, "metis-recursive", way)[0].geometric.above(1),
                   own=True) for equation in EQUATIONS for s, way in CASES],
        beside=True,
    )  # fmt: skip


def beside_ours(rows: Rows) -> Finding:
    """Ours: direct search on the period, beside the four on the cells that were searched."""
    own = [row for row in rows if "ours" in row]
    worse = sum(
        float(row["ours"]) >= min(float(row[name]) for name in DIVIDED if name in row)
        for row in own
    )
    gains = {(e, s, name): gain(chosen(own, s, equation=e), name, "ours")
             for e in EQUATIONS for s in SETTINGS for name in DIVIDED}  # fmt: skip
    return Finding(
        "our search beside them", "nothing: it is ours",
        "direct search on the period is shorter than all of them, on every cell",
        f"{len(own)} of the cells, counted by each equation; the period of each over ours, "
        "geometric means, 95 % intervals in brackets",
        "; ".join(
            f"by {e}, {s}: " + ", ".join(
                f"{NAMES[name]} {gains[e, s, name].geometric}" for name in DIVIDED)
            for e in EQUATIONS for s in SETTINGS),
        [
            *(Criterion(f"{NAMES[way]}: longer, geometric, in {s}, by {e}",
                        gains[e, s, way].geometric.above(1), own=True)
              for e in EQUATIONS for s, way in CASES),
            Criterion("no cell where one of them is as short", worse == 0, own=True),
        ],
        beside=True,
    )  # fmt: skip


def without_search(rows: Rows) -> list[Row]:
    """Return the rows with the shortest of the four periods as ours: nothing is searched."""
    return [
        {**row, "ours": min(float(row[name]) for name in DIVIDED if name in row)}
        if "ours" in row else row
        for row in rows
    ]  # fmt: skip


def with_fewer_filters(rows: Rows) -> Finding:
    """Cells that METIS makes no blocks of, apart from all other figures."""
    where = "fewer filters than processors", "counted, without a word", "nothing of their own"
    if not rows:
        return not_tried(*where, "no such cell")
    found = {
        (e, s, way): gain([row for row in rows if row["setting"] == s and row["equation"] == e],
                          way, "ours")
        for e in EQUATIONS for s, way in CASES
    }  # fmt: skip
    return Finding(
        *where,
        f"{len(rows) // len(EQUATIONS)} cells apart: METIS leaves no block empty, and refuses them",
        "; ".join(f"by {e}, {s}: {NAMES[way]} / ours {one.geometric}"
                  for (e, s, way), one in found.items()),
    )  # fmt: skip


def real_graphs(rows: Rows, absent: str) -> Finding:
    """Real applications, which the paper left for later. absent: why there are none."""
    where, did = "real graphs", "nothing: left for future research"
    if not rows:
        return not_tried(where, did, "nothing", absent)
    graphs = {str(row["graph"]) for row in rows}

    def ratio(e: str, s: str, above: str, below: str) -> Interval:
        own = [row for row in rows if row["setting"] == s and row["equation"] == e]
        return gain(own, above, below).geometric

    return Finding(
        where, did, "HMAP's periods are shorter than METIS's, ours than both",
        f"{len(graphs)} stream programs and workflows on machines of "
        f"{', '.join(f'{k:,}' for k in _machines(rows))} processors; geometric means, 95 % "
        "intervals in brackets",
        _in_cases(lambda e, s, way: f"METIS / HMAP {ratio(e, s, 'metis', way)}, METIS / ours "
                                    f"{ratio(e, s, 'metis', 'ours')}, HMAP / ours "
                                    f"{ratio(e, s, way, 'ours')}"),
        [
            criterion
            for s, way in CASES
            for criterion in (
                Criterion(f"METIS / HMAP above 1, {s}, {CLUSTERS[way]}",
                          ratio(PAPERS, s, "metis", way).above(1), own=True),
                Criterion(f"HMAP / ours above 1, {s}, {CLUSTERS[way]}",
                          ratio(PAPERS, s, way, "ours").above(1), own=True),
            )
        ],
        beside=True,
    )  # fmt: skip


def narrow_intervals(found: Sequence[MeanBar], limit: float, sampling: Sampling) -> Finding:
    """IV-B1: trials until the interval is narrow. found: all bars of single machines.

    Where the cap came before the paper's precision, the statement was not tried.
    """
    finite = [bar for bar in found if np.isfinite(bar.width)]
    narrow = sum(bar.width < limit for bar in finite)
    most = {k: sampling.rounds_on(k) * sampling.cells for k in sampling.machines}
    cap = " or ".join(f"{count}" for count in sorted(set(most.values())))
    own = [_achieved(finite, k) for k in sorted({bar.k for bar in finite})]
    is_done = narrow == len(found)
    return Finding(
        "IV-B1: intervals", "trials until the 95 % interval of the mean is under 10 % of it",
        "all means are that precise; over 100,000 experiments, which are two trials of a cell",
        f"cells drawn until all bars of a machine are; {cap} on a machine at most in each setting",
        f"by equation (2), {narrow} of {len(found)} bars; the median interval is "
        f"{100 * _median([bar.width for bar in finite]):.0f} % of the mean, of "
        f"{min(bar.cells for bar in found)} to {max(bar.cells for bar in found)} cells; "
        f"narrowest, median and widest by machine: {'; '.join(own)}",
        [Criterion("all bars under 10 %", met=True)] if is_done else [],
        "" if is_done else "as many trials: the cap came first",
    )  # fmt: skip


def _achieved(found: Sequence[MeanBar], k: int) -> str:
    """Return the widths of a machine's intervals in per cent, and what the median one asks for."""
    own = [bar for bar in found if bar.k == k]
    widths = [100 * bar.width for bar in own]
    middle = sorted(own, key=lambda bar: bar.width)[len(own) // 2]
    # A width falls as the root of the number of cells.
    needed = middle.cells * (middle.width / WIDTH) ** 2
    said = f"{k:,} processors {min(widths):.0f}, {_median(widths):.0f}, {max(widths):.0f} %"
    if middle.width < WIDTH:
        return said
    return f"{said} (10 % would take some {float(f'{needed:.2g}'):,.0f} cells)"


def _median(values: Sequence[float]) -> float:
    return float(np.median(values)) if values else float("inf")
