"""Costs: what predicted seconds are made of, as bare arrays for kernels that change partitions.

evener.plans.metrics.predicted_seconds is the same in terms of a platform; tests compare the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.errors import InputError
from evener.plans.workload import WEIGHTS, Workload
from evener.platforms.models.akima import Akima
from evener.platforms.models.fitting import Constant, SpeedModel
from evener.platforms.models.piecewise import Piecewise
from evener.platforms.platform import Platform
from evener.platforms.shared_links import SharedRoutes, shared_routes
from evener.platforms.with_curves import models_of

MAX_PAIRED = 2048  # devices of which every pair has an entry: 64 MiB of numbers
STEPS = 32  # linear pieces that stand for a cubic one
REACH = 1e30  # speeds and their inverses, and seconds: powers of times beyond are no numbers


@dataclass(frozen=True, eq=False)
class Costs:
    """What an iteration costs the k devices of a platform under a workload.

    Speed curves: device b has the knots first[b] to last[b] - 1; speed is linear between knots
    (s,) at loads knot_load [units] of knot_speed [units/s], constant outside; devices alike share
    theirs. A message costs alpha[b, c] [s] + beta[b, c] [s per value] x (values sent + received).
    fixed (k,) [s]: of each device that has work or a neighbour. overlap: interior vertices are
    computed during the exchange.

    Shared links: pair (b, c) passes route_link[route_start[b k + c]:route_start[b k + c + 1]], the
    same ones as (c, b); a link takes shared_beta (l,) [s per value] for every value that passes it
    either way, and no device that uses it is done exchanging before. Where nothing is shared,
    shared_beta and route_link are empty and route_start is [0].
    """

    first: IntArray
    last: IntArray
    knot_load: FloatArray
    knot_speed: FloatArray
    alpha: FloatArray
    beta: FloatArray
    fixed: FloatArray
    overlap: bool
    route_start: IntArray
    route_link: IntArray
    shared_beta: FloatArray

    @property
    def k(self) -> int:
        """Number of devices."""
        return int(self.first.size)

    def compute_seconds(self, loads: FloatArray) -> FloatArray:
        """(k,) time each device computes at its load (k,) [s]."""
        speed = np.empty(self.k)
        for devices, own in self._alike:
            speed[devices] = np.interp(loads[devices], self.knot_load[own], self.knot_speed[own])
        return np.asarray(loads / speed)

    @cached_property
    def _alike(self) -> list[tuple[IntArray, slice]]:
        """Devices of one speed curve, and its knots."""
        starts = np.unique(self.first).tolist()
        groups = [np.flatnonzero(self.first == start) for start in starts]
        return [(own, slice(start, int(self.last[own[0]])))
                for start, own in zip(starts, groups, strict=True)]  # fmt: skip


def costs_of(platform: Platform, workload: Workload = WEIGHTS) -> Costs:
    """Return what an iteration of the workload costs on the platform.

    Raises InputError for more than 2,048 devices: every pair has an entry; and for speeds and
    costs beyond 10^30 or, speeds alone, below its inverse.
    """
    k = platform.k
    if k > MAX_PAIRED:
        raise InputError(
            f"{k:,} devices: what every pair of them costs is laid out for at most {MAX_PAIRED:,}",
            hint="Choose another objective, such as cut.",
        )
    p, q = np.repeat(np.arange(k), k), np.tile(np.arange(k), k)
    alpha, beta = (cost.reshape(k, k) for cost in platform.link_costs(p, q))
    routes = SharedRoutes(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0))
    if platform.has_shared:
        routes = shared_routes(platform, p, q)
    per_value = workload.bytes_per_value
    _refuse_extremes(platform, alpha, beta * per_value, workload)
    return Costs(
        *_stacked(models_of(platform)),
        alpha,
        beta * per_value,
        platform.fixed_seconds + workload.fixed_seconds,
        workload.overlap,
        routes.starts,
        routes.link,
        routes.beta * per_value,
    )


def _refuse_extremes(
    platform: Platform, alpha: FloatArray, beta: FloatArray, workload: Workload
) -> None:
    """Raise InputError for what no machine has, naming the device that has it."""
    fixed = platform.fixed_seconds + workload.fixed_seconds
    found = (
        ("speed of device", platform.speeds, 1 / REACH),
        ("fixed seconds of device", fixed, 0.0),
        ("latency [s] of a link of device", alpha.max(axis=1), 0.0),
        ("seconds a value on a link of device", beta.max(axis=1), 0.0),
    )
    for what, values, least in found:
        wrong = np.flatnonzero(~((values >= least) & (values <= REACH)))
        if wrong.size:
            name, value = platform.names[wrong[0]], values[wrong[0]]
            raise InputError(
                f"{what} {name!r}: {value:.3g} lies beyond what seconds are predicted from",
                hint=f"Between {least:g} and {REACH:g}; see docs/machine-file.md for the units.",
            )


def _stacked(models: tuple[SpeedModel, ...]) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Lay the knots of all models side by side, those of devices alike once."""
    ends: dict[int, tuple[int, int]] = {}
    loads, speeds, size = [], [], 0
    for model in models:
        if id(model) not in ends:
            x, y = _knots(model)
            ends[id(model)] = size, size + x.size
            size += x.size
            loads.append(x)
            speeds.append(y)
    first, last = np.array([ends[id(model)] for model in models], np.int64).T
    return first.copy(), last.copy(), np.concatenate(loads), np.concatenate(speeds)


def _knots(model: SpeedModel) -> tuple[FloatArray, FloatArray]:
    if isinstance(model, Constant):
        return np.zeros(1), np.array([model.rate])
    assert isinstance(model, Piecewise | Akima)
    if isinstance(model, Piecewise):
        return model.loads, model.speeds
    at = np.arange((model.breaks.size - 1) * STEPS + 1) / STEPS
    loads = np.interp(at, np.arange(model.breaks.size), model.breaks)
    return loads, np.asarray(model.speed(loads), np.float64)
