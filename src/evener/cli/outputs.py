"""Where a command's files go: `-` is stdout, which then holds nothing else."""

from __future__ import annotations

import argparse

from evener.errors import EvenerError, OutputError, UsageError
from evener.writing import STDOUT, is_of_disk, is_stdout

# Names under which commands keep the files they are to write.
_OUTPUTS = ("output", "target", "report", "picture", "plot")


def takes_stdout(args: argparse.Namespace) -> bool:
    """Whether a file is to be written to stdout; its name in `args` becomes /dev/stdout.

    Raises UsageError where something else is to go there, too.
    """
    taken = False
    for name in _OUTPUTS:
        given = getattr(args, name, None)
        if not isinstance(given, str) or not (given == "-" or is_stdout(given)):
            continue
        if taken or args.json:
            other = "--json" if args.json else "another file"
            raise UsageError(
                f"stdout cannot take {given} and {other}", hint="Write one of them to a file."
            )
        setattr(args, name, STDOUT)
        taken = True
    return taken


def explained_disk(error: Exception) -> Exception:
    """Return an error of a disk as one that names the file, where Python knows it."""
    if isinstance(error, EvenerError) or not is_of_disk(error):
        return error
    assert isinstance(error, OSError)
    what = "cannot be written" if error.filename else "a file cannot be written"
    return OutputError(
        f"{what}: {error.strerror or error}",
        file=error.filename,
        hint="Make room on the disk, also where temporary files lie (TMPDIR).",
    )
