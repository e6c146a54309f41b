"""A process that sees which rank was killed; it watches those told, or those of a launcher."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evener.running import guard_child, guarding

LINUX = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watches processes on Linux alone")


def guarded(tmp_path, states, victim, described=b""):
    """Start two processes and a guard, kill one; both are to end. Return what the guard said."""
    flags = tmp_path / "flags"
    flags.write_bytes(bytes(7) + described)
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
    flags.write_bytes(states + b"\1" + bytes(4) + described)
    ranks[victim].kill()
    if guard_child.IN_MPI not in states or states[1 - victim] == guard_child.FAILED:
        ranks[1 - victim].kill()
    said = guard.communicate(timeout=20)[1]
    for rank in ranks:
        assert rank.wait(timeout=20) == -9
        rank.stdin.close()
    return said


@LINUX
@pytest.mark.parametrize("victim", [0, 1])
def test_a_guard_names_who_was_killed_and_ends_the_other(tmp_path, victim):
    said = guarded(tmp_path, b"\4\4", victim)
    assert said == f"evener: {'ab'[victim]} was killed\n"
    said = guarded(tmp_path, b"\4\4", victim, b"Try again.\na (cpu)\nb (gpu)")
    assert said == f"evener: {'ab'[victim]} ({'cg'[victim]}pu) was killed\nTry again.\n"


@LINUX
@pytest.mark.parametrize("states", [b"\1\1", b"\2\2", b"\4\2"])
def test_a_guard_is_silent_where_ranks_have_ended_in_order_or_said_why(tmp_path, states):
    assert guarded(tmp_path, states, 0) == ""


@LINUX
@pytest.mark.parametrize(
    ("state", "expected"),
    [(0, "before it started Evener"), (guard_child.FAILED, "and other ranks waited for it")],
)
def test_ranks_that_wait_in_mpi_for_one_that_has_ended_are_ended(tmp_path, state, expected):
    """Whether it ended before it had begun, or said what was wrong: no launcher ends the others."""
    said = guarded(tmp_path, bytes([guard_child.IN_MPI, state]), 1)
    assert said.replace(",", "") == f"evener: b has ended {expected}\n"


LAUNCHER = """
import os, subprocess, sys
ranks = []
for place in (0, 1, 2):
    stated = {"PMI_RANK": str(place + 4), "MPI_LOCALRANKID": str(place), "MPI_LOCALNRANKS": "3",
              "PMI_SIZE": "9"}
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


CLOSES = """
import os, sys, time
from evener.running import guarding
guarding.begin()
flags = guarding._early[0]
while os.pread(flags.file, 1, flags.ranks) != guarding.WATCHED:
    time.sleep(0.001)
time.sleep(0.2)  # the guard opens lifelines
print(flags.path, flush=True)
if flags.place == 1:
    os.close(guarding.LIFELINE)  # as Linux does, long before it reports that the process has ended
    print("closed", flush=True)
sys.stdin.read()
"""
CLOSED = """
import os, subprocess, sys
ranks = []
for place in (0, 1):
    stated = {"PMI_RANK": str(place), "MPI_LOCALRANKID": str(place), "MPI_LOCALNRANKS": "2",
              "PMI_SIZE": "2"}
    ranks.append(subprocess.Popen(
        [sys.executable, "-c", sys.argv[1]], env=os.environ | stated, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ))
for rank in ranks:
    rank.stdout.readline()
ranks[1].stdout.readline()
ranks[0].kill()
ranks[0].wait()
ranks[1].kill()
ranks[1].wait()
"""


@LINUX
def test_the_rank_whose_lifeline_closed_first_is_the_one_that_was_killed():
    """Though the other one, which a launcher then ended, was gone before it."""
    words = [sys.executable, "-c", CLOSED, CLOSES]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert ran.stderr == "evener: rank 1 was killed\n"


MISSING = """
import os, subprocess, sys
stated = {"PMI_RANK": "0", "MPI_LOCALRANKID": "0", "MPI_LOCALNRANKS": "2", "PMI_SIZE": "2"}
words = [sys.executable, "-c", "input()"]  # no rank; but the program that started rank 1, maybe
other = subprocess.Popen(words, stdin=subprocess.PIPE) if sys.argv[2] == "unknown" else None
rank = subprocess.Popen([sys.executable, "-c", sys.argv[1]], env=os.environ | stated)
code = rank.wait()
if other is not None:
    other.communicate(b"\\n")
sys.exit(abs(code))
"""
WAITS = """
import os, time
from evener.running import guard_child, guarding
guard_child.SEARCH = guard_child.GRACE = 0.05
guarding.begin()
guarding.enter_mpi()
end = time.monotonic() + 20
while guarding._early[0].path.exists() and time.monotonic() < end:
    time.sleep(0.01)
guarding.end_all()
"""


@LINUX
@pytest.mark.parametrize(
    ("others", "said"), [("none", "rank 1 has ended before it started Evener"), ("unknown", "")]
)
def test_a_rank_that_is_missing_from_the_start(others, said):
    """It has ended where all children of the launcher are known to be others, else who knows."""
    words = [sys.executable, "-c", MISSING, WAITS, others]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == ((9, f"evener: {said}\n") if said else (0, ""))


@LINUX
def test_a_file_of_another_user_is_not_opened(tmp_path, capfd, monkeypatch):
    """Nor one that others may write, nor a link: what it says goes to the terminal."""
    mine, open_to_all = tmp_path / "mine", tmp_path / "open"
    file, is_new = guarding._in_common(mine)
    assert is_new
    os.close(file)
    file, is_new = guarding._in_common(mine)
    assert not is_new
    os.close(file)
    open_to_all.touch()
    open_to_all.chmod(0o666)
    (tmp_path / "link").symlink_to(mine)
    for name in ("open", "link"):
        with pytest.raises(OSError, match=name):
            guarding._in_common(tmp_path / name)
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(PermissionError):
        guarding._in_common(mine)
    assert "belongs to another user" in capfd.readouterr().err


def test_a_program_that_no_launcher_has_started_has_no_guard(monkeypatch):
    for names in guarding.STATED:
        monkeypatch.delenv(names[0], raising=False)
    guarding.begin()
    assert not guarding._early
