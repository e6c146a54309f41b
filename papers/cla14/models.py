"""What [Cla14]_ says of models: where one speed suffices (2.1), splines (3.3), shapes (5.2).

Ranges of loads in which two devices' relative speed is nearly constant, and what is common to all
pairs; overshoot of cubic and of Akima's splines on curves with a cliff, and how far an outlier
reaches; speed by the ratio of sides, and the ratios that columns of least half-perimeter have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
from scipy.interpolate import CubicSpline

from evener.arrays import FloatArray
from evener.platforms.models.examples import SpeedCurve, curve_set, jacobi_servers
from evener.platforms.models.fitting import Constant, Piecewise, SpeedModel, fit_model
from evener.platforms.models.samples import Sample
from evener.sizing.tiling.cuts import best_columns
from papers.cla14.surfaces import NodeSurface, surfaces_of_lille
from papers.findings import (
    Criterion,
    Finding,
    Panel,
    PaperResult,
    Plot,
    Row,
    not_tried,
)

Curve = Callable[[FloatArray], FloatArray]

# Figure 2.1: nodes of unlike cores and memories, and nodes with and without GPUs.
MULTI_CORES = ("1GB-2c-0", "4GB-4c-0", "8GB-8c-0", "24GB-8c-0")
WITH_GPUS = ("adonis-0c-gpu", "adonis-7c-gpu", "edel-1c", "genepi-8c")
LOADS = 300  # of a range, geometrically spaced
STEADY = 1.1  # largest relative speed over the least, of a range in which it is nearly constant
SMALL = 0.25  # of all loads, by their logarithm, that we call a quite small range

# Figure 3.3: samples of each curve, and the places in which it is looked at.
SAMPLES, DENSE, OUTLIER = 12, 4000, 0.5
REACHED = 0.01  # of the outlier, that a curve moves by where it is reached

# Figure 5.2: machines, whose speeds are dealt from so many configurations; sides within 1 to 2.
MACHINES, CONFIGURATIONS, RATIO = tuple(range(10, 1001, 15)), 20, 2.0
USUAL, FLAT = 0.9, 0.05  # part of all rectangles; change of speed; ours
AREA, RATIOS = 160000.0, (1, 2, 4, 8, 16, 32, 64, 128, 256)  # blocks; sides


def models() -> PaperResult:
    """Figures 2.1, 3.3 and 5.2; GADGET-2."""
    groups = {"multi-cores": _models("grenoble", MULTI_CORES),
              "with GPUs": _models("hybrid", WITH_GPUS)}  # fmt: skip
    constant = {name: [Constant(float(i + 1)) for i in range(len(own))]
                for i, (name, own) in enumerate(groups.items())}  # fmt: skip
    rows = {name: ranges(own) for name, own in groups.items()}
    flat = {name: ranges(own) for name, own in constant.items()}
    curved = [spline_row(curve.name, curve.model) for curve in _cliffs()]
    straight = [spline_row("straight", Piecewise(np.array([1.0, 100.0]), np.array([50.0, 10.0])))]
    nodes = surfaces_of_lille()
    ratios, columns = ratios_of_columns(best_columns), ratios_of_columns(_one_column)
    x, lines = _frequencies(ratios)
    panel = Panel("FPM-BR for 10 to 1,000 machines", "height, % of width", "rectangles", x, lines)
    findings = [
        applicable(rows).beside_counter("constant speeds", applicable(flat)),
        splines(curved).beside_counter("a straight line", splines(straight)),
        shapes(nodes, ratios).beside_counter("a single column", shapes(nodes, columns)),
        _gadget(),
    ]
    tables: dict[str, Sequence[Row]] = {
        "ranges": [{"nodes": name, **own} for name, own in rows.items()],
        "splines": curved,
    }
    return PaperResult(findings, [Plot("figure-5.2c-ratios", [panel])], tables)


def _models(name: str, wanted: Sequence[str]) -> list[SpeedModel]:
    known = {curve.name: curve.model for curve in curve_set(name)}
    return [known[one] for one in wanted]


def _cliffs() -> list[SpeedCurve]:
    return [*jacobi_servers("cluster2", 11000)[:2], *curve_set("lille")[:2]]


def ranges(devices: Sequence[SpeedModel]) -> Row:
    """Parts of all loads in which pairs have a steady relative speed: least, most, and common."""
    pieces = [model for model in devices if isinstance(model, Piecewise)]
    low, high = (1.0, 1e6) if not pieces else (
        max(float(one.loads[0]) for one in pieces), min(float(one.loads[-1]) for one in pieces)
    )  # fmt: skip
    loads = np.geomspace(low, high, LOADS)
    speeds = [np.asarray(model.speed(loads), np.float64) for model in devices]
    found = [_steady(one / other) for one, other in combinations(speeds, 2)]
    common = min(end for _, end in found) - max(start for start, _ in found)
    parts = [(end - start) / LOADS for start, end in found]
    return {"least": min(parts), "most": max(parts), "common": max(common, 0) / LOADS}


def _steady(ratio: FloatArray) -> tuple[int, int]:
    """Return the longest range of indices, end exclusive, in which a ratio varies by STEADY."""
    best, start = (0, 0), 0
    for end in range(1, ratio.size + 1):
        while ratio[start:end].max() > STEADY * ratio[start:end].min():
            start += 1
        if end - start > best[1] - best[0]:
            best = start, end
    return best


def applicable(rows: dict[str, Row]) -> Finding:
    """Figure 2.1: where one speed a device suffices."""
    cores, gpus = (rows[name] for name in ("multi-cores", "with GPUs"))
    seen = "; ".join(
        f"{name}: {float(row['least']):.0%} to {float(row['most']):.0%} of all loads for pairs, "
        f"{float(row['common']):.0%} for all"
        for name, row in rows.items()
    )
    common = [float(row["common"]) for row in (cores, gpus)]
    return Finding(
        "2.3, figure 2.1",
        "GEMM on multi-core nodes, and on nodes with and without GPUs: ranges of sizes in which "
        "relative speeds are nearly constant",
        "the range where one speed a device suffices is that common to all pairs: small, or even "
        "empty, if a few devices differ much",
        f"four nodes of Grenoble with unlike cores and memories, four with and without GPUs, "
        f"emulated; relative speed within {STEADY - 1:.0%}; parts of the loads' logarithm",
        seen,
        [
            Criterion("less for all than for any pair",
                      all(float(row["common"]) < float(row["least"]) for row in rows.values())),
            Criterion(f"under {SMALL:.0%} of all loads", max(common) < SMALL, own=True),
        ],
    )  # fmt: skip


def spline_row(name: str, model: SpeedModel) -> Row:
    """Overshoot of both splines through samples of a model, and how far an outlier reaches."""
    high = float(model.loads[-1]) if isinstance(model, Piecewise) else 100.0
    loads = np.linspace(high / SAMPLES, high, SAMPLES)
    speeds = np.asarray(model.speed(loads), np.float64)
    bent = speeds.copy()
    bent[SAMPLES // 3] *= OUTLIER
    dense = np.linspace(loads[0], loads[-1], DENSE)
    row: dict[str, float | int | str] = {"curve": name}
    for kind, fitted in (("cubic", _cubic), ("akima", _akima)):
        own = fitted(loads, speeds)(dense)
        row[f"{kind}_overshoot"] = _overshoot(loads, speeds, dense, own)
        moved = np.abs(fitted(loads, bent)(dense) - own)
        row[f"{kind}_reach"] = float((moved > REACHED * moved.max()).mean())
        row[f"{kind}_least"] = float(own.min() / speeds.max())
    return row


def _cubic(loads: FloatArray, speeds: FloatArray) -> Curve:
    spline = CubicSpline(loads, speeds)
    return lambda x: np.asarray(spline(x), np.float64)


def _akima(loads: FloatArray, speeds: FloatArray) -> Curve:
    pairs = zip(loads.tolist(), speeds.tolist(), strict=True)
    model = fit_model([Sample(load, load / speed) for load, speed in pairs], "akima")
    return lambda x: np.asarray(model.speed(x), np.float64)


def _overshoot(loads: FloatArray, speeds: FloatArray, dense: FloatArray, own: FloatArray) -> float:
    """How far a curve leaves the speeds of the samples on either side, of the range of speeds."""
    after = np.clip(np.searchsorted(loads, dense, side="right"), 1, loads.size - 1)
    low, high = (f(speeds[after - 1], speeds[after]) for f in (np.minimum, np.maximum))
    beyond = np.maximum(np.maximum(low - own, own - high), 0.0)
    return float(beyond.max() / np.ptp(speeds))


def splines(rows: Sequence[Row]) -> Finding:
    """Figure 3.3: cubic splines beside Akima's."""
    beyond = [(float(row["cubic_overshoot"]), float(row["akima_overshoot"])) for row in rows]
    listed = "; ".join(f"{row['curve']} {cubic:.2f} and {akima:.2f}"
                       for row, (cubic, akima) in zip(rows, beyond, strict=True))  # fmt: skip
    reach = [(float(row["cubic_reach"]), float(row["akima_reach"])) for row in rows]
    return Finding(
        "3.2.2, figure 3.3",
        "cubic and Akima splines through measured speeds",
        "cubic splines overshoot and oscillate; Akima's overshoot very little, and are stable to "
        "outliers",
        f"both through {SAMPLES} samples of curves with a cliff, emulated; then one sample at half "
        "its speed",
        f"overshoot of the range of speeds: {listed}; the outlier moves "
        f"{min(c for c, _ in reach):.0%} of a cubic curve at least, {max(a for _, a in reach):.0%} "
        "of Akima's at most",
        [
            Criterion("Akima overshoots less on every curve",
                      all(akima < cubic for cubic, akima in beyond)),
            Criterion("an outlier reaches less far on every curve", all(a < c for c, a in reach)),
        ],
    )  # fmt: skip


def ratios_of_columns(
    columns_of: Callable[[FloatArray, tuple[float, float]], Sequence[np.typing.NDArray[np.int64]]],
) -> FloatArray:
    """Return height / width of all rectangles of squares divided over MACHINES, by their areas.

    columns_of: areas and shape to the columns of a unit square.
    """
    speeds = np.geomspace(1.0, 10.0, CONFIGURATIONS)
    found = []
    for p in MACHINES:
        areas = speeds[np.arange(p) % CONFIGURATIONS]
        areas = areas / areas.sum()
        for column in columns_of(areas, (1.0, 1.0)):
            width = areas[column].sum()
            found.append(areas[column] / width**2)
    return np.concatenate(found)


def _one_column(areas: FloatArray, _: tuple[float, float]) -> list[np.typing.NDArray[np.int64]]:
    return [np.arange(areas.size)]


def _frequencies(ratios: FloatArray) -> tuple[list[float], dict[str, list[float]]]:
    edges = np.linspace(50.0, 200.0, 31)  # %
    counts = np.histogram(100 * ratios, edges)[0]
    return ((edges[1:] + edges[:-1]) / 2).tolist(), {"rectangles": counts.astype(float).tolist()}


def shapes(nodes: Sequence[NodeSurface], ratios: FloatArray) -> Finding:
    """Figure 5.2: speed by the ratio of sides, and which ratios there are."""
    near = float(((ratios >= 1 / RATIO) & (ratios <= RATIO)).mean())
    flat, far = 0.0, 0.0
    for node in nodes:
        seconds = {ratio: node.time((AREA * ratio) ** 0.5, (AREA / ratio) ** 0.5)
                   for r in RATIOS for ratio in (float(r), 1 / r)}  # fmt: skip
        change = {ratio: abs(own / seconds[1.0] - 1) for ratio, own in seconds.items()}
        flat = max(flat, change[RATIO], change[1 / RATIO])
        far = max(far, *change.values())
    return Finding(
        "5.1.4, figure 5.2",
        "speed by the ratio of a rectangle's sides; ratios of FPM-BR's rectangles for 1 to 1,000 "
        "machines of 20 configurations",
        "speed is not constant with area in general, but nearly so where sides are about equal; "
        "columns of least half-perimeter make rectangles as square as possible",
        f"the nodes of Lille, surfaces emulated; columns for {len(MACHINES)} numbers of machines "
        f"up to {MACHINES[-1]:,} of {CONFIGURATIONS} speeds from 1 to 10",
        f"{near:.1%} of the rectangles have sides within 1 : {RATIO:g}, where speed changes by up "
        f"to {flat:.1%}; by up to {far:.0%} at 1 : {RATIOS[-1]}",
        [
            Criterion(f"{USUAL:.0%} of the rectangles within 1 : {RATIO:g}", near >= USUAL,
                      own=True),
            Criterion(f"speed within {FLAT:.0%} there", flat <= FLAT, own=True),
            Criterion("more than that beyond", far > FLAT, own=True),
        ],
        "by construction: speed by shape is that of our surfaces",
    )  # fmt: skip


def _gadget() -> Finding:
    return not_tried(
        "3.1.5, GADGET-2",
        "models of a simulation of 16,000 lines from traces of Extrae, a point of each a run",
        "where no kernel can be taken out, traces of a few runs give the models",
        "the statement is about a program and a tracer on a cluster, neither of which is emulated "
        "by a speed curve; `evener run` gives samples of the programs that it runs itself",
    )
