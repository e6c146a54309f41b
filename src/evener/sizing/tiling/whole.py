"""Tilings in whole blocks with the least max(area / target): by columns, by cuts, along a tree.

At scale T every device may take the blocks that it can do in T times the finish time of the
targets. The least feasible T is found by bisection, with relative precision 1e-6. Columns: the
devices of a column of width w cover all rows if their whole heights, floor(blocks / w), add up to
the number of rows; T is feasible if the widest such columns add up to the width of the matrix.
Cuts: for each part and each width, the greatest height that the part's devices can cover is
computed. For parts on top of each other these heights are added; for parts side by side the widths
are added.

Along the platform's tree the matrix is divided among nodes first, then among the devices of each
node; the tree may have any depth. The devices of a node fill one rectangle, so they share the data
that the node receives ([Cla14]_, 5.2: columns for the nodes, slices for the devices of a node).
Within a node, devices get a tiling by columns too, or slices of full height, as in [Cla14]_.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector
from evener.errors import InfeasibleError, UsageError
from evener.plans.tiling import Tiling
from evener.sizing.equal_finish import halved
from evener.sizing.rounding import whole_sizes
from evener.sizing.tiling.cuts import Columns, Cut, best_columns, columns_half_perimeter

PRECISION = 1e-6  # relative precision of the scale
MAX_AREA = 2.0**60  # limit on the blocks of one device, so that sums are finite
MAX_BLOCKS = 1 << 14  # limit per side, for cuts: a height is stored for every width of every part

# Function of a scale, which is 1 at the targets, that returns the blocks (p,) each device may take.
Allowed = Callable[[float], FloatArray]


def proportional(targets: FloatArray, caps: FloatArray | None = None) -> Allowed:
    """Return `allowed` for constant speeds: targets (p,) x scale, at most caps (p,) [blocks]."""
    most = np.full(targets.size, MAX_AREA) if caps is None else np.minimum(caps, MAX_AREA)
    return lambda scale: np.minimum(targets * scale, most)


def whole_columns(
    columns: Columns, targets: FloatArray, allowed: Allowed, shape: tuple[int, int], block: int = 1
) -> Tiling:
    """Return the tiling in whole blocks with the least scale that is possible with these columns.

    columns: the devices of each column from top to bottom; devices in no column get nothing.
    targets (p,) [blocks]: areas are as near to these as the scale allows. Raises InfeasibleError if
    the columns cannot cover the matrix at any scale.
    """
    rows, width = shape
    if not columns:
        raise InfeasibleError(
            "no device's share is a whole block: the devices' speeds or memories differ too much",
            hint="Leave devices out, or choose smaller blocks.",
        )
    flat, starts = np.concatenate(columns), np.cumsum([0, *[c.size for c in columns[:-1]]])

    def widest(scale: float) -> npt.NDArray[np.int64]:
        return _widest(np.floor(allowed(scale)[flat]), starts, rows, width)

    scale = least_scale(lambda s: int(widest(s).sum()) >= width, allowed)
    ideal = np.add.reduceat(targets[flat], starts)
    widths = nearest_whole(ideal * (width / ideal.sum()), widest(scale), width)
    most = allowed(scale)
    top, left, height, wide = np.zeros((4, targets.size), np.int64)
    edge = 0
    for column, w in zip(columns, widths.tolist(), strict=True):
        if w == 0:
            continue
        own = targets[column]
        heights = whole_sizes(rows, own * (rows / own.sum()), own, np.floor(most[column] / w))
        height[column], wide[column], left[column] = heights, w, edge
        top[column] = np.cumsum(heights) - heights
        edge += w
    empty = height == 0
    top[empty] = left[empty] = wide[empty] = 0
    return Tiling(shape, top, left, height, wide, block)


def least_scale(feasible: Callable[[float], bool], allowed: Allowed) -> float:
    """Return the least feasible scale, with relative precision PRECISION.

    All scales above a feasible one must be feasible too. Raises InfeasibleError if no scale is.
    """
    if not feasible(MAX_AREA):
        total = float(np.floor(allowed(MAX_AREA)).sum())
        raise InfeasibleError(
            f"the devices can take {total:,.0f} blocks in total, but no whole rows and columns of "
            "these blocks were found that cover the matrix",
            hint="Use smaller blocks, or give the devices more memory.",
        )
    late = 1.0
    while not feasible(late):
        late *= 2
    early = 0.0 if late == 1.0 else late / 2
    return halved(feasible, early, late, PRECISION)[1]


def _widest(
    blocks: FloatArray, starts: npt.NDArray[np.int64], rows: int, width: int
) -> npt.NDArray[np.int64]:
    """Return for each column the largest width (c,) at which its devices still cover all rows."""
    sizes = np.diff(np.append(starts, blocks.size))
    low, high = np.zeros(starts.size, np.int64), np.full(starts.size, width, np.int64)
    while (low < high).any():
        middle = (low + high + 1) // 2
        heights = np.floor(blocks / np.repeat(np.maximum(middle, 1), sizes))
        covered = np.add.reduceat(heights, starts) >= rows
        low, high = np.where(covered, middle, low), np.where(covered, high, middle - 1)
    return low


def nearest_whole(
    ideal: FloatArray, most: npt.NDArray[np.int64] | int, total: int
) -> npt.NDArray[np.int64]:
    """Return whole widths (c,) near `ideal` that sum to `total`, each at most `most`."""
    widths = np.minimum(np.floor(ideal).astype(np.int64), most)
    while (left := total - int(widths.sum())) > 0:
        room = np.flatnonzero(widths < most)
        lacking = room[np.argsort(widths[room] - ideal[room], kind="stable")[:left]]
        widths[lacking] += 1
    return widths


def whole_cuts(
    tree: Cut | int, targets: FloatArray, allowed: Allowed, shape: tuple[int, int], block: int = 1
) -> Tiling:
    """Return the tiling in whole blocks with the least scale that is possible with these cuts.

    tree: the cuts. The other arguments are those of `whole_columns`. Raises UsageError for a matrix
    of more than MAX_BLOCKS blocks per side, InfeasibleError if caps permit no solution.
    """
    if max(shape) > MAX_BLOCKS:
        raise UsageError(
            f"guillotine cuts work for at most {MAX_BLOCKS:,} blocks per side, not {max(shape):,}",
            hint="Use larger blocks, or columns (br).",
        )
    rows, width = shape

    def feasible(scale: float) -> bool:
        return bool(_Part(tree, np.floor(allowed(scale)), shape).heights[width] >= rows)

    scale = least_scale(feasible, allowed)
    boxes = np.zeros((4, targets.size), np.int64)
    _place(_Part(tree, np.floor(allowed(scale)), shape), targets, (0, 0, rows, width), boxes)
    top, left, height, wide = boxes
    return Tiling(shape, top, left, height, wide, block)


class _Part:
    """The largest rectangles that the devices of a part of the tree can cover.

    heights[w]: largest height at width w; widths[h]: largest width at height h. heights[0] and
    widths[0] are the height and width of the matrix.
    """

    def __init__(self, tree: Cut | int, blocks: FloatArray, shape: tuple[int, int]) -> None:
        self.tree = tree
        rows, width = shape
        if isinstance(tree, int):
            across = np.arange(1, width + 1)
            self.heights = np.concatenate([[rows], np.minimum(blocks[tree] // across, rows)])
            self.heights = self.heights.astype(np.int64)
            self.widths = _inverse(self.heights, rows)
            return
        self.first = _Part(tree.first, blocks, shape)
        self.second = _Part(tree.second, blocks, shape)
        if tree.beside:
            self.widths = np.minimum(self.first.widths + self.second.widths, width)
            self.heights = _inverse(self.widths, width)
        else:
            self.heights = np.minimum(self.first.heights + self.second.heights, rows)
            self.widths = _inverse(self.heights, rows)


def _inverse(values: IntVector, most: int) -> IntVector:
    """Return for each y in 0..most the largest index x with values[x] >= y.

    values: in descending order.
    """
    return np.searchsorted(-values, -np.arange(most + 1), side="right").astype(np.int64) - 1


def _place(
    part: _Part, targets: FloatArray, box: tuple[int, int, int, int], boxes: IntVector
) -> None:
    """Divide `box` among the devices of a part, near their targets; store the result in `boxes`.

    box: (top, left, height, width). boxes (4, p): the same for each device.
    """
    top, left, height, width = box
    if isinstance(part.tree, int):
        boxes[:, part.tree] = box if height * width else 0
        return
    share = _total(part.tree.first, targets) / _total(part.tree, targets)
    if part.tree.beside:
        most = int(part.first.widths[height]), int(part.second.widths[height])
        w = _clipped(width * share, width, *most)
        _place(part.first, targets, (top, left, height, w), boxes)
        _place(part.second, targets, (top, left + w, height, width - w), boxes)
    else:
        most = int(part.first.heights[width]), int(part.second.heights[width])
        h = _clipped(height * share, height, *most)
        _place(part.first, targets, (top, left, h, width), boxes)
        _place(part.second, targets, (top + h, left, height - h, width), boxes)


def _clipped(ideal: float, total: int, most_first: int, most_second: int) -> int:
    return max(min(round(ideal), most_first), total - most_second)


def _total(tree: Cut | int, targets: FloatArray) -> float:
    if isinstance(tree, int):
        return float(targets[tree])
    return _total(tree.first, targets) + _total(tree.second, targets)


Place = tuple[str, ...]


def upright_or_lying(
    targets: FloatArray, allowed: Allowed, shape: tuple[int, int], block: int = 1
) -> Tiling:
    """Return BR's columns in whole blocks, or rows if these have a smaller half-perimeter.

    targets (p,) [blocks], zero for devices that get nothing.
    """
    used = np.flatnonzero(targets > 0)
    ways = []
    for sides in (shape, shape[::-1]):
        columns = [used[column] for column in best_columns(targets[used], sides)]
        ways.append((columns_half_perimeter(targets, columns, sides), columns, sides))
    lying = ways[1][0] < ways[0][0] * (1 - 1e-12)
    _, columns, sides = ways[lying]
    tiling = whole_columns(columns, targets, allowed, sides, block)
    return tiling.transposed() if lying else tiling


def along_the_tree(
    targets: FloatArray,
    allowed: Allowed,
    shape: tuple[int, int],
    places: Sequence[Place],
    *,
    slices: bool = False,
    block: int = 1,
) -> Tiling:
    """Return a tiling in which the devices of each place fill one rectangle, at all levels.

    places: the place of each device, from the top of the tree down, for example ("node0",
    "socket1"). slices: cut the rectangle of each lowest place into columns of one device. The other
    arguments, and the InfeasibleError, are those of `whole_columns`.
    """
    boxes = np.zeros((4, targets.size), np.int64)

    def divide(devices: npt.NDArray[np.int64], depth: int, box: tuple[int, int, int, int]) -> None:
        """Divide (top, left, height, width) among devices that are grouped at this depth next."""
        top, left, height, width = box
        if height * width == 0:
            return
        groups = _groups(devices, depth, places)
        while len(groups) == 1 and devices.size > 1 and groups[0].size > 1:
            depth += 1
            groups = _groups(devices, depth, places)
        wanted = np.array([targets[group].sum() for group in groups])
        wanted *= height * width / wanted.sum()

        def of_groups(scale: float) -> FloatArray:
            blocks = np.floor(allowed(scale))
            return np.array([blocks[group].sum() for group in groups])

        sides = (height, width)
        if slices and all(group.size == 1 for group in groups):
            columns = [np.array([g]) for g in range(len(groups))]
            inner = whole_columns(columns, wanted, of_groups, sides)
        else:
            inner = upright_or_lying(wanted, of_groups, sides)
        parts = np.stack([inner.top + top, inner.left + left, inner.height, inner.width])
        for group, part in zip(groups, parts.T.tolist(), strict=True):
            if group.size == 1:
                boxes[:, group[0]] = part if part[2] * part[3] else 0
            else:
                divide(group, depth + 1, (part[0], part[1], part[2], part[3]))

    divide(np.flatnonzero(targets > 0), 0, (0, 0, *shape))
    top, left, height, width = boxes
    return Tiling(shape, top, left, height, width, block)


def _groups(
    devices: npt.NDArray[np.int64], depth: int, places: Sequence[Place]
) -> list[npt.NDArray[np.int64]]:
    """Return devices grouped by their place at this depth.

    A device whose place has fewer levels is a group by itself.
    """
    found: dict[object, list[int]] = {}
    for device in devices.tolist():
        place = places[device]
        found.setdefault(place[depth] if depth < len(place) else device, []).append(device)
    return [np.array(group) for group in found.values()]
