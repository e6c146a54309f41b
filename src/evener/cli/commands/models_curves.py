"""Speed curves in `evener models`: every kind of model fitted, and where they disagree."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evener.cli.machines import safe
from evener.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evener.cli.output import Output
    from evener.platforms.models.samples import DeviceSpeeds
    from evener.reporting.speed_plots import DeviceFits


class Curves:
    """Devices of a speeds file; see evener.cli.commands.models.Kind."""

    noun, key = "device", "devices"
    # What each is: EXPLAINED in models.py, and docs/models.md.
    header: Sequence[str] = (
        *("device", "samples", "loads", "capacity", "model", "dropped", "widest +/-"),
        *("one speed off by", "curves differ by", "at load", "slowest, fastest"),
    )
    at_load: Sequence[str] = ("speed", "time")
    most_drawn, which = 24, "the {} of {} devices whose models disagree most"

    def read(self, file: str) -> Mapping[str, DeviceSpeeds]:
        """All devices by name."""
        from evener.io.machines.speeds import read_speeds

        return {device.name: device for device in read_speeds(file)}

    def items(
        self, chosen: Mapping[str, DeviceSpeeds], file: str, out: Output
    ) -> Mapping[str, DeviceFits]:
        """Fits of devices that have a sample; raises InputError where none has."""
        from evener.reporting.speed_plots import DeviceFits

        fits = {name: DeviceFits(device) for name, device in chosen.items() if device.samples}
        for device in chosen.values():
            _note(device, out)
        if not fits:
            raise InputError("no device has a sample", file=file)
        return fits

    def row(self, name: str, item: DeviceFits, load: float | None) -> list[str]:
        """What the models agree on."""
        from evener.reporting.numbers import NOTHING, count, duration, percent

        device, worst = item.device, item.worst()
        loads = sorted(sample.load for sample in device.samples)
        agree = worst.share < 5e-4
        added: tuple[str, ...] = ()
        if load is not None:
            added = f"{item.chosen.speed(load):,.6g}", duration(item.chosen.time(load))
        return [
            safe(name),
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
        """The same, with all samples."""
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
        """Panels of the devices whose models disagree most."""
        from evener.reporting.speed_plots import draw_fits, most_disputed

        return draw_fits(most_disputed(list(items.values()), self.most_drawn))


def _note(device: DeviceSpeeds, out: Output) -> None:
    """Say what a device's samples lack."""
    from evener.platforms.models.fitting import SLOWER
    from evener.reporting.numbers import plural

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
