"""The devices of a file of speed curves, alone or on a machine that says where they are."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from evener.cli.machines import is_speeds_file, machine_of

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.models import SpeedModel
    from evener.platforms import Platform
    from evener.samples import DeviceSpeeds


class CurvedDevices(NamedTuple):
    """k devices: names, models, and the curve of each; None where it has one speed.

    fixed: [s], what taking part costs each in every iteration. platform: where they are, None
    where a file of curves stood alone.
    """

    names: list[str]
    models: Sequence[SpeedModel]
    curves: Sequence[DeviceSpeeds | None]
    fixed: list[float]
    platform: Platform | None

    def holding(self, bytes_per_unit: float) -> CurvedDevices:
        """The same, no model with more capacity than its device's memory holds."""
        from evener.models import capped
        from evener.sizing.memory_capped import unit_capacities

        if self.platform is None:
            return self
        most = unit_capacities(self.platform, bytes_per_unit).tolist()
        models = [capped(model, room) for model, room in zip(self.models, most, strict=True)]
        return self._replace(models=models)


def curved_devices(args: argparse.Namespace, out: Output) -> CurvedDevices:
    """Read --speeds FILE, with --machine where it is given, or a machine alone."""
    from evener.curved_platforms import models_of
    from evener.filing.speeds import read_speeds
    from evener.models import fit_device

    if args.machine is None and args.k is None and is_speeds_file(args.speeds):
        curves = read_speeds(args.speeds)
        fixed = [curve.fixed_seconds for curve in curves]
        models = [fit_device(curve) for curve in curves]
        return CurvedDevices([curve.name for curve in curves], models, curves, fixed, None)
    platform = machine_of(args, out)
    own, fixed = [device.curve for device in platform.devices], platform.fixed_seconds.tolist()
    return CurvedDevices(platform.names, models_of(platform), own, fixed, platform)
