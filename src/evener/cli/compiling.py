"""Run a command in a thread, and show meanwhile that kernels are being compiled."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from evener.cli.output import LOG
from evener.cli.precompile.compiler import Compiled, watch_if_imported
from evener.errors import EvenerError, ToolError, UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output


_LIMITS = "See the limits of this shell (ulimit -a), or of its control group."
# Commands, inputs and options have different kernels, so "once" may be printed several times.
WORDS = "compiling kernels that `evener {}` needs for the first time"
WORTH_SAYING = 1.0  # [s] of compiling from which it is shown
STEADY = 1.0  # [s] without compiling after which the text is removed


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM, for example from `timeout` or Slurm: it ends as on Ctrl-C.

    A subclass of KeyboardInterrupt, so that all code that cleans up on Ctrl-C also does so here.
    """


@contextmanager
def terminated_in_order() -> Iterator[None]:
    """Context manager: raise Terminated in the main thread if SIGTERM arrives.

    If a program that calls `main` has its own handler, that handler stays. Forked copies of this
    process are ended at once by the signal, as by default.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    own = os.getpid()

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - as signal calls it
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if os.getpid() != own:
            os.kill(os.getpid(), signal.SIGTERM)
        raise Terminated

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


class CompilingShown:
    """Shows the seconds spent compiling so far; `run_beside` calls it ten times a second."""

    def __init__(self, out: Output, command: str) -> None:
        self._out = out
        self._compiled = Compiled()
        self._is_watching = False
        self._last = 0.0
        self._n_told = 0
        self._has_said_why = False
        self._n_whys = len(_whys())  # of commands before this one
        self._command = command
        self._is_off = command == "warm"  # which shows a bar of its own

    def __call__(self) -> None:
        """Update the text, or remove it when nothing is being compiled."""
        for name in self._compiled.names[self._n_told :]:
            self._n_told += 1
            if name:
                LOG.debug("compiling %s", name)
        if self._is_off:
            return
        if not self._is_watching:
            # Do not import the compiler here: commands without kernels do not need it.
            self._is_watching = watch_if_imported(self._compiled)
        if self._compiled.is_busy and self._compiled.seconds > WORTH_SAYING:
            self._say_why()
            self._last = time.monotonic()
            words = WORDS.format(self._command)
            self._out.wait_for(words, self._compiled.seconds, self._how_far())
        elif time.monotonic() - self._last > STEADY:
            self._out.wait_for("")

    def _say_why(self) -> None:
        """Print, once, why kernels are compiled although precompiled ones were installed."""
        whys = _whys()[self._n_whys :]
        if whys and not self._has_said_why:
            self._has_said_why = True
            self._out.note(f"Kernels are compiled here, once: {whys[0]}.")

    def _how_far(self) -> str:
        """Return the number of compiled kernels as text; the total is not known."""
        names = [name for name in self._compiled.names if name]
        now = f", now {names[-1]}" if names else ""
        return f"{max(len(names) - 1, 0):,} compiled{now}"


def _whys() -> list[str]:
    """Return the reasons why kernels were compiled so far; empty if no kernel was called."""
    packs = sys.modules.get("evener.machine_code.packs")
    return packs.why_compiled() if packs else []


def explained(error: Exception | SystemExit) -> Exception:
    """Return an EvenerError for exceptions that are not bugs; return other exceptions unchanged.

    These exceptions are not bugs: no memory or thread is left, a user's program exits, or Numba has
    no folder for compiled kernels.
    """
    if isinstance(error, SystemExit):
        return ToolError(f"the user's program called sys.exit({error.code!r})")
    if isinstance(error, MemoryError):
        return ToolError(f"out of memory{f': {error}' if str(error) else ''}", hint=_LIMITS)
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return ToolError("the system does not let this process start another thread", hint=_LIMITS)
    if isinstance(error, OSError | ImportError) and "shared object" in str(error):
        return ToolError(f"a library cannot be loaded: {str(error).split('.')[0]}", hint=_LIMITS)
    if isinstance(error, EvenerError) or "no locator available" not in str(error):
        return error
    return UsageError(
        "no folder for compiled kernels can be written",
        hint="Set NUMBA_CACHE_DIR to a writable folder.",
    )


def run_beside(command: Callable[[], int], meanwhile: Callable[[], None] | None = None) -> int:
    """Return the result of `command`, or raise its error; on Ctrl-C or SIGTERM leave at once.

    meanwhile: called ten times a second while the command runs.

    Python handles no signal while a compiled kernel runs. Therefore the command runs in its own
    thread, and the main thread waits for its end or a signal.
    """
    outcome: list[int] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            outcome.append(command())
        except BaseException as error:  # raised by the main thread
            failure.append(error)

    worker = threading.Thread(target=target, daemon=True, name="command")
    try:
        worker.start()
        while worker.is_alive():
            worker.join(0.1)
            if meanwhile is not None:
                meanwhile()
    except KeyboardInterrupt as interrupt:
        leave(interrupt)
    if failure:
        if isinstance(failure[0], KeyboardInterrupt):
            leave(failure[0])
        raise failure[0]
    return outcome[0]


def leave(interrupt: KeyboardInterrupt) -> NoReturn:
    """Exit at once with 130, or 143 for Terminated.

    Removes unfinished files and ends child processes first.
    """
    from evener.files.writing import discard_unfinished

    discard_unfinished()
    for module in (
        "evener.partitioning.external.children",
        "evener.measuring.workers",
        "evener.running.guarding",
        "evener.integrations.launching.running",
    ):
        if module in sys.modules:
            sys.modules[module].end_all()
    if "evener.files.temporary" in sys.modules:
        sys.modules["evener.files.temporary"].discard_folders()
    is_terminated = isinstance(interrupt, Terminated)
    said = "ended by SIGTERM" if is_terminated else "interrupted"
    who = guarding.own_name() if (guarding := sys.modules.get("evener.running.guarding")) else ""
    sys.stderr.write(f"\nevener: {who}{said}\n")
    sys.stderr.flush()
    os._exit(143 if is_terminated else 130)  # 128 and the number of the signal
