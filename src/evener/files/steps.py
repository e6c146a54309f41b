"""What long work logs, where no caller asks for its progress: each step, and the seconds it took.

Records of the logger `evener`: a step at DEBUG, when it has ended; the whole at INFO.
"""

from __future__ import annotations

import logging
import time

LOG = logging.getLogger("evener")
LOG.addHandler(logging.NullHandler())  # a library prints nothing by itself


class LoggedSteps:
    """A `progress` that logs: called with (step, fraction) as each step begins, with 1 at the end.

    Where the level of the logger leaves them out, no records are made.
    """

    def __init__(self, what: str) -> None:
        self._what, self._step = what, ""
        self._began = self._last = time.perf_counter()

    def __call__(self, step: str, fraction: float) -> None:
        """Log the step before, and the whole where fraction is 1."""
        now = time.perf_counter()
        if self._step:
            LOG.debug("%s: %s took %.3f s", self._what, self._step, now - self._last)
        if fraction >= 1:
            LOG.info("%s took %.3f s", self._what, now - self._began)
        self._step, self._last = step, now
