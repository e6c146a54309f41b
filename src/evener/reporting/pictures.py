"""Draw the picture of a partition: coloured, outlined, named blocks, and enlarged parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray
from evener.reporting import raster
from evener.reporting.framing import TALLEST, Frame, Inset, with_insets
from evener.reporting.marks import OUTLINE, PALETTE, Callout, Label, place_callouts, place_labels
from evener.wording import count

# Twelve shades of each colour: ten for the light on a surface, and the last two for lines on it.
SHADES = tuple(1.0 - 0.04 * step for step in range(12))
LIT = 9
CROWD, CROWDED = 15, 0.7  # [pixels] of a neighbourhood, and its share of outlines
FLAT = 0.25  # height / width below which a picture takes the whole width of the page
LETTERS = " ABCDEFGH"
MANY = 5  # blocks that must become legible in a picture of the whole width
THIRD = 0.311  # of the page's width, less gaps
LINED = (60, 250)  # [pixels] area of cells from which their outlines are drawn, faint or clear
PAGE = 1080  # [CSS px] width of the page's content on a wide screen
COLUMN = 0.53  # width of a picture next to the bars / page width
ALONE = 0.62  # min. height / width of a part that is shown without the whole
TRIAL = 480  # [pixels] width of the trial pictures that choose which ones are shown
DOMINANT = 0.9  # share of one block from which a picture is not worth showing
SMALL_SCREEN = 330  # [CSS px] width of a picture on a phone
DESKTOP, PHONE = 13.0, 10.0  # [CSS px] height of labels


class Region(NamedTuple):
    """A box of a picture [pixels] that another picture enlarges, and the letter that names both."""

    x: float
    y: float
    width: float
    height: float
    letter: str


@dataclass(frozen=True)
class Picture:
    """One image: data: URI, size in pixels, heading, labels for wide and narrow screens.

    css_width: width on a wide screen [CSS px]. regions: parts that other pictures enlarge.
    """

    uri: str
    width: int
    height: int
    title: str
    labels: tuple[Label, ...]
    few_labels: tuple[Label, ...]
    font: float
    large_font: float
    css_width: int
    regions: tuple[Region, ...] = ()
    callouts: tuple[Callout, ...] = ()
    few_callouts: tuple[Callout, ...] = ()

    @property
    def texts(self) -> set[tuple[int, str]]:
        """Block and text of every label, for all screen widths."""
        labels = (*self.labels, *self.few_labels)
        callouts = (*self.callouts, *self.few_callouts)
        return {(one.block, one.text) for one in labels} | {
            (one.block, one.text) for one in callouts
        }


@dataclass(frozen=True)
class Blocks:
    """Data for pictures: part (n,), colour (k,) and name of each block; the pictures' widths.

    differ: whether blocks that exchange values have different colours. wide, half [pixels]: widths
    of a picture over the whole page, and of one of two in a row. beside: whether a single picture
    leaves room for the bars.
    """

    part: npt.NDArray[np.int32]
    colour: npt.NDArray[np.uint8]
    names: list[str]
    differ: bool
    wide: int
    half: int
    beside: bool = True

    @property
    def density(self) -> float:
        """Image pixels per CSS pixel of a wide screen."""
        return self.wide / PAGE


def draw_with_insets(
    cells: Callable[[Frame], raster.Ids],
    whole: Frame,
    sites: tuple[FloatArray, IntArray],
    blocks: Blocks,
    *,
    name: str = "The whole",
    least: int = 2,
) -> tuple[Picture, ...]:
    """Draw the whole, and enlarged parts; sites: positions (t, 2) and their vertices.

    least: minimum number of small blocks in an enlarged part. A picture that shows little more than
    one block is left out if other pictures name all its blocks.
    """
    places, vertex = sites
    insets = with_insets(whole, places, blocks.part[vertex], len(blocks.names), least)
    kept, around = _worth_showing(cells, insets, blocks)
    parents = [_nearest_kept(insets, i, kept) for i in kept]
    widths = _widths([insets[i].gained for i in kept], whole, blocks)
    tallest = max(whole.height / whole.width, TALLEST) if len(kept) == 1 else TALLEST
    shown = [insets[i].frame for i in kept]
    if len(kept) == 1 and kept[0]:
        shown = [shown[0].heightened(ALONE)]
    frames = [frame.fitted(w, tallest) for frame, w in zip(shown, widths, strict=True)]
    letters = {i: LETTERS[number] for number, i in enumerate(
        [i for i, parent in zip(kept, parents, strict=True) if parent >= 0], start=1)}  # fmt: skip
    pictures = []
    for i, frame in zip(kept, frames, strict=True):
        times = _times(insets[0].frame.fitted(frame.width), frame)
        title = f"{letters[i]}, enlarged {times}" if i in letters else name
        if i and i not in letters:
            title = f"Enlarged {times}: where blocks meet. Everything around is on {around}"
        regions = [
            _region(frame, frames[j], letters[inner])
            for j, (inner, parent) in enumerate(zip(kept, parents, strict=True)) if parent == i
        ]  # fmt: skip
        pictures.append(draw_blocks(title, cells(frame), blocks, regions=tuple(regions)))
    return tuple(pictures)


def _worth_showing(
    cells: Callable[[Frame], raster.Ids], insets: list[Inset], blocks: Blocks
) -> tuple[list[int], str]:
    """Return the indices of pictures to show, and the device whose block dominates the first."""
    if len(insets) == 1:
        return [0], ""
    named, dominant = [], []
    for inset in insets:
        ids = cells(inset.frame.fitted(TRIAL))
        part = np.where(ids >= 0, blocks.part[ids], -1).astype(np.int32)
        labels = place_labels(part, blocks.names, DESKTOP)
        callouts = place_callouts(part, blocks.names, DESKTOP, labels)
        named.append({one.block for one in labels} | {one.block for one in callouts})
        areas = np.bincount(part[part >= 0], minlength=1)
        dominant.append(int(areas.argmax()) if areas.max() > DOMINANT * areas.sum() else -1)
    kept = list(range(len(insets)))
    for i in kept.copy():
        others = set().union(*(named[j] for j in kept if j != i))
        passed = any(inset.parent == i for inset in insets[1:])
        little = dominant[i] >= 0 or (i > 0 and (passed or len(named[i]) < MANY))
        if named[i] <= others and len(kept) > 1 and little:
            kept.remove(i)
    return kept, blocks.names[dominant[0]] if dominant[0] >= 0 else ""


def _nearest_kept(insets: list[Inset], i: int, kept: list[int]) -> int:
    """Return the kept picture of which this one enlarges a part; -1 if none."""
    parent = insets[i].parent
    while parent >= 0 and parent not in kept:
        parent = insets[parent].parent
    return parent


def _leaves_room(whole: Frame, blocks: Blocks) -> bool:
    return blocks.beside and whole.height >= whole.width * FLAT


def draw_blocks(
    title: str,
    cells: raster.Ids,
    blocks: Blocks,
    *,
    shade: npt.NDArray[np.int64] | None = None,
    regions: tuple[Region, ...] = (),
    lined: bool = True,
) -> Picture:
    """Colour an image of vertex numbers, outline its blocks, find positions for their names."""
    part = np.where(cells >= 0, blocks.part[cells], -1).astype(np.int32)
    height, width = cells.shape
    level = np.zeros(cells.shape, np.int64) if shade is None else shade
    if lined:
        level = level + _cell_lines(cells)
    image = 2 + blocks.colour[part].astype(np.int64) * len(SHADES) + level
    image[part < 0] = 0
    image[_drawn(raster.outlines_of(part))] = 1
    boxes = [(r.x, r.y, r.width, r.height) for r in regions]
    font, large_font = blocks.density * DESKTOP, width / SMALL_SCREEN * PHONE
    labels, few_labels = (place_labels(part, blocks.names, f, boxes) for f in (font, large_font))
    callouts, few_callouts = (
        place_callouts(part, blocks.names, f, own, boxes)
        for f, own in ((font, labels), (large_font, few_labels))
    )
    return Picture(
        raster.data_uri(image.astype(np.uint8), _colour_table()), width, height, title,
        labels=labels, few_labels=few_labels, callouts=callouts, few_callouts=few_callouts,
        font=round(font, 1), large_font=round(large_font, 1),
        css_width=round(width / blocks.density), regions=regions,
    )  # fmt: skip


def _widths(gained: list[int], whole: Frame, blocks: Blocks) -> list[int]:
    """Return the widths [pixels] of pictures: those where most blocks become legible are wide."""
    if len(gained) == 1 and _leaves_room(whole, blocks):
        return [round(blocks.wide * COLUMN)]
    if len(gained) == 1 or whole.height < whole.width * FLAT:
        return [whole.width] * len(gained)
    if len(gained) == 2:
        return [blocks.half, blocks.half]
    widths = [round(blocks.wide * THIRD) if len(gained) > 3 else blocks.half] * len(gained)
    if max(gained) >= MANY:
        widths[gained.index(max(gained))] = blocks.wide
    return widths


def _times(whole: Frame, frame: Frame) -> str:
    times = (whole.x1 - whole.x0) / (frame.x1 - frame.x0)
    return f"{count(round(times))}x"


def _region(frame: Frame, part: Frame, letter: str) -> Region:
    x, y = (part.x0 - frame.x0) * frame.scale, (frame.y1 - part.y1) * frame.scale
    w, h = (part.x1 - part.x0) * frame.scale, (part.y1 - part.y0) * frame.scale
    least = frame.width / 60  # smaller regions would be invisible
    grow_x, grow_y = max(0.0, least - w) / 2, max(0.0, least - h) / 2
    left, top = max(x - grow_x, 1.0), max(y - grow_y, 1.0)
    right, bottom = min(x + w + grow_x, frame.width - 1.0), min(y + h + grow_y, frame.height - 1.0)
    return Region(
        round(left, 1), round(top, 1), round(right - left, 1), round(bottom - top, 1), letter
    )


def _drawn(outlines: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return the outlines, except where they are so dense that they would hide the colours."""
    from scipy import ndimage

    crowd = ndimage.uniform_filter(outlines.astype(np.float32), CROWD)
    return np.asarray(outlines & (crowd < CROWDED))


def _cell_lines(cells: raster.Ids) -> npt.NDArray[np.int64]:
    """Return by how many shades pixels on outlines of large cells are darkened."""
    area = np.bincount(cells[cells >= 0], minlength=1)[cells]
    steps = (area > LINED[0]).astype(np.int64) + (area > LINED[1])
    return np.where(raster.edges_of(cells), steps, 0)


def _colour_table() -> npt.NDArray[np.uint8]:
    rows = [(0, 0, 0, 0), (*OUTLINE, 255)]
    for r, g, b in PALETTE:
        rows += [(round(r * s), round(g * s), round(b * s), 255) for s in SHADES]
    return np.array(rows, np.uint8)
