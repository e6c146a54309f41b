"""Kills ranks of runs and continues these: `python -m tests.mpi.killing COUNT [SEED]`.

A run with checkpoints is started by mpiexec, one of its ranks gets SIGKILL after a random time, and
the run is continued from its checkpoint with another plan and number of ranks. Values must be those
of a run that nobody disturbed.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

import evener as ev
from evener.graphs.graph import Graph
from evener.running.guarding import GUARD_NAME

MPIEXEC = str(Path(sys.executable).parent / "mpiexec")
N = 3000
APPS = {"bfs": [], "sssp": [], "wcc": [], "pagerank": ["--iterations", "3000"]}
BEGUN, STARTED = 1.5, 2.0  # seconds: ranks are killed so long after the first superstep or start
LONGEST_START = 40.0  # seconds
RANK = b"PMI_RANK="  # in the environment of MPICH's ranks
START = 0.5  # seconds in which Python starts, and a process is without a guard, on a busy computer
WITHIN = 20.0  # seconds in which the others are to end, also where ten processes share a core


def make(folder, apps=tuple(APPS)):
    """Write a graph on which programs take long, plans for 2 to 5 devices, and right values."""
    draw = np.random.default_rng(8)
    ends = np.concatenate(
        [[np.arange(N - 1), np.arange(1, N)], draw.integers(0, N, (2, 4))], axis=1
    )
    graph = Graph.from_edges(N, *ends, weights=draw.integers(1, 9, ends.shape[1]))
    ev.write_graph(folder / "path.graph", graph)
    for k in (2, 3, 5):
        ev.write_plan(folder / f"{k}.plan", ev.plan(str(folder / "path.graph"), k))
    for app in apps:
        started(folder, app, 3, 1, "-o", folder / f"{app}.npy").communicate()


def started(folder, app, k, ranks, *words):
    """Start a run on processes."""
    command = [MPIEXEC, "-n", str(ranks)] if ranks > 1 else []
    command += [sys.executable, "-m", "evener", "run", folder / f"{k}.plan", folder / "path.graph"]
    command += ["--app", app, *APPS[app], "--quiet", *words]
    return subprocess.Popen(
        [str(word) for word in command], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip


def ranks_of(pid):
    """Return the processes that a launcher has started to run evener."""
    parents, known = {}, {pid}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
            parents[int(folder.name)] = (
                int((folder / "stat").read_text().rsplit(")")[-1].split()[1]),
                words,
            )
        except OSError:
            continue
    for _ in range(4):
        known |= {one for one, (parent, _) in parents.items() if parent in known}
    return [
        one
        for one in sorted(known - {pid})
        if b"\0evener\0run\0" in parents[one][1]
        and b"hydra" not in parents[one][1]
        and name_of(one) != GUARD_NAME
    ]


def name_of(pid):
    """Return the name of a process, which a guard has changed."""
    try:
        return (Path("/proc") / str(pid) / "comm").read_text().strip()
    except OSError:
        return None


def is_guarded(kept):
    """Whether there is a guard of the run that keeps its checkpoint there."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            is_its = str(kept).encode() in (folder / "cmdline").read_bytes()
            if is_its and name_of(int(folder.name)) == GUARD_NAME:
                return True
    return False


def killed(run, draw, kept, output):
    """Kill a rank; return whether it was named, and how many seconds it took the run to end.

    kept, output: where the run keeps its checkpoint, and what it writes last. Raises
    AssertionError where the run hangs or another rank is named.
    """
    victims = ranks_of(run.pid)
    try:
        victim = int(draw.choice(victims))
        words = Path(f"/proc/{victim}/environ").read_bytes().split(b"\0")
        rank = next(int(word[len(RANK) :]) for word in words if word.startswith(RANK))
        age = time.time() - Path(f"/proc/{victim}").stat().st_ctime
        starts = not kept.exists() and not is_guarded(kept)
        os.kill(victim, signal.SIGKILL)
    except (ValueError, OSError, StopIteration):  # there is none, or none any more
        run.communicate(timeout=60)
        return "ended before", 0.0
    began = time.monotonic()
    said = "".join(run.communicate(timeout=60))  # the launcher's words are on standard output
    took = time.monotonic() - began
    assert took < WITHIN, f"{took:.1f} s until the end"
    named = re.search(r"rank (\d+).* was killed", said)
    assert named is None or int(named[1]) == rank, said
    if not run.returncode:
        return "after its end", took
    if named:
        return "named", took
    assert "EXIT CODE: 9" in said, said
    if starts or age < START:
        return "named by the launcher alone, as Python started", took
    if output.exists():  # the rank had said that it ended, and was killed before its process had
        return "named by the launcher alone, after its end", took
    print(f"not named, {age:.2f} s after its start: {said}", flush=True)
    return "not named", took


def killed_and_continued(folder, app, draw):
    """Kill a rank of a run, and continue the run; return what happened, and seconds until its end.

    Raises AssertionError where a run hangs or ends with other values.
    """
    kept = folder / f"kept-{draw.integers(2**40)}"
    k = int(draw.choice([2, 3, 5]))
    ranks = int(draw.integers(2, min(k, 3) + 1))
    every = str(draw.choice(["20", "150", "0.05s"]))
    whole = folder / f"whole-{kept.name}.npy"
    run = started(folder, app, k, ranks, "--checkpoint", kept, "--every", every, "-o", whole)
    if draw.random() < 0.8:  # else while Python starts, files are read, kernels loaded
        began = time.monotonic()
        while not kept.exists() and time.monotonic() - began < LONGEST_START:
            time.sleep(0.005)
        time.sleep(draw.uniform(0, BEGUN))
    else:
        time.sleep(draw.uniform(0, STARTED))
    ended, took = killed(run, draw, kept, whole)
    expected = np.load(folder / f"{app}.npy")
    if whole.exists():
        assert np.array_equal(np.load(whole), expected), f"{app}: other values, {ended}"
    has = (kept / "checkpoint.json").exists()
    other = int(draw.choice([2, 3, 5]))
    output = folder / "again.npy"
    words = ["--resume", kept] if has else []
    again = started(
        folder, app, other, int(draw.integers(1, min(other, 3) + 1)), "-o", output, *words
    )
    said = again.communicate(timeout=120)[1]
    assert again.returncode == 0, said
    assert np.array_equal(np.load(output), expected), f"{app}: other values after {ended}"
    output.unlink()
    return f"{ended}, {'continued' if has else 'begun anew'}", took


def main(count, seed):
    draw, seen, longest = np.random.default_rng(seed), Counter(), 0.0
    with tempfile.TemporaryDirectory() as name:
        make(Path(name))
        for _ in range(count):
            what, took = killed_and_continued(Path(name), str(draw.choice(list(APPS))), draw)
            seen[what] += 1
            longest = max(longest, took)
            print(dict(seen), f"longest {longest:.2f} s", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
