"""Drifting devices: seven kinds of random change of speed on which rebalancing rules are tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray
from evener.errors import UsageError

FAST = 16.0  # speed of one device in eight, relative to the others


@dataclass(frozen=True, eq=False)
class DriftingSpeeds:
    """Speeds of k devices in n iterations.

    unit_seconds (n, k) [s]: what all the work would take each device; a share x takes x times as
    long. With balanced shares the first iteration takes 1 s. seen (n, k) [s]: the same, as
    measured.
    """

    kind: str
    unit_seconds: FloatArray
    seen: FloatArray


def drift(
    kind: str, seed: int, k: int = 32, n: int = 10_000, noise: float = 0.05
) -> DriftingSpeeds:
    """Return a drift of `kind`, one of KINDS; same arguments, same drift.

    noise: the standard deviation of a measured time's logarithm; twice that for the kind "noise".
    Raises UsageError for an unknown kind, and for less than two devices or iterations.
    """
    if kind not in KINDS:
        raise UsageError(f"there is no drift {kind!r}", hint=f"There are: {', '.join(KINDS)}.")
    if k < 2 or n < 2:
        raise UsageError(f"a drift needs two devices and iterations, not {k} and {n}")
    rng = np.random.default_rng([seed, list(KINDS).index(kind)])
    factors = np.ones((n, k))
    KINDS[kind](factors, rng)
    speeds = np.where(np.arange(k) < max(k // 8, 1), FAST, 1.0)
    seconds = speeds.sum() / speeds * factors
    scatter = 2 * noise if kind == "noise" else noise
    return DriftingSpeeds(kind, seconds, seconds * np.exp(rng.normal(0, scatter, seconds.shape)))


def _steps(factors: FloatArray, rng: np.random.Generator) -> None:
    """A device becomes 1.2 to 3 times slower for some hundred iterations, a dozen times."""
    n, k = factors.shape
    for _ in range(int(rng.poisson(12))):
        start, b = int(rng.integers(n)), int(rng.integers(k))
        factors[start : start + int(np.exp(rng.normal(6, 1.5))), b] *= rng.uniform(1.2, 3)


def _spikes(factors: FloatArray, rng: np.random.Generator) -> None:
    """The same for 3 to 39 iterations, as a rule once in 33 iterations of 32 devices."""
    n, k = factors.shape
    for _ in range(int(rng.poisson(300 * (n / 10_000) * (k / 32)))):
        start, b = int(rng.integers(n)), int(rng.integers(k))
        factors[start : start + int(rng.integers(3, 40)), b] *= rng.uniform(1.2, 3)


def _ramps(factors: FloatArray, rng: np.random.Generator) -> None:
    """Devices become slower little by little; half of them recover."""
    n, k = factors.shape
    t = np.arange(n)
    for _ in range(int(rng.poisson(8))):
        start, length, b = rng.integers(n), rng.integers(200, 3000), rng.integers(k)
        rise = np.clip((t - start) / length, 0, 1)
        if rng.random() < 0.5:
            rise = np.minimum(rise, np.clip((start + 2.5 * length - t) / length, 0, 1))
        factors[:, b] *= rng.uniform(1.2, 3) ** rise


def _noise(factors: FloatArray, rng: np.random.Generator) -> None:
    """All devices wander at random by 2 % every 50 iterations; times scatter twice as much."""
    n, k = factors.shape
    walk = np.cumsum(rng.normal(0, 0.02, (n // 50 + 1, k)), axis=0)
    factors *= np.exp(np.repeat(walk, 50, axis=0)[:n])


def _periodic(factors: FloatArray, rng: np.random.Generator) -> None:
    """Six devices are 1.8 times slower every other 100, 400 or 1600 iterations."""
    n, k = factors.shape
    some = rng.choice(k, min(6, k - 1), replace=False)
    period = int(rng.choice([100, 400, 1600]))
    factors[np.ix_((np.arange(n) // period) % 2 == 1, some)] *= 1.8


def _failing(factors: FloatArray, rng: np.random.Generator) -> None:
    """One device becomes slower twice, for good: 2 to 10 times in the end."""
    n, k = factors.shape
    b, start = rng.integers(k), int(rng.integers(n // 20, max(n // 2, n // 20 + 1)))
    factors[start:, b] *= rng.uniform(1.3, 2.5)
    factors[start + int(rng.integers(n // 50, n // 50 + n // 3 + 1)) :, b] *= rng.uniform(1.5, 4)


def _refinement(factors: FloatArray, rng: np.random.Generator) -> None:
    """A front passes through all blocks twice, and makes work of some 2 to 4 times as much."""
    n, k = factors.shape
    centre = (np.arange(n)[:, None] / n * 2 * k + rng.uniform(0, k)) % k
    away = np.abs(np.arange(k) - centre)
    away = np.minimum(away, k - away)
    factors *= 1 + rng.uniform(1, 3) * np.exp(-((away / 2) ** 2))


KINDS: dict[str, Callable[[FloatArray, np.random.Generator], None]] = {
    "steps": _steps,
    "ramps": _ramps,
    "spikes": _spikes,
    "noise": _noise,
    "periodic": _periodic,
    "failing": _failing,
    "refinement": _refinement,
}
