"""The quotient graph, drawn: a disc a block, a line between blocks that exchange values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.plans import Plan
from evener.reporting.colours import PALETTE, block_colours
from evener.reporting.numbers import count, duration, plural

WIDTH, HEIGHT, MARGIN = 1080.0, 660.0, 46.0
MAX_LINES = 3000  # more would be one grey spot
CROWDED = 0.4  # share of all pairs from which on a circle says more than distances
WIDTHS = (0.7, 1.4, 2.6, 4.2, 6.5)  # of lines, thinnest first
MAX_NODES = 1500
CHARACTER = 7.2  # width of a character of 12 px
MAX_APART = 300  # beyond that discs may overlap: pushing them apart takes long
ROW = 34.0  # height of a row of blocks that are not joined to the rest
STEPS = 60
APART_STEPS = 150


@dataclass(frozen=True)
class Node:
    """A block: place, radius, colour and words; the label is empty where it has no room."""

    x: float
    y: float
    radius: float
    colour: str
    label: str
    title: str


@dataclass(frozen=True)
class Network:
    """A drawing `width` x `height`: lines as one path a width, nodes over them, the caption."""

    width: int
    height: int
    lines: list[tuple[float, str]]
    nodes: list[Node]
    caption: str


def draw_network(plan: Plan) -> Network | None:
    """Return the quotient graph of a plan, or None where it has too many blocks to draw."""
    k = plan.platform.k
    if k > MAX_NODES:
        return None
    u, v, between = _joined(plan)
    crowded = k > 3 and u.size > CROWDED * k * (k - 1) / 2
    places = _circle(k) if crowded or u.size == 0 else _laid_out(k, u, v)
    share = plan.certificate.weights / max(float(plan.certificate.weights.max()), 1e-300)
    spacing = np.sqrt(WIDTH * HEIGHT / k)
    largest = min(0.36 * spacing, 44.0) if not crowded else min(0.8 * np.pi * 500 / k, 40.0)
    radius = np.maximum(largest * np.sqrt(share), 2.5)
    shown = np.argsort(-between, kind="stable")[:MAX_LINES]
    exchange = plan.evaluation.exchange
    colour = block_colours(k, exchange.sender, exchange.receiver)
    if k <= MAX_APART:
        places = _apart(places, radius)
    nodes = [_node(plan, b, places[b], float(radius[b]), int(colour[b])) for b in range(k)]
    left_out = u.size - shown.size
    caption = (
        "A disc is a block, its area the block's weight; a line joins blocks that exchange values"
        ", the wider the more"
    )
    if left_out:
        caption += f"; the {plural(left_out, 'thinnest line')} of {count(u.size)} are left out"
    if k > MAX_APART:
        caption += "; the pointer on a disc tells its device"
    lines = _lines(places, u[shown], v[shown], between[shown])
    return Network(round(WIDTH), round(HEIGHT), lines, nodes, f"{caption}.")


def _joined(plan: Plan) -> tuple[npt.NDArray[np.int64], ...]:
    """Pairs of blocks u < v that exchange, and the values both ways together."""
    exchange, k = plan.evaluation.exchange, plan.platform.k
    low = np.minimum(exchange.sender, exchange.receiver)
    high = np.maximum(exchange.sender, exchange.receiver)
    keys, inverse = np.unique(low * k + high, return_inverse=True)
    between = np.zeros(keys.size, np.int64)
    np.add.at(between, inverse, exchange.values)
    return keys // k, keys % k, between


def _circle(k: int) -> FloatArray:
    angle = 2 * np.pi * np.arange(k) / k - np.pi / 2
    reach = np.array([(WIDTH - 2 * MARGIN) / 2, (HEIGHT - 2 * MARGIN) / 2])
    middle = np.array([WIDTH / 2, HEIGHT / 2])
    if k == 1:
        return middle[None, :]
    return np.asarray(middle + np.column_stack([np.cos(angle), np.sin(angle)]) * reach)


def _laid_out(k: int, u: npt.NDArray[np.int64], v: npt.NDArray[np.int64]) -> FloatArray:
    """Places (k, 2): the largest connected piece drawn, all other blocks in rows below it."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    joined = coo_array((np.ones(u.size), (u, v)), shape=(k, k))
    _, piece = connected_components(joined, directed=False)
    main = piece == np.argmax(np.bincount(piece))
    rest = np.flatnonzero(~main)
    in_row = int((WIDTH - 2 * MARGIN) / ROW)
    below = ROW * -(-rest.size // in_row)
    number = np.cumsum(main) - 1
    inside = main[u]
    places = np.empty((k, 2))
    room = np.array([WIDTH, max(HEIGHT - below, HEIGHT / 2)])
    places[main] = _stress_layout(int(main.sum()), number[u[inside]], number[v[inside]], room)
    row, column = np.divmod(np.arange(rest.size), in_row)
    places[rest] = np.column_stack([MARGIN + ROW * column, HEIGHT - below + ROW * (row + 0.5)])
    return places


def _apart(places: FloatArray, radius: FloatArray) -> FloatArray:
    """Push discs apart that overlap, a little at a time, within the drawing."""
    least = radius[:, None] + radius[None, :] + 3.0
    np.fill_diagonal(least, 0.0)
    edge = radius[:, None] + 2.0
    for _ in range(APART_STEPS):
        apart = places[:, None, :] - places[None, :, :]
        length = np.sqrt((apart**2).sum(axis=2))
        lacking = np.maximum(least - length, 0.0)
        if not lacking.any():
            break
        # A small disc gives way to a large one, not the other way round.
        share = radius[None, :] / (radius[:, None] + radius[None, :])
        push = apart / np.where(length > 0, length, 1.0)[..., None] * (lacking * share)[..., None]
        places = np.clip(places + 0.8 * push.sum(axis=1), edge, np.array([WIDTH, HEIGHT]) - edge)
    return places


def _stress_layout(
    k: int, u: npt.NDArray[np.int64], v: npt.NDArray[np.int64], room: FloatArray
) -> FloatArray:
    """Places (k, 2) whose distances follow those in the graph, by stress majorisation [GKN05]_."""
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
    places = _circle(k) / 100
    np.fill_diagonal(distance, 0.0)
    for _ in range(STEPS):
        length = cdist(places, places)
        pull = weight * distance / np.where(length > 0, length, 1.0)
        places = inverse @ (pull.sum(axis=1)[:, None] * places - pull @ places)
    return _fitted(places, room)


def _fitted(places: FloatArray, size: FloatArray) -> FloatArray:
    """Turn the longest extent across, and scale to fill the drawing."""
    centred = places - places.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    turned = centred @ axes[:, ::-1]
    # An axis has no sign of its own: the first block stands on the left and above.
    turned *= np.where(turned[0] > 0, -1.0, 1.0)
    extent = np.ptp(turned, axis=0)
    room = size - 2 * MARGIN
    scale = float((room / np.maximum(extent, 1e-9)).min())
    stretch = np.minimum(room / np.maximum(extent, 1e-9) / scale, 1.6) * scale
    middle = (turned.max(axis=0) + turned.min(axis=0)) / 2
    return np.asarray((turned - middle) * stretch + size / 2)


def _lines(
    places: FloatArray, u: npt.NDArray[np.int64], v: npt.NDArray[np.int64],
    between: npt.NDArray[np.int64],
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


def _node(plan: Plan, b: int, place: FloatArray, radius: float, colour: int) -> Node:
    name = plan.platform.names[b]
    # Among so many discs numbers would lie over each other.
    room = 2 * radius / CHARACTER if plan.platform.k <= MAX_APART else 0
    label = name if len(name) <= room else str(b) if len(str(b)) <= room else ""
    title = (
        f"{name}: weight {count(float(plan.certificate.weights[b]))}, "
        f"{plural(int(plan.certificate.neighbours[b]), 'neighbour')}, "
        f"{duration(float(plan.prediction.seconds[b]))}"
    )
    x, y = (round(float(c), 1) for c in place)
    return Node(
        x, y, round(radius, 1), "#{:02x}{:02x}{:02x}".format(*PALETTE[colour]), label, title
    )
