"""Failures of ranks: what they are called, and a process that sees which one was killed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evener.errors import UsageError
from evener.running import guard_child
from evener.running.failures import Names

LINUX = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watches processes on Linux alone")


def test_errors_that_were_not_raised_on_purpose_name_the_device():
    names = Names(("cpu", "gpu"))
    assert str(names.failed(1, ValueError("no"))) == "rank 1 (gpu) failed: ValueError: no"
    assert "rank 0 (cpu) has run out of memory" in str(names.failed(0, MemoryError("3 GiB")))
    assert names.of(7) == "rank 7"
    own = UsageError("as it is")
    assert names.failed(1, own) is own


def guarded(tmp_path, states, victim, described=b""):
    """Start two processes and a guard, kill one; return what the guard said."""
    flags = tmp_path / "flags"
    flags.write_bytes(bytes(2) + described)
    ranks = [
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) for _ in "ab"
    ]
    script = Path(guard_child.__file__)
    words = [str(word) for rank, name in zip(ranks, "ab", strict=True) for word in (rank.pid, name)]
    with flags.open("rb") as file:
        guard = subprocess.Popen(
            [sys.executable, "-I", "-S", str(script), str(file.fileno()), *words],
            pass_fds=(file.fileno(),),
            stderr=subprocess.PIPE,
            text=True,
        )
    flags.write_bytes(states + described)
    ranks[victim].kill()
    if states != bytes(2):
        ranks[1 - victim].kill()
    said = guard.communicate(timeout=20)[1]
    for rank in ranks:
        assert rank.wait(timeout=20) == -9
        rank.stdin.close()
    return said


@LINUX
@pytest.mark.parametrize("victim", [0, 1])
def test_a_guard_names_who_was_killed_and_ends_the_other(tmp_path, victim):
    said = guarded(tmp_path, bytes(2), victim)
    assert said == f"evener: {'ab'[victim]} was killed\n"
    said = guarded(tmp_path, bytes(2), victim, b"Try again.\na (cpu)\nb (gpu)")
    assert said == f"evener: {'ab'[victim]} ({'cg'[victim]}pu) was killed\nTry again.\n"


@LINUX
@pytest.mark.parametrize("states", [b"\1\1", b"\0\2", b"\2\0"])
def test_a_guard_is_silent_where_ranks_have_ended_in_order_or_said_why(tmp_path, states):
    assert guarded(tmp_path, states, 0) == ""
