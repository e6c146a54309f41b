"""Says that kernels are being compiled, which happens once, and where they cannot be kept."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from evener.cli.precompile.compiler import Compiled, watch_if_imported
from evener.cli.steps import LOG
from evener.errors import EvenerError, UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output


WORDS = "compiling kernels, once"
WORTH_SAYING = 1.0  # seconds of compiling, all together
STEADY = 1.0  # seconds for which it stays when nothing is compiled: the next kernel may follow


class CompilingShown:
    """Called again and again while a command runs: shows the seconds spent compiling so far."""

    def __init__(self, out: Output, command: str) -> None:
        self._out = out
        self._compiled = Compiled()
        self._is_watching = False
        self._last = 0.0
        self._n_told = 0
        self._command = command
        self._is_off = command == "warm"  # whose own bar says it

    def __call__(self) -> None:
        """Say it while a kernel is being compiled, and no longer."""
        for name in self._compiled.names[self._n_told :]:
            self._n_told += 1
            if name:
                LOG.debug("compiling %s", name)
        if self._is_off:
            return
        if not self._is_watching:
            # Commands without kernels do not import the compiler; nothing is imported for this.
            self._is_watching = watch_if_imported(self._compiled)
        if self._compiled.is_busy and self._compiled.seconds > WORTH_SAYING:
            self._last = time.monotonic()
            self._out.wait_for(WORDS, self._compiled.seconds, self._how_far())
        elif time.monotonic() - self._last > STEADY:
            self._out.wait_for("")

    def _how_far(self) -> str:
        """What it is for, and the kernels so far; how many follow, nobody knows before they do."""
        names = [name for name in self._compiled.names if name]
        now = f", now {names[-1]}" if names else ""
        return f"for `{self._command}`: {max(len(names) - 1, 0):,} compiled{now}"


def explained(error: Exception) -> Exception:
    """Return the error with what to do where the compiler has nowhere to keep kernels."""
    if isinstance(error, EvenerError) or "no locator available" not in str(error):
        return error
    return UsageError(
        "there is no folder in which compiled kernels can be kept",
        hint="NUMBA_CACHE_DIR may name one that can be written.",
    )


# Runs a command beside a waiting main thread, so that Ctrl-C works during foreign calls.


def run_beside(command: Callable[[], int], meanwhile: Callable[[], None] | None = None) -> int:
    """Return what `command` returns, raise what it raises; on Ctrl-C leave at once with 130.

    meanwhile: called ten times a second while it runs.

    A compiled kernel never gives Python the chance to see a signal. The command therefore runs
    in a thread of its own, and the main thread sleeps until it ends or a signal wakes it.
    """
    outcome: list[int] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            outcome.append(command())
        except BaseException as error:  # handed to the waiting thread
            failure.append(error)

    worker = threading.Thread(target=target, daemon=True, name="command")
    try:
        worker.start()
        while worker.is_alive():
            worker.join(0.1)
            if meanwhile is not None:
                meanwhile()
    except KeyboardInterrupt:
        leave()
    if failure:
        if isinstance(failure[0], KeyboardInterrupt):
            leave()
        raise failure[0]
    return outcome[0]


def leave() -> NoReturn:
    """End now: no half-written file, no child left behind, no wait for a running kernel."""
    from evener.files.writing import discard_unfinished

    discard_unfinished()
    for module in ("evener.partitioning.external.children", "evener.measuring.workers"):
        if module in sys.modules:
            sys.modules[module].end_all()
    if "evener.files.temporary" in sys.modules:
        sys.modules["evener.files.temporary"].discard_folders()
    sys.stderr.write("\nevener: interrupted\n")
    sys.stderr.flush()
    os._exit(130)
