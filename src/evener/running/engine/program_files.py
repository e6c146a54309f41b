"""The files of programs' modules, beside the machine code of Evener's own kernels.

Those of the programs used last are kept, with their machine code; older ones are removed when a new
one is written.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path

from evener.files.writing import write_text
from evener.graphs.graph_kernels import components

ENDING = ".program"  # not .py: such files beside the package would seem to be modules of it
# Kept at a time, each with some 0.3 MB of machine code; those of Evener itself are a tenth.
MOST_PROGRAMS = 100


def program_file(name: str, text: str) -> Path:
    """Return the file of a module; write it unless it is there, and remove the oldest then."""
    path = _folder() / f"{name}{ENDING}"
    if path.exists():
        with suppress(PermissionError):  # another user's: it is that user's to say when it was used
            os.utime(path)
    else:
        remove_oldest(path.parent, MOST_PROGRAMS - 1)
        write_text(path, text)
    return path


def remove_oldest(folder: Path, kept: int) -> None:
    """Remove all but the `kept` programs of a folder that were used last, with machine code."""
    programs = sorted(folder.glob(f"*{ENDING}"), key=_last_used, reverse=True)
    for program in programs[kept:]:
        machine_code = (folder / "__pycache__").glob(f"{program.stem}.*")
        for file in (*machine_code, program):
            file.unlink(missing_ok=True)  # another process may remove the same


def _last_used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another process removed it
        return 0.0


@cache
def _folder() -> Path:
    """Return the folder of programs, which lies where machine code is kept."""
    folder = Path(components.stats.cache_path) / "programs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
