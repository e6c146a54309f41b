"""`evener warm`: compile all kernels now, so that later commands start at once.

--pack also writes them to one file, which Evener finds in the user's own folder or in a wheel.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evener.errors import InputError, UsageError
from evener.machine_code.packs import LEVELS, changed_settings
from evener.threads import cores

if TYPE_CHECKING:
    from evener.cli.output import Output

MAX_PROCESSES = 4  # more do not help: the longest kernel decides


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --processes."""
    parser.add_argument(
        "--processes",
        type=int,
        default=min(MAX_PROCESSES, cores()),
        metavar="P",
        help="processes that compile at the same time (default: one per core, at most 4)",
    )
    parser.add_argument(
        "--first",
        action="store_true",
        help="compile only what the first plan of a mesh needs, in a quarter of the time",
    )
    parser.add_argument(
        "--pack",
        metavar="FOLDER",
        help="write all kernels into one file in this folder; Evener finds such files in "
        "~/.cache/evener",
    )
    parser.add_argument(
        "--level",
        choices=sorted(LEVELS),
        help="with --pack: compile for all processors of this architecture level (default: for "
        "this processor)",
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Compile the kernels that are not in the cache; print how many, and the cache's folder."""
    from evener.cli.precompile.precompile import warm, write_pack
    from evener.wording import duration, plural

    if args.processes < 1:
        raise UsageError(f"--processes must be one or more, not {args.processes}")
    if args.level and not args.pack:
        raise UsageError(
            "--level works with --pack only: commands look for machine code of this processor",
            hint="Name the pack's folder: --pack FOLDER.",
        )
    if args.pack and (changed := changed_settings()):
        raise UsageError(
            f"packs are made with Numba's usual settings, but NUMBA_{changed[0]} is set",
            hint=f"Unset NUMBA_{changed[0].split('=')[0]}.",
        )
    if args.pack and not Path(args.pack).is_dir():
        raise InputError("is not a folder", file=args.pack, hint="Make it first.")
    settings = {"NUMBA_CPU_NAME": args.level, "NUMBA_CPU_FEATURES": ""} if args.level else None
    with out.progress("Compiling kernels") as progress:
        done = warm(args.processes, progress, settings, first=args.first)
    if done.compiled:
        distinct = len(set(filter(None, done.compiled)))
        out.say(f"{plural(distinct, 'kernel')} compiled in {duration(done.seconds)}.")
    else:
        which = "The kernels of a first plan" if args.first else f"All {done.n_kernels} kernels"
        out.say(f"{which} were compiled already.")
    out.say(f"Stored in {done.folder} ({_whose(done.place)}).")
    pack = write_pack(args.pack, done.used) if args.pack else None
    if pack is not None:
        out.say(f"Written: {pack}, {plural(len(done.used), 'combination')} of kernels and types.")
    out.result(
        {
            "kernels": done.n_kernels,
            "compiled": done.compiled,
            "folder": str(done.folder),
            "place": done.place,
            "used": len(done.used),
            "pack": None if pack is None else str(pack),
            "processes": done.processes,
            "seconds": done.seconds,
            "cpu_seconds": done.cpu_seconds,
        }
    )
    return 0


def _whose(place: str) -> str:
    """Return what determined the folder."""
    return {
        "NUMBA_CACHE_DIR": "which NUMBA_CACHE_DIR names",
        "the package": "the package's own folder, in __pycache__",
        "the user": "the user's cache: the package's folder cannot be written; "
        "set NUMBA_CACHE_DIR to choose another",
        "a pack": "compiled beforehand, in one file",
    }[place]
