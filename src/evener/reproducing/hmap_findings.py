"""The statements of section IV-C of [Muralidharan13]_ beside what we see, by rows of cells.

"In A", "in B": in the two settings of hmap_setup.py, each a reading of the paper. Gains are METIS's
periods over HMAP's: of the arithmetic means, as the paper's figures, with geometric means beside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from evener.reproducing.findings import Criterion, Finding, Row, not_tried
from evener.reproducing.hmap_bars import WIDTH, Gain, MeanBar, chosen, gain
from evener.reproducing.hmap_setup import CLASSES, SETTINGS, Sampling

Rows = Sequence[Row]

AVERAGE, LARGEST, SMALLEST = 1.5, 3.0, 1.2  # the paper's speed-ups: METIS is ahead in the last
SECONDS, MORE_SECONDS = 74.0, 50.0  # of HMAP at 4,096, and how many more than METIS
WITHIN = 100.0  # "within seconds": two digits
CELLS = 55_125
METIS, HMAP = "metis", "hmap"
_NAMES = {"metis": "METIS k-way", "metis-recursive": "METIS recursive", "hmap": "HMAP"}


def _machines(rows: Rows) -> list[int]:
    return sorted({int(row["k"]) for row in rows})


def _gains(rows: Rows, setting: str, paper_class: str = "f") -> dict[int, Gain]:
    """Return METIS / HMAP by processors of the machine."""
    by_size = {k: chosen(rows, setting, k, paper_class) for k in _machines(rows)}
    return {k: gain(own) for k, own in by_size.items() if own}


def _listed(found: dict[int, Gain]) -> str:
    return ", ".join(f"{k:,} {one.of_means:.2f} ({one.geometric:.2f})" for k, one in found.items())


def _in_settings(say: Callable[[str], str]) -> str:
    return "; ".join(f"{setting}: {say(setting)}" for setting in SETTINGS)


def _lacking(rows: Rows) -> str:
    drawn = {(row["k"], row["round"], row["seed"]) for row in rows}
    return f"a sample of {len(drawn):,} of {CELLS:,} cells; settings A and B are our readings"


def _finding(
    rows: Rows, texts: tuple[str, str, str], seen: str, criteria: Iterable[Criterion]
) -> Finding:
    """Return a finding of the sampled cells. texts: where, what the paper did, what it says."""
    where, did, says = texts
    tried = "METIS k-way and HMAP by METIS, the same targets; METIS / HMAP of arithmetic means "
    return Finding(where, did, says, tried + "(geometric)", seen, list(criteria), _lacking(rows))


def faster_on_average(rows: Rows) -> Finding:
    """Figure 3(f): 1.5 times on machines of more than 64 processors."""
    beyond = {s: {k: g for k, g in _gains(rows, s).items() if k > 64} for s in SETTINGS}
    means = {s: _mean([g.of_means for g in found.values()]) for s, found in beyond.items()}
    return _finding(
        rows,
        ("Figure 3(f): on average", "7,875 graphs on machines of 64 to 4,096 processors",
         "HMAP's period is shorter on all machines beyond 64, by more than 1.5 times on average"),
        _in_settings(lambda s: f"{means[s]:.2f} on average; {_listed(beyond[s])}"),
        [
            criterion
            for s in SETTINGS
            for criterion in (
                Criterion(f"{AVERAGE} on average beyond 64 processors, in {s}",
                          means[s] > AVERAGE),
                Criterion(f"above 1 on each machine beyond 64 processors, in {s}",
                          bool(beyond[s]) and all(g.of_means > 1 for g in beyond[s].values())),
            )
        ],
    )  # fmt: skip


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def faster_on_the_largest(rows: Rows) -> Finding:
    """Figure 3(f): 3 times at 4,096."""
    k = _machines(rows)[-1]
    found = {s: gain(chosen(rows, s, k)) for s in SETTINGS}
    return _finding(
        rows,
        ("Figure 3(f): 4,096 processors", "the same", "HMAP's period is 3 times shorter"),
        _in_settings(lambda s: f"{k:,} processors {found[s]}"),
        [Criterion(f"{LARGEST:g} times or more, in {s}", found[s].of_means >= LARGEST)
         for s in SETTINGS],
    )  # fmt: skip


def slower_on_the_smallest(rows: Rows) -> Finding:
    """Figure 3(f): METIS is 1.2 times better at 64."""
    k = _machines(rows)[0]
    found = {s: gain(chosen(rows, s, k)) for s in SETTINGS}
    return _finding(
        rows,
        ("Figure 3(f): 64 processors", "the same", "METIS's period is 1.2 times shorter"),
        _in_settings(lambda s: f"{k:,} processors {found[s]}"),
        [
            criterion
            for s in SETTINGS
            for criterion in (
                Criterion(f"METIS's is shorter, in {s}", found[s].of_means < 1),
                Criterion(f"by {SMALLEST} or more, in {s}", found[s].of_means <= 1 / SMALLEST),
            )
        ],
    )  # fmt: skip


def ahead_by_class(rows: Rows) -> Finding:
    """Figures 3(a) to (e): METIS is ahead on small machines only, in each class."""
    found = {(s, c): _gains(rows, s, c) for s in SETTINGS for c in CLASSES if c != "f"}
    behind = {
        key: [f"{k:,}" for k, g in gains.items() if k > 64 and g.of_means <= 1]
        for key, gains in found.items()
    }
    return _finding(
        rows,
        ("Figures 3(a) to (e): classes", "the same by class of graphs",
         "in each class METIS is ahead on small machines only, HMAP on all others"),
        _in_settings(lambda s: ", ".join(
            f"({c}) METIS ahead beyond 64 on {' and '.join(names) or 'none'}"
            for (setting, c), names in behind.items() if setting == s)),
        [Criterion(f"({c}): HMAP ahead on each machine beyond 64, in {s}", not names)
         for (s, c), names in behind.items()],
    )  # fmt: skip


def larger_where_bytes_are_dear(rows: Rows) -> Finding:
    """Figure 3(e): communication-intensive graphs on larger machines."""
    large = [k for k in _machines(rows) if k > 64]
    some = [row for row in rows if row["k"] in large]
    gains = {(s, c): gain(chosen(some, s, None, c)) for s in SETTINGS for c in ("e", "f")}
    return _finding(
        rows,
        ("Figure 3(e): dear communication", "graphs of high CCR",
         "significantly better on larger machines: heavy edges get links of high bandwidth"),
        _in_settings(lambda s: f"beyond 64 processors (e) {gains[s, 'e']}, (f) {gains[s, 'f']}"),
        [
            criterion
            for s in SETTINGS
            for criterion in (
                Criterion(f"above 1 in (e), in {s}", gains[s, "e"].geometric > 1),
                Criterion(f"larger in (e) than in (f), geometric, in {s}",
                          gains[s, "e"].geometric > gains[s, "f"].geometric, own=True),
            )
        ],
    )  # fmt: skip


def worse_where_halves_are_unequal(rows: Rows, seconds: Rows) -> Finding:
    """The end of IV-C: meshes twice as wide as high. seconds: with the unequal clusters of each."""
    wide = [k for k in _machines(rows) if k > 64 and round(k**0.5) ** 2 != k]
    square = [k for k in _machines(rows) if k > 64 and round(k**0.5) ** 2 == k]
    found = {
        (s, name): gain([row for k in some for row in chosen(rows, s, k)])
        for s in SETTINGS for name, some in (("2:1", wide), ("square", square))
    }  # fmt: skip
    counts = ", ".join(f"{int(row['k']):,}: {row['unequal']}" for row in seconds)
    return _finding(
        rows,
        ("IV-C: clusters of unequal numbers", "2,048 processors, a mesh of 64 x 32",
         "HMAP does less well where clusters have unequal numbers of processors, as here"),
        _in_settings(lambda s: f"2:1 {found[s, '2:1']}, square {found[s, 'square']}")
        + f"; clusters whose halves are unequal, by processors: {counts}: on square meshes as well",
        [Criterion(f"smaller gain on meshes 2:1 than on square ones, geometric, in {s}",
                   found[s, "2:1"].geometric < found[s, "square"].geometric, own=True)
         for s in SETTINGS],
    )  # fmt: skip


def filters_where_they_run_best(rows: Rows) -> Finding:
    """The conclusion: which filters land on GPUs. Only in A do processors differ in kind."""
    own = chosen(rows, "A")
    shares = {
        (kind, name): _mean([float(row[key]) for row in own if (key := f"{kind}_{name}") in row])
        for kind in ("wide", "narrow") for name in ("metis", "hmap", "ours")
    }  # fmt: skip
    seen = "; ".join(
        f"{_NAMES.get(name, name)}: {shares['wide', name]:.0f} % of the vector filters, "
        f"{shares['narrow', name]:.0f} % of the scalar ones"
        for name in ("metis", "hmap", "ours")
    )
    return _finding(
        rows,
        ("VI: kinds of filters", "nothing of its own: a conclusion",
         "CPUs get the task parallel, compute intensive filters, GPUs the data parallel ones"),
        f"on GPUs, which are half of the processors on average, in A: {seen}",
        [
            Criterion("most vector filters of HMAP are on GPUs", shares["wide", HMAP] > 50,
                      own=True),
            Criterion("most scalar filters of HMAP are on CPUs", shares["narrow", HMAP] < 50,
                      own=True),
            Criterion("more vector filters than scalar ones on GPUs by HMAP",
                      shares["wide", HMAP] > shares["narrow", HMAP], own=True),
        ],
    )  # fmt: skip


def within_seconds(seconds: Rows) -> Finding:
    """IV-C: seconds of partitioning at 4,096 processors."""
    listed = ", ".join(f"{int(row['k']):,} processors {float(row['hmap_s']):.1f} s (METIS "
                       f"{float(row['metis_s']):.1f} s)" for row in seconds)  # fmt: skip
    last = seconds[-1]
    slower = float(last["hmap_s"]) / max(float(last["metis_s"]), 0.01)
    return Finding(
        "IV-C: seconds", "a Xeon E5620 of 2.4 GHz",
        "74 s on average at 4,096 processors, 50 s more than METIS; hundreds of processors within "
        "seconds",
        "CPU seconds of one graph on each machine, routes excluded, with the processes of METIS",
        listed,
        [
            Criterion(f"no more than {SECONDS:g} s at {int(last['k']):,} processors",
                      float(last["hmap_s"]) <= SECONDS),
            Criterion(f"{SECONDS / (SECONDS - MORE_SECONDS):.1f} times METIS's or more, as there",
                      slower >= SECONDS / (SECONDS - MORE_SECONDS), own=True),
        ],
        "another computer; routes, by Floyd and Warshall there, are not counted here",
    )  # fmt: skip


def beside_ours(rows: Rows) -> Finding:
    """Ours: direct search on the period."""
    gains = {(s, name): gain(chosen(rows, s), name, "ours")
             for s in SETTINGS for name in ("metis", "metis-recursive", "hmap")}  # fmt: skip
    worse = sum(
        float(row["ours"]) > (1 + 1e-9) * min(float(row[name]) for name in _NAMES if name in row)
        for row in rows
    )
    return Finding(
        "our search beside them", "nothing: it is ours",
        "direct search on the period is shorter than all of them, on every cell",
        "the same cells; the period of each over ours",
        _in_settings(lambda s: ", ".join(
            f"{_NAMES[name]} {one}" for (setting, name), one in gains.items() if setting == s)),
        [
            *(Criterion(f"HMAP's periods are longer, geometric, in {s}",
                        gains[s, "hmap"].low > 1, own=True) for s in SETTINGS),
            Criterion("no cell where one of them is shorter", worse == 0, own=True),
        ],
        beside=True,
    )  # fmt: skip


def with_fewer_filters(rows: Rows) -> Finding:
    """Cells that METIS makes no blocks of, apart from all other figures."""
    found = {s: gain([row for row in rows if row["setting"] == s], "hmap", "ours")
             for s in SETTINGS}  # fmt: skip
    return Finding(
        "fewer filters than processors", "counted, without a word",
        "nothing of their own",
        f"{len(rows)} cells apart: METIS leaves no block empty, and refuses them",
        _in_settings(lambda s: f"HMAP / ours {found[s]}"),
    )  # fmt: skip


def real_graphs(rows: Rows, absent: str) -> Finding:
    """Real applications, which the paper left for later. absent: why there are none."""
    where, did = "real graphs", "nothing: left for future research"
    if not rows:
        return not_tried(where, did, "nothing", absent)
    graphs = {str(row["graph"]) for row in rows}
    both = {(s, name): gain([row for row in rows if row["setting"] == s], name, "ours")
            for s in SETTINGS for name in ("metis", "hmap")}  # fmt: skip
    metis = {s: gain([row for row in rows if row["setting"] == s]) for s in SETTINGS}
    return Finding(
        where, did, "HMAP's periods are shorter than METIS's, ours than both",
        f"{len(graphs)} stream programs and workflows on machines of "
        f"{', '.join(f'{k:,}' for k in _machines(rows))} processors",
        _in_settings(lambda s: f"METIS / HMAP {metis[s]}; METIS / ours {both[s, 'metis']}; "
                               f"HMAP / ours {both[s, 'hmap']}"),
        [
            *(Criterion(f"METIS / HMAP above 1, geometric, in {s}", metis[s].geometric > 1,
                        own=True) for s in SETTINGS),
            *(Criterion(f"HMAP / ours above 1, geometric, in {s}",
                        both[s, "hmap"].geometric > 1, own=True) for s in SETTINGS),
        ],
        beside=True,
    )  # fmt: skip


def narrow_intervals(found: Sequence[MeanBar], limit: float, sampling: Sampling) -> Finding:
    """IV-B1: trials until the interval is narrow. found: all bars of single machines."""
    finite = [bar for bar in found if np.isfinite(bar.width)]
    narrow = sum(bar.width < limit for bar in finite)
    most = {k: sampling.rounds_on(k) * sampling.cells for k in sampling.machines}
    cap = " or ".join(f"{count}" for count in sorted(set(most.values())))
    own = [_achieved(finite, k) for k in sorted({bar.k for bar in finite})]
    return Finding(
        "IV-B1: intervals", "trials until the 95 % interval of the mean is under 10 % of it",
        "all means are that precise; over 100,000 experiments, which are two trials of a cell",
        f"cells drawn until all bars of a machine are; {cap} on a machine at most in each setting",
        f"{narrow} of {len(found)} bars; the median interval is "
        f"{100 * _median([bar.width for bar in finite]):.0f} % of the mean, of "
        f"{min(bar.cells for bar in found)} to {max(bar.cells for bar in found)} cells; "
        f"narrowest, median and widest by machine: {'; '.join(own)}",
        [Criterion("all bars under 10 %", narrow == len(found))],
        "fewer trials",
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
