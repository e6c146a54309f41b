"""nested_tiling: divide a matrix over nodes (INPA) and each part over devices (IDPA), by measuring.

The tiling is computed inside the loop ([Cla14]_, 5.2). In each round INPA turns the areas of the
nodes into rectangles of whole blocks, arranged in columns, with least half-perimeter. IDPA cuts
each node's rectangle into slices of full height, one per device. Each measurement therefore has the
shape (rows x columns) that the device will get, not only its load. `layered_sizes` (layered.py)
divides loads without a shape, over a tree of any depth.

Beyond [Cla14]_: Dynamic damps the steps, and the best round is returned; in later rounds IDPA
starts from the proportions of a node's previous slices instead of from even slices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray
from evener.errors import InfeasibleError, InputError
from evener.plans.tiling import Tiling
from evener.platforms.models.fitting import SpeedModel, SpeedSurface
from evener.platforms.models.samples import Sample
from evener.sizing.dynamic import MAX_STEPS, Dynamic
from evener.sizing.problems import checked_seconds
from evener.sizing.rounding import whole_sizes
from evener.sizing.tiling.methods import blocks_of
from evener.sizing.tiling.whole import proportional, upright_or_lying
from evener.wording import brief

# measure(devices (p,), rows, columns (p,)) returns the seconds (p,) of the devices of one node,
# which work at the same time, device j on rows x columns[j] elements; infinity for a device that
# cannot do them.
MeasureSlices: TypeAlias = Callable[[IntArray, int, IntArray], npt.ArrayLike]


@dataclass(frozen=True, eq=False)
class Slices:
    """A node's rectangle, cut from left to right into one slice of full height per device.

    columns (p,): width of each slice [elements]. seconds (p,): measured times [s]. converged:
    whether the times are balanced. steps: number of measurements.
    """

    columns: IntArray
    seconds: FloatArray
    converged: bool = True
    steps: int = 0

    @property
    def makespan(self) -> float:
        """Time until the node's last device is done [s]."""
        return float(self.seconds.max(initial=0.0))

    @property
    def can(self) -> bool:
        """Whether every device of the node can compute its slice, that is, no time is infinity."""
        return bool(np.isfinite(self.seconds).all())


@dataclass(frozen=True, eq=False)
class NestedRound:
    """A round of INPA: the tiling of the q nodes in whole blocks, and the slices of each node."""

    nodes: Tiling
    slices: tuple[Slices, ...]

    @property
    def seconds(self) -> FloatArray:
        """Time of each node (q,) [s]."""
        return np.array([one.makespan for one in self.slices])

    @property
    def makespan(self) -> float:
        """Time until the last device is done [s]."""
        return float(self.seconds.max(initial=0.0))


@dataclass(frozen=True, eq=False)
class NestedTiling:
    """The best round of nested_tiling, and the list of all rounds.

    nodes: tiling of the q nodes in whole blocks. slices: those of each node. converged: whether the
    times of the nodes, and of the devices in each node, are balanced. measurements: how often a
    node's devices were measured. rounds: all rounds in the order they were tried.
    """

    nodes: Tiling
    slices: tuple[Slices, ...]
    converged: bool
    measurements: int
    rounds: tuple[NestedRound, ...]

    def __repr__(self) -> str:
        return brief(self)

    @property
    def makespan(self) -> float:
        """Time until the last device is done [s]."""
        return max(one.makespan for one in self.slices)

    def spans(self, shape: tuple[int, int]) -> npt.NDArray[np.int64]:
        """Return each device's rectangle, node by node, as an array (k, 4).

        The columns are first row, end row, first column, end column [elements]; ends are exclusive.
        shape: number of rows and columns of the matrix [elements].
        """
        rows = []
        for (top, end, left, _), one in zip(self.nodes.spans(shape).tolist(), self.slices,
                                            strict=True):  # fmt: skip
            edges = left + np.concatenate([[0], np.cumsum(one.columns)])
            rows += [(top, end, a, b) for a, b in pairwise(edges.tolist())]
        return np.array(rows, np.int64)


class SliceSearch:
    """IDPA: finds the slices of one node's rectangle, for any shape; each shape is solved once.

    devices (p,): device numbers, which are passed to `measure`. epsilon: times are balanced if
    their spread is at most this. method, max_steps: arguments of Dynamic.
    """

    def __init__(
        self,
        devices: Sequence[int],
        measure: MeasureSlices,
        epsilon: float,
        method: str,
        max_steps: int,
    ) -> None:
        if not len(devices):
            raise InputError("a node without devices cannot take any load")
        self.devices = np.array(devices, np.int64)
        self._measure, self._epsilon = measure, epsilon
        self._method, self._max_steps = method, max_steps
        self._known: dict[tuple[int, int], Slices] = {}
        self._shares: FloatArray | None = None  # each device's share of columns in the last slices
        self.measurements = 0

    def slices(self, rows: int, columns: int) -> Slices:
        """Return the slices of rows x columns elements.

        Their seconds are infinity if the node cannot do this rectangle.
        """
        key = rows, columns
        if key not in self._known:
            self._known[key] = self._found(rows, columns)
        return self._known[key]

    def _found(self, rows: int, columns: int) -> Slices:
        p = self.devices.size
        if rows * columns == 0:
            return Slices(np.zeros(p, np.int64), np.zeros(p))
        before = self.measurements
        try:
            search = self._searched(rows, columns)
        except InfeasibleError:  # the node's devices cannot take so much, whatever the slices
            even = _shared_out(columns, np.ones(p))
            return Slices(even, np.full(p, np.inf), False, self.measurements - before)
        best = search.best
        # A device left out of a small rectangle may be worth using in a larger one.
        self._shares = best.sizes / columns if (best.sizes > 0).all() else None
        return Slices(best.sizes, best.seconds, search.converged, self.measurements - before)

    def _searched(self, rows: int, columns: int) -> Dynamic:
        """Run DPA on the number of columns, after measuring one column per device.

        See [Cla14]_, 5.2.2, step 1.
        """
        p = self.devices.size
        ones = np.ones(p, np.int64)
        first = self._timed(rows, ones)
        search = Dynamic(
            columns, p, self._epsilon, self._method, max_steps=self._max_steps,
            high=np.where(np.isfinite(first), columns, 0),
            samples=[[Sample(1.0, s)] if np.isfinite(s) else [] for s in first.tolist()],
            start=self._start(columns, np.isfinite(first)),
        )  # fmt: skip
        return search.run(lambda sizes: self._timed(rows, sizes))

    def _start(self, columns: int, able: npt.NDArray[np.bool_]) -> IntArray:
        shares = able / max(able.sum(), 1) if self._shares is None else self._shares * able
        if not shares.sum() > 0:
            raise InfeasibleError("no device of the node can take a column")
        return _shared_out(columns, shares)

    def _timed(self, rows: int, columns: IntArray) -> FloatArray:
        self.measurements += 1
        return np.asarray(self._measure(self.devices, rows, columns), np.float64)


# Function that takes the rows and columns [elements] of q rectangles (q, 2) and returns the Slices
# of the q nodes.
SliceNodes: TypeAlias = Callable[[IntArray], Sequence[Slices]]


def nested_tiling(
    nodes: Sequence[Sequence[int]],
    shape: tuple[int, int],
    block: int,
    measure: MeasureSlices,
    *,
    epsilon: float = 0.05,
    method: str = "gpa",
    max_steps: int = MAX_STEPS,
) -> NestedTiling:
    """Return a tiling of a matrix over nodes, and of each node's rectangle over its devices.

    nodes: the device numbers of each node. shape: (rows, columns) of the matrix [elements]. block:
    side of the square blocks; each node gets whole blocks. measure(devices, rows, columns (p,))
    returns the seconds (p,) of one node's devices, which work at the same time, device j on rows x
    columns[j] elements; infinity for a device that cannot do them. epsilon: nodes are balanced if
    the spread of their times is at most this, the devices of a node if it is at most epsilon / 2.
    method, max_steps: arguments of Dynamic, at both levels.

    Raises InputError for nodes without devices, InfeasibleError if the nodes cannot do the matrix.
    """
    searches = [SliceSearch(own, measure, epsilon / 2, method, max_steps) for own in nodes]

    def slice_nodes(sides: IntArray) -> list[Slices]:
        pairs = zip(searches, sides.tolist(), strict=True)
        return [search.slices(rows, columns) for search, (rows, columns) in pairs]

    return tiling_of_nodes(
        len(nodes), shape, block, slice_nodes,
        epsilon=epsilon, method=method, max_steps=max_steps,
    )  # fmt: skip


def tiling_of_nodes(
    q: int,
    shape: tuple[int, int],
    block: int,
    slice_nodes: SliceNodes,
    *,
    epsilon: float = 0.05,
    method: str = "gpa",
    max_steps: int = MAX_STEPS,
) -> NestedTiling:
    """Like nested_tiling, but for q nodes whose IDPA is the function slice_nodes(sides).

    sides (q, 2) [elements]: rows and columns of each node's rectangle. In an MPI program, every
    rank slices the rectangle of its own node and gathers the Slices of the other nodes, so that all
    ranks take the same steps (INPA, [Cla14]_, 5.2.1). Raises the same errors as nested_tiling.
    """
    rows, columns = blocks_of(shape, block)
    taken: list[NestedRound] = []
    small = slice_nodes(np.full((q, 2), block, np.int64))
    search = Dynamic(
        rows * columns, q, epsilon, method, max_steps=max_steps,
        samples=[[Sample(1.0, one.makespan)] if one.can else [] for one in small],
        start=_shared_out(rows * columns, np.ones(q)),
    )  # fmt: skip
    areas: IntArray | None = search.sizes
    while areas is not None:
        wanted = areas.astype(np.float64)
        tiling = upright_or_lying(wanted, proportional(wanted), (rows, columns), block)
        spans = tiling.spans(shape)
        sides = np.stack([spans[:, 1] - spans[:, 0], spans[:, 3] - spans[:, 2]], axis=1)
        taken.append(NestedRound(tiling, tuple(slice_nodes(sides))))
        areas = search.observe(taken[-1].seconds, tiling.areas)
    best = min(reversed(taken), key=lambda one: one.makespan)
    every = [one for round_ in taken for one in round_.slices]
    return NestedTiling(
        best.nodes,
        best.slices,
        search.converged and all(one.converged for one in best.slices),
        sum(one.steps for one in {id(s): s for s in [*small, *every]}.values()),
        tuple(taken),
    )


def _shared_out(n: int, shares: FloatArray) -> IntArray:
    """Return whole numbers (k,) that sum to n, in proportion to shares (k,).

    At least one share must be above zero.
    """
    used = np.flatnonzero(shares > 0)
    own = shares[used] / shares[used].sum() * n
    found = np.zeros(shares.size, np.int64)
    found[used] = whole_sizes(n, own, own, np.full(used.size, np.inf))
    return found


def slice_times(
    models: Sequence[SpeedModel | SpeedSurface],
    block: int,
    fixed_seconds: npt.ArrayLike | None = None,
) -> MeasureSlices:
    """Return a `measure` for nested_tiling that evaluates models instead of measuring devices.

    models: the model of each device, indexed by device number; its unit of load is a block of
    `block` x `block` elements. A SpeedSurface takes height and width in blocks. fixed_seconds: (k,)
    or one number [s], added to the time of each device with a load above zero.
    """
    fixed = checked_seconds(fixed_seconds, len(models), "fixed_seconds")

    def seconds(device: int, rows: int, columns: int) -> float:
        if rows * columns == 0:
            return 0.0
        model, height, width = models[device], rows / block, columns / block
        if isinstance(model, SpeedSurface):
            return model.time(height, width) + float(fixed[device])
        return model.time(height * width) + float(fixed[device])

    def measure(devices: IntArray, rows: int, columns: IntArray) -> FloatArray:
        pairs = zip(devices.tolist(), columns.tolist(), strict=True)
        return np.array([seconds(device, rows, own) for device, own in pairs])

    return measure
