"""The child process: loads a job, calls one tool, writes the result. Imports NumPy and the tool.

    python -m evener.partitioning.external.worker FOLDER MODULE TIME_LIMIT

FOLDER contains a saved Job; part.npy and result.json are written to it. MODULE has `prepare(job,
folder) -> Call`.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import numpy as np

from evener.partitioning.external.jobs import Job

# The parent ends this process at the time limit; where the parent is gone, an alarm does so later.
GRACE = 10.0  # seconds after the limit


def main(folder: Path, module: str, time_limit: float) -> int:
    """Run the tool; return 0, or 1 if it raised an exception, with the message in result.json."""
    parent = os.getppid()
    _end_with_parent(time_limit)
    try:
        result = _partition(folder, module)
        code = 0
    except Exception as error:  # whatever it is, the parent reports it
        result, code = {"error": f"{type(error).__name__}: {error}"}, 1
    if os.getppid() != parent:
        shutil.rmtree(folder, ignore_errors=True)
        return 1
    (folder / "result.json").write_text(json.dumps(result))
    return code


def _end_with_parent(time_limit: float) -> None:
    """Let the system end this process when its parent ends, whatever the tool is doing.

    Standard input is a pipe to which nothing is written: it is closed when the parent ends, for any
    reason. The signals of the pipe and of the timer end the process by default, even inside C code.
    """
    if hasattr(signal, "setitimer") and time_limit > 0:
        signal.setitimer(signal.ITIMER_REAL, time_limit + GRACE)
    if sys.platform == "linux":
        import fcntl

        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)


def _partition(folder: Path, module: str) -> dict[str, object]:
    job = Job.load(folder).without_free_edges()
    call = importlib.import_module(module).prepare(job, folder)
    start = time.process_time()
    part = call.run()
    seconds = time.process_time() - start
    np.save(folder / "part.npy", np.asarray(part))
    return {"cpu_seconds": seconds, "version": call.version, "notes": list(call.notes)}


if __name__ == "__main__":
    code = main(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
    if code == 0:
        # Some tools' threads do not survive the interpreter's orderly end; nothing is left to do.
        os._exit(0)
    sys.exit(code)  # in order, so that what the tool's C code printed reaches the file
