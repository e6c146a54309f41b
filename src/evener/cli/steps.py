"""Shows for --verbose every step with its time on stderr: the records of the logger `evener`.

Python programs get the same by `logging.getLogger("evener")`.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

LOG = logging.getLogger("evener")


class _Timed(logging.Formatter):
    """Seconds since the command began, then the record."""

    def __init__(self) -> None:
        super().__init__()
        self._began = time.time()

    def format(self, record: logging.LogRecord) -> str:
        return f"{max(record.created - self._began, 0):8.3f} s  {record.getMessage()}"


@contextmanager
def shown_steps(*, wanted: bool) -> Iterator[None]:
    """Show the records of all of evener on stderr within the block, if they are wanted."""
    if not wanted:
        yield
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Timed())
    before = LOG.level
    LOG.addHandler(handler)
    LOG.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        LOG.removeHandler(handler)
        LOG.setLevel(before)
