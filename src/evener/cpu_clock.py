"""CPU time of this process, without that of making kernels ready: compiling, loading, keeping them.

That happens once on a computer, or once in a process, and is no part of what a tool costs. The
compiler tells when a thread takes its lock, and when it lets it go; in between it does nothing
else. Beside the kernels and `evener.warming.compiler` the one file that knows the compiler.
"""

from __future__ import annotations

import threading
import time
from functools import cache
from typing import Any

EVENT = "numba:compiler_lock"


class Preparing:
    """CPU time that threads spend between begins and ends, however deep [s]."""

    def __init__(self) -> None:
        self._ended = 0.0
        self._lock = threading.Lock()
        self._of_thread = threading.local()

    def begin(self) -> None:
        """Take note that this thread begins, perhaps once more."""
        own = self._of_thread
        own.depth = getattr(own, "depth", 0) + 1
        if own.depth == 1:
            own.began = time.thread_time()

    def end(self) -> None:
        """Take note that it ends what it began last."""
        own = self._of_thread
        if getattr(own, "depth", 0) == 0:  # begun before anyone listened
            return
        own.depth -= 1
        if own.depth == 0:
            with self._lock:
                self._ended += time.thread_time() - own.began

    @property
    def seconds(self) -> float:
        """What has ended."""
        return self._ended


def cpu_seconds() -> float:
    """Return the CPU time that this process has spent, but for that on making kernels ready [s].

    Only differences count, as of time.process_time.
    """
    prepared = _listening().seconds
    return time.process_time() - prepared


@cache
def _listening() -> Preparing:
    """Return what counts, listening to the compiler from the first call on."""
    from numba.core import event

    preparing = Preparing()

    class Listener(event.Listener):
        def on_start(self, told: Any) -> None:  # noqa: ARG002
            preparing.begin()

        def on_end(self, told: Any) -> None:  # noqa: ARG002
            preparing.end()

    event.register(EVENT, Listener())
    return preparing
