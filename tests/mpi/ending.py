"""Ends one rank of two early: `python -m tests.mpi.ending COUNT [SEED]`.

At a random moment of the first two seconds, mostly before MPI has started, a rank gets SIGINT,
SIGTERM or SIGKILL, or exits. The other must end within five seconds, and no process be left.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from evener.running.guarding import GUARD_NAME
from tests.mpi.killing import MPIEXEC, name_of

FIRST, WITHIN = 2.0, 5.0  # seconds
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL, 0)  # 0: exits with code 3
MARK = "EVENER_TEST_END"  # in the environment of all processes of a run
RUN = ["run", "x.plan", "x.npz", "--app", "pagerank", "--iterations", "1000000"]
EXITING = "import os, sys, threading; threading.Timer({}, os._exit, [3]).start(); "
EVENER = "from evener.__main__ import main; sys.argv[0] = 'evener'; sys.exit(main())"


def processes(mark):
    """Return the processes with this variable in their environment, and their ranks."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"{MARK}={mark}".encode() in words:
            ranks = [word for word in words if word.startswith(b"PMI_RANK=")]
            found[int(folder.name)] = int(ranks[0][9:]) if ranks else None
    return found


def signalled(mark, victim, how):
    """Send a signal to a rank; return whether it was there."""
    found = [pid for pid, rank in processes(mark).items() if rank == victim]
    ranks = [pid for pid in found if name_of(pid) not in (GUARD_NAME, None)]
    for pid in ranks:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, how)
    return bool(ranks)


def ended(folder, mark, draw):
    """End a rank; return how, whether a rank was named, and the seconds until all had ended."""
    moment, how, victim = draw.uniform(0, FIRST), draw.choice(ENDS), int(draw.integers(2))
    words = [sys.executable, "-c", "import sys; " + EVENER, *RUN]
    exits = [sys.executable, "-c", EXITING.format(moment) + EVENER, *RUN]
    each = [exits if how == 0 and rank == victim else words for rank in range(2)]
    command = [MPIEXEC, "-n", "1", *each[0], ":", "-n", "1", *each[1]]
    run = subprocess.Popen(
        command, cwd=folder, env=os.environ | {MARK: mark}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    time.sleep(moment)
    while how and not signalled(mark, victim, how):
        time.sleep(0.005)  # the launcher has not started it yet
    gone = time.monotonic()
    try:
        said = run.communicate(timeout=20)[0]
    except subprocess.TimeoutExpired:
        said = "left"
    took = time.monotonic() - gone
    left = processes(mark)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    if left:
        run.communicate()
    is_named = f"rank {victim}" in said
    if left or took > WITHIN:
        print(
            f"{how} to rank {victim} at {moment:.2f} s: {took:.1f} s, left {left}\n{said}",
            flush=True,
        )
    elif not is_named:
        first = next((line for line in said.splitlines() if line.startswith("evener")), "")
        print(f"{how} to rank {victim} at {moment:.2f} s: not named: {first}", flush=True)
    name = signal.Signals(how).name if how else "exit"
    return name, is_named, took, bool(left)


def main(count, seed):
    draw, seen = np.random.default_rng(seed), Counter()
    longest, n_left, n_late, n_named = 0.0, 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        make(name)
        for i in range(count):
            how, is_named, took, is_left = ended(name, str(i), draw)
            seen[how] += 1
            n_left, n_late, n_named = n_left + is_left, n_late + (took > WITHIN), n_named + is_named
            longest = max(longest, took)
    print(f"{dict(seen)}: {n_named} named, {n_left} left, {n_late} late, longest {longest:.2f} s")


def make(folder):
    """Write a graph and a plan, on which a run takes long."""
    for words in (
        ["generate", "grid", "--shape", "300x300", "-o", "x.npz"],
        ["plan", "x.npz", "--k", "2", "-o", "x.plan"],
    ):
        subprocess.run([sys.executable, "-m", "evener", *words, "--quiet"], cwd=folder, check=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
