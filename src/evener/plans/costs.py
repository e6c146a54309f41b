"""Costs of an iteration on a platform's devices: messages, fixed seconds, speed curves.

For searches and refinement: `message_costs` turns a link's beta [s/B] into seconds per value, by
the workload's bytes per value. `costs_of` computes them for every pair of devices, as arrays for
kernels; evener.plans.exchange_costs and metrics.predicted_seconds compute them only for pairs that
exchange something. Tests compare all three with a slow computation in plain Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

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

MAX_PAIRED = 2048  # devices of which every pair has an entry: alpha and per_value take 64 MiB
LINEAR_PIECES = 32  # that stand for one cubic piece of a speed curve
REACH = 1e30  # largest speed [units/s], inverse of one, and seconds: their squares are finite


class MessageCosts(NamedTuple):
    """Seconds of messages between p pairs of devices: alpha + per_value x values, both ways.

    alpha (p,) [s]; per_value (p,) [s]. routes: the shared links that each pair uses, None if no
    link is shared; a shared link takes shared_per_value (l,) [s] for each value.
    """

    alpha: FloatArray
    per_value: FloatArray
    routes: SharedRoutes | None
    shared_per_value: FloatArray


def message_costs(
    platform: Platform, p: IntArray, q: IntArray, bytes_per_value: float
) -> MessageCosts:
    """Return the costs [s] of messages between devices p[i] and q[i]."""
    alpha, beta = platform.link_costs(p, q)
    routes = shared_routes(platform, p, q) if platform.has_shared else None
    shared = np.empty(0) if routes is None else routes.beta * bytes_per_value
    return MessageCosts(alpha, beta * bytes_per_value, routes, shared)


def fixed_seconds(platform: Platform, workload: Workload) -> FloatArray:
    """Return the fixed seconds per iteration of each device in use, at any load, (k,) [s]."""
    return np.asarray(platform.fixed_seconds + workload.fixed_seconds)


@dataclass(frozen=True, eq=False)
class Costs:
    """Costs of an iteration of a workload on the k devices of a platform.

    Speed curves: device b has the knots first[b] to last[b] - 1; knot i is the speed knot_speed[i]
    [units/s] at the load knot_load[i] [units], both (s,); speed is linear between knots and
    constant outside; identical devices share knots. A message costs alpha[b, c] [s] + per_value[b,
    c] [s] x (values sent + received). fixed (k,) [s]: fixed seconds of each device that has work or
    a neighbour. overlap: interior vertices are computed during the exchange. of_faces: values are
    sent for faces, see Workload.exchange.

    Shared links: messages of pair (b, c) use route_link[route_start[b k + c]:route_start[b k + c +
    1]], the same as for (c, b); a link takes shared_per_value (l,) [s] for every value in either
    direction, and every device that uses the link exchanges for at least as long as the link is
    busy. If no link is shared, shared_per_value and route_link are empty and route_start is [0].
    """

    first: IntArray
    last: IntArray
    knot_load: FloatArray
    knot_speed: FloatArray
    alpha: FloatArray
    per_value: FloatArray
    fixed: FloatArray
    overlap: bool
    route_start: IntArray
    route_link: IntArray
    shared_per_value: FloatArray
    of_faces: bool = False

    @property
    def k(self) -> int:
        """Number of devices."""
        return int(self.first.size)

    def compute_seconds(self, loads: FloatArray) -> FloatArray:
        """Return the time that each device computes at its load, (k,) [s]; loads (k,) [units]."""
        speed = np.empty(self.k)
        for devices, own in self._alike:
            speed[devices] = np.interp(loads[devices], self.knot_load[own], self.knot_speed[own])
        return np.asarray(loads / speed)

    @cached_property
    def _alike(self) -> list[tuple[IntArray, slice]]:
        """Groups of devices with the same speed curve, and the range of the curve's knots."""
        starts = np.unique(self.first).tolist()
        groups = [np.flatnonzero(self.first == start) for start in starts]
        return [(own, slice(start, int(self.last[own[0]])))
                for start, own in zip(starts, groups, strict=True)]  # fmt: skip


def costs_of(platform: Platform, workload: Workload = WEIGHTS) -> Costs:
    """Return the costs of an iteration of the workload on the platform.

    Raises InputError for more than 2,048 devices, because every pair has an entry; for speeds and
    costs above 10^30; and for speeds below 10^-30.
    """
    k = platform.k
    if k > MAX_PAIRED:
        raise InputError(
            f"{k:,} devices are too many: costs of all pairs are stored for at most "
            f"{MAX_PAIRED:,} devices",
            hint="Choose another objective, such as cut.",
        )
    p, q = np.repeat(np.arange(k), k), np.tile(np.arange(k), k)
    message = message_costs(platform, p, q, workload.bytes_per_value)
    routes = message.routes or SharedRoutes(
        np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0)
    )
    costs = Costs(
        *_stacked(models_of(platform)),
        message.alpha.reshape(k, k),
        message.per_value.reshape(k, k),
        fixed_seconds(platform, workload),
        workload.overlap,
        routes.starts,
        routes.link,
        message.shared_per_value,
        workload.of_faces,
    )
    _refuse_extremes(platform, costs)
    return costs


def _refuse_extremes(platform: Platform, costs: Costs) -> None:
    """Raise InputError, naming the device, for speeds and costs that no real machine has."""
    found = (
        ("speed of device", platform.speeds, 1 / REACH),
        ("fixed seconds of device", costs.fixed, 0.0),
        ("latency [s] of a link of device", costs.alpha.max(axis=1), 0.0),
        ("seconds per value on a link of device", costs.per_value.max(axis=1), 0.0),
    )
    for what, values, least in found:
        wrong = np.flatnonzero(~((values >= least) & (values <= REACH)))
        if wrong.size:
            name, value = platform.names[wrong[0]], values[wrong[0]]
            raise InputError(
                f"{what} {name!r}: {value:.3g} lies outside the range from which seconds can be "
                "predicted",
                hint=f"Between {least:g} and {REACH:g}; see docs/machine-file.md for the units.",
            )


def _stacked(models: tuple[SpeedModel, ...]) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Return first, last (k,) knot of each device, and loads and speeds of all knots.

    Devices with the same model share its knots.
    """
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
    count = (model.breaks.size - 1) * LINEAR_PIECES + 1
    at = np.arange(count) / LINEAR_PIECES
    loads = np.interp(at, np.arange(model.breaks.size), model.breaks)
    return loads, np.asarray(model.speed(loads), np.float64)
