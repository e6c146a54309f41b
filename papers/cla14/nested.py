"""The four ways of [Cla14]_, 5.2.3, to divide a matrix between nodes (INPA) and within them (IDPA).

Each begins with even areas. In each step the communication minimising algorithm makes rectangles
of them (columns of least half-perimeter, in whole blocks), every node cuts its own into slices over
the full height, one a device, and the nodes are timed on these rectangles. FPM adds the times to
partial models and solves these geometrically (GPA), multiple CPM takes the speeds of the last step,
single CPM does so once, homogeneous never. A device that cannot do its slice counts with the speed
that 4.3.1 enters for a benchmark that is killed.

This is the thesis's way for comparison; sizing.nested is the product's, which damps steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.plans.tiling import Tiling
from evener.platforms.models.fitting import fit_model
from evener.platforms.models.samples import Sample
from evener.sizing import solve_sizes
from evener.sizing.rounding import whole_sizes
from evener.sizing.tiling.whole import proportional, upright_or_lying
from papers.cla14.balancers import EPSILON, even_sizes, spread
from papers.cla14.nodes import BLOCK, EmulatedNode

WAYS = ("homogeneous", "single CPM", "multiple CPM", "FPM")
STEPS = {"homogeneous": 0, "single CPM": 1, "multiple CPM": 20, "FPM": 20}  # ours, at most
ENTERED = 0.1e9  # operations/s of a killed benchmark (4.3.1)
INNER = EPSILON / 2  # spread of devices' times at which IDPA ends

# seconds(node, rows, columns (p,)): of the devices of a node, together; infinite where one cannot.
Timed = Callable[[EmulatedNode, int, IntArray], FloatArray]


@dataclass(frozen=True, eq=False)
class DividedNodes:
    """Rectangles of q nodes in whole blocks, and what they take.

    seconds (q,): of one step of the product, infinite where a device cannot. steps: how often areas
    were changed.
    """

    tiling: Tiling
    seconds: FloatArray
    steps: int

    @property
    def makespan(self) -> float:
        """Seconds of the last node [s]."""
        return float(self.seconds.max())


@dataclass(eq=False)
class _Search:
    """Sizes of n units over groups of alike members, by one of WAYS, from seconds that are seen.

    alike (g,): members of each group, which all get its share evenly.
    """

    way: str
    n: int
    alike: IntArray
    known: list[dict[float, Sample]] = field(init=False)

    def __post_init__(self) -> None:
        self.known = [{} for _ in self.alike]

    def add(self, sizes: FloatArray, seconds: FloatArray) -> None:
        """Add a point to each group's model: sizes (g,) of a group, in the seconds of its last."""
        for known, size, time in zip(self.known, sizes.tolist(), seconds.tolist(), strict=True):
            if size > 0:
                known[size] = Sample(size, time)

    def following(self, sizes: FloatArray, seconds: FloatArray) -> IntArray:
        """Return new sizes (g,); `sizes` took `seconds`."""
        if self.way == "FPM":
            self.add(sizes, seconds)
            models = [fit_model(list(known.values()), "shaped") for known in self.known]
            found = solve_sizes(models, self.n, "gpa", low=np.minimum(self.alike, self.n))
            return np.asarray(found.sizes, np.int64)
        return in_proportion(sizes / np.maximum(seconds, 1e-300), self.n)


def in_proportion(speeds: FloatArray, n: int) -> IntArray:
    """Return whole sizes (p,) of n units, one at least each, in proportion to speeds."""
    targets = speeds * (n / speeds.sum())
    return np.asarray(
        whole_sizes(n, targets, np.maximum(targets, 1.0), np.full(speeds.size, np.inf)), np.int64
    )


def sliced(
    node: EmulatedNode, rows: int, columns: int, way: str, timed: Timed, pivot: int = BLOCK
) -> tuple[IntArray, FloatArray]:
    """Return a node's slices (p,) [columns], and their true seconds (p,) (IDPA, 5.2.2).

    The node's cores are alike and get as much each, so that one model serves them all.
    """
    p, cores = node.n_devices, len(node.cores)
    groups = [group for group in (np.arange(cores), np.arange(cores, p)) if group.size]
    alike = np.array([group.size for group in groups])
    search = _Search(way, columns, alike)

    def whole(shares: IntArray) -> IntArray:
        return np.concatenate([even_sizes(int(share), int(count))
                               for share, count in zip(shares, alike, strict=True)])  # fmt: skip

    def last(values: FloatArray) -> FloatArray:
        return np.array([values[group].max() for group in groups])

    if way == "FPM" and len(groups) > 1:
        one = np.ones(p, np.int64)
        search.add(alike.astype(np.float64), last(_seen(timed(node, rows, one), rows, one, pivot)))
    sizes = even_sizes(columns, p)
    for step in range(STEPS[way] + 1):
        seconds = timed(node, rows, sizes)
        even = len(groups) == 1 or columns < p or spread(np.maximum(seconds, 1e-300)) <= INNER
        if even or step == STEPS[way]:
            break
        shares = np.array([sizes[group].sum() for group in groups], np.float64)
        following = whole(search.following(shares, last(_seen(seconds, rows, sizes, pivot))))
        if (following == sizes).all():
            break
        sizes = following
    return sizes, seconds


def divided(
    nodes: Sequence[EmulatedNode], n: int, way: str, timed: Timed | None = None
) -> DividedNodes:
    """Return a matrix of n x n over nodes, by one of WAYS (INPA, 5.2.1).

    timed: by default the emulated nodes' own seconds.
    """
    timed = timed or (lambda node, rows, columns: node.seconds(rows, columns))
    side, q = n // BLOCK, len(nodes)
    known: dict[tuple[str, int, int], tuple[float, float]] = {}

    def nodes_seconds(heights: IntArray, widths: IntArray) -> FloatArray:
        """Return (2, q): true seconds, and those seen."""
        found = np.zeros((2, q))
        sides = zip(nodes, (heights * BLOCK).tolist(), (widths * BLOCK).tolist(), strict=True)
        for i, (node, rows, columns) in enumerate(sides):
            key = node.name, rows, columns
            if rows * columns and key not in known:
                sizes, seconds = sliced(node, rows, columns, way, timed)
                known[key] = float(seconds.max()), float(_seen(seconds, rows, sizes).max())
            found[:, i] = known[key] if rows * columns else 0.0
        return found

    search = _Search(way, side * side, np.ones(q, np.int64))
    if way == "FPM":
        ones = np.ones(q, np.int64)
        search.add(ones.astype(np.float64), nodes_seconds(ones, ones)[1])
    areas, best, tried = even_sizes(side * side, q), None, set()
    for step in range(STEPS[way] + 1):
        wanted = areas.astype(np.float64)
        tiling = upright_or_lying(wanted, proportional(wanted), (side, side), BLOCK)
        seconds, seen = nodes_seconds(tiling.height, tiling.width)
        one = DividedNodes(tiling, seconds, step)
        if best is None or way != "FPM" or one.makespan < best.makespan:
            best = one
        again = tuple(tiling.areas.tolist()) in tried
        if step == STEPS[way] or again or spread(np.maximum(seconds, 1e-300)) <= EPSILON:
            break
        tried.add(tuple(tiling.areas.tolist()))
        areas = search.following(tiling.areas.astype(np.float64), seen)
    assert best is not None
    return best


def _seen(seconds: FloatArray, rows: int, columns: IntArray, pivot: int = BLOCK) -> FloatArray:
    """Return the seconds that count: of a killed benchmark those of ENTERED."""
    return np.where(np.isinf(seconds), 2.0 * rows * columns * pivot / ENTERED, seconds)
