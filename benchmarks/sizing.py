"""Sizes by speed curves on random machines: feasible, optimal, and what each method loses.

    python benchmarks/sizing.py [--machines 10000] [--seed 2026] [--table] [-o FILE]

Families: "shaped" keeps GPA's rule; "noisy" is the same, each sample off by 15 %; "cliff" falls by
2 to 25 where the load leaves a cache or the memory; "plateau" takes the same time for any load up
to one (a GPU); "wild" has any speeds at all; "mixed" has devices of all kinds, limits and fixed
costs. 2 to 8 devices, up to 150 units, up to 12 samples, four in ten capped. Every answer is
checked for feasibility, the exact one against all loads tried, GPA's the same way on the curves as
its rule leaves them. A JSON line a family: `machines`, `infeasible`, `feasible_answers`,
`exact_is_best`, `gpa_is_best` (under its rule), `npa_fell_back`, and the `loss` of each method, its
makespan by the least: mean, median, nine tenths, 99 hundredths, largest.

Then a line for each `case` of speed: `cpu_s` of one call, the least of three.
"""

import time
from pathlib import Path

import numpy as np
from records import answer, markdown, parser

from evener.errors import InfeasibleError
from evener.platforms.models.akima import Akima
from evener.platforms.models.fitting import Constant
from evener.platforms.models.piecewise import Piecewise
from evener.sizing.least_time import in_shape
from evener.sizing.solving import solve_sizes

RESULTS = Path(__file__).parent / "results" / "sizing.jsonl"
INSTANCE_SEED = 2026
FAMILIES = ("shaped", "noisy", "cliff", "plateau", "wild", "mixed")
METHODS = ("constant", "gpa", "npa", "exact")


def main():
    arguments = parser(__doc__, RESULTS)
    arguments.add_argument("--machines", type=int, default=10_000)
    arguments.add_argument("--seed", type=int, default=INSTANCE_SEED)
    arguments.when_small(machines=50)
    answer(arguments.parse_args(), measured, table)


def measured(args):
    for i, family in enumerate(FAMILIES):
        share = len(range(i, args.machines, len(FAMILIES)))
        yield one_family(family, share, args.seed)
    for case, seconds in speeds(args.seed):
        yield {"case": case, "cpu_s": round(seconds, 4)}


def one_family(family, machines, seed):
    counts = dict.fromkeys(("infeasible", "feasible_answers", "exact_is_best", "gpa_is_best",
                            "npa_fell_back"), 0)  # fmt: skip
    ratios = {method: [] for method in METHODS}
    for number in range(machines):
        rng = np.random.default_rng([seed, FAMILIES.index(family), number])
        problem = machine(family, rng)
        least = least_by_force(**problem)
        for method in METHODS:
            found = solved(problem, method)
            if found is None:
                assert np.isinf(least)
                counts["infeasible"] += method == "exact"
                continue
            counts["feasible_answers"] += is_feasible(problem, found)
            ratios[method].append(found.makespan / least)
            counts["npa_fell_back"] += method == "npa" and not found.converged
            if method == "exact":
                counts["exact_is_best"] += is_same(found.makespan, least)
            if method == "gpa":
                counts["gpa_is_best"] += is_best_in_shape(problem, found)
    return {"family": family, "machines": machines, **counts,
            "loss": {method: figures(ratios[method]) for method in METHODS}}  # fmt: skip


def figures(ratios):
    quantiles = np.quantile(ratios, [0.5, 0.9, 0.99, 1.0])
    names = ("median", "p90", "p99", "worst")
    return {"mean": round(float(np.mean(ratios)), 5)} | {
        name: round(float(value), 5) for name, value in zip(names, quantiles, strict=True)
    }


def solved(problem, method):
    given = {key: problem[key] for key in ("models", "n", "low", "high")}
    try:
        return solve_sizes(method=method, fixed_seconds=problem["fixed"], **given)
    except InfeasibleError:
        return None


def is_feasible(problem, found):
    capacities = np.array([model.capacity for model in problem["models"]])
    sizes = found.sizes
    inside = (sizes >= problem["low"]) & (sizes <= problem["high"]) & (sizes <= capacities)
    return bool(inside.all() and sizes.sum() == problem["n"])


def is_best_in_shape(problem, found):
    shaped = problem | {"models": [in_shape(model, "") for model in problem["models"]]}
    pairs = zip(shaped["models"], found.sizes, problem["fixed"], strict=True)
    own = max(model.time(float(d)) + fixed if d else 0.0 for model, d, fixed in pairs)
    return is_same(own, least_by_force(**shaped))


def is_same(one, other):
    return bool(abs(one - other) <= 1e-12 * other)


def least_by_force(models, n, low, high, fixed):
    """Least makespan over all whole sizes, infinity if there are none: every load is tried."""
    best = np.where(np.arange(n + 1) == 0, 0.0, np.inf)
    loads = np.arange(n + 1.0)
    for i, model in enumerate(models):
        seconds = np.where(loads > 0, model.time(loads) + fixed[i], 0.0)
        following = np.full(n + 1, np.inf)
        for load in range(low[i], min(high[i], n) + 1):
            with_it = np.maximum(best[: n + 1 - load], seconds[load])
            np.minimum(following[load:], with_it, out=following[load:])
        best = following
    return best[n]


def machine(family, rng):
    k, n = int(rng.integers(2, 9)), int(rng.integers(10, 151))
    is_mixed = family == "mixed"
    kinds = rng.choice(FAMILIES[:-1], k) if is_mixed else [family] * k
    limited = is_mixed and rng.random() < 0.5
    return {
        "models": [curve(str(kind), n, rng) for kind in kinds],
        "n": n,
        "low": rng.integers(0, 4, k) if limited else np.zeros(k, int),
        "high": rng.integers(n // 4, n + 1, k) if limited else np.full(k, n),
        "fixed": rng.exponential(n / 40, k) if is_mixed and rng.random() < 0.5 else np.zeros(k),
    }


def curve(kind, n, rng):
    loads = np.sort(rng.choice(np.arange(1, 2 * n), int(rng.integers(1, 13)), replace=False))
    loads = loads.astype(float)
    peak = float(np.exp(rng.normal(1, 1)))
    if kind in ("shaped", "noisy"):
        rise, fall = rng.uniform(0.02, 0.5) * n, rng.uniform(0.3, 3) * n
        speeds = peak * np.minimum(np.minimum(loads / rise, 1) ** 0.5, 1 / (1 + loads / fall))
        if kind == "noisy":
            speeds = speeds * rng.lognormal(0, 0.15, loads.size)
    elif kind == "cliff":
        cliffs = rng.uniform(0.05, 1) * n * np.array([0.2, 1.0])
        drops = np.array([rng.uniform(1, 2), rng.uniform(2, 25)])
        speeds = peak / np.prod(np.where(loads[:, None] > cliffs, drops, 1.0), axis=1)
    elif kind == "plateau":
        speeds = peak * np.minimum(loads / (rng.uniform(0.1, 1) * n), 1)
    else:
        speeds = peak * np.exp(rng.normal(0, 1.0, loads.size))
    capacity = np.inf if rng.random() < 0.6 else float(rng.uniform(0.1, 1.2) * n)
    return Piecewise(loads, speeds, capacity)


def speeds(seed):
    """Each case of speed with its seconds."""
    rng = np.random.default_rng(seed)
    many = [Constant(float(speed)) for speed in rng.uniform(1, 100, 100_000)]
    yield "constant, 100,000 devices", timed(many, 10**9, "constant")
    loads = np.sort(rng.uniform(1, 1e6, (1000, 100)))
    speed = rng.uniform(1e5, 1e6, (1000, 1)) / (1 + (loads / rng.uniform(1e5, 1e6, (1000, 1))) ** 2)
    curves = [Piecewise(*pair) for pair in zip(loads, speed, strict=True)]
    smooth = [Akima(model) for model in curves]
    yield "gpa, 1,000 curves of 100 samples", timed(curves, 10**8, "gpa")
    yield "npa, the same as smooth curves", timed(smooth, 10**8, "npa")
    yield "npa, the same, fitting included", timed(curves, 10**8, "npa")
    yield "exact, the same", timed(curves, 10**8, "exact")
    every = np.arange(1.0, 1001.0)
    wild = [Piecewise(every, np.exp(rng.normal(0, 2, 1000))) for _ in range(64)]
    yield "exact, 64 wild devices, every load of 1,000 measured", timed(wild, 1000, "exact", 5)
    odd = [Piecewise(every, every / np.where(every % 15 == 1, 1, rng.uniform(100, 150, 1000)))
           for _ in range(64)]  # fmt: skip
    yield "exact, 64 devices quick at every 15th load only", timed(odd, 1000, "exact", 1)
    large = [Piecewise(model.loads * 1e5, model.speeds) for model in odd]
    yield "exact, the same with 10^8 units", timed(large, 10**8, "exact", 10**5)


def timed(models, n, method, low=0):
    seconds = []
    for _ in range(3):
        start = time.process_time()
        found = solve_sizes(models, n, method, low)
        seconds.append(time.process_time() - start)
        assert found.converged
    return min(seconds)


def table(lines):
    """What each method loses by family of machines; then the CPU seconds of single calls."""
    rows = [("machines", "number", "exact is the best", "GPA under its rule", "NPA fell back",
             *(f"{method} {what}" for method in ("CPM", "GPA", "NPA")
               for what in ("mean", "99 %", "worst")))]  # fmt: skip
    cases = [("call", "CPU s")]
    for line in lines:
        if "case" in line:
            cases.append((line["case"], f"{line['cpu_s']:.3f}"))
            continue
        solved = line["machines"] - line["infeasible"]
        assert line["feasible_answers"] == 4 * solved
        loss = [line["loss"][method] for method in ("constant", "gpa", "npa")]
        rows.append(
            (
                line["family"],
                f"{line['machines']:,}",
                f"{line['exact_is_best']:,} of {solved:,}",
                f"{line['gpa_is_best']:,} of {solved:,}",
                f"{line['npa_fell_back']:,}",
                *(f"{own[key]:.3f}" for own in loss for key in ("mean", "p99", "worst")),
            )
        )
    return markdown(rows) + "\n\n" + markdown(cases)


if __name__ == "__main__":
    main()
