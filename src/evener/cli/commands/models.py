"""`evener models`: compare and draw the speed models that can be fitted to a speeds file."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from evener.cli.machines import MAX_ROWS
from evener.cli.values import refuse_picture
from evener.errors import InputError, UsageError
from evener.wording import NOTHING, count, duration, percent, plural, printable

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.platforms.models.fitting import SpeedSurface
    from evener.platforms.models.samples import DeviceSpeeds
    from evener.reporting.speed_plots import DeviceFits

EXPLAINED = """columns of a file of curves:
  model             the kind of model that the file requests
  dropped           samples excluded because speeds must rise, concave, then fall
  widest +/-        largest half confidence interval of a sample, over its time
  one speed off by  largest deviation of one constant speed from the curve
  curves differ by  largest deviation of piecewise, shaped and akima from each other
  at load           the load where they differ most
  slowest, fastest  the models that predict the lowest and the highest speed there"""


class Kind(Protocol):
    """Operations on a file of curves or of surfaces; an item is a device with its models.

    noun, key: name of an item, for people and in JSON. header: columns of the table; at_load:
    further columns with --load. most_drawn: maximum number of items in one picture. which: phrase
    that states which items are drawn.
    """

    noun: str
    key: str
    header: Sequence[str]
    at_load: Sequence[str]
    most_drawn: int
    which: str

    def read(self, file: str) -> Mapping[str, Any]:
        """Return all items in the file, by name."""

    def items(self, chosen: Mapping[str, Any], file: str, out: Output) -> Mapping[str, Any]:
        """Return the chosen items that have a model; notes name the others."""

    def row(self, name: str, item: Any, load: float | None) -> list[str]:
        """Return an item's row of the table; load: the value of --load, or None."""

    def to_dict(self, name: str, item: Any, load: float | None) -> dict[str, Any]:
        """Return the row's figures, and all samples, for --json."""

    def figure(self, items: Mapping[str, Any]) -> Any:
        """Draw the items; if there are more than `most_drawn`, the most informative ones."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = EXPLAINED
    parser.add_argument("speeds", metavar="SPEEDS", help="a file of speed curves or surfaces")
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="draw samples and models, as .png or .svg: the 24 devices whose models disagree most",
    )
    parser.add_argument(
        "--device", metavar="NAME", action="append", help="only this device; may be repeated"
    )
    parser.add_argument("--load", metavar="D", type=float, help="add speed and time at this load")


def run(args: argparse.Namespace, out: Output) -> int:
    """Fit models to all samples; print and draw them."""
    if args.load is not None and not 0 < args.load < math.inf:
        raise UsageError(f"--load must be finite and above zero, not {args.load}")
    if args.plot:
        refuse_picture(args.plot, [args.speeds])
    kind = _kind_of(args.speeds)
    known = kind.read(args.speeds)
    for name in args.device or ():
        if name not in known:
            raise UsageError(f"{args.speeds} has no {kind.noun} {name!r}")
    chosen = {name: known[name] for name in args.device or known}
    items = kind.items(chosen, args.speeds, out)
    _print(kind, items, args.load, out)
    written = _drawn(kind, args.plot, items, out) if args.plot else []
    described = [kind.to_dict(name, item, args.load) for name, item in items.items()]
    out.result({kind.key: described, "written": written})
    return 0


def _kind_of(file: str) -> Kind:
    from evener.io.machines.surfaces import holds_surfaces

    return SurfaceKind() if holds_surfaces(file) else CurveKind()


def _print(kind: Kind, items: Mapping[str, Any], load: float | None, out: Output) -> None:
    header = [*kind.header, *(() if load is None else kind.at_load)]
    rows = [kind.row(name, item, load) for name, item in items.items()]
    out.table(header, rows, most=MAX_ROWS, what=f"{kind.noun}s")


def _drawn(kind: Kind, path: str, items: Mapping[str, Any], out: Output) -> list[str]:
    from evener.reporting.plots import save_figure

    with out.progress("Drawing") as progress:
        progress(kind.key, 0.1)
        save_figure(path, kind.figure(items))
    if len(items) > kind.most_drawn:
        shown = kind.which.format(kind.most_drawn, len(items))
        out.note(f"note: {path} shows {shown}; --device chooses others")
    out.say(f"Written: {path}")
    return [path]


class CurveKind:
    """Devices of a file of speed curves."""

    noun, key = "device", "devices"
    header: Sequence[str] = (
        *("device", "samples", "loads", "capacity", "model", "dropped", "widest +/-"),
        *("one speed off by", "curves differ by", "at load", "slowest, fastest"),
    )
    at_load: Sequence[str] = ("speed", "time")
    most_drawn, which = 24, "the {} of {} devices whose models disagree most"

    def read(self, file: str) -> Mapping[str, DeviceSpeeds]:
        """Return all devices by name."""
        from evener.io.machines.speeds import read_speeds

        return {device.name: device for device in read_speeds(file)}

    def items(
        self, chosen: Mapping[str, DeviceSpeeds], file: str, out: Output
    ) -> Mapping[str, DeviceFits]:
        """Return the fits of devices with samples; raises InputError if no device has any."""
        from evener.reporting.speed_plots import DeviceFits

        fits = {name: DeviceFits(device) for name, device in chosen.items() if device.samples}
        for device in chosen.values():
            _note_samples(device, out)
        if not fits:
            raise InputError("no device has a sample", file=file)
        return fits

    def row(self, name: str, item: DeviceFits, load: float | None) -> list[str]:
        """Return the range of the samples, and how far the models agree."""
        device, worst = item.device, item.worst()
        loads = sorted(sample.load for sample in device.samples)
        agree = worst.share < 5e-4
        added: tuple[str, ...] = ()
        if load is not None:
            added = f"{item.chosen.speed(load):,.6g}", duration(item.chosen.time(load))
        return [
            name,
            count(len(device.samples)),
            f"{count(loads[0])} to {count(loads[-1])}",
            NOTHING if math.isinf(device.capacity) else count(device.capacity),
            device.model,
            count(len(item.dropped)),
            percent(item.uncertainty or None),
            percent(item.worst(("constant", "piecewise")).share),
            percent(worst.share),
            NOTHING if agree else count(round(worst.load)),
            NOTHING if agree else f"{worst.lowest}, {worst.highest}",
            *added,
        ]

    def to_dict(self, name: str, item: DeviceFits, load: float | None) -> dict[str, Any]:
        """Return the figures and all samples."""
        device, constant = item.device, item.worst(("constant", "piecewise"))
        values: dict[str, Any] = {
            "name": name,
            "model": device.model,
            "capacity": None if math.isinf(device.capacity) else device.capacity,
            "samples": [[s.load, s.seconds] for s in device.samples],
            "slower": [s.load for s in device.samples if s.status == "slower"],
            "dropped": [s.load for s in item.dropped],
            "uncertainty": item.uncertainty,
            "disagreement": item.worst()._asdict(),
            "constant_off": {"load": constant.load, "share": constant.share},
        }
        if load is not None:
            seconds = {kind: model.time(load) for kind, model in item.models.items()}
            values["at_load"] = {
                "load": load,
                "speed": {kind: model.speed(load) for kind, model in item.models.items()},
                "seconds": {kind: None if math.isinf(s) else s for kind, s in seconds.items()},
            }
        return values

    def figure(self, items: Mapping[str, DeviceFits]) -> Any:
        """Draw the devices whose models disagree most."""
        from evener.reporting.speed_plots import draw_fits, most_disputed

        return draw_fits(most_disputed(list(items.values()), self.most_drawn))


def _note_samples(device: DeviceSpeeds, out: Output) -> None:
    """Print notes on a device without samples, or with stopped ones."""
    from evener.platforms.models.fitting import SLOWER

    if not device.samples:
        out.note(f"note: {printable(device.name)} has no samples, and therefore no model")
    stopped = sum(sample.status == "slower" for sample in device.samples)
    if stopped:
        of = plural(len(device.samples), "sample")
        were = "was" if stopped == 1 else "were"
        out.note(
            f"note: {printable(device.name)}: {stopped} of {of} {were} stopped "
            f"before they were done; models count {SLOWER:g} times their seconds"
        )


class SurfaceKind:
    """Devices of a file of speed surfaces."""

    noun, key = "surface", "surfaces"
    header: Sequence[str] = ("device", "heights", "widths", "capacity", "slowest /s", "fastest /s",
              "shape matters")  # fmt: skip
    at_load: Sequence[str] = ("speed of its square", "time")
    most_drawn, which = 12, "the first {} of {} surfaces"

    def read(self, file: str) -> Mapping[str, SpeedSurface]:
        """Return all surfaces by name."""
        from evener.io.machines.surfaces import read_surfaces

        return read_surfaces(file)

    def items(
        self,
        chosen: Mapping[str, SpeedSurface],
        file: str,  # noqa: ARG002
        out: Output,  # noqa: ARG002
    ) -> Mapping[str, SpeedSurface]:
        """Return all chosen surfaces."""
        return chosen

    def row(self, name: str, item: SpeedSurface, load: float | None) -> list[str]:
        """Return the grid, the range of speeds, and how much a rectangle's shape matters."""
        added: tuple[str, ...] = ()
        if load is not None:
            side = math.sqrt(load)
            added = f"{item.speed(side, side):,.6g}", duration(item.time(side, side))
        return [
            name,
            *(f"{x.size}: {count(x[0])} to {count(x[-1])}" for x in (item.heights, item.widths)),
            NOTHING if math.isinf(item.capacity) else count(item.capacity),
            f"{item.speeds.min():,.6g}",
            f"{item.speeds.max():,.6g}",
            percent(shape_share(item)),
            *added,
        ]

    def to_dict(self, name: str, item: SpeedSurface, load: float | None) -> dict[str, Any]:
        """Return the figures and all speeds."""
        values: dict[str, Any] = {
            "name": name,
            "heights": item.heights.tolist(),
            "widths": item.widths.tolist(),
            "speeds": item.speeds.tolist(),
            "capacity": None if math.isinf(item.capacity) else item.capacity,
            "shape_matters": shape_share(item),
        }
        if load is not None:
            side = math.sqrt(load)
            seconds = item.time(side, side)
            values["at_load"] = {
                "load": load,
                "speed": item.speed(side, side),
                "seconds": None if math.isinf(seconds) else seconds,
            }
        return values

    def figure(self, items: Mapping[str, SpeedSurface]) -> Any:
        """Draw the first `most_drawn` surfaces, in two panels each."""
        from evener.reporting.speed_plots import draw_surfaces

        return draw_surfaces(dict(list(items.items())[: self.most_drawn]))


def shape_share(surface: SpeedSurface) -> float:
    """Return the largest relative difference of speed between a rectangle and the square of its
    area.

    The maximum is over the grid points whose square lies within the grid. If it is small, a speed
    curve over the area suffices.
    """
    import numpy as np

    sides = np.sqrt(np.outer(surface.heights, surface.widths))
    ends = [(x[0], x[-1]) for x in (surface.heights, surface.widths)]
    inside = (sides >= max(low for low, _ in ends)) & (sides <= min(high for _, high in ends))
    if not inside.any():
        return 0.0
    ratio = surface.speeds[inside] / surface.speed(sides[inside], sides[inside])
    return float(np.maximum(ratio, 1 / ratio).max() - 1)
