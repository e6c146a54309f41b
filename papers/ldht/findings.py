"""Statements of [LDHT]_, sections V and VI-A to VI-B, beside what we see, by rows of cells.

Figures are geometric means over cells relative to geoKM, unless said otherwise, with intervals of
95 % confidence over cells in brackets: a criterion is told only where these exclude its bound. Each
finding has beside it what its own criteria say of rows of a system for which the statement does not
hold.

A row is of one partitioner on one cell: see runs.py. Ratios are to geoKM on the same cell, as
in the paper's figures; rows of tools that failed have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from papers.findings import Criterion, Finding, Row, against, not_tried
from papers.intervals import Interval, all_of, geometric_mean, share_of
from papers.ldht.setup import ALYA, BASE, HUGE, REFINED, STANDS_FOR, ZOLTAN

Rows = Sequence[Row]
CellRows = Mapping[str, Row]  # rows of one cell by partitioner


def by_cell(rows: Rows) -> list[CellRows]:
    """Return the rows of each cell by partitioner, without those of tools that failed."""
    found: dict[tuple[object, ...], dict[str, Row]] = {}
    for row in rows:
        key = tuple(row[name] for name in ("figure", "graph", "n", "machine", "k", "caps"))
        cell = found.setdefault(key, {})
        if "failed" not in row:
            cell[str(row["tool"])] = row
    return [cell for cell in found.values() if cell]


def of(rows: Rows, **wanted: object) -> list[Row]:
    """Return rows with these values; of several where a tuple is given."""
    return [row for row in rows if all(
        row[key] in value if isinstance(value, tuple) else row[key] == value
        for key, value in wanted.items())]  # fmt: skip


def mean(ratios: Sequence[float]) -> float:
    """Return the geometric mean; nan of none."""
    return geometric_mean(ratios).value


def ratios(rows: Rows, tool: str, key: str, base: str = BASE) -> list[float]:
    """Return a figure of a tool by that of another, on each cell that has both."""
    return [
        float(cell[tool][key]) / float(cell[base][key])
        for cell in by_cell(rows)
        if tool in cell and base in cell and float(cell[base][key]) > 0
    ]


def relative(rows: Rows, tool: str, key: str, base: str = BASE) -> float:
    """Return the geometric mean of `ratios`."""
    return mean(ratios(rows, tool, key, base))


def estimated(rows: Rows, tool: str, key: str, base: str = BASE) -> Interval:
    """Return the geometric mean of `ratios` with its interval over cells."""
    return geometric_mean(ratios(rows, tool, key, base))


def part_of_cells(rows: Rows, holds: Callable[[CellRows], bool], need: Sequence[str]) -> Interval:
    """Return the part of the cells with the tools `need` for which something holds."""
    cells = [cell for cell in by_cell(rows) if all(name in cell for name in need)]
    return share_of(sum(map(holds, cells)), len(cells))


def change(
    rows: Rows, by: str, figure: Callable[[CellRows], float], need: Sequence[str]
) -> Interval:
    """Return a cell's figure at the largest value of a key by that at the least, all else alike.

    by: "speed" or "k". need: tools without which a cell is left out.
    """
    keys = ("figure", "graph", "n", "topo", "caps", *({"k", "fast", "speed"} - {by}))
    ends = sorted({float(row[by]) for row in rows})
    found: dict[tuple[object, ...], dict[float, float]] = {}
    for cell in by_cell(rows):
        if all(name in cell for name in need):
            row = next(iter(cell.values()))
            # Of k devices a twelfth or a sixth are fast: the same part is the same machine.
            fast = int(row["k"]) // int(row["fast"])
            key = tuple(fast if name == "fast" else row[name] for name in keys)
            found.setdefault(key, {})[float(row[by])] = figure(cell)
    return geometric_mean([own[ends[-1]] / own[ends[0]] for own in found.values()
                      if len(ends) > 1 and {ends[0], ends[-1]} <= set(own)])  # fmt: skip


def least(cell: CellRows, key: str, tools: Sequence[str]) -> float:
    """Return the least figure of these tools, those that are there; infinite of none."""
    return min((float(cell[name][key]) for name in tools if name in cell), default=float("inf"))


def tools_in(rows: Rows, names: Sequence[str]) -> list[str]:
    """Return those of the tools that have rows, in order."""
    present = {row["tool"] for row in rows if "failed" not in row}
    return [name for name in names if name in present]


# Rows of systems for which statements do not hold.


def swapped(rows: Rows, one: str, other: str) -> list[Row]:
    """Return the rows with the blocks of two partitioners exchanged."""
    names = {one: other, other: one}
    return [{**row, "tool": names.get(str(row["tool"]), str(row["tool"]))} for row in rows]


def reversed_speeds(rows: Rows) -> list[Row]:
    """Return the rows with the speeds of fast devices in reverse order."""
    speeds = sorted({float(row["speed"]) for row in rows})
    other = dict(zip(speeds, reversed(speeds), strict=True))
    return [{**row, "speed": other[float(row["speed"])]} for row in rows]


def reversed_devices(rows: Rows) -> list[Row]:
    """Return the rows with the numbers of devices in reverse order."""
    numbers = sorted({int(row["k"]) for row in rows})
    other = dict(zip(numbers, reversed(numbers), strict=True))
    return [{**row, "k": other[int(row["k"])]} for row in rows]


def scaled(rows: Rows, tool: str, keys: Sequence[str], factor: float) -> list[Row]:
    """Return the rows with figures of a tool multiplied."""
    return [
        {**row, **{key: float(row[key]) * factor for key in keys if key in row}}
        if row["tool"] == tool else dict(row)
        for row in rows
    ]  # fmt: skip


Judge = Callable[[Rows], Finding]
Texts = tuple[str, str, str]  # where, what the paper did, what it says

GEOMETRIC = (BASE, *ZOLTAN)
PARMETIS = ("pmGraph", "pmGeom")
PAPERS = (*GEOMETRIC, *REFINED, *PARMETIS)  # those in the paper's Figures 2 to 5
OWN = ("kmeans", "georef", "geohier")  # Evener's versions of what the paper proposes
OF_A_KIND = ("rdg", "rgg")  # graphs that the paper generated as well
USUALLY = 0.01  # Figure 1: within 1 %
NOT_BIG = 1.25  # largest by least relative cut over machines
CLOSE = 0.10  # "very close"
HARDLY = 0.02  # "hardly visible"
BETTER = 0.90  # "10% better cut value compared to ParMetis"
MORE_TIME = 1.5  # "a running time increase of about 50%"
SEVERAL = (
    0.05  # of the cells: "several cases where Geographer is both faster and has better quality"
)
NUMEROUS = 0.1  # of the cells: "in numerous cases"
TWO, THREE = "2-D", "3-D"
CUT, VOLUME = "cut", "max_volume"


def lacking(rows: Rows, tools: Sequence[str] = PAPERS) -> str:
    """Return how graphs and tools differ from the paper's; sizes of its own kinds do not count."""
    graphs = dict.fromkeys(str(row["graph"]) for row in rows if not row["real"]
                           and not str(row["graph"]).startswith(OF_A_KIND))  # fmt: skip
    said = [f"generated graphs for {', '.join(graphs)}"] if graphs else []
    run = dict.fromkeys(str(row["by"]) for row in rows if row["tool"] in tools)
    said += [STANDS_FOR[name] for name in run if name in STANDS_FOR and name not in OWN]
    return "; ".join(said)


def finding(
    rows: Rows, texts: Texts, seen: str, criteria: Sequence[Criterion],
    tools: Sequence[str] = PAPERS,
) -> Finding:  # fmt: skip
    """Return a finding of cells. tools: which are judged, the differences of which are said."""
    where, did, says = texts
    cells = by_cell(rows)
    sizes = sorted({int(row["n"]) for row in rows})
    tried = f"{len(cells)} cells, graphs of {sizes[0]:,} to {sizes[-1]:,} vertices" if sizes else ""
    return Finding(where, did, says, tried, seen, criteria, lacking(rows, tools))


def listed(found: Mapping[str, float | Interval], digits: int = 3) -> str:
    """Return "geoRef 0.780, zSFC 1.400", with intervals of estimates."""
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in found.items())


def means(rows: Rows, tools: Iterable[str], key: str) -> dict[str, float]:
    """Return the relative figure of each tool that has rows."""
    return {name: relative(rows, name, key) for name in tools_in(rows, tuple(tools))}


def estimates(rows: Rows, tools: Iterable[str], key: str, base: str = BASE) -> dict[str, Interval]:
    """Return the relative figure of each tool that has rows, with its interval."""
    return {name: estimated(rows, name, key, base) for name in tools_in(rows, tuple(tools))}


def less(rows: Rows, one: str, others: Iterable[str], key: str) -> bool | None:
    """Return whether a tool's figure is below that of each other tool, on the mean over cells."""
    return all_of(estimated(rows, one, key, other).below(1) for other in others)


# Section V, Figure 1.


def hierarchical_near_flat(rows: Rows) -> Finding:
    """Figure 1: the cut of the hierarchical version is usually within 1 %."""
    cuts, need = ratios(rows, "geoHier", CUT), ("geoHier", BASE)

    def is_near(cell: CellRows) -> bool:
        return abs(float(cell["geoHier"][CUT]) / float(cell[BASE][CUT]) - 1) <= USUALLY

    def is_lower(cell: CellRows) -> bool:
        return float(cell["geoHier"][VOLUME]) < float(cell[BASE][VOLUME])

    cut, near, lower = geometric_mean(cuts), *(part_of_cells(rows, one, need)
                                          for one in (is_near, is_lower))  # fmt: skip
    return finding(
        rows,
        ("V, Figure 1: quality", "balanced k-means flat and along the hierarchy",
         ("the cut is usually within 1 %, slightly larger; the volume can be lower in numerous "
         "cases")),
        f"cut {cut:.3f}, {min(cuts, default=0):.3f} to {max(cuts, default=0):.3f} in single cells, "
        f"within 1 % in {near:.0%} of {len(cuts)}; maximum volume "
        f"{estimated(rows, 'geoHier', VOLUME):.3f}, lower in {lower:.0%}",
        [Criterion("within 1 % in more than half of the cells", near.above(0.5), own=True),
         Criterion("larger on the mean", cut.above(1)),
         Criterion(f"the volume is lower in more than {NUMEROUS:.0%} of the cells",
                   lower.above(NUMEROUS), own=True)],
        (BASE, "geoHier"),
    )  # fmt: skip


def hierarchical_maps_near(rows: Rows) -> Finding:
    """Section V: blocks that share a border are mapped to nearby devices."""
    far = ratios(rows, "geoHier", "far_volume")
    there, fewer = geometric_mean(far), share_of(sum(one < 1 for one in far), len(far))
    return finding(
        rows,
        ("V: mapping", "the same",
         "blocks that share a border will likely be mapped to nearby devices"),
        f"values sent to other nodes {there:.3f} of flat k-means' "
        f"({max(far, default=float('nan')):.3f} at most), fewer in {fewer:.0%} of {len(far)}",
        [Criterion("fewer values go to other nodes on the mean", there.below(1)),
         Criterion("in more than half of the cells", fewer.above(0.5))],
        (BASE, "geoHier"),
    )  # fmt: skip


# Section VI-A, Figure 2.


def heterogeneity_is_not_big(rows: Rows) -> Finding:
    """Figure 2(a): heterogeneity plays a role, but not a big one."""
    rows = of(rows, graph=HUGE, topo="topo1")
    tools = [name for name in tools_in(rows, PAPERS) if name != BASE]
    spread = {}
    for name in tools:
        found = [relative(of(rows, machine=m), name, CUT)
                 for m in dict.fromkeys(row["machine"] for row in rows)]  # fmt: skip
        spread[name] = max(found) / min(found)
    changed = {name: by_speed(rows, name, CUT) for name in tools}
    alike = all_of(one.within(1, 1) for one in changed.values())
    return finding(
        rows,
        ("VI-A, Figure 2(a): heterogeneity", "TOPO1's ten machines, hugeX",
         "heterogeneity plays a role, but not a big one"),
        "largest by least relative cut over machines: " + listed(spread) + "; at the largest speed "
        "by that at the least: " + listed(changed),
        [Criterion("it changes the relative cut of a tool",
                   None if alike is None else bool(changed) and not alike),
         Criterion(f"by {NOT_BIG - 1:.0%} at most, for each tool",
                   bool(spread) and max(spread.values()) <= NOT_BIG, own=True)],
    )  # fmt: skip


def zoltan_suffers(rows: Rows) -> Finding:
    """Figure 2(a): Zoltan's methods get worse with heterogeneity."""
    rows = of(rows, graph=HUGE, topo="topo1")
    found = {name: by_speed(rows, name, CUT) for name in tools_in(rows, ZOLTAN)}
    return finding(
        rows,
        ("VI-A, Figure 2(a): geometric methods of Zoltan", "the same",
         "Zoltan's geometric methods lose quality with heterogeneity"),
        f"relative cut {_between(rows)}: {listed(found)}",
        [Criterion(f"that of {name} is larger", one.above(1)) for name, one in found.items()],
        ZOLTAN,
    )  # fmt: skip


def by_speed(rows: Rows, tool: str, key: str) -> Interval:
    """Return a tool's relative figure at the largest speed by that at the least."""
    return change(
        rows, "speed", lambda cell: float(cell[tool][key]) / float(cell[BASE][key]), (tool, BASE)
    )


def _between(rows: Rows, key: str = "speed") -> str:
    """Return "at speed 16 by that at 1"."""
    ends = sorted({float(row[key]) for row in rows}) or [1.0]
    return f"at {key} {ends[-1]:g} by that at {ends[0]:g}"


def best_geometric(rows: Rows, texts: Texts) -> Finding:
    """Balanced k-means has the best quality among geometric methods, in most cases."""

    def is_best(cell: CellRows, key: str) -> bool:
        return float(cell[BASE][key]) <= least(cell, key, ZOLTAN)

    parts = {key: part_of_cells(rows, lambda cell, key=key: is_best(cell, key), [BASE])  # type: ignore[misc]
             for key in (CUT, VOLUME)}  # fmt: skip
    return finding(
        rows, texts,
        f"least cut in {parts[CUT]:.0%} of the cells, least maximum volume in {parts[VOLUME]:.0%}; "
        + listed(means(rows, ZOLTAN, CUT)) + " of its cut, "
        + listed(means(rows, ZOLTAN, VOLUME)) + " of its volume",
        [Criterion("least cut in more than half of the cells", parts[CUT].above(0.5)),
         Criterion("least maximum volume in more than half", parts[VOLUME].above(0.5))],
        GEOMETRIC,
    )  # fmt: skip


def parmetis_close_to_kmeans(rows: Rows) -> Finding:
    """Figure 2(a): ParMETIS is very close to balanced k-means."""
    rows = of(rows, graph=HUGE)
    found = {f"{name}, {key}": estimated(rows, name, key)
             for name in tools_in(rows, PARMETIS) for key in (CUT, VOLUME)}  # fmt: skip
    return finding(
        rows,
        ("VI-A, Figure 2(a): ParMETIS", "the same",
         "ParMETIS's quality is very close to that of balanced k-means"),
        listed(found),
        [Criterion(f"{what}: within {CLOSE:.0%}", value.within(1 - CLOSE, 1 + CLOSE), own=True)
         for what, value in found.items()],
        (BASE, *PARMETIS),
    )  # fmt: skip


def refined_are_best(rows: Rows, texts: Texts) -> Finding:
    """The best solutions come from k-means with refinement."""
    others = tuple(name for name in PAPERS if name not in REFINED)
    need = tools_in(rows, REFINED)
    parts = {
        key: part_of_cells(
            rows, lambda cell, key=key: least(cell, key, REFINED) < least(cell, key, others),  # type: ignore[misc]
            need,
        )
        for key in (CUT, VOLUME)
    }  # fmt: skip
    return finding(
        rows, texts,
        f"one of {' and '.join(need)} has the least cut in {parts[CUT]:.0%} of the cells, the "
        f"least maximum volume in {parts[VOLUME]:.0%}; cut " + listed(means(rows, PAPERS, CUT))
        + "; volume " + listed(means(rows, PAPERS, VOLUME)),
        [Criterion("least cut in more than half of the cells", parts[CUT].above(0.5)),
         Criterion("least maximum volume in more than half", parts[VOLUME].above(0.5))],
    )  # fmt: skip


def gap_narrows_in_space(rows: Rows) -> Finding:
    """Figure 2(b): in 3-D geometric methods narrow the gap."""
    tools = tools_in(rows, ZOLTAN)
    flat, solid = (estimates(of(rows, graph=graphs), tools, CUT, "pmGraph")
                   for graphs in (HUGE, ALYA))  # fmt: skip
    wins = [
        (str(next(iter(cell.values()))["machine"]), key)
        for cell in by_cell(of(rows, graph=ALYA)) for key in (CUT, VOLUME)
        if least(cell, key, GEOMETRIC) <= least(cell, key, (*REFINED, *PARMETIS))
    ]  # fmt: skip
    cells = len(by_cell(of(rows, graph=ALYA)))
    return finding(
        of(rows, graph=(*HUGE, *ALYA)),
        ("VI-A, Figure 2(b): geometric methods in 3-D", "two alya graphs",
         "in 3-D geometric methods narrow the gap; in a few cases their cut or volume is lowest"),
        f"cut by that of pmGraph: hugeX {listed(flat)}; alya {listed(solid)}; lowest cut or volume "
        f"in {len(wins)} of {2 * cells}",
        [*(Criterion(f"{name} is nearer to pmGraph on alya than on hugeX",
                     solid[name].less(flat[name])) for name in tools),
         Criterion("lowest somewhere, but in less than half of the cases",
                   0 < len(wins) < cells)],
        (*GEOMETRIC, "pmGraph"),
    )  # fmt: skip


def parmetis_in_space(rows: Rows) -> Finding:
    """Figure 2(b): ParMETIS has good cuts, but worse volumes even than geometric methods."""
    rows = of(rows, graph=ALYA)
    tools = tools_in(rows, GEOMETRIC)
    cut, volume = (estimated(rows, "pmGraph", key) for key in (CUT, VOLUME))
    beside = {key: {name: estimated(rows, "pmGraph", key, name) for name in tools}
              for key in (CUT, VOLUME)}  # fmt: skip
    return finding(
        rows,
        ("VI-A, Figure 2(b): ParMETIS in 3-D", "two alya graphs",
         "in 3-D ParMETIS's cuts are good, but its volume is worse even than geometric methods'"),
        f"cut {cut:.3f}, maximum volume {volume:.3f}; volumes {listed(means(rows, tools, VOLUME))}",
        [Criterion("its cut is below each geometric method's",
                   all_of(one.below(1) for one in beside[CUT].values())),
         *(Criterion(f"its volume is above {name}'s", one.above(1))
           for name, one in beside[VOLUME].items())],
        (*GEOMETRIC, "pmGraph"),
    )  # fmt: skip


def refinement_helps_in_space(rows: Rows) -> Finding:
    """Figure 2(b): refinement offers some improvement."""
    rows = of(rows, graph=ALYA)
    found = estimates(rows, REFINED, CUT)
    return finding(
        rows,
        ("VI-A, Figure 2(b): refinement in 3-D", "two alya graphs",
         "k-means with refinement offers some improvement over k-means"),
        "cut " + listed(found) + "; volume " + listed(means(rows, REFINED, VOLUME)),
        [Criterion(f"the cut of {name} is lower", one.below(1)) for name, one in found.items()],
        (BASE, *REFINED),
    )  # fmt: skip


def geometric_are_fast(rows: Rows) -> Finding:
    """Section VI-A: geometric methods have the lowest running time."""
    slow = tools_in(rows, (*REFINED, *PARMETIS))
    seconds = {
        name: geometric_mean([float(cell[name]["cpu_s"]) for cell in by_cell(rows) if name in cell])
        for name in (*tools_in(rows, GEOMETRIC), *slow)
    }
    longest = max(
        (float(row["cpu_s"]) for row in rows if row["tool"] in GEOMETRIC and "cpu_s" in row),
        default=0.0,
    )
    return finding(
        rows,
        ("VI-A: time of geometric methods", "seconds of partitioning on 96 devices",
         "geometric methods have the lowest running time, less than a few seconds"),
        "CPU seconds " + listed(seconds, 4) + f"; {longest:.2f} s at most",
        [*(Criterion(f"{name} is faster than {', '.join(slow)}",
                     less(rows, name, slow, "cpu_s")) for name in tools_in(rows, GEOMETRIC)),
         Criterion("5 s at most", longest <= 5, own=True)],
    )  # fmt: skip


def own_refinement_is_faster(rows: Rows) -> Finding:
    """Section VI-A: geoRef's refinement is faster than ParMETIS's in 2-D."""
    rows = of(rows, graph=HUGE)
    texts = ("VI-A: time of refinement", "the same",
             "in 2-D the refinement of geoRef is faster than that of ParMETIS")  # fmt: skip
    if not tools_in(rows, ("geoPMRef",)):
        return not_tried(*texts, "geoPMRef is not in this version")
    spent = geometric_mean(
        [
            _refining(cell, "geoRef") / _refining(cell, "geoPMRef")
            for cell in by_cell(rows)
            if {"geoRef", "geoPMRef", BASE} <= set(cell)
        ]
    )
    return finding(
        rows, texts, f"geoRef's takes {spent:.2f} of geoPMRef's CPU seconds, k-means subtracted",
        [Criterion("it takes less", spent.below(1))], (BASE, *REFINED),
    )  # fmt: skip


def _refining(cell: CellRows, tool: str) -> float:
    """Return the CPU seconds of a refinement [s], 1 ms at least."""
    return max(float(cell[tool]["cpu_s"]) - float(cell[BASE]["cpu_s"]), 1e-3)


def refinement_slows(rows: Rows, texts: Texts) -> Finding:
    """The more heterogeneous the machine, the slower geoRef."""
    speeds = sorted({float(row["speed"]) for row in rows})
    need = ("geoRef", BASE)
    spent = {
        f"{s:g}": geometric_mean([_refining(cell, "geoRef") for cell in by_cell(of(rows, speed=s))
                             if set(need) <= set(cell)])
        for s in speeds
    }  # fmt: skip
    slower = change(rows, "speed", lambda cell: _refining(cell, "geoRef"), need)
    return finding(
        rows, texts,
        f"CPU seconds of refinement, by speed: {listed(spent)}; {_between(rows)}: {slower:.2f}",
        [Criterion("it takes longer", slower.above(1))], (BASE, "geoRef"),
    )  # fmt: skip


# Section VI-B, Figures 3 and 4.


def times_grow_with_devices(rows: Rows) -> Finding:
    """Figure 3: ParMetisGraph and geoPMRef suffer from high running times at many devices."""
    ks = sorted({int(row["k"]) for row in rows}) or [0]
    found = {
        name: [estimated(of(rows, k=k), name, "cpu_s", "geoRef") for k in ks]
        for name in tools_in(rows, ("pmGraph", "geoPMRef"))
    }
    grown = {
        name: change(
            rows, "k",
            lambda cell, name=name: float(cell[name]["cpu_s"]) / float(cell["geoRef"]["cpu_s"]),  # type: ignore[misc]
            (name, "geoRef"),
        )
        for name in found
    }  # fmt: skip
    return finding(
        rows,
        ("VI-B, Figure 3: time by devices", "refinetrace on 384 to 12,288 devices of TOPO2",
         ("as devices become more, ParMetisGraph and geoPMRef suffer from high running times, in "
         "contrast to geoRef")),
        "CPU seconds by geoRef's on " + " and ".join(f"{k:,}" for k in ks) + " devices: "
        + "; ".join(f"{name} " + ", ".join(f"{v:.2f}" for v in own) for name, own in found.items())
        + "; the last by the first: " + listed(grown, 2),
        [c for name, own in found.items()
         for c in (Criterion(f"{name}: the ratio rises", grown[name].above(1)),
                   Criterion(f"{name}: above 1 on {ks[-1]:,} devices", own[-1].above(1)))],
        ("geoRef", "geoPMRef", "pmGraph"),
    )  # fmt: skip


def geometric_are_steadily_worse(rows: Rows) -> Finding:
    """Figure 3: geometric methods are steadily worse, but very fast."""
    others = tools_in(rows, (*REFINED, *PARMETIS))
    tools = tools_in(rows, GEOMETRIC)

    def is_worse(cell: CellRows) -> bool:
        return least(cell, CUT, tools) > max(float(cell[name][CUT]) for name in others)

    need = [*tools, *others]
    worse = part_of_cells(rows, is_worse, need)
    return finding(
        rows,
        ("VI-B, Figure 3: geometric methods", "the same",
         "geometric methods are steadily worse in quality but very fast"),
        f"each cuts more than each other tool in {worse:.0%} of the cells; cut "
        + listed(means(rows, need, CUT)) + "; CPU " + listed(estimates(rows, need, "cpu_s"), 2),
        [Criterion("a higher cut in every cell", worse.value == 1),
         *(Criterion(f"{name} is faster than each other tool", less(rows, name, others, "cpu_s"))
           for name in tools)],
    )  # fmt: skip


def heterogeneity_on_topo2(rows: Rows) -> Finding:
    """Figure 3: heterogeneity harms Zoltan's methods, helps ParMETIS, hardly changes Geographer."""
    tools = [name for name in tools_in(rows, PAPERS) if name != BASE]
    found = {name: by_speed(rows, name, CUT) for name in tools}
    return finding(
        rows,
        ("VI-B, Figure 3: heterogeneity", "the same",
         ("heterogeneity has a negative effect on the cut of Zoltan's tools, ParMETIS benefits "
         "slightly, Geographer's are hardly changed")),
        f"relative cut {_between(rows)}: {listed(found)}",
        [*(Criterion(f"{name} gets worse", found[name].above(1)) for name in ZOLTAN
           if name in found),
         *(Criterion(f"{name} gets better", found[name].below(1)) for name in PARMETIS
           if name in found),
         *(Criterion(f"{name}: within {HARDLY:.0%}", found[name].within(1 - HARDLY, 1 + HARDLY),
                     own=True)
           for name in REFINED if name in found)],
    )  # fmt: skip


def combinatorial_alike(rows: Rows) -> Finding:
    """Figure 4: combinatorial algorithms all give better solutions, of similar quality."""
    others = tools_in(rows, (*REFINED, *PARMETIS))
    tools = tools_in(rows, GEOMETRIC)
    apart = [estimated(rows, one, CUT, other) for one in others for other in others if one != other]
    return finding(
        rows,
        ("VI-B, Figure 4: combinatorial algorithms", "rgg and rdg in 3-D on TOPO2",
         "combinatorial algorithms all give better solutions, of similar quality"),
        "cut " + listed(estimates(rows, (*tools, *others), CUT)),
        [Criterion("each cuts less than each geometric method",
                   all_of(less(rows, one, tools, CUT) for one in others)),
         Criterion(f"within {CLOSE:.0%} of each other",
                   all_of(one.below(1 + CLOSE) for one in apart), own=True)],
    )  # fmt: skip


# Sections I and VI as a whole.


def better_than_parmetis(rows: Rows) -> Finding:
    """Section I: k-means with refinement cuts 10 % less than ParMETIS."""
    found = estimates(rows, REFINED, CUT, "pmGraph")
    return finding(
        rows,
        ("I: beside ParMETIS", "all meshes",
         "k-means with combinatorial refinement has a 10 % better cut than ParMETIS"),
        "cut by pmGraph's: " + listed(found),
        [Criterion(f"{name}: below {BETTER}", one.below(BETTER)) for name, one in found.items()],
        (*REFINED, "pmGraph"),
    )  # fmt: skip


def pays_half_more(rows: Rows) -> Finding:
    """Section I: in most cases 50 % more time, in several cases faster and better."""
    time, need = estimated(rows, "geoRef", "cpu_s", "pmGraph"), ("geoRef", "pmGraph")

    def is_less(cell: CellRows, key: str, times: float = 1.0) -> bool:
        return float(cell["geoRef"][key]) < times * float(cell["pmGraph"][key])

    most = part_of_cells(rows, lambda cell: is_less(cell, "cpu_s", MORE_TIME), need)
    both = part_of_cells(rows, lambda cell: is_less(cell, "cpu_s") and is_less(cell, CUT), need)
    return finding(
        rows,
        ("I: time beside ParMETIS", "all meshes",
         "refinement takes about 50 % longer in most cases; in several it is faster and better"),
        f"CPU seconds of geoRef by pmGraph's {time:.2f}; below {MORE_TIME} in {most:.0%} of the "
        f"cells; faster and better in {both:.0%}",
        [Criterion(f"below {MORE_TIME} in more than half of the cells", most.above(0.5)),
         Criterion(f"faster and better in more than {SEVERAL:.0%}", both.above(SEVERAL), own=True)],
        need,
    )  # fmt: skip


def two_tools_are_good(rows: Rows) -> Finding:
    """Sections I and VII: only ParMETIS and Geographer handle heterogeneous loads well."""
    cuts = means(rows, PAPERS, CUT)
    good = [name for name in cuts if name not in ZOLTAN]
    bad = [name for name in cuts if name in ZOLTAN]
    return finding(
        rows,
        ("I, VII: tools", "all experiments",
         "only ParMETIS and Geographer handle heterogeneous loads with good quality"),
        "cut " + listed(cuts),
        [Criterion(f"{name} cuts more than each of {', '.join(good)}",
                   all_of(estimated(rows, name, CUT, other).above(1) for other in good))
         for name in bad],
    )  # fmt: skip


def all_findings(rows: Rows) -> list[Finding]:
    """Return the findings of Figures 1 to 4, in the paper's order, beside counter-examples."""
    two = of(rows, figure="2")
    huge, alya = of(two, graph=HUGE), of(two, graph=ALYA)
    three, four = of(rows, figure="3"), of(rows, figure="4")
    as_random = "Zoltan's curve in the place of "
    slowest_first = "the speeds of fast devices in reverse order"
    alike = "all tools with the cut of k-means"
    found: list[Finding] = []

    def judged(judge: Judge, rows: Rows, system: str, changed: Rows) -> None:
        if rows:  # nothing can be said of figures without cells
            found.append(against(judge, rows, system, changed))

    if tools_in(two, ("geoHier",)):
        judged(
            hierarchical_near_flat,
            two,
            "the curve in the place of the hierarchy",
            swapped(two, "geoHier", "zSFC"),
        )
        judged(
            hierarchical_maps_near,
            two,
            "flat and hierarchical blocks exchanged",
            swapped(two, "geoHier", BASE),
        )
    judged(heterogeneity_is_not_big, huge, alike, _with_cuts_of_kmeans(huge))
    judged(zoltan_suffers, huge, slowest_first, reversed_speeds(of(huge, topo="topo1")))

    def geometric_mean(rows: Rows, where: str, did: str) -> None:
        texts = (where, did, "among geometric methods balanced k-means is the best in most cases")
        judged(
            lambda own: best_geometric(own, texts),
            rows,
            as_random + "k-means",
            swapped(rows, BASE, "zSFC"),
        )

    def refined(rows: Rows, where: str, did: str) -> None:
        texts = (where, did, "geoRef and geoPMRef have the best cut and volume")
        judged(
            lambda own: refined_are_best(own, texts),
            rows,
            "each refinement with the blocks of RCB or RIB",
            swapped(swapped(rows, "geoRef", "zRCB"), "geoPMRef", "zRIB"),
        )

    geometric_mean(huge, "VI-A, Figure 2(a): k-means", "TOPO1 and TOPO2, three hugeX graphs")
    judged(parmetis_close_to_kmeans, huge, as_random + "ParMETIS", swapped(huge, "pmGraph", "zSFC"))
    refined(huge, "VI-A, Figure 2(a): refinement", "TOPO1 and TOPO2, three hugeX graphs")
    judged(gap_narrows_in_space, two, "graphs of 2-D and 3-D exchanged", _other_graphs(two))
    geometric_mean(alya, "VI-A, Figure 2(b): k-means", "two alya graphs")
    judged(parmetis_in_space, alya, as_random + "ParMETIS", swapped(alya, "pmGraph", "zSFC"))
    judged(refinement_helps_in_space, alya, as_random + "geoRef", swapped(alya, "geoRef", "zSFC"))
    judged(
        geometric_are_fast,
        two,
        "times of k-means and geoRef exchanged",
        swapped(two, BASE, "geoRef"),
    )
    judged(
        own_refinement_is_faster,
        huge,
        "geoRef and geoPMRef exchanged",
        swapped(huge, "geoRef", "geoPMRef"),
    )
    judged(
        lambda own: refinement_slows(
            own,
            (
                "VI-A, Figure 2(b): time of geoRef",
                "two alya graphs",
                "the more heterogeneous the machine, the slower geoRef's refinement",
            ),
        ),
        alya,
        slowest_first,
        reversed_speeds(alya),
    )
    refined(three, "VI-B, Figure 3: refinement", "refinetrace on TOPO2")
    judged(
        times_grow_with_devices,
        three,
        "numbers of devices in reverse order",
        reversed_devices(three),
    )
    judged(
        geometric_are_steadily_worse,
        three,
        "k-means and geoRef exchanged",
        swapped(three, BASE, "geoRef"),
    )
    judged(heterogeneity_on_topo2, three, slowest_first, reversed_speeds(three))
    geometric_mean(four, "VI-B, Figure 4: k-means", "rgg and rdg in 3-D on TOPO2")
    judged(combinatorial_alike, four, as_random + "ParMETIS", swapped(four, "pmGraph", "zSFC"))
    judged(
        lambda own: refinement_slows(
            own,
            (
                "VI-B, Figure 4: time of geoRef",
                "rgg and rdg in 3-D on TOPO2",
                "geoRef suffers from high running times where machines are more heterogeneous",
            ),
        ),
        four,
        slowest_first,
        reversed_speeds(four),
    )
    every = of(rows, figure=("2", "3", "4"))
    judged(
        better_than_parmetis,
        every,
        "ParMETIS and geoRef exchanged",
        swapped(every, "pmGraph", "geoRef"),
    )
    judged(pays_half_more, every, "ParMETIS and RCB exchanged", swapped(every, "pmGraph", "zRCB"))
    judged(two_tools_are_good, every, as_random + "ParMETIS", swapped(every, "pmGraph", "zSFC"))
    return found


def _with_cuts_of_kmeans(rows: Rows) -> list[Row]:
    """Return the rows with the cut of k-means for all."""
    return [{**row, CUT: cell[BASE][CUT]} for cell in by_cell(rows) if BASE in cell
            for row in cell.values()]  # fmt: skip


def _other_graphs(rows: Rows) -> list[Row]:
    """Return the rows with the first of hugeX and of alya exchanged, others left out."""
    names = {HUGE[0]: ALYA[0], ALYA[0]: HUGE[0]}
    return [{**row, "graph": names[str(row["graph"])]} for row in rows if row["graph"] in names]
