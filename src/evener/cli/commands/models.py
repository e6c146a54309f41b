"""`evener models`: the models that a file of speeds or surfaces admits, and their plots."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output

MAX_ROWS = 60
EXPLAINED = """columns of a file of curves:
  model             the kind that the file asks for
  dropped           samples that the rule of shape takes out
  widest +/-        of all samples: half the confidence interval, over the time
  one speed off by  how far a single speed is off the curve through the samples, at worst
  curves differ by  how far piecewise, shaped and akima are apart, at worst
  at load           where that is
  slowest, fastest  which of them say so there"""


class Kind(Protocol):
    """What a file of speeds or one of surfaces has its own of; an item is a device's model.

    noun, key: of what it holds, for people and in JSON. header: of its table, at_load: of the
    columns that --load adds. most_drawn: items in one picture; which: those it shows of more.
    """

    noun: str
    key: str
    header: Sequence[str]
    at_load: Sequence[str]
    most_drawn: int
    which: str

    def read(self, file: str) -> Mapping[str, Any]:
        """All that the file holds, by name."""

    def items(self, chosen: Mapping[str, Any], file: str, out: Output) -> Mapping[str, Any]:
        """Those of the chosen that have a model; notes say which have none."""

    def row(self, name: str, item: Any, load: float | None) -> list[str]:
        """Return an item's row of the table, with those columns that a load adds."""

    def to_dict(self, name: str, item: Any, load: float | None) -> dict[str, Any]:
        """Return the same for machines."""

    def figure(self, items: Mapping[str, Any]) -> Any:
        """Draw the items, the most telling ones where there are more than `most_drawn`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the speeds file, the picture and which devices."""
    parser.epilog = EXPLAINED
    parser.add_argument("speeds", metavar="SPEEDS", help="a speeds file, or one of surfaces")
    parser.add_argument("--plot", metavar="FILE", help="draw them, as .png or .svg")
    parser.add_argument(
        "--device", metavar="NAME", action="append", help="only this one; repeatable"
    )
    parser.add_argument("--load", metavar="D", type=float, help="add speed and time at this load")


def run(args: argparse.Namespace, out: Output) -> int:
    """Fit what there is; print, draw."""
    _check(args)
    kind = _kind(args.speeds)
    known = kind.read(args.speeds)
    for name in args.device or ():
        if name not in known:
            raise UsageError(f"{args.speeds} has no {kind.noun} {name!r}")
    chosen = {name: known[name] for name in args.device or known}
    items = kind.items(chosen, args.speeds, out)
    _print(kind, items, args.load, out)
    written = _drawn(kind, args.plot, items, out) if args.plot else []
    told = [kind.to_dict(name, item, args.load) for name, item in items.items()]
    out.result({kind.key: told, "written": written})
    return 0


def _check(args: argparse.Namespace) -> None:
    from evener.files.writing import refuse_unwritable
    from evener.reporting.plots import checked_kind

    if args.load is not None and not 0 < args.load < math.inf:
        raise UsageError(f"--load must be finite and above zero, not {args.load}")
    if args.plot:
        checked_kind(args.plot)
        refuse_unwritable(args.plot)
        if Path(args.plot).exists() and Path(args.plot).samefile(args.speeds):
            raise UsageError(f"{args.plot} is the speeds file; the picture needs a name of its own")


def _kind(file: str) -> Kind:
    from evener.cli.commands.models_curves import Curves
    from evener.cli.commands.models_surfaces import Surfaces
    from evener.io.machines.surfaces import holds_surfaces

    return Surfaces() if holds_surfaces(file) else Curves()


def _print(kind: Kind, items: Mapping[str, Any], load: float | None, out: Output) -> None:
    header = [*kind.header, *(() if load is None else kind.at_load)]
    rows = [kind.row(name, item, load) for name, item in list(items.items())[:MAX_ROWS]]
    if len(items) > MAX_ROWS:
        rows.append([f"... and {len(items) - MAX_ROWS:,} more", *[""] * (len(header) - 1)])
    out.table(header, rows)


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
