"""Finds firings that do not end."""

from __future__ import annotations

import time
from collections.abc import Sequence

from evener.errors import ToolError
from evener.running.streams.processor import Processor

PAUSE = 0.05  # [s] between two looks


class FiringWatch:
    """Looks after processors, by name, whose filters have these names. timeout [s]: of a firing."""

    pause = PAUSE

    def __init__(
        self,
        processors: Sequence[tuple[str, Processor]],
        names: Sequence[str],
        timeout: float,
    ) -> None:
        self._processors, self._names, self._timeout = processors, names, timeout

    def check(self) -> None:
        """Raise ToolError where a filter has not ended an iteration in time."""
        for device, processor in self._processors:
            now = processor.now
            if now is not None and time.monotonic() - now.since > self._timeout:
                raise ToolError(
                    f"filter {self._names[now.number]!r} on {device} has not ended iteration "
                    f"{now.iteration} within {self._timeout:,.3g} s",
                    hint="It hangs, or takes longer: --timeout SECONDS waits for longer.",
                )
