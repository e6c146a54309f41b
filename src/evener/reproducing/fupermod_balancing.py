"""The thesis's balancers ([Cla14]_, 2.3.1 and 4.3), on emulated clusters with a memory cliff.

The traditional one gives each device the speed it showed last (CPM); the dynamic partitioning
algorithm refines partial models (DPA, with GPA). Beside them our own Balancer, under noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.generating.speed_curves import curve_set
from evener.models import SpeedModel
from evener.rebalancing.balancer import Balancer
from evener.rebalancing.constant import ConstantBalancer
from evener.reproducing.findings import Finding, Panel, Plot, Result
from evener.running.emulation import EmulatedMachine
from evener.sizing import Dynamic

EPSILON = 0.05  # times within it are even
STEPS = 15  # iterations shown
LONG = 60  # iterations after which a balancer that has not converged never will
NOISE = 0.02
SMALL, LARGE = 8000, 11000  # unknowns: an even share fits into every memory, and does not
SPEEDUP_SIZES = tuple(range(4000, 14001, 1000))

Observe = Callable[[FloatArray], npt.NDArray[np.int64] | None]
Start = Callable[[int, int], Observe]


def even_sizes(n: int, k: int) -> npt.NDArray[np.int64]:
    """Return n in k whole parts as equal as can be."""
    return n // k + (np.arange(k) < n % k).astype(np.int64)


def traditional(n: int, k: int) -> Observe:
    """Return the traditional balancer."""
    return ConstantBalancer(even_sizes(n, k), EPSILON).observe


def dynamic(n: int, k: int) -> Observe:
    """Return DPA, which when done keeps the best sizes it has seen."""
    search = Dynamic(n, k, EPSILON, "gpa", low=1)

    def observe(seconds: FloatArray) -> npt.NDArray[np.int64] | None:
        if search.outcome:
            return None
        found = search.observe(seconds)
        return np.asarray(search.best.sizes if found is None else found, np.int64)

    return observe


def ours(n: int, k: int) -> Observe:
    """Return our Balancer, without models."""
    return Balancer((), even_sizes(n, k), tolerance=EPSILON).observe


def played(
    models: Sequence[SpeedModel], n: int, start: Start, steps: int, noise: float = 0.0
) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """(steps, k) seconds and sizes of a program's first iterations, balanced as it runs."""
    machine, observe = EmulatedMachine(models, noise=noise), start(n, len(models))
    sizes = even_sizes(n, len(models))
    seconds, history = [], []
    for _ in range(steps):
        seconds.append(machine.run(sizes))
        history.append(sizes)
        following = observe(seconds[-1])
        sizes = sizes if following is None else following
    return np.array(seconds), np.array(history)


def converged_after(seconds: FloatArray, sizes: npt.NDArray[np.int64]) -> int | None:
    """The iteration, from 1, from which on sizes stay as they are; None if they never do."""
    moving = np.flatnonzero((np.diff(sizes, axis=0) != 0).any(axis=1))
    if not moving.size:
        return 1
    return None if moving[-1] >= len(seconds) - 3 else int(moving[-1]) + 2


def balancing() -> Result:
    """Figures 2.4 to 2.7 and 4.3: seconds of each server, iteration by iteration."""
    findings, rows = [], []
    panels: dict[str, list[Panel]] = {"cpm": [], "dpa": []}
    for cluster in ("cluster1", "cluster2"):
        models = [curve.model for curve in curve_set(cluster)]
        names = [curve.name for curve in curve_set(cluster)]
        for n in (SMALL, LARGE):
            row: dict[str, float | int | str] = {"cluster": cluster, "unknowns": n}
            for key, start, noise in (
                ("cpm", traditional, 0.0),
                ("dpa", dynamic, 0.0),
                ("ours", ours, NOISE),
            ):
                seconds, sizes = played(models, n, start, LONG, noise)
                after = converged_after(seconds, sizes)
                row[f"{key}_iterations"] = "never" if after is None else after
                row[f"{key}_slowest_s"] = round(float(seconds[-2:].max()), 4)
                row[f"{key}_moved_rows"] = int(np.maximum(np.diff(sizes, axis=0), 0).sum())
                if key in panels:
                    panels[key].append(_panel(f"{cluster}, {n:,} unknowns", names, seconds))
            rows.append(row)
            findings.append(_finding(row, n))
    plots = [
        Plot("figure-2.4-traditional", panels["cpm"]),
        Plot("figure-2.6-dynamic", panels["dpa"]),
    ]
    return Result([*findings, _noisy(rows)], plots, {"balancers": rows})


def speedup(sizes: Sequence[int] = SPEEDUP_SIZES) -> Result:
    """Figure 4.4: speed-up over even sizes of a run of LONG iterations, by unknowns."""
    models = [curve.model for curve in curve_set("cluster2")]
    lines: dict[str, list[float]] = {"CPM": [], "DPA": [], "ours, with noise": []}
    for n in sizes:
        even = LONG * EmulatedMachine(models).run(even_sizes(n, len(models))).max()
        for label, start, noise in zip(lines, (traditional, dynamic, ours), (0, 0, NOISE),
                                       strict=True):  # fmt: skip
            seconds, _ = played(models, n, start, LONG, noise)
            lines[label].append(float(even / seconds.max(axis=1).sum()))
    cpm, dpa, small = np.array(lines["CPM"]), np.array(lines["DPA"]), np.array(sizes) <= SMALL
    finding = Finding(
        "figure 4.4",
        "both speed up small problems alike; beyond memory CPM is worse than even sizes, FPM gains",
        f"up to {SMALL:,}: {cpm[small].min():.2f} and {dpa[small].min():.2f} at least; beyond: "
        f"CPM down to {cpm.min():.2f}, DPA up to {dpa.max():.1f}",
        bool(cpm.min() < 1 < dpa.min() and dpa.max() > 2),
    )
    panel = Panel("Jacobi on cluster 2: speed-up over even sizes", "unknowns",
                  f"speed-up, {LONG} iterations", sizes, lines, log_y=True)  # fmt: skip
    return Result([finding], [Plot("figure-4.4-speedup", [panel])])


def _panel(title: str, names: Sequence[str], seconds: FloatArray) -> Panel:
    shown = seconds[:STEPS]
    lines = {name: shown[:, i].tolist() for i, name in enumerate(names)}
    x = list(range(1, len(shown) + 1))
    wide = bool(shown.max() > 10 * shown.min())
    return Panel(title, "iteration", "seconds", x, lines, log_y=wide)


def _finding(row: dict[str, float | int | str], n: int) -> Finding:
    cluster, cpm, dpa = row["cluster"], row["cpm_iterations"], row["dpa_iterations"]
    said = f"CPM: {cpm}; DPA: {dpa} iterations"
    if n == SMALL:
        return Finding("figure 2.4 (a, c)", f"{cluster}, {n:,}: both balance at once", said,
                       cpm != "never" and dpa != "never")  # fmt: skip
    moved = row["cpm_moved_rows"]
    return Finding(
        "figures 2.4 (b, d) to 2.7, 4.3",
        f"{cluster}, {n:,}: CPM goes to and fro for ever; FPM balances within 7 to 9 iterations",
        f"{said}; CPM moves {moved:,} rows in {LONG} iterations and ends at "
        f"{row['cpm_slowest_s']:.3g} s, DPA at {row['dpa_slowest_s']:.3g} s",
        cpm == "never" and isinstance(dpa, int) and dpa <= 20,
    )


def _noisy(rows: Sequence[dict[str, float | int | str]]) -> Finding:
    worst = max(float(row["ours_slowest_s"]) / float(row["dpa_slowest_s"]) for row in rows)
    steps = ", ".join(str(row["ours_iterations"]) for row in rows)
    return Finding(
        "beside the thesis",
        "(our Balancer, times with 2 % noise, which the thesis does not treat)",
        f"sizes settle after {steps} iterations, slowest server at most {worst:.2f} of DPA's",
        worst < 1.15 and all(row["ours_iterations"] != "never" for row in rows),
    )
