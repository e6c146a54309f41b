"""Runs the command of a launch, hands on its exit code, and ends it where Evener is interrupted."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress

from evener.errors import ToolError

# A terminal sends Ctrl-C to the launcher as well: time that it has to end its ranks before it gets
# a signal of ours, and then before it is killed [s].
PATIENCE, LAST_PATIENCE = 2.0, 10.0
_running: list[subprocess.Popen[bytes]] = []
_starting = threading.Lock()  # held until what is started is among those that run


def run_to_end(words: Sequence[str], *, stdout_to_stderr: bool = False) -> int:
    """Run a command on this process's streams; return its exit code, 128 + n for signal n.

    stdout_to_stderr: what it prints goes to stderr, because stdout holds something else. Raises
    ToolError where it cannot be started.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    with _starting:
        try:
            process = subprocess.Popen(list(words), stdout=2 if stdout_to_stderr else None)
        except OSError as error:
            reason = error.strerror or str(error)
            raise ToolError(f"{words[0]} cannot be started: {reason}") from error
        _running.append(process)
    try:
        code = process.wait()
    finally:
        _running.remove(process)
    return code if code >= 0 else 128 - code


def end_all() -> None:
    """End what runs, in order: a launcher that is killed leaves its ranks behind."""
    with _starting:
        ours = tuple(_running)
    for process in ours:
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)
        if process.poll() is None:
            process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(LAST_PATIENCE)
        if process.poll() is None:
            process.kill()
