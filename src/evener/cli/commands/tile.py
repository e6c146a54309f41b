"""`evener tile`: divide a dense matrix into a rectangle for each device."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.cli.machines import (
    MAX_ROWS,
    MachineOptions,
    add_machine_options,
    curved_devices,
)
from evener.cli.options import add_options, option, options_from
from evener.cli.values import count, refuse_outputs, refuse_picture, sides
from evener.errors import UsageError
from evener.plans.tiling import Tiling
from evener.wording import printable, time_of, units

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.platforms.models.fitting import SpeedModel, SpeedSurface
    from evener.platforms.models.samples import DeviceSpeeds
    from evener.platforms.platform import Platform
    from evener.sizing.tiling.methods import Tiled


SIZES = ("exact", "gpa", "npa")
METHODS = ("auto", "kl", "br", "1.5d", "fpm-kl", "guillotine", "hierarchical")


def columns_of(text: str) -> int | list[int]:
    """Parse a number of columns, or the number of devices in each column."""
    return [count(word) for word in text.split(",")] if "," in text else count(text)


@dataclass(frozen=True)
class TileOptions:
    """How the matrix is divided, and the outputs; columns: their number, or the devices in each."""

    size: str = option(
        "elements in a row and a column, or ROWSxCOLUMNS",
        required=True,
        metavar="N",
        group="matrix",
    )
    block: int = option(
        "divide into blocks of B x B elements (default 1)",
        type=count,
        default=1,
        metavar="B",
        group="matrix",
    )
    method: str = option(
        "algorithm (default auto: guillotine up to 256 devices, columns beyond)",
        choices=METHODS,
        default="auto",
    )
    columns: int | Sequence[int] | None = option(
        "kl and fpm-kl: number of columns, or of devices in each column, such as 3,2,2",
        type=columns_of,
        metavar="C",
    )
    sizes: str = option(
        "1.5d, guillotine and hierarchical: how areas are computed from speed models (default "
        "exact)",
        choices=SIZES,
        default="exact",
    )
    slices: bool = option(
        "hierarchical: each device of a node gets whole columns of the node's rectangle",
        default=False,
    )
    bytes_per_element: float = option(
        "bytes of memory for an element of A, B and C together (default 24)",
        type=float,
        default=24.0,
        metavar="B",
    )
    output: str | None = option(
        "write the first row, end row, first column and end column of each device, in elements "
        "from 0, ends exclusive",
        "-o",
        "--output",
        metavar="FILE.csv",
    )
    picture: str | None = option("draw the rectangles, as .png or .svg", metavar="FILE")
    machine: MachineOptions = field(default_factory=MachineOptions)

    def __post_init__(self) -> None:
        if self.block < 1:
            raise UsageError(f"--block must be above zero, not {self.block}")
        if not 0 < self.bytes_per_element < float("inf"):
            raise UsageError(
                f"--bytes-per-element must be above zero, not {self.bytes_per_element}"
            )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the machine, the matrix, and how it is divided."""
    add_machine_options(parser)
    add_options(parser, TileOptions)
    parser.add_argument(
        "--hierarchical",
        dest="method",
        action="store_const",
        const="hierarchical",
        help="nodes of the machine's tree first, then the devices of each: `--method hierarchical`",
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Divide the matrix; print and draw the rectangles."""
    options = options_from(args, TileOptions)
    shape = _shape(options.size)
    inputs = [options.machine.machine, options.machine.speeds]
    if options.picture is not None:
        refuse_picture(options.picture, inputs)
    refuse_outputs([name for name in (options.output, options.picture) if name], inputs)
    devices = _devices(options.machine, options.bytes_per_element * options.block**2, out)
    tiled = _tiled(options, shape, devices)
    if devices.curves:
        from evener.sizing.curved import curve_notes

        guessed = curve_notes(devices.curves, tiled.tiling.areas.tolist())
        tiled = replace(tiled, notes=(*tiled.notes, *guessed))
    _show(devices, tiled, out)
    shared = _between_nodes(devices, tiled, out)
    if options.output is not None:
        from evener.files.writing import write_text

        write_text(options.output, _csv(devices.names, tiled.tiling, shape))
        out.say(f"Written: {options.output}")
    if options.picture is not None:
        from evener.reporting.tilings import draw_tiling

        title = f"{tiled.method}: half-perimeters {tiled.ratio:.3f} of the bound"
        groups = _nodes(devices) if tiled.method == "hierarchical" else None
        draw_tiling(options.picture, tiled.tiling, devices.names, title=title, groups=groups)
        out.say(f"Written: {options.picture}")
    out.result(
        _json(devices.names, tiled, options.picture)
        | {"nodes_half_perimeter": shared, "file": options.output}
    )
    return 0


class _Devices(NamedTuple):
    """The devices as `evener tile` uses them.

    speeds: numbers, models or surfaces. places: locations in the machine's tree. curves: the
    samples. fixed [s]: of a device in use. platform: None if only a speeds file is given.
    """

    names: list[str]
    speeds: Sequence[float] | Sequence[SpeedModel] | Sequence[SpeedSurface]
    places: list[tuple[str, ...]]
    curves: Sequence[DeviceSpeeds | None] = ()
    fixed: Sequence[float] | None = None
    platform: Platform | None = None


def _devices(machine: MachineOptions, bytes_per_unit: float, out: Output) -> _Devices:
    """Return the devices; a unit is a block of the matrix, of `bytes_per_unit` bytes."""
    if machine.has_curves_alone:
        from evener.io.machines.surfaces import holds_surfaces, read_surfaces

        assert machine.speeds is not None
        if holds_surfaces(machine.speeds):
            surfaces = read_surfaces(machine.speeds)
            return _Devices(list(surfaces), list(surfaces.values()), [()] * len(surfaces))
    devices = curved_devices(machine, out).holding(bytes_per_unit)
    placed = [] if devices.platform is None else [d.at for d in devices.platform.devices]
    places = [tuple(part for part in at.split("/") if part) for at in placed]
    return _Devices(
        devices.names,
        devices.models,
        places or [()] * len(devices.names),
        devices.curves,
        devices.fixed,
        devices.platform,
    )


def _tiled(options: TileOptions, shape: tuple[int, int], devices: _Devices) -> Tiled:
    from evener.sizing.tiling.methods import tile

    if options.method == "hierarchical" and not any(devices.places):
        raise UsageError(
            "hierarchical needs the machine's tree, but no device has a place in it",
            hint="Give --machine FILE, whose devices have places: at = 'node0'.",
        )
    return tile(
        devices.speeds,
        shape,
        method=options.method,
        block=options.block,
        places=devices.places,
        n_columns=options.columns,
        slices=options.slices,
        sizes=options.sizes,
        fixed_seconds=devices.fixed,
    )


def _nodes(devices: _Devices) -> list[int]:
    """Return, for each device, the number of its top-level location."""
    tops = [
        place[0] if place else name
        for name, place in zip(devices.names, devices.places, strict=True)
    ]
    seen = {name: i for i, name in enumerate(dict.fromkeys(tops))}
    return [seen[name] for name in tops]


def _between_nodes(devices: _Devices, tiled: Tiled, out: Output) -> int | None:
    """Print and return the half-perimeters of whole nodes [blocks]; None without a tree."""
    if not any(devices.places):
        return None
    shared = int(tiled.tiling.group_half_perimeters(_nodes(devices)).sum())
    out.say(f"The nodes together need {shared:,} rows and columns of blocks in a step")
    return shared


def _shape(text: str) -> tuple[int, int]:
    found = sides(text)
    if len(found) not in (1, 2) or min(found) < 1:
        raise UsageError(
            f"--size must be N or ROWSxCOLUMNS, such as 8192 or 8192x4096, not {text!r}"
        )
    return found[0], found[-1]


def _show(devices: _Devices, tiled: Tiled, out: Output) -> None:
    if out.is_silent:
        return
    from evener.reporting.tables import RELATIVE_TIMES
    from evener.wording import signed_percent

    tiling, names, platform = tiled.tiling, devices.names, devices.platform
    ideal = None if platform is None else platform.relative_ideal(float(tiling.areas.sum()))
    whole = (tiling.top, tiling.left, tiling.height, tiling.width, tiling.areas)
    rows = []
    for i, name in enumerate(names):
        numbers = [f"{int(column[i]):,}" for column in whole]
        target = units(round(float(tiled.targets[i]), 2))
        rows.append([name, *numbers, target, time_of(float(tiled.seconds[i]), ideal)])
    columns = ["device", "top", "left", "height", "width", "blocks", "target", "time"]
    out.table(columns, rows, most=MAX_ROWS, what="devices")
    if picture := drawn(tiling, [printable(name) for name in names]):
        out.say(picture, verbatim=True)
    for note in tiled.notes:
        out.say(note)
    height, width = tiling.shape
    off = signed_percent(tiled.imbalance)
    out.say(
        f"{height:,} x {width:,} blocks of {tiling.block} by {tiled.method}: half-perimeters "
        f"{tiled.half_perimeter:,}, {tiled.ratio:.4f} of the bound; largest area "
        f"{off} of its target; all done after {time_of(tiled.makespan, ideal)}"
    )
    if ideal is not None:
        out.say(RELATIVE_TIMES)


def _csv(names: Sequence[str], tiling: Tiling, shape: tuple[int, int]) -> str:
    """Return a line for each device: its first row and column, and its end row and column."""
    from evener.io.plans.parts import quoted

    rows = zip(map(quoted, names), tiling.spans(shape).tolist(), strict=True)
    lines = (",".join(map(str, (name, *span))) for name, span in rows)
    return "\n".join(["device,first_row,end_row,first_column,end_column", *lines]) + "\n"


def _json(names: list[str], tiled: Tiled, written: str | None) -> dict[str, object]:
    tiling = tiled.tiling
    return {
        "devices": names,
        "method": tiled.method,
        "shape": list(tiling.shape),
        "block": tiling.block,
        "top": tiling.top,
        "left": tiling.left,
        "height": tiling.height,
        "width": tiling.width,
        "targets": tiled.targets,
        "seconds": tiled.seconds,
        "makespan": tiled.makespan,
        "half_perimeter": tiled.half_perimeter,
        "bound": tiling.bound(),
        "volume": tiling.volume,
        "imbalance": tiled.imbalance,
        "notes": list(tiled.notes),
        "written": written,
    }


# A drawing of the tiling in characters, for terminals.

WIDTH, HEIGHT = 56, 28  # characters at most; a character is twice as high as wide
MAX_DRAWN = 64  # rectangles; with more, names do not fit
UP, DOWN, WEST, EAST = 1, 2, 4, 8
LINES = dict(
    zip(
        (0, 3, 12, 10, 6, 9, 5, 11, 7, 14, 13, 15, 1, 2, 4, 8),
        " │─┌┐└┘├┤┬┴┼││──",
        strict=True,
    )
)


def drawn(tiling: Tiling, names: Sequence[str]) -> str:
    """Return the tiling drawn in lines of text; "" for more than MAX_DRAWN rectangles."""
    used = np.flatnonzero(tiling.areas > 0)
    if used.size > MAX_DRAWN:
        return ""
    rows, columns = tiling.shape
    across = min(WIDTH / columns, 2 * HEIGHT / rows)
    width, height = max(round(columns * across), 2), max(round(rows * across / 2), 1)
    lines = np.zeros((height + 1, width + 1), np.uint8)
    text: list[tuple[int, int, str]] = []
    for i in used.tolist():
        y0, y1 = (round(v * height / rows) for v in _span(tiling.top[i], tiling.height[i]))
        x0, x1 = (round(v * width / columns) for v in _span(tiling.left[i], tiling.width[i]))
        _outline(lines, y0, y1, x0, x1)
        room = x1 - x0 - 1
        if y1 - y0 >= 2 and room >= 1:
            name = _shortened(names[i], room, names)
            text.append(((y0 + y1) // 2, x0 + 1 + (room - len(name)) // 2, name))
    canvas = [[LINES[int(cell)] for cell in row] for row in lines]
    for y, x, name in text:
        canvas[y][x : x + len(name)] = list(name)
    return "\n".join("".join(row).rstrip() for row in canvas)


def _shortened(name: str, room: int, names: Sequence[str]) -> str:
    """Return a name that fits, shortened in its middle; "" if it would then be ambiguous."""
    if len(name) <= room:
        return name
    for head in range(min(room - 2, len(name)), -1, -1):
        tail = name[len(name) - (room - 1 - head) :]
        alike = [one for one in names if one.startswith(name[:head]) and one.endswith(tail)]
        if room >= 3 and len(alike) == 1:
            return f"{name[:head]}…{tail}"
    return ""


def _span(start: np.int64, length: np.int64) -> tuple[int, int]:
    return int(start), int(start + length)


def _outline(lines: npt.NDArray[np.uint8], y0: int, y1: int, x0: int, x1: int) -> None:
    """Draw the sides of a rectangle; the bits of a cell are the directions of its lines."""
    for y in (y0, y1):
        lines[y, x0:x1] |= EAST
        lines[y, x0 + 1 : x1 + 1] |= WEST
    for x in (x0, x1):
        lines[y0:y1, x] |= DOWN
        lines[y0 + 1 : y1 + 1, x] |= UP
