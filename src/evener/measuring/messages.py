"""JSON objects, one a line, read from a pipe by whole lines."""

from __future__ import annotations

import json
import os
import selectors
import time
from typing import Any

CHUNK = 1 << 16  # bytes read at once


class Inbox:
    """The JSON objects that are read from a pipe."""

    def __init__(self, fileno: int) -> None:
        self._fileno = fileno
        self._buffer = b""

    @property
    def has_message(self) -> bool:
        """Whether `hear` would return an object without reading more."""
        return b"\n" in self._buffer

    def hear(self, seconds: float | None = None) -> dict[str, Any] | None:
        """Return the next object; None where none comes within `seconds` (None: wait for ever).

        Raises EOFError when the other end is closed and all objects have been returned.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        while not self.has_message:
            if deadline is not None and not self.is_readable(deadline - time.monotonic()):
                return None
            more = os.read(self._fileno, CHUNK)
            if not more:
                raise EOFError
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\n")
        heard: dict[str, Any] = json.loads(line)
        return heard

    def is_readable(self, seconds: float = 0.0) -> bool:
        """Return whether, within `seconds`, there is data to read or the other end is closed."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._fileno, selectors.EVENT_READ)
            return bool(selector.select(max(seconds, 0.0)))


def as_line(message: Any) -> bytes:
    """Return an object as the line that is sent."""
    return json.dumps(message).encode() + b"\n"
