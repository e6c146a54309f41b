"""Commands on the ranks of a launcher: one rank prints, and a rank that fails ends all ranks."""

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
    """Return the ranks of MPI if this process is one of several, else None."""
    from evener.running.launching import SIZES, n_ranks, world

    if not any(key in os.environ for key in SIZES):
        return None
    return world() if n_ranks() > 1 else None


def answered(comm: MpiComm, answer: Callable[[], int]) -> int:
    """Return the exit code of answer(), after all ranks have ended. Collective.

    A rank that fails prints its error and ends all ranks, which would wait for it. If a rank is
    killed, a guard process prints which rank was killed.
    """
    try:
        comm.watch()
        code = answer()
    except Exception as error:  # print it and end all ranks, which would wait for this one
        _end_all(comm, error)
    comm.end()
    return code


def _end_all(comm: MpiComm, error: Exception) -> NoReturn:
    """Print which rank failed, and why; end all ranks."""
    time.sleep(TURN * min(comm.rank, 10))
    names = comm.waits.names
    known = names.failed(comm.rank, error)
    own = names.of(comm.rank)
    who = "" if "rank " in str(known) else f"{own}: "
    sys.stderr.write(f"evener: {who}{known}\n")
    comm.abort(known.exit_code)
