"""Commands that the ranks of a launcher run together: one prints, and one that fails ends all."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from evener.running.mpi_comm import MpiComm

TURN = 0.1  # seconds that each rank leaves to those before it, to say what all may have to say


def own_ranks() -> MpiComm | None:
    """Return MPI's ranks where this process is one of several, or None."""
    from evener.running.launching import SIZES, n_ranks, world

    if not any(key in os.environ for key in SIZES):
        return None
    return world() if n_ranks() > 1 else None


def answered(comm: MpiComm, answer: Callable[[], int]) -> int:
    """Return the exit code of answer(), after all ranks have ended; all call.

    A rank that fails says so, and ends all: the others would wait for it. One that is killed is
    named by a guard.
    """
    try:
        comm.watch()
        code = answer()
    except Exception as error:  # told and ended here: other ranks would wait for this one
        _end_all(comm, error)
    comm.end()
    return code


def _end_all(comm: MpiComm, error: Exception) -> NoReturn:
    """Say which rank failed, and why; end all ranks."""
    time.sleep(TURN * min(comm.rank, 10))
    names = comm.waits.names
    known = names.failed(comm.rank, error)
    own = names.of(comm.rank)
    who = "" if "rank " in str(known) else f"{own}: "
    sys.stderr.write(f"evener: {who}{known}\n")
    comm.abort(known.exit_code)
