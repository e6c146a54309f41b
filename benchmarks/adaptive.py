"""Twenty loads chosen adaptively, against grids of 20 and 100: what sizes made from them lose.

    python benchmarks/adaptive.py [--seeds 5] [--table] [-o FILE]

The emulated devices of evener.platforms.models.examples, up to eight of a set, whose speeds are
known exactly; a sample is the mean of five times with 1 % of noise. For five total loads from 3
times the smallest to 0.8 of the largest that is drawn, sizes come from piecewise models of the
samples; their true makespan by that of the true curves' sizes is the loss. "adaptive, n" knows the
total, "adaptive" does not. A JSON line a set and way: `loss` (mean, median, worst), `time_error`
(mean relative error of predicted times over all loads), `points` (most of a device), `cpu_s`.
"""

import statistics
import time
from itertools import chain
from pathlib import Path

import numpy as np
from records import answer, markdown, parser

from evener.measuring.adaptive import AdaptivePlan, ProvisionalSizes
from evener.measuring.campaign import run_campaign
from evener.measuring.journal import Journal
from evener.measuring.loads import GridPlan, geometric_grid
from evener.measuring.outcomes import Gap, Point
from evener.platforms.models.examples import CURVE_SETS, curve_set
from evener.platforms.models.fitting import fit_model
from evener.platforms.models.samples import Sample
from evener.sizing import solve_sizes

RESULTS = Path(__file__).parent / "results" / "adaptive.jsonl"
INSTANCE_SEED = 2026
NOISE, REPETITIONS, STUDENT = 0.01, 5, 2.776
MOST = 20
WAYS = ("grid of 100", "grid of 20", "adaptive", "adaptive, n")


class ModelledDevices:
    """Devices of known speed, timed with noise."""

    def __init__(self, models, seed):
        self.models, self.rng = models, np.random.default_rng(seed)
        self.names = [f"d{i}" for i in range(len(models))]

    def measure(self, loads):
        pairs = zip(self.models, loads, strict=True)
        return [None if load is None else self.point(model, load) for model, load in pairs]

    def point(self, model, load):
        if load > model.capacity:
            return Gap(load, "memory", "out of memory")
        noise = self.rng.lognormal(0.0, NOISE, REPETITIONS)
        times = float(model.time(float(load))) * noise
        half = STUDENT * times.std(ddof=1) / np.sqrt(REPETITIONS)
        return Point(Sample(load, times.mean(), half, REPETITIONS))


def main():
    arguments = parser(__doc__, RESULTS)
    arguments.add_argument("--seeds", type=int, default=5)
    arguments.when_small(seeds=1)
    args = arguments.parse_args()
    answer(args, all_sets, table)


def all_sets(args):
    return chain.from_iterable(one_set(name, args.seeds) for name in CURVE_SETS)


def one_set(name, seeds):
    curves = curve_set(name)
    curves = curves[:: max(len(curves) // 8, 1)][:8]
    models = [curve.model for curve in curves]
    low = max(round(max(curve.low for curve in curves)), 1)
    high = round(min(curve.high for curve in curves))
    totals = [round(t) for t in np.geomspace(3 * len(curves) * low, 0.8 * len(curves) * high, 5)]
    for way in WAYS:
        losses, errors, points, start = [], [], 0, time.process_time()
        for seed in range(INSTANCE_SEED, INSTANCE_SEED + seeds):
            found = None
            for total in totals:
                if found is None or way == "adaptive, n":
                    found = measured(way, models, low, high, total, seed)
                    errors.append(time_error(models, found, low, high))
                    points = max(points, *(len(record.points) for record in found))
                losses.append(loss(models, found, total))
        yield {
            "set": name,
            "devices": len(models),
            "way": way,
            "loss": {
                "mean": round(statistics.mean(losses), 4),
                "median": round(statistics.median(losses), 4),
                "worst": round(max(losses), 4),
            },
            "time_error": round(statistics.mean(errors), 4),
            "points": points,
            "cpu_s": round(time.process_time() - start, 2),
        }


def measured(way, models, low, high, total, seed):
    bench, journal = ModelledDevices(models, seed), Journal(None, {})
    if way.startswith("grid"):
        grid = geometric_grid(low, high, int(way.split()[-1]))
        return run_campaign(bench, [GridPlan(grid) for _ in models], journal)
    plans = [AdaptivePlan(low, high, MOST) for _ in models]
    answer = ProvisionalSizes(plans, low, high, total if way == "adaptive, n" else None)
    return run_campaign(
        bench, plans, journal,
        learn=lambda found: answer.update([r.samples for r in found], [r.capacity for r in found]),
    )  # fmt: skip


def fitted(records):
    return [fit_model(record.samples, "piecewise", record.capacity) for record in records]


def loss(models, records, total):
    sizes = solve_sizes(fitted(records), total).sizes
    spent = max(m.time(float(size)) for m, size in zip(models, sizes, strict=True))
    return spent / solve_sizes(models, total).makespan - 1


def time_error(models, records, low, high):
    errors = []
    for fit, model in zip(fitted(records), models, strict=True):
        loads = np.rint(np.geomspace(low, min(high, fit.capacity), 300))
        errors.append(np.abs(fit.time(loads) / model.time(loads) - 1).mean())
    return float(np.mean(errors))


def table(lines):
    """A row a set and way of choosing loads: what sizes made from the samples lose."""
    rows = [("devices", "loads", "most points", "loss mean", "median", "worst", "error of times")]
    rows += [
        (
            f"{line['set']} ({line['devices']})",
            line["way"],
            line["points"],
            *(f"{line['loss'][key]:.2%}" for key in ("mean", "median", "worst")),
            f"{line['time_error']:.2%}",
        )
        for line in lines
    ]
    return markdown(rows)


if __name__ == "__main__":
    main()
