"""Calls a tool in a child process, so that a hang or a crash can be reported, with its output."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.errors import ToolError
from evener.files.temporary import private_folder
from evener.files.writing import refusal
from evener.partitioning.external.jobs import Job

LOG = logging.getLogger(__name__)
SHARED_MEMORY = Path("/dev/shm")
# Shared memory is used where this much is free: times the job's arrays, for them, the tool's own
# copy in a file and the result; and bytes left for other programs.
ROOM, SPARE_BYTES = 4, 64 * 2**20
TAIL_BYTES = 2000  # of what the tool printed, read for the message

_lock = threading.Lock()
_running: dict[subprocess.Popen[bytes], Path] = {}


@dataclass(frozen=True)
class Outcome:
    """What a tool returned: part (n,), not checked yet, and the CPU time of the call [s].

    start: a word for the method that made the initial blocks, and these blocks (n,); or None.
    """

    part: npt.NDArray[Any]
    cpu_seconds: float
    version: str
    notes: tuple[str, ...] = ()
    start: tuple[str, npt.NDArray[np.int32]] | None = None


def run_in_child(job: Job, module: str, time_limit: float | None) -> Outcome:
    """Run the job with `module` (a dotted name; see worker.py) in a new process group.

    time_limit [s]: wall time, or None. Raises ToolError if the tool raises an exception, crashes,
    or still runs at the time limit; the hint has the last lines that it printed.
    """
    with private_folder(_place(ROOM * job.nbytes + SPARE_BYTES)) as folder:
        try:
            job.save(folder)
        except OSError as error:
            raise refusal(error, folder.parent, "cannot write the tool's input") from error
        with (folder / "output.txt").open("wb") as output:
            process = _start(folder, module, time_limit, output.fileno())
            ran_out = _wait(process, time_limit)
        if ran_out:
            raise _failure(job.tool, f"did not finish within {time_limit:g} s", folder)
        if process.returncode < 0:
            raise _failure(job.tool, _death(-process.returncode), folder)
        outcome = _collect(job.tool, folder, process.returncode)
        LOG.debug("%s ended in its process: %.3f s of CPU", job.tool, outcome.cpu_seconds)
        return outcome


def end_all() -> None:
    """End every child process and remove its files; called before this process ends."""
    with _lock:
        running = list(_running.items())
    for process, folder in running:
        _end(process)
        shutil.rmtree(folder, ignore_errors=True)


def _place(nbytes: int) -> str | None:
    with suppress(OSError):
        if os.access(SHARED_MEMORY, os.W_OK) and shutil.disk_usage(SHARED_MEMORY).free > nbytes:
            return str(SHARED_MEMORY)
    return None  # tempfile's own choice, which TMPDIR sets


def _start(
    folder: Path, module: str, time_limit: float | None, output: int
) -> subprocess.Popen[bytes]:
    # -P keeps the working directory out of the child's path: a numpy.py there is not NumPy.
    command = [sys.executable, "-P", "-m", "evener.partitioning.external.worker"]
    command += [str(folder), module, str(time_limit or 0.0)]
    # NumPy's linear algebra would start a thread per core that nothing here uses.
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,  # never written to: the child notices that it closes
        stdout=output,
        stderr=output,
        env=environment,
        start_new_session=True,
    )
    with _lock:
        _running[process] = folder
    return process


def _wait(process: subprocess.Popen[bytes], time_limit: float | None) -> bool:
    """Wait for the end of the process; return whether the time limit ended it."""
    ran_out = threading.Event()

    def at_the_limit() -> None:
        if _end(process):
            ran_out.set()

    timer = threading.Timer(time_limit, at_the_limit) if time_limit else None
    try:
        if timer is not None:
            timer.daemon = True
            timer.start()
        _wait_for_end(process)
    except BaseException:  # interrupted while waiting
        _end(process)
        raise
    finally:
        if timer is not None:
            timer.cancel()
        if process.stdin is not None:
            process.stdin.close()
        with _lock:
            process.wait()
            _running.pop(process, None)
    return ran_out.is_set()


def _wait_for_end(process: subprocess.Popen[bytes]) -> None:
    """Return when the child has ended.

    If possible, do so before the system releases its process ID.
    """
    if hasattr(os, "waitid"):
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    else:
        process.wait()


def _end(process: subprocess.Popen[bytes]) -> bool:
    """Kill the child and its own child processes; return whether it was still running.

    After the exit code was read, another process may have the child's process ID, so nothing is
    killed.
    """
    with _lock, suppress(ProcessLookupError, PermissionError):
        if process.returncode is not None:
            return False
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        return True
    return False


def _collect(tool: str, folder: Path, code: int) -> Outcome:
    try:
        result = json.loads((folder / "result.json").read_text())
    except (OSError, ValueError) as error:
        raise _failure(tool, f"ended with code {code} and no result", folder) from error
    if "error" in result:
        raise _failure(tool, f"failed: {result['error']}", folder)
    part = np.load(folder / "part.npy")
    return Outcome(part, result["cpu_seconds"], result["version"], tuple(result["notes"]))


def _death(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    if name == "SIGKILL":
        return f"was killed by {name}; the system may be out of memory"
    return f"crashed ({name})"


def _failure(tool: str, what: str, folder: Path) -> ToolError:
    tail = _tail(folder / "output.txt")
    said = f"Its last output: {tail}" if tail else "It printed nothing."
    return ToolError(f"{tool} {what}", hint=f"{said} Try another tool: --with NAME.")


def _tail(path: Path) -> str:
    """Return the last three lines of what was printed, on one line."""
    with suppress(OSError), path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - TAIL_BYTES))
        lines = file.read().decode(errors="replace").splitlines()
        words = [" ".join(line.split()) for line in lines if line.strip()]
        return " | ".join(words[-3:])[-300:]
    return ""
