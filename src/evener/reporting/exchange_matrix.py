"""The section on exchange: the matrix of values between blocks, its largest entries, volumes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.plans.plan import Plan
from evener.reporting import raster
from evener.reporting.bars import name_width
from evener.wording import count, memory, plural, ratio

MAX_NUMBERED = 32  # blocks up to which cells show their numbers
MAX_DRAWN = 256  # blocks up to which cells are drawn; of more, the matrix is an image
LEVELS = 8  # shades
MAX_TITLED = 6000  # cells up to which each has a tooltip: keeps the page small
MAX_PAIRS = 4000  # rows of the table of all exchanges
N_LARGEST = 10


@dataclass(frozen=True)
class ExchangePair:
    """One block sends `values` numbers [each iteration] to another."""

    sender: str
    receiver: str
    values: int
    size: str


@dataclass(frozen=True)
class MatrixCell:
    """A cell: shade (0: the lightest), its number as text if there is space, and tooltip."""

    row: int
    column: int
    level: int
    text: str
    title: str


@dataclass(frozen=True)
class ExchangeMatrix:
    """The drawing of the k x k matrix: rows send, columns receive.

    names (k,). cells: the entries; if there are many blocks, paths (LEVELS,), one for each shade,
    replace them; if there are still more, an image (uri) does. ranges: the values of each shade.
    largest: the largest pairs; pairs: all pairs, if there are at most MAX_PAIRS. ticks: blocks
    whose names are shown; margin [CSS px]: space for them.
    """

    k: int
    names: list[str]
    cells: list[MatrixCell]
    paths: list[str]
    uri: str | None
    ranges: list[str]
    largest: list[ExchangePair]
    pairs: list[ExchangePair]
    n_pairs: int
    ticks: list[int]
    margin: int


def exchange_matrix(plan: Plan) -> ExchangeMatrix:
    """Return the drawing of the values that each block sends to each other block per iteration."""
    exchange, k = plan.evaluation.exchange, plan.platform.k
    values = exchange.values
    level, ranges = _levels(values)
    per_value = plan.workload.bytes_per_value
    order = np.argsort(-values, kind="stable")
    cells, paths, uri = [], [], None
    if k <= MAX_DRAWN and values.size <= MAX_TITLED:
        cells = _cells(plan, level)
    elif k <= MAX_DRAWN:
        paths = [_path(exchange.sender, exchange.receiver, level == i) for i in range(LEVELS)]
    else:
        uri = _image(k, exchange.sender, exchange.receiver, level)
    everyone = order if 0 < order.size <= MAX_PAIRS else order[:0]
    return ExchangeMatrix(
        k, plan.platform.names, cells, paths, uri, ranges,
        largest=_pairs(plan, order[:N_LARGEST], per_value),
        pairs=_pairs(plan, np.sort(everyone), per_value) if order.size > N_LARGEST else [],
        n_pairs=int(values.size),
        ticks=_ticks(k),
        margin=round(16 + 6.6 * min(max(len(name) for name in plan.platform.names), 20)),
    )  # fmt: skip


def _cells(plan: Plan, level: npt.NDArray[np.int64]) -> list[MatrixCell]:
    exchange, names = plan.evaluation.exchange, plan.platform.names
    has_room = plan.platform.k <= MAX_NUMBERED
    return [
        MatrixCell(r, c, shade, _short(v) if has_room else "", f"{names[r]} to {names[c]}: {v:,}")
        for r, c, shade, v in zip(
            exchange.sender.tolist(), exchange.receiver.tolist(), level.tolist(),
            exchange.values.tolist(), strict=True,
        )
    ]  # fmt: skip


def _levels(values: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return the shade of each value, by equal steps of its square root, and each shade's range."""
    if values.size == 0 or values.max() <= 0:
        return np.zeros(values.size, np.int64), []
    largest = int(values.max())
    steps = np.ceil(largest * (np.arange(1, LEVELS + 1) / LEVELS) ** 2).astype(np.int64)
    level = np.searchsorted(steps, values)
    ranges, below = [], 0
    for step in steps.tolist():
        ranges.append(count(step) if step == below + 1 else f"{count(below + 1)} to {count(step)}")
        if step <= below:
            ranges[-1] = ""
        below = step
    return np.minimum(level, LEVELS - 1), ranges


def _path(
    rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], chosen: npt.NDArray[np.bool_]
) -> str:
    where = zip(columns[chosen].tolist(), rows[chosen].tolist(), strict=True)
    return "".join(f"M{x} {y}h1v1h-1z" for x, y in where)


def _image(
    k: int,
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    level: npt.NDArray[np.int64],
) -> str:
    """Return an image: each pixel is a pair of blocks or, of several pairs, the largest."""
    step = -(-k // 1200)
    size = -(-k // step)
    image = np.zeros((size, size), np.uint8)
    np.maximum.at(image, (rows // step, columns // step), (level + 1).astype(np.uint8))
    # Transparent if nothing is exchanged; this blue is legible on light and dark pages.
    alpha = [0, *(round(70 + 185 * i / (LEVELS - 1)) for i in range(LEVELS))]
    colours = np.array([(60, 125, 200, a) for a in alpha], np.uint8)
    return raster.data_uri(image, colours)


def _ticks(k: int) -> list[int]:
    """Return the blocks whose names label the matrix."""
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500, 10**9) if k / s <= 50)
    return list(range(0, k, step))


def _pairs(plan: Plan, chosen: npt.NDArray[np.int64], per_value: float) -> list[ExchangePair]:
    exchange, names = plan.evaluation.exchange, plan.platform.names
    return [
        ExchangePair(names[s], names[r], v, memory(v * per_value))
        for s, r, v in zip(
            exchange.sender[chosen].tolist(), exchange.receiver[chosen].tolist(),
            exchange.values[chosen].tolist(), strict=True,
        )
    ]  # fmt: skip


def _short(value: int) -> str:
    """Return a number in at most four characters: 9999, 12k, 340k, 1.2M."""
    if value < 10_000:
        return str(value)
    if value < 999_500:
        return f"{value / 1e3:.0f}k"
    return f"{value / 1e6:.1f}M" if value < 99.5e6 else f"{value / 1e6:.0f}M"


MAX_BARS = 64  # blocks with a bar: those that send most


@dataclass(frozen=True)
class VolumeBar:
    """A row of the table: block number, colour, device, volume; bar: volume / largest [%]."""

    number: int
    colour: str
    name: str
    bar: float
    text: str


@dataclass(frozen=True)
class VolumeChart:
    """The bars, largest first; mean: its position [%], and as text; blocks: non-empty ones."""

    bars: list[VolumeBar]
    mean: float
    mean_text: str
    blocks: int
    sentence: str

    @property
    def name_width(self) -> int:
        """Width of the column of names in characters."""
        return name_width(bar.name for bar in self.bars)


def volume_chart(plan: Plan, colours: Sequence[str]) -> VolumeChart | None:
    """Return the chart of the volumes of non-empty blocks, the largest first.

    None if nothing is sent. colours (k,): of the blocks in the pictures.
    """
    used = np.flatnonzero(plan.certificate.vertices > 0)
    volumes, names = plan.certificate.volumes, plan.platform.names
    most, mean = int(volumes[used].max()), float(volumes[used].mean())
    if most == 0:
        return None
    order = used[np.argsort(-volumes[used], kind="stable")]
    bars = [
        VolumeBar(b, colours[b], names[b], round(100 * float(volumes[b]) / most, 2),
                  count(int(volumes[b])))
        for b in order[:MAX_BARS].tolist()
    ]  # fmt: skip
    return VolumeChart(
        bars,
        mean=round(100 * mean / most, 2),
        mean_text=count(round(mean, 1)),
        blocks=used.size,
        sentence=f"{names[order[0]]} sends most: {count(most)} values, {ratio(most / mean)} the "
        f"mean of {plural(used.size, 'block')}",
    )
