"""Runs the command of a launch and returns its exit code; ends it if Evener is interrupted."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from pathlib import Path

from evener.errors import ToolError

# A terminal sends Ctrl-C to the launcher as well: time for it to end its ranks before it gets
# a signal from Evener, and then before it is killed [s].
PATIENCE, LAST_PATIENCE = 2.0, 10.0
_running: list[subprocess.Popen[bytes]] = []
_starting = threading.Lock()  # held until a started process is in `_running`


def run_to_end(
    words: Sequence[str],
    *,
    stdout_to_stderr: bool = False,
    output: Path | None = None,
    seconds: float | None = None,
) -> int:
    """Run a command with this process's streams; return its exit code, 128 + n for signal n.

    stdout_to_stderr: redirect its stdout to stderr, because stdout holds other output. output: a
    file for all its output. seconds: time limit, after which it gets SIGTERM and TimeoutExpired is
    raised. Raises ToolError if it cannot be started.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    with _starting, nullcontext() if output is None else output.open("wb") as file:
        try:
            process = subprocess.Popen(
                list(words),
                stdin=None if file is None else subprocess.DEVNULL,
                stdout=file or (2 if stdout_to_stderr else None),
                stderr=file,
            )
        except OSError as error:
            reason = error.strerror or str(error)
            raise ToolError(f"{words[0]} cannot be started: {reason}") from error
        _running.append(process)
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        _end(process)
        raise
    finally:
        _running.remove(process)
    return code if code >= 0 else 128 - code


def end_all() -> None:
    """End the running commands, if possible without SIGKILL.

    A launcher that is killed leaves its ranks behind. So each command first gets time to end
    without a signal, then SIGTERM, and SIGKILL last.
    """
    with _starting:
        ours = tuple(_running)
    for process in ours:
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Send SIGTERM to a running command, and kill it if it does not end."""
    if process.poll() is None:
        process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(LAST_PATIENCE)
    if process.poll() is None:
        process.kill()
        process.wait()
