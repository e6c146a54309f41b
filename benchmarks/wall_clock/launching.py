"""Starts ranks of MPI that run a program of this folder, and rivals that take a core's time."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

BENCHMARKS = Path(__file__).parents[1]
BESIDE = Path(sys.executable).parent / "mpiexec"
MPIEXEC = str(BESIDE) if BESIDE.exists() else shutil.which("mpiexec")
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

# Ends when the benchmark has ended, however that came about.
RIVAL = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
while os.getppid() == int(sys.argv[2]):
    for _ in range(200_000):
        pass
"""


def run_ranks(ranks, program, job, timeout=400.0):
    """Run `python -m wall_clock.PROGRAM JOB` on so many ranks; return the record rank 0 prints."""
    if MPIEXEC is None:
        raise SystemExit("mpiexec is missing: python -m pip install 'evener[mpi]'")
    paths = [str(BENCHMARKS), str(BENCHMARKS.parent / "src"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | dict.fromkeys(ONE_THREAD, "1") | {"PYTHONPATH": ":".join(paths)}
    program = [sys.executable, "-m", f"wall_clock.{program}", json.dumps(job)]
    try:
        done = subprocess.run(
            [MPIEXEC, "-n", str(ranks), *program],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SystemExit(f"{job['case']}: not done within {timeout:.0f} s") from error
    if done.returncode != 0:
        raise SystemExit(f"{job['case']}: the ranks ended with code {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def core_of(rank):
    """The core a rank is bound to: the first two that this process may use, in turn."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        raise SystemExit("two cores are needed")
    return cores[rank % 2]


@contextmanager
def rivals(count):
    """Keep the second core busy with so many processes, each in a session of its own.

    Where a system shares cores among sessions first, rivals of one session would count as one.
    """
    command = [sys.executable, "-S", "-c", RIVAL, str(core_of(1)), str(os.getpid())]
    started = [subprocess.Popen(command, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def quiet():
    """The load of the machine over the last minute: what others take cannot be told apart."""
    return round(os.getloadavg()[0], 2)
