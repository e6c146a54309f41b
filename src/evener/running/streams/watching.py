"""Finds firings that do not end, and ends the run: by an error, or as a last resort by a signal.

A thread looks after the processors of this process. It cannot where a filter never gives Python's
lock back, as a kernel without nogil in an endless loop: then a process beside this one, of
watch_child, says so and kills it.
"""

from __future__ import annotations

import json
import mmap
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evener.arrays import FloatArray
from evener.errors import ToolError
from evener.running.streams.watch_child import HINT, WIDTH, late, said

PAUSE = 0.05  # [s] between two looks
LATER = 1.0  # [s] that the process waits longer than the thread, whose error says more


class FiringWatch:
    """Looks after the processors `devices`, by name. filters: names. timeout [s]: of a firing.

    rows (k, WIDTH): what each processor does, which it writes: a filter's number plus one, 0 for
    none, the iteration, and since when [time.monotonic].
    """

    def __init__(self, devices: Sequence[str], filters: Sequence[str], timeout: float) -> None:
        self._devices, self._filters, self._timeout = list(devices), list(filters), timeout
        self.rows: FloatArray = np.zeros((len(devices), WIDTH))
        self._child: subprocess.Popen[bytes] | None = None

    def share(self) -> None:
        """Start the process that kills this one; before any row is handed out."""
        with tempfile.TemporaryFile() as file:
            file.write(bytes(8 * WIDTH * max(len(self._devices), 1)))
            file.flush()
            memory = mmap.mmap(file.fileno(), 0)
            self.rows = np.frombuffer(memory, np.float64).reshape(-1, WIDTH)
            given = {"devices": self._devices, "filters": self._filters,
                     "timeout": self._timeout, "patience": self._timeout + LATER,
                     "pid": os.getpid(), "file": file.fileno()}  # fmt: skip
            script = str(Path(__file__).with_name("watch_child.py"))
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-S", script, json.dumps(given)],
                stdin=subprocess.PIPE,
                pass_fds=(file.fileno(),),
                start_new_session=True,
            )

    def check(self) -> None:
        """Raise ToolError where a filter has not ended an iteration in time."""
        found = late(self.rows.tolist(), time.monotonic(), self._timeout)
        if found is not None:
            device, number, iteration = found
            raise ToolError(
                said(self._devices[device], self._filters[number], iteration, self._timeout),
                hint=HINT,
            )

    def close(self) -> None:
        """End the process."""
        if self._child is not None:
            assert self._child.stdin is not None
            self._child.stdin.close()
            self._child.wait()
