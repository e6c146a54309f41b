"""What long work logs, where no caller asks for its progress: each step, and the seconds it took.

Records of the logger `evener`: a step at DEBUG, when it has ended; the whole at INFO.
"""

from __future__ import annotations

import logging
import re
import time

LOG = logging.getLogger("evener")
LOG.addHandler(logging.NullHandler())  # a library prints nothing by itself


# As `, 3 MiB read` and `, 20,000 of 50,000`: what changes while a step goes on.
_AMOUNT = r"[\d,.]+(?: [KMGTP]?i?B)?"
_HOW_FAR = re.compile(rf", {_AMOUNT} (?:read|of {_AMOUNT})$")


def name_of(step: str) -> str:
    """Return a step without how far it has come, which bars show and logs leave out."""
    return _HOW_FAR.sub("", step)


class LoggedSteps:
    """A `progress` that logs: called with (step, fraction) as each step begins, with 1 at the end.

    How far a step has come may be told meanwhile, at its end: `dividing: pass 2, 3 MiB read`.

    Where the level of the logger leaves them out, no records are made.
    """

    def __init__(self, what: str) -> None:
        self._what, self._step = what, ""
        self._began = self._last = time.perf_counter()

    def __call__(self, step: str, fraction: float) -> None:
        """Log the step before, and the whole where fraction is 1."""
        step = name_of(step)
        if step == self._step and fraction < 1:
            return
        now = time.perf_counter()
        if self._step:
            LOG.debug("%s: %s took %.3f s", self._what, self._step, now - self._last)
        if fraction >= 1:
            LOG.info("%s took %.3f s", self._what, now - self._began)
        self._step, self._last = step, now
