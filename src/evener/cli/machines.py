"""The machine a command works for: a file, a number of equal devices, or a list of speeds."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evener.errors import InputError, UsageError
from evener.opening import is_there
from evener.platforms import MAX_DEVICES, Platform
from evener.showing import printable

if TYPE_CHECKING:
    from evener.cli.output import Output

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
        from evener.filing.platforms import read_platform

        return read_platform(args.machine)
    if args.k is not None:
        return Platform.flat([1.0] * checked_count(args.k, "--k"))
    return Platform.flat(speeds_of(args.speeds))


def _curved(args: argparse.Namespace, out: Output | None) -> Platform:
    from evener.curved_platforms import platform_of, with_curves
    from evener.filing.speeds import read_speeds

    if args.k is not None:
        raise UsageError("--speeds FILE says what the devices are; --k does not go along")
    speeds = read_speeds(args.speeds)
    try:
        if args.machine is None:
            return platform_of(speeds)
        from evener.filing.platforms import read_platform

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
