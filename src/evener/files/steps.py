"""Logs the steps of long work and their seconds, for callers that pass no `progress`.

Writes to the logger `evener`: each step at DEBUG, when it has ended; the total at INFO.
"""

from __future__ import annotations

import logging
import re
import time

LOG = logging.getLogger("evener")
LOG.addHandler(logging.NullHandler())  # a library prints nothing by itself


# Parts of a step that change while it runs: `, 3 MiB read` and `, 20,000 of 50,000`.
_AMOUNT = r"[\d,.]+(?: [KMGTP]?i?B)?"
_HOW_FAR = re.compile(rf", {_AMOUNT} (?:read|of {_AMOUNT})$")


def name_of(step: str) -> str:
    """Return a step's name without its progress, which bars show and logs omit."""
    return _HOW_FAR.sub("", step)


class LoggedSteps:
    """A `progress` callback that logs; call it with (step, fraction) as each step begins.

    Call it with fraction 1 at the end. The step's text may end with its progress: `dividing: pass
    2, 3 MiB read`. If the logger's level excludes records, none are created.
    """

    def __init__(self, what: str) -> None:
        self._what, self._step = what, ""
        self._began = self._last = time.perf_counter()

    def __call__(self, step: str, fraction: float) -> None:
        """Log the previous step, and the total if fraction is 1."""
        step = name_of(step)
        if step == self._step and fraction < 1:
            return
        now = time.perf_counter()
        if self._step:
            LOG.debug("%s: %s took %.3f s", self._what, self._step, now - self._last)
        if fraction >= 1:
            LOG.info("%s took %.3f s", self._what, now - self._began)
        self._step, self._last = step, now
