"""`evener models`: the models that a speeds file admits, where they disagree, and their plots."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evener.cli.machines import safe
from evener.errors import InputError, UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.reporting.speed_fits import DeviceFits

MAX_ROWS = 60
MAX_PANELS = 24


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the speeds file, the picture and which devices."""
    parser.add_argument("speeds", metavar="SPEEDS", help="a speeds file, or one of surfaces")
    parser.add_argument("--plot", metavar="FILE", help="draw them, as .png or .svg")
    parser.add_argument(
        "--device", metavar="NAME", action="append", help="only this one; repeatable"
    )
    parser.add_argument("--load", metavar="D", type=float, help="add speed and time at this load")


def run(args: argparse.Namespace, out: Output) -> int:
    """Fit every kind of model to every device; print, draw."""
    from evener.filing.speeds import read_speeds
    from evener.filing.surfaces import holds_surfaces
    from evener.models import SLOWER
    from evener.reporting.numbers import plural
    from evener.reporting.plots import checked_kind
    from evener.reporting.speed_fits import DeviceFits
    from evener.writing import refuse_unwritable

    if args.load is not None and not 0 < args.load < math.inf:
        raise UsageError(f"--load must be finite and above zero, not {args.load}")
    if args.plot:
        checked_kind(args.plot)
        refuse_unwritable(args.plot)
        if Path(args.plot).exists() and Path(args.plot).samefile(args.speeds):
            raise UsageError(f"{args.plot} is the speeds file; the picture needs a name of its own")
    if holds_surfaces(args.speeds):
        from evener.cli.models_surfaces import show_surfaces

        return show_surfaces(args, out)
    devices = read_speeds(args.speeds)
    if args.device:
        devices = tuple(_named(devices, name, args.speeds) for name in args.device)
    fits = [DeviceFits(device) for device in devices if device.samples]
    for device in devices:
        if not device.samples:
            out.note(f"note: {safe(device.name)} has no samples, so no model")
        stopped = sum(sample.status == "slower" for sample in device.samples)
        if stopped:
            of = plural(len(device.samples), "sample")
            were = "was" if stopped == 1 else "were"
            out.note(
                f"note: {safe(device.name)}: {stopped} of {of} {were} stopped "
                f"before they were done; models count {SLOWER:g} times their seconds"
            )
    if not fits:
        raise InputError("no device has a sample", file=args.speeds)
    _show(fits, args.load, out)
    written = _drawn(args.plot, fits, out) if args.plot else []
    out.result({"devices": [_to_dict(one, args.load) for one in fits], "written": written})
    return 0


def _named(devices: Any, name: str, file: str) -> Any:
    for device in devices:
        if device.name == name:
            return device
    raise UsageError(f"{file} has no device {name!r}")


def _drawn(path: str, fits: list[DeviceFits], out: Output) -> list[str]:
    from evener.reporting.plots import save_figure
    from evener.reporting.speed_fits import most_disputed
    from evener.reporting.speed_plots import draw_fits

    shown = most_disputed(fits, MAX_PANELS)
    with out.progress("Drawing") as progress:
        progress("models", 0.1)
        save_figure(path, draw_fits(shown))
    if len(shown) < len(fits):
        out.note(
            f"note: {path} shows the {len(shown)} of {len(fits)} devices whose models disagree "
            "most; --device chooses others"
        )
    out.say(f"Written: {path}")
    return [path]


def _show(fits: list[DeviceFits], load: float | None, out: Output) -> None:
    from evener.reporting.numbers import duration

    header = ["device", "samples", "loads", "capacity", "model", "dropped", "within",
              "constant off", "curves differ", "at load", "lowest, highest"]  # fmt: skip
    if load is not None:
        header += ["speed", "time"]
    rows = [_row(one) for one in fits[:MAX_ROWS]]
    if load is not None:
        for one, row in zip(fits, rows, strict=False):
            seconds = one.chosen.time(load)
            row += [f"{one.chosen.speed(load):,.6g}", duration(seconds)]
    if len(fits) > MAX_ROWS:
        rows.append([f"... and {len(fits) - MAX_ROWS:,} more", *[""] * (len(header) - 1)])
    out.table(header, rows)


def _row(fits: DeviceFits) -> list[str]:
    from evener.reporting.numbers import NOTHING, count, percent

    device, worst = fits.device, fits.worst()
    loads = sorted(sample.load for sample in device.samples)
    agree = worst.share < 5e-4
    return [
        safe(device.name),
        count(len(device.samples)),
        f"{count(loads[0])} to {count(loads[-1])}",
        NOTHING if math.isinf(device.capacity) else count(device.capacity),
        device.model,
        count(len(fits.dropped)),
        percent(fits.uncertainty or None),
        percent(fits.worst(("constant", "piecewise")).share),
        percent(worst.share),
        NOTHING if agree else count(round(worst.load)),
        NOTHING if agree else f"{worst.lowest}, {worst.highest}",
    ]


def _to_dict(fits: DeviceFits, load: float | None) -> dict[str, Any]:
    device, worst = fits.device, fits.worst()
    constant = fits.worst(("constant", "piecewise"))
    values: dict[str, Any] = {
        "name": device.name,
        "model": device.model,
        "capacity": None if math.isinf(device.capacity) else device.capacity,
        "samples": [[s.load, s.seconds] for s in device.samples],
        "slower": [s.load for s in device.samples if s.status == "slower"],
        "dropped": [s.load for s in fits.dropped],
        "uncertainty": fits.uncertainty,
        "disagreement": worst._asdict(),
        "constant_off": {"load": constant.load, "share": constant.share},
    }
    if load is not None:
        seconds = {kind: model.time(load) for kind, model in fits.models.items()}
        values["at_load"] = {
            "load": load,
            "speed": {kind: model.speed(load) for kind, model in fits.models.items()},
            "seconds": {kind: None if math.isinf(s) else s for kind, s in seconds.items()},
        }
    return values
