"""The machine for a command: a file, a number of equal devices, or a list of speeds."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import is_zipfile

from evener.cli.options import add_options, option
from evener.errors import InputError, UsageError
from evener.files.opening import is_there
from evener.platforms.platform import MAX_DEVICES, Platform
from evener.wording import printable

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.plans.edge_plan import EdgePlan
    from evener.plans.plan import Plan
    from evener.plans.stream_plan import StreamPlan
    from evener.platforms.models.fitting import SpeedModel
    from evener.platforms.models.samples import DeviceSpeeds

MAX_ROWS = 60  # devices or groups of equal ones that a table on the screen shows


@dataclass(frozen=True)
class MachineOptions:
    """How the user named the devices; None: not given. speeds: a list of speeds, or a file."""

    machine: str | None = option(
        "a machine file (see `evener machine`), or a plan, whose machine is used", metavar="FILE"
    )
    k: int | None = option("K equal devices of speed 1", type=int, metavar="K")
    speeds: str | None = option(
        "devices of these speeds, such as 1,1,4; or a file of speed curves, alone or with "
        "--machine",
        metavar="S,S,...",
    )

    @property
    def given(self) -> list[str]:
        """The given options, as written."""
        return [f"--{key}" for key in ("machine", "k", "speeds") if getattr(self, key) is not None]

    @property
    def has_curves_alone(self) -> bool:
        """Whether the devices come from a speeds file without a machine file."""
        return self.machine is None and self.k is None and is_speeds_file(self.speeds)


def add_machine_options(parser: argparse.ArgumentParser) -> None:
    """Add --machine, --k and --speeds; a speeds file may be combined with --machine."""
    add_options(parser.add_argument_group("machine (one of these)"), MachineOptions)


def machine_of(options: MachineOptions, out: Output | None = None) -> Platform:
    """Return the requested machine. Raises UsageError unless exactly one option states it.

    A file of speed curves may be given with or without --machine; a note to `out` names curves of
    devices that the machine does not have.
    """
    if is_speeds_file(options.speeds):
        return _curved(options, out)
    if len(options.given) != 1:
        given = " and ".join(options.given) or "nothing"
        raise UsageError(
            f"exactly one of --machine, --k and --speeds is needed; {given} given",
            hint="For example --machine cluster.toml, --k 8, or --speeds 1,1,4.",
        )
    if options.machine is not None:
        return platform_in(options.machine)
    if options.k is not None:
        return Platform.flat([1.0] * checked_count(options.k, "--k"))
    assert options.speeds is not None
    return Platform.flat(speeds_of(options.speeds))


def _curved(options: MachineOptions, out: Output | None) -> Platform:
    from evener.io.machines.speeds import read_speeds
    from evener.platforms.with_curves import platform_of, with_curves

    assert options.speeds is not None
    if options.k is not None:
        raise UsageError("--k does not work with --speeds FILE, which names the devices")
    speeds = read_speeds(options.speeds)
    try:
        if options.machine is None:
            return platform_of(speeds)
        platform, unused = with_curves(platform_in(options.machine), speeds)
    except InputError as error:
        error.file = error.file or options.speeds
        raise
    if unused and out is not None:
        more = f" and {len(unused) - 8} more" if len(unused) > 8 else ""
        out.note(f"note: no device of {options.machine} is called {', '.join(unused[:8])}{more}")
    return platform


def platform_in(path: str) -> Platform:
    """Return the machine in a machine file, or the machine that a plan file was made for."""
    from evener.io.machines.platforms import read_platform

    plan = plan_in(path)
    return read_platform(path) if plan is None else plan.platform


def plan_in(path: str) -> Plan | EdgePlan | StreamPlan | None:
    """Return the plan of any kind in a file; None for other files."""
    if not (Path(path).is_file() and is_zipfile(path)):  # a pipe would be waited for
        return None
    from evener.io.plans.kinds import read_any_plan

    return read_any_plan(path)


def is_speeds_file(text: str | None) -> bool:
    """Whether a value of --speeds is the name of a file of speed curves, not a list of speeds."""
    if text is None or "," in text or re.fullmatch(r"[\d.eE+-]*\d[\d.eE+-]*|nan|inf", text.strip()):
        return False
    return text.endswith(".toml") or is_there(text)


def checked_count(count: int, option: str) -> int:
    """Return a number of devices, or raise UsageError."""
    if not 1 <= count <= MAX_DEVICES:
        raise UsageError(f"{option} must lie between 1 and {MAX_DEVICES:,}, not {count:,}")
    return count


def speeds_of(text: str, option: str = "--speeds") -> list[float]:
    """Return the speeds in a list such as "1,1,4". Raises UsageError naming the wrong entry."""
    speeds = []
    for i, word in enumerate(text.split(","), start=1):
        try:
            speed = float(word)
        except ValueError:
            speed = math.nan
        if not (math.isfinite(speed) and speed > 0):
            raise UsageError(
                f"{option}: entry {i} is {word.strip()!r}, not a number above zero",
                hint="Speeds are separated by commas, as in 1,1,4.",
            )
        speeds.append(speed)
    return speeds


def equal_runs(keys: Sequence[Any]) -> list[tuple[int, int]]:
    """Return [start, end) of each longest run of equal keys, which tables show as one row."""
    starts = [i for i in range(len(keys)) if i == 0 or keys[i] != keys[i - 1]]
    return list(zip(starts, [*starts[1:], len(keys)][: len(starts)], strict=True))


def run_name(names: Sequence[str]) -> str:
    """Return the name of a run of equal devices: "gpu0 .. gpu3 (4 equal)"."""
    if len(names) == 1:
        return printable(names[0])
    return f"{printable(names[0])} .. {printable(names[-1])} ({len(names):,} equal)"


class CurvedDevices(NamedTuple):
    """Devices with a speed model each; some of the models are speed curves.

    names, models (k); curves (k): the samples, None for a device of one speed; fixed (k) [s]: fixed
    cost of a device in use per iteration; platform: None if only a speeds file is given.
    """

    names: list[str]
    models: Sequence[SpeedModel]
    curves: Sequence[DeviceSpeeds | None]
    fixed: list[float]
    platform: Platform | None

    def holding(self, bytes_per_unit: float) -> CurvedDevices:
        """Return the devices with capacities reduced to what their memories can hold."""
        from evener.platforms.models.fitting import capped
        from evener.sizing.memory_capped import unit_capacities

        if self.platform is None:
            return self
        most = unit_capacities(self.platform, bytes_per_unit).tolist()
        models = [capped(model, room) for model, room in zip(self.models, most, strict=True)]
        return self._replace(models=models)


def curved_devices(options: MachineOptions, out: Output) -> CurvedDevices:
    """Return the devices of a speeds file, of a machine, or of a machine with a speeds file."""
    from evener.io.machines.speeds import read_speeds
    from evener.platforms.models.fitting import fit_device
    from evener.platforms.with_curves import models_of

    if options.has_curves_alone:
        assert options.speeds is not None
        curves = read_speeds(options.speeds)
        fixed = [curve.fixed_seconds for curve in curves]
        models = [fit_device(curve) for curve in curves]
        return CurvedDevices([curve.name for curve in curves], models, curves, fixed, None)
    platform = machine_of(options, out)
    own, fixed = [device.curve for device in platform.devices], platform.fixed_seconds.tolist()
    return CurvedDevices(platform.names, models_of(platform), own, fixed, platform)
