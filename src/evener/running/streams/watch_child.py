"""Kills a process whose filter never gives Python's lock back, and says which it was.

Runs as a script, without the package: python watch_child.py JSON, of which `file` is the number of
an open file of rows of three numbers for each processor, as watching.py describes them. Ends when
its standard input does, with the process that it watches.
"""

from __future__ import annotations

import json
import mmap
import os
import select
import signal
import struct
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

WIDTH = 3  # numbers of a row
PAUSE = 0.1  # [s]
HINT = "It hangs, or takes longer: --timeout SECONDS waits for longer."


def late(
    rows: Sequence[Sequence[float]], now: float, timeout: float
) -> tuple[int, int, int] | None:
    """Return processor, filter and iteration of a firing that takes too long, or None."""
    for device, (number, iteration, since) in enumerate(rows):
        if number > 0 and now - since > timeout:
            return device, int(number) - 1, int(iteration)
    return None


def said(device: str, name: str, iteration: int, timeout: float) -> str:
    """Return the message of a firing that takes too long."""
    return (
        f"filter {name!r} on {device} has not ended iteration {iteration} within {timeout:,.3g} s"
    )


def main(given: dict[str, object]) -> None:
    """Return when the process has ended, or was killed."""
    names, devices, pid = given["filters"], given["devices"], given["pid"]
    memory = mmap.mmap(int(str(given["file"])), 0, prot=mmap.PROT_READ)
    while not select.select([sys.stdin], [], [], PAUSE)[0]:
        rows = list(struct.iter_unpack(f"{WIDTH}d", memory[:]))
        found = late(rows, time.monotonic(), float(str(given["patience"])))
        if found is None:
            continue
        device, number, iteration = found
        assert isinstance(names, list)
        assert isinstance(devices, list)
        text = said(devices[device], names[number], iteration, float(str(given["timeout"])))
        held = "It holds Python's lock, as kernels without nogil=True do."
        sys.stderr.write(f"evener: {text}\n{held} {HINT}\n")
        sys.stderr.flush()
        with suppress(ProcessLookupError):
            os.kill(int(str(pid)), signal.SIGKILL)
        return


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
