"""A process that sees which rank was killed; it watches those told, or those of a launcher."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evener.running import guard_child, guarding

LINUX = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watches processes on Linux alone")


def guarded(tmp_path, states, victim, described=b""):
    """Start two processes and a guard, kill one; return what the guard said."""
    flags = tmp_path / "flags"
    flags.write_bytes(bytes(3) + described)
    ranks = [
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) for _ in "ab"
    ]
    script = Path(guard_child.__file__)
    words = [str(word) for rank, name in zip(ranks, "ab", strict=True) for word in (rank.pid, name)]
    with flags.open("rb+") as file:
        guard = subprocess.Popen(
            [sys.executable, "-I", "-S", str(script), str(file.fileno()), *words],
            pass_fds=(file.fileno(),),
            stderr=subprocess.PIPE,
            text=True,
        )
    flags.write_bytes(states + b"\1" + described)
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


LAUNCHER = """
import os, subprocess, sys
ranks = []
for place in (0, 1, 2):
    stated = {"PMI_RANK": str(place + 4), "MPI_LOCALRANKID": str(place), "MPI_LOCALNRANKS": "3"}
    ranks.append(subprocess.Popen(
        [sys.executable, "-c", sys.argv[1]], env=os.environ | stated, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ))
for rank in ranks:
    print(rank.stdout.readline().decode().strip(), flush=True)
victim = int(sys.argv[2])
if victim < 3:
    ranks[victim].kill()
    for rank in ranks:
        rank.wait()  # the guard ends the others: this launcher does not
for rank in ranks:
    rank.stdin.close()
    rank.wait()
"""
RANK = """
import os, sys, time
from evener.running import guarding
guarding.begin()
flags = guarding._early[0]
while os.pread(flags.file, 1, flags.ranks) != guarding.WATCHED:
    time.sleep(0.001)
print(flags.path, flush=True)
sys.stdin.read()
"""


@LINUX
@pytest.mark.parametrize("victim", [0, 2, 3])
def test_a_guard_finds_the_ranks_of_a_launcher(victim):
    """Before MPI: it names the rank among all; it says nothing where all end by themselves."""
    words = [sys.executable, "-c", LAUNCHER, RANK, str(victim)]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert ran.stderr == ("" if victim == 3 else f"evener: rank {victim + 4} was killed\n")
    paths = set(ran.stdout.split())
    assert len(paths) == 1
    assert not Path(paths.pop()).exists()


@LINUX
def test_no_guard_where_ranks_are_missing(monkeypatch):
    monkeypatch.setattr(guard_child, "SEARCH", 0.05)
    assert guard_child.found(os.getppid(), os.getpid(), 2, "PMI_RANK", "MPI_LOCALRANKID") is None


def test_a_program_that_no_launcher_has_started_has_no_guard(monkeypatch):
    for names in guarding.STATED:
        monkeypatch.delenv(names[0], raising=False)
    guarding.begin()
    assert not guarding._early
