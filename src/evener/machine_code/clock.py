"""CPU time of this process, excluding compiling, loading and saving kernels.

Kernels are compiled once per computer and loaded once per process, so this time is no part of a
tool's cost. Numba reports when a thread acquires and releases the compiler's lock; in between, the
thread does nothing else.
"""

from __future__ import annotations

import threading
import time
from functools import cache
from typing import Any

EVENT = "numba:compiler_lock"


class Preparing:
    """The CPU time [s] that threads spend between `begin` and `end`; these may be nested."""

    def __init__(self) -> None:
        self._ended = 0.0
        self._lock = threading.Lock()
        self._of_thread = threading.local()

    def begin(self) -> None:
        """Start this thread's clock, unless it is running."""
        own = self._of_thread
        own.depth = getattr(own, "depth", 0) + 1
        if own.depth == 1:
            own.began = time.thread_time()

    def end(self) -> None:
        """Stop this thread's clock at the `end` that matches its first `begin`."""
        own = self._of_thread
        if getattr(own, "depth", 0) == 0:  # begun before the listener was registered
            return
        own.depth -= 1
        if own.depth == 0:
            with self._lock:
                self._ended += time.thread_time() - own.began

    @property
    def seconds(self) -> float:
        """Total time of the completed intervals [s]."""
        return self._ended


def cpu_seconds() -> float:
    """Return the CPU time [s] of this process, excluding compiling and loading kernels.

    Only differences are meaningful, as with time.process_time.
    """
    prepared = _listening().seconds
    return time.process_time() - prepared


@cache
def _listening() -> Preparing:
    """Return the clock of the compiler, which runs from the first call on."""
    from numba.core import event

    preparing = Preparing()

    class Listener(event.Listener):
        def on_start(self, told: Any) -> None:  # noqa: ARG002
            preparing.begin()

        def on_end(self, told: Any) -> None:  # noqa: ARG002
            preparing.end()

    event.register(EVENT, Listener())
    return preparing
