"""The machine a command works for: a file, a number of equal devices, or a list of speeds."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from evener.errors import InputError, UsageError
from evener.files.opening import is_there
from evener.platforms.platform import MAX_DEVICES, Platform
from evener.wording import printable

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.platforms.models.fitting import SpeedModel
    from evener.platforms.models.samples import DeviceSpeeds

MAX_ROWS = 60  # devices or groups of equal ones that a table on the screen shows
SPEEDS_HELP = (
    "devices of these speeds, as 1,1,4; or a file of speed curves, of its own devices or, with "
    "--machine, of that machine's"
)


def add_machine_options(parser: argparse.ArgumentParser, speeds_help: str = SPEEDS_HELP) -> None:
    """Add --machine, --k and --speeds; a file of speeds may go with --machine."""
    group = parser.add_argument_group("machine (one of these)")
    group.add_argument("--machine", metavar="FILE", help="a machine file; see `evener machine`")
    group.add_argument("--k", type=int, metavar="K", help="K equal devices of speed 1")
    group.add_argument("--speeds", metavar="S,S,...", help=speeds_help)


def machine_of(args: argparse.Namespace, out: Output | None = None) -> Platform:
    """Return the machine asked for. Raises UsageError unless exactly one option gives it.

    A file of speed curves may stand alone or beside --machine; out is told of curves unused.
    """
    if is_speeds_file(args.speeds):
        return _curved(args, out)
    given = [key for key in ("machine", "k", "speeds") if getattr(args, key) is not None]
    if len(given) != 1:
        said = " and ".join(f"--{key}" for key in given) if given else "nothing"
        raise UsageError(
            f"exactly one of --machine, --k and --speeds says what the devices are; {said} given",
            hint="For example --machine cluster.toml, --k 8, or --speeds 1,1,4.",
        )
    if args.machine is not None:
        from evener.io.machines.platforms import read_platform

        return read_platform(args.machine)
    if args.k is not None:
        return Platform.flat([1.0] * checked_count(args.k, "--k"))
    return Platform.flat(speeds_of(args.speeds))


def _curved(args: argparse.Namespace, out: Output | None) -> Platform:
    from evener.io.machines.speeds import read_speeds
    from evener.platforms.with_curves import platform_of, with_curves

    if args.k is not None:
        raise UsageError("--speeds FILE says what the devices are; --k does not go along")
    speeds = read_speeds(args.speeds)
    try:
        if args.machine is None:
            return platform_of(speeds)
        from evener.io.machines.platforms import read_platform

        platform, unused = with_curves(read_platform(args.machine), speeds)
    except InputError as error:
        error.file = error.file or args.speeds
        raise
    if unused and out is not None:
        more = f" and {len(unused) - 8} more" if len(unused) > 8 else ""
        out.note(f"note: no device of {args.machine} is called {', '.join(unused[:8])}{more}")
    return platform


def is_speeds_file(text: str | None) -> bool:
    """Whether --speeds names a file of speed curves, and is not a list of speeds."""
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
    """Return [start, end) of each longest run of equal keys: how long lists are summarised."""
    starts = [i for i in range(len(keys)) if i == 0 or keys[i] != keys[i - 1]]
    return list(zip(starts, [*starts[1:], len(keys)][: len(starts)], strict=True))


def run_name(names: Sequence[str]) -> str:
    """Name a run of equal devices: gpu0 .. gpu3 (4 equal)."""
    if len(names) == 1:
        return safe(names[0])
    return f"{safe(names[0])} .. {safe(names[-1])} ({len(names):,} equal)"


def safe(name: str) -> str:
    """Return a name without what would move the terminal's cursor."""
    return printable(name)


# The devices of a file of speed curves, alone or on a machine that says where they are.


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
        from evener.platforms.models.fitting import capped
        from evener.sizing.memory_capped import unit_capacities

        if self.platform is None:
            return self
        most = unit_capacities(self.platform, bytes_per_unit).tolist()
        models = [capped(model, room) for model, room in zip(self.models, most, strict=True)]
        return self._replace(models=models)


def curved_devices(args: argparse.Namespace, out: Output) -> CurvedDevices:
    """Read --speeds FILE, with --machine where it is given, or a machine alone."""
    from evener.io.machines.speeds import read_speeds
    from evener.platforms.models.fitting import fit_device
    from evener.platforms.with_curves import models_of

    if args.machine is None and args.k is None and is_speeds_file(args.speeds):
        curves = read_speeds(args.speeds)
        fixed = [curve.fixed_seconds for curve in curves]
        models = [fit_device(curve) for curve in curves]
        return CurvedDevices([curve.name for curve in curves], models, curves, fixed, None)
    platform = machine_of(args, out)
    own, fixed = [device.curve for device in platform.devices], platform.fixed_seconds.tolist()
    return CurvedDevices(platform.names, models_of(platform), own, fixed, platform)
