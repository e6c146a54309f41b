"""Commands interrupted, or heard by nobody: nothing is left running, and no half of a file."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from evener.io.write import write_graph
from tests.assertions import grid

TIME = 60  # seconds by which anything here must have ended, on the slowest machine


@contextmanager
def started(words, place, **environment):
    """A process that is gone afterwards, whatever the test says of it."""
    with subprocess.Popen(
        [sys.executable, *words],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


SPIN = """
import sys
from numba import njit
from evener.cli.compiling import run_beside
from evener.files.writing import atomic_write

@njit(nogil=True)
def spin(n):
    x = 1
    while n:
        x = (x * 31) % 1009
        if x == 5000:
            return x
    return x

def command():
    spin(0)
    with atomic_write("half.plan") as file:
        file.write(b"half")
        file.flush()
        print("ready", flush=True)
        spin(1)

run_beside(command)
"""


@pytest.mark.slow
def test_interrupted_within_a_kernel(place):
    before = sorted(place.iterdir())
    with started(["-c", SPIN], place) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIME)
    assert process.returncode == 130
    assert err.strip() == "evener: interrupted"
    assert out == ""
    assert sorted(place.iterdir()) == before


TERMINATED = """
import sys, time
from evener.cli import main
from evener.cli.commands import info
from evener.files.temporary import private_folder
from evener.files.writing import atomic_write

def run(args, out):
    with private_folder(".") as folder, atomic_write("half.plan") as file:
        file.write(b"half")
        (folder / "big").write_bytes(bytes(1000))
        print("ready", flush=True)
        time.sleep(600)

info.run = run
sys.exit(main(["info", "g.graph"]))
"""


@pytest.mark.slow
def test_sigterm_leaves_nothing_behind(place):
    before = sorted(place.iterdir())
    with started(["-c", TERMINATED], place) as process:
        assert process.stdout.readline() == "ready\n"
        process.terminate()
        _, err = process.communicate(timeout=TIME)
    assert process.returncode == 143
    assert err.strip() == "evener: ended by SIGTERM"
    assert sorted(place.iterdir()) == before


def test_a_handler_of_the_program_stays():
    from evener.cli.compiling import terminated_in_order

    def own(*_):
        pass

    before = signal.signal(signal.SIGTERM, own)
    try:
        with terminated_in_order():
            assert signal.getsignal(signal.SIGTERM) is own
        assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.slow
def test_interrupted_within_a_foreign_call(place):
    before = {file.name for file in place.iterdir()}
    scratch = place / "scratch"
    scratch.mkdir()
    write_graph(place / "big.npz", grid(500, 500).with_(coords=None))
    words = "plan big.npz --k 200 --with metis-recursive --preset strong -o x.plan --report x.html"
    # Its own scratch folder, so that nobody else's files are taken for its.
    with started(["-m", "evener", *words.split()], place, TMPDIR=str(scratch)) as process:
        children = []
        while process.poll() is None and not children:
            children = psutil.Process(process.pid).children(recursive=True)
            time.sleep(0.01)
        shared = [file for child in children for file in child.cmdline() if "evener-" in file]
        assert shared
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIME)
    assert process.returncode == 130, err
    assert err.strip().endswith("evener: interrupted")
    assert "Traceback" not in err
    _, alive = psutil.wait_procs(children, timeout=TIME)
    assert alive == []
    assert not any(Path(folder).exists() for folder in shared)
    assert {file.name for file in place.iterdir()} == {*before, "big.npz", "scratch"}
    assert list(scratch.iterdir()) == []


@pytest.mark.slow
def test_output_nobody_reads_ends_quietly(place):
    for words in (["--help"], ["info", "g.graph"], ["machine", "topo1", "--k", "20000"]):
        with subprocess.Popen(
            [sys.executable, "-m", "evener", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            process.stdout.close()
            said = process.stderr.read().splitlines()
            assert all(line.startswith(b"note: ") for line in said), said
            assert process.wait(TIME) == 141  # as of a program that SIGPIPE ended
