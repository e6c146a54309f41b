"""`evener warm`: compile all kernels now, so that later commands start at once."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output

MAX_PROCESSES = 4  # more do not help: the longest kernel decides


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --processes."""
    parser.add_argument(
        "--processes",
        type=int,
        default=min(MAX_PROCESSES, _processors()),
        metavar="P",
        help="processes that compile at the same time (default: one per core, at most 4)",
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Compile the kernels that are not in the cache; print how many, and the cache's folder."""
    from evener.cli.precompile.precompile import warm
    from evener.wording import duration, plural

    if args.processes < 1:
        raise UsageError(f"--processes must be one or more, not {args.processes}")
    with out.progress("Compiling kernels") as progress:
        done = warm(args.processes, progress)
    if done.compiled:
        distinct = len(set(filter(None, done.compiled)))
        out.say(f"{plural(distinct, 'kernel')} compiled in {duration(done.seconds)}.")
    else:
        out.say(f"All {done.n_kernels} kernels were compiled already.")
    out.say(f"Kept in {done.folder} ({_whose(done.place)}).")
    out.result(
        {
            "kernels": done.n_kernels,
            "compiled": done.compiled,
            "folder": str(done.folder),
            "place": done.place,
            "processes": done.processes,
            "seconds": done.seconds,
            "cpu_seconds": done.cpu_seconds,
        }
    )
    return 0


def _whose(place: str) -> str:
    """Return what chose the folder."""
    return {
        "NUMBA_CACHE_DIR": "which NUMBA_CACHE_DIR names",
        "the package": "the package's own folder, in __pycache__",
        "the user": "the user's cache: the package's folder cannot be written; "
        "NUMBA_CACHE_DIR would name another",
    }[place]


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
