"""Waits until what was written to a pipe has been read, before the process ends all others."""

from __future__ import annotations

import os
import stat
import sys
import time

LONGEST = 2.0  # [s] that a reader has
REST = 2e-3  # [s] between two looks


def wait_until_read(file: int) -> bool:
    """Return whether the reader of this pipe has taken all that was written, within LONGEST.

    True at once for what is no pipe. MPICH's launcher, told to end all ranks, no longer reads what
    a rank has written just before.
    """
    if sys.platform != "linux" or not stat.S_ISFIFO(os.fstat(file).st_mode):
        return True
    import array
    import fcntl
    import termios

    unread, began = array.array("i", [0]), time.monotonic()
    while True:
        fcntl.ioctl(file, termios.FIONREAD, unread)
        if unread[0] == 0 or time.monotonic() - began > LONGEST:
            return unread[0] == 0
        time.sleep(REST)
