"""layered_sizes: sizes level by level, INPA between nodes and IDPA within each ([Cla14]_, 5.2).

On every level of a tree of devices, of any depth, DPA divides a group's load among its members.
"Measuring" a member that is itself a group means dividing its load among its own members and taking
the time of the last device. A group stores its partial models and uses them again when its load
changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray
from evener.errors import InfeasibleError, InputError
from evener.platforms.models.fitting import Constant, SpeedModel
from evener.platforms.models.samples import Sample
from evener.platforms.platform import Platform
from evener.sizing.dynamic import Dynamic
from evener.sizing.problems import checked_seconds, make_problem
from evener.wording import brief

Tree: TypeAlias = "int | tuple[Tree, ...]"  # a device's number, or the members of a group
Measure: TypeAlias = Callable[[IntArray, IntArray], npt.ArrayLike]


@dataclass(frozen=True, eq=False)
class LayeredSizes:
    """The result of layered_sizes: sizes (k,) [units], their seconds (k,) and the makespan [s].

    converged: whether every group is balanced to its epsilon. measurements: how often a group of
    devices was measured.
    """

    sizes: IntArray
    seconds: FloatArray
    makespan: float
    converged: bool
    measurements: int

    def __repr__(self) -> str:
        return brief(self)


def tree_of(platform: Platform) -> Tree:
    """Return the platform's tree as nested tuples of device numbers.

    A group with a single member is replaced by this member.
    """
    return _grouped(platform.places, 0, np.arange(platform.k))


def layered_sizes(
    tree: Tree,
    n: int,
    measure: Measure,
    *,
    epsilon: float = 0.05,
    method: str = "auto",
    low: npt.ArrayLike | None = None,
    high: npt.ArrayLike | None = None,
) -> LayeredSizes:
    """Return sizes of n units on a tree of devices, found by measuring level by level.

    tree: for example ((0, 1), (2, 3, 4)), which contains every device 0 to k - 1 once.
    measure(devices, sizes) returns the seconds (r,) that the devices (r,) of one group take for
    whole sizes (r,) if they work at the same time. epsilon: the topmost level is balanced if the
    spread of its times is at most this, the levels below if it is at most epsilon / 2. method: an
    argument of Dynamic. low, high: limits [units], one number for all devices or (k,).

    Raises InputError for an invalid tree, and the errors of Dynamic.
    """
    k = _count(tree)
    problem = make_problem([Constant(1.0)] * k, n, low, high)
    if isinstance(tree, int):
        tree = (tree,)
    root = _Group(tree, (problem.low, problem.high), measure, epsilon, epsilon / 2, method)
    answer = root.solve(n)
    sizes, seconds = np.zeros(k, np.int64), np.zeros(k)
    sizes[root.devices], seconds[root.devices] = answer.sizes, answer.seconds
    return LayeredSizes(
        sizes, seconds, float(seconds.max(initial=0.0)), answer.converged, root.measurements()
    )


def model_times(
    models: Sequence[SpeedModel], fixed_seconds: npt.ArrayLike | None = None
) -> Measure:
    """Return a `measure` for layered_sizes that evaluates models instead of measuring devices.

    fixed_seconds: (k,) or one number [s], added to the time of each device with a load above zero.
    """
    fixed = checked_seconds(fixed_seconds, len(models), "fixed_seconds")

    def measure(devices: IntArray, sizes: IntArray) -> FloatArray:
        pairs = zip(devices.tolist(), sizes.tolist(), strict=True)
        return np.array([models[i].time(float(d)) + fixed[i] if d else 0.0 for i, d in pairs])

    return measure


@dataclass(frozen=True, eq=False)
class _GroupSizes:
    """Sizes (r,) of a group's devices, their seconds (r,), and whether all levels are balanced."""

    sizes: IntArray
    seconds: FloatArray
    converged: bool

    @property
    def makespan(self) -> float:
        return float(self.seconds.max(initial=0.0))


class _Group:
    """A group of the tree: the samples of its members, and its sizes for each load solved so far.

    limits: low and high (k,) of all devices. epsilon: of this level; inner: of the levels below.
    """

    def __init__(
        self,
        members: tuple[Tree, ...],
        limits: tuple[IntArray, IntArray],
        measure: Measure,
        epsilon: float,
        inner: float,
        method: str,
    ) -> None:
        self._members = [
            member if isinstance(member, int)
            else _Group(member, limits, measure, inner, inner, method)
            for member in members
        ]  # fmt: skip
        parts = [np.array([m]) if isinstance(m, int) else m.devices for m in self._members]
        self.devices: IntArray = np.concatenate(parts)
        self._low, self._high = ([_total(own[part]) for part in parts] for own in limits)
        self._measure, self._epsilon, self._method = measure, epsilon, method
        self._samples: list[list[Sample]] = [[] for _ in parts]
        self._known: dict[int, _GroupSizes] = {}
        self._measured = 0

    def measurements(self) -> int:
        """Return how often devices were measured in this group and the groups below it."""
        inner = [m.measurements() for m in self._members if isinstance(m, _Group)]
        return self._measured + sum(inner)

    def solve(self, n: int) -> _GroupSizes:
        """Return sizes of n units on all devices of this group and of the groups below it."""
        if n not in self._known:
            self._known[n] = self._solved(n)
        return self._known[n]

    def seconds(self, n: int) -> float:
        """Return the seconds that the group takes for n units, infinity if it cannot hold them."""
        try:
            return self.solve(n).makespan
        except InfeasibleError:
            return float("inf")

    def _solved(self, n: int) -> _GroupSizes:
        k = len(self._members)
        if n == 0:
            return _GroupSizes(
                np.zeros(self.devices.size, np.int64), np.zeros(self.devices.size), True
            )
        search = Dynamic(
            n, k, self._epsilon, self._method, self._low, self._high,
            samples=self._samples if any(self._samples) else None,
        ).run(self._observed)  # fmt: skip
        self._samples = [list(known) for known in search.known()]
        return self._composed(search)

    def _observed(self, sizes: IntArray) -> FloatArray:
        """Return the seconds of each member for its size.

        Devices are measured all at the same time; groups are solved one after another.
        """
        seconds = np.zeros(sizes.size)
        alone = [i for i, member in enumerate(self._members) if isinstance(member, int)]
        if alone:
            devices = np.array([self._members[i] for i in alone], np.int64)
            seconds[alone] = self._measure(devices, sizes[alone])
            self._measured += 1
        for i, member in enumerate(self._members):
            if isinstance(member, _Group):
                seconds[i] = member.seconds(int(sizes[i]))
        return seconds

    def _composed(self, search: Dynamic) -> _GroupSizes:
        """Return the best sizes of the search, with those of inner groups resolved to devices."""
        best = search.best
        sizes, seconds, converged = [], [], search.converged
        for i, member in enumerate(self._members):
            if isinstance(member, int):
                sizes.append(best.sizes[i : i + 1])
                seconds.append(best.seconds[i : i + 1])
            else:
                inner = member.solve(int(best.sizes[i]))
                sizes.append(inner.sizes)
                seconds.append(inner.seconds)
                converged = converged and inner.converged
        return _GroupSizes(np.concatenate(sizes), np.concatenate(seconds), converged)


def _grouped(places: IntArray, level: int, devices: IntArray) -> Tree:
    """Return the devices grouped by their place at `level`, and each group by the levels below."""
    if devices.size == 1:
        return int(devices[0])
    if level == places.shape[0]:
        return tuple(devices.tolist())
    codes = places[level, devices]
    groups = [devices[codes == code] for code in dict.fromkeys(codes.tolist())]
    if len(groups) == 1:
        return _grouped(places, level + 1, devices)
    return tuple(_grouped(places, level + 1, group) for group in groups)


def _count(tree: Tree) -> int:
    """Return the number of devices k; raise InputError unless each of 0 to k - 1 occurs once."""
    found = sorted(_leaves(tree))
    if not found or found != list(range(len(found))):
        raise InputError(
            "a tree of devices must contain each of 0, 1, 2, ... once, in nested tuples"
        )
    return len(found)


def _leaves(tree: Tree) -> list[int]:
    if isinstance(tree, int):
        return [tree]
    if not isinstance(tree, tuple) or not tree:
        raise InputError(f"a group must be a tuple of devices and groups, not {tree!r}")
    return [leaf for member in tree for leaf in _leaves(member)]


def _total(limit: IntArray) -> int:
    return int(min(limit.astype(np.float64).sum(), 2.0**53))
