"""The slow obvious way to the least makespan, and random machines that break things."""

import numpy as np

from evener.platforms.models.fitting import Constant, Piecewise


def least_by_force(models, n, low=None, high=None, fixed=None):
    """Least makespan over all whole sizes, infinity if there are none: every load is tried."""
    k = len(models)
    low = np.zeros(k, int) if low is None else low
    high = np.full(k, n) if high is None else high
    fixed = np.zeros(k) if fixed is None else fixed
    best = np.full(n + 1, np.inf)  # of the devices so far, by what they have together
    best[0] = 0.0
    for i, model in enumerate(models):
        following = np.full(n + 1, np.inf)
        seconds = np.where(np.arange(n + 1) > 0, model.time(np.arange(n + 1)) + fixed[i], 0.0)
        for load in range(low[i], min(high[i], n) + 1):
            with_it = np.maximum(best[: n + 1 - load], seconds[load])
            following[load:] = np.minimum(following[load:], with_it)
        best = following
    return best[n]


def random_model(rng, n, rising=False):
    """A constant, cliff, plateau, noise or anything at all; or one whose time rises with load."""
    capacity = np.inf if rng.random() < 0.6 else float(rng.uniform(1, n + 2))
    loads = np.unique(rng.integers(1, n + 3, rng.integers(1, 8))).astype(float)
    if rng.random() < 0.3:
        loads = np.unique(rng.uniform(0.1, n + 2, loads.size))
    kind = rng.integers(5)
    if kind == 0:
        return Constant(float(np.exp(rng.normal(0, 2))), capacity)
    if rising:
        seconds = np.cumsum(np.exp(rng.normal(0, 1.5, loads.size)))
        return Piecewise(loads, loads / seconds, capacity)
    speeds = {
        1: np.exp(rng.normal(0, 1.5, loads.size)),
        2: np.where(loads < rng.uniform(0, n), 10, 0.5),
        3: loads * float(rng.uniform(0.1, 2)),  # any load takes the same time
        4: np.round(np.exp(rng.normal(0, 1, loads.size)) * 4) / 4 + 0.25,  # many ties
    }[int(kind)]
    return Piecewise(loads, speeds, capacity)


def random_problem(rng, most_devices=5, most_units=24, rising=False):
    """Keyword arguments of least_by_force; `solve_sizes` calls fixed fixed_seconds."""
    k, n = int(rng.integers(1, most_devices + 1)), int(rng.integers(1, most_units + 1))
    return {
        "models": [random_model(rng, n, rising) for _ in range(k)],
        "n": n,
        "low": np.zeros(k, int) if rng.random() < 0.6 else rng.integers(0, 4, k),
        "high": np.full(k, n) if rng.random() < 0.6 else rng.integers(0, n + 1, k),
        "fixed": np.zeros(k) if rng.random() < 0.6 else rng.exponential(2, k) * rng.integers(0, 2),
    }


def solved(solve, problem, method):
    """Solve, and check that the answer is feasible; None where it is infeasible."""
    from evener.errors import InfeasibleError

    given = {key: problem[key] for key in ("models", "n", "low", "high")}
    try:
        found = solve(method=method, fixed_seconds=problem["fixed"], **given)
    except InfeasibleError:
        return None
    assert found.sizes.sum() == problem["n"]
    assert (found.sizes >= problem["low"]).all()
    assert (found.sizes <= problem["high"]).all()
    assert all(size <= m.capacity for size, m in zip(found.sizes, problem["models"], strict=True))
    seconds = [
        model.time(float(size)) + fixed if size else 0.0
        for model, size, fixed in zip(given["models"], found.sizes, problem["fixed"], strict=True)
    ]
    np.testing.assert_allclose(found.seconds, seconds, rtol=1e-12)
    assert found.makespan == found.seconds.max()
    assert found.bound <= found.makespan * (1 + 1e-12)
    return found
