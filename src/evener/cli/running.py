"""Runs a command beside a waiting main thread, so that Ctrl-C works during foreign calls."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import NoReturn


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
    from evener.writing import discard_unfinished

    discard_unfinished()
    for module in ("evener.partitioning.external.children", "evener.measuring.workers"):
        if module in sys.modules:
            sys.modules[module].end_all()
    if "evener.temporary" in sys.modules:
        sys.modules["evener.temporary"].discard_folders()
    sys.stderr.write("\nevener: interrupted\n")
    sys.stderr.flush()
    os._exit(130)
