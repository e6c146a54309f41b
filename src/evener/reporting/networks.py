"""Draw the quotient graph: a disc for each block, lines between blocks that exchange values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray
from evener.plans.plan import Plan
from evener.reporting.marks import block_colours, in_css
from evener.wording import count, plural

MARGIN = 46.0
# Max. number of blocks, width and height of a drawing; those 572 wide leave room for the bars.
SIZES = ((4, 572.0, 250.0), (8, 572.0, 340.0), (12, 572.0, 400.0), (32, 572.0, 520.0))
LARGEST = 1080.0, 660.0
MAX_LINES = 3000  # the largest exchanges; more lines would hide each other
CROWDED = 0.4  # share of pairs that exchange, from which blocks are drawn on a circle
WIDTHS = (0.7, 1.4, 2.6, 4.2, 6.5)  # of lines, thinnest first
MAX_NUMBERED, NUMBERED = 128, 8.5  # blocks up to which discs have this min. radius, for numbers
MAX_NODES = 1500
CHARACTER = 7.2  # width of a character of 12 px
MAX_APART = 300  # blocks up to which overlapping discs are pushed apart
ROW = 34.0  # height of a row of blocks that are not connected to the rest
STEPS = 60
APART_STEPS = 150
IS_BLOCK = "A disc is a block"
BETWEEN_BLOCKS = "a line joins blocks that exchange values; its width shows how many"


@dataclass(frozen=True)
class Disc:
    """The disc of a block: position, radius, colour, tooltip, label or ""."""

    x: float
    y: float
    radius: float
    colour: str
    label: str
    title: str


@dataclass(frozen=True)
class QuotientDrawing:
    """A drawing `width` x `height`: one path for each line width, discs over them, the caption.

    colours (k,): of all blocks, in CSS notation. key: number and device of each block that is
    labelled by its number for lack of space.
    """

    width: int
    height: int
    lines: list[tuple[float, str]]
    nodes: list[Disc]
    caption: str
    colours: list[str]
    key: list[tuple[int, str]]


class Joined(NamedTuple):
    """The blocks to draw, and the values that they exchange.

    numbers (b,): their numbers among all k; u, v: the pairs that exchange, as indices of these
    blocks; between: values that each pair exchanges; weights (b,); names, colours (k,); titles
    (b,).
    """

    numbers: IntArray
    u: IntArray
    v: IntArray
    between: npt.NDArray[Any]
    weights: FloatArray
    names: Sequence[str]
    colours: list[str]
    titles: Sequence[str]


def draw_network(plan: Plan) -> QuotientDrawing | None:
    """Return the quotient graph of a plan's non-empty blocks; None if there are too many."""
    used = np.flatnonzero(plan.certificate.vertices > 0)
    if used.size > MAX_NODES:
        return None
    u, v, between = _joined(plan)
    exchange, clock = plan.evaluation.exchange, plan.prediction.clock
    colours = in_css(block_colours(plan.platform.k, exchange.sender, exchange.receiver))
    titles = [
        f"{plan.platform.names[b]}: weight {count(float(plan.certificate.weights[b]))}, "
        f"{plural(int(plan.certificate.neighbours[b]), 'neighbour')}, "
        f"{clock(float(plan.prediction.ends[b]))}"
        for b in used.tolist()
    ]
    u, v = np.searchsorted(used, u), np.searchsorted(used, v)
    weights = plan.certificate.weights[used]
    shown = Joined(used, u, v, between, weights, plan.platform.names, colours, titles)
    return draw_joined(shown, f"{IS_BLOCK}, its area the block's weight", BETWEEN_BLOCKS)


def draw_joined(shown: Joined, disc: str, line: str) -> QuotientDrawing:
    """Return a drawing of blocks; disc, line: phrases that explain a disc and a line."""
    used, u, v, between = shown.numbers, shown.u, shown.v, shown.between
    k = used.size
    size = np.array(next(((w, h) for most, w, h in SIZES if k <= most), LARGEST))
    crowded = k > 3 and u.size > CROWDED * k * (k - 1) / 2
    places = _circle(k, size) if crowded or u.size == 0 else _laid_out(k, u, v, size)
    share = shown.weights / max(float(shown.weights.max()), 1e-300)
    largest = min(0.36 * float(np.sqrt(size.prod() / k)), 44.0)
    if crowded:
        largest = min(0.8 * np.pi * (float(size[0]) - 80) / (2 * k), 40.0)
    radius = np.maximum(largest * np.sqrt(share), NUMBERED if k <= MAX_NUMBERED else 2.5)
    drawn = np.argsort(-between, kind="stable")[:MAX_LINES]
    if k <= MAX_APART:
        places = _apart(places, radius, size)
    names = shown.names
    nodes = [_node(shown, i, places[i], float(radius[i])) for i in range(k)]
    key = [(int(node.label), names[b]) for node, b in zip(nodes, used.tolist(), strict=True)
           if node.label and node.label != names[b]]  # fmt: skip
    lines = _lines(places, u[drawn], v[drawn], between[drawn])
    smallest = (radius > largest * np.sqrt(share)).any()
    disc = f"{disc}, except for the smallest" if smallest else disc
    caption = f"{disc}; {line}{_left_out(k, u.size, u.size - drawn.size)}"
    return QuotientDrawing(
        round(size[0]), round(size[1]), lines, nodes, caption, shown.colours, key
    )


def _left_out(k: int, n_lines: int, left_out: int) -> str:
    text = ""
    if left_out:
        text = f"; the {plural(left_out, 'thinnest line')} of {count(n_lines)} are left out"
    if k > MAX_APART:
        text += "; point at a disc to see its device"
    return f"{text}."


def _joined(plan: Plan) -> tuple[npt.NDArray[np.int64], ...]:
    """Return the pairs of blocks u < v that exchange, and their values in both directions."""
    exchange, k = plan.evaluation.exchange, plan.platform.k
    low = np.minimum(exchange.sender, exchange.receiver)
    high = np.maximum(exchange.sender, exchange.receiver)
    keys, inverse = np.unique(low * k + high, return_inverse=True)
    between = np.zeros(keys.size, np.int64)
    np.add.at(between, inverse, exchange.values)
    return keys // k, keys % k, between


def _circle(k: int, size: FloatArray) -> FloatArray:
    angle = 2 * np.pi * np.arange(k) / k - np.pi / 2
    reach, middle = size / 2 - MARGIN, size / 2
    if k == 1:
        return middle[None, :]
    return np.asarray(middle + np.column_stack([np.cos(angle), np.sin(angle)]) * reach)


def _laid_out(k: int, u: IntArray, v: IntArray, size: FloatArray) -> FloatArray:
    """Return positions (k, 2): the largest component laid out, other blocks in rows below it."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    joined = coo_array((np.ones(u.size), (u, v)), shape=(k, k))
    _, piece = connected_components(joined, directed=False)
    main = piece == np.argmax(np.bincount(piece))
    rest = np.flatnonzero(~main)
    width, height = size.tolist()
    in_row = int((width - 2 * MARGIN) / ROW)
    below = ROW * -(-rest.size // in_row)
    number = np.cumsum(main) - 1
    inside = main[u]
    places = np.empty((k, 2))
    room = np.array([width, max(height - below, height / 2)])
    places[main] = _stress_layout(int(main.sum()), number[u[inside]], number[v[inside]], room)
    row, column = np.divmod(np.arange(rest.size), in_row)
    places[rest] = np.column_stack([MARGIN + ROW * column, height - below + ROW * (row + 0.5)])
    return places


def _apart(places: FloatArray, radius: FloatArray, size: FloatArray) -> FloatArray:
    """Move overlapping discs apart, in small steps, within the drawing."""
    least = radius[:, None] + radius[None, :] + 3.0
    np.fill_diagonal(least, 0.0)
    edge = radius[:, None] + 2.0
    for _ in range(APART_STEPS):
        apart = places[:, None, :] - places[None, :, :]
        length = np.sqrt((apart**2).sum(axis=2))
        lacking = np.maximum(least - length, 0.0)
        if not lacking.any():
            break
        # The smaller of two discs moves more.
        share = radius[None, :] / (radius[:, None] + radius[None, :])
        push = apart / np.where(length > 0, length, 1.0)[..., None] * (lacking * share)[..., None]
        places = np.clip(places + 0.8 * push.sum(axis=1), edge, size - edge)
    return places


def _stress_layout(k: int, u: IntArray, v: IntArray, room: FloatArray) -> FloatArray:
    """Return positions (k, 2) whose distances follow the graph, by stress majorisation [GKN05]_."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path
    from scipy.spatial.distance import cdist

    graph = coo_array((np.ones(u.size), (u, v)), shape=(k, k)).tocsr()
    distance = shortest_path(graph, directed=False, unweighted=True)
    np.fill_diagonal(distance, 1.0)
    weight = distance**-2.0
    np.fill_diagonal(weight, 0.0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    inverse = np.linalg.inv(laplacian + 1.0 / k)  # regular: the ones are its null space
    places = _circle(k, np.array(LARGEST)) / 100
    np.fill_diagonal(distance, 0.0)
    for _ in range(STEPS):
        length = cdist(places, places)
        pull = weight * distance / np.where(length > 0, length, 1.0)
        places = inverse @ (pull.sum(axis=1)[:, None] * places - pull @ places)
    return _fitted(places, room)


def _fitted(places: FloatArray, size: FloatArray) -> FloatArray:
    """Return the positions rotated, longest extent horizontal, and scaled to fill the drawing."""
    centred = places - places.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    turned = centred @ axes[:, ::-1]
    # Of mirror images, take the one whose first block is on the left and above.
    turned *= np.where(turned[0] > 0, -1.0, 1.0)
    extent = np.ptp(turned, axis=0)
    room = size - 2 * MARGIN
    scale = float((room / np.maximum(extent, 1e-9)).min())
    stretch = np.minimum(room / np.maximum(extent, 1e-9) / scale, 1.6) * scale
    middle = (turned.max(axis=0) + turned.min(axis=0)) / 2
    return np.asarray((turned - middle) * stretch + size / 2)


def _lines(
    places: FloatArray, u: IntArray, v: IntArray, between: npt.NDArray[Any]
) -> list[tuple[float, str]]:  # fmt: skip
    if u.size == 0:
        return []
    step = np.sqrt(between / max(int(between.max()), 1)) * len(WIDTHS)
    width = np.clip(np.ceil(step).astype(np.int64) - 1, 0, len(WIDTHS) - 1)
    spots = [f"{x:.0f} {y:.0f}" for x, y in places.tolist()]
    paths = []
    for i, points in enumerate(WIDTHS):
        chosen = np.flatnonzero(width == i)
        pairs = zip(u[chosen].tolist(), v[chosen].tolist(), strict=True)
        text = "".join(f"M{spots[a]}L{spots[b]}" for a, b in pairs)
        if text:
            paths.append((points, text))
    return paths


def _node(shown: Joined, i: int, place: FloatArray, radius: float) -> Disc:
    b = int(shown.numbers[i])
    name = shown.names[b]
    # Numbers of that many discs would overlap.
    room = 2 * radius / CHARACTER if len(shown.names) <= MAX_APART else 0
    label = name if len(name) <= room else str(b) if len(str(b)) <= room else ""
    x, y = (round(float(c), 1) for c in place)
    return Disc(x, y, round(radius, 1), shown.colours[b], label, shown.titles[i])
