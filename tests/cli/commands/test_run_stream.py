"""`evener run --stream`: a stream program on a plan, its filters measured, what goes wrong."""

import contextlib
import json
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import evener as ev
from evener.cli import main
from evener.running.streams.in_turn import run_in_turn
from evener.running.streams.program import StreamProgram
from evener.threads import cores
from tests.assertions import run_python

MACHINE = '[[device]]\nname = "cpu"\ncount = 2\nmips = 1000\n'
OWN = """
import numpy as np
import evener as ev

def number(iteration):
    return np.full(4, float(iteration))

def total(state, x):
    state += x
    return state.sum()

def program(bad=-1, text=0):
    def through(x):
        if x[0] == bad:
            raise ValueError("bad luck")
        return x[1:] if x[0] == text - 1 else x

    return ev.StreamProgram(
        (
            ev.StreamFilter("number", number, scalar=2e6),
            ev.StreamFilter("through", through, scalar=2e6),
            ev.StreamFilter("total", total, np.zeros(4), scalar=1e6),
        ),
        (ev.StreamChannel("number", "through", (4,)), ev.StreamChannel("through", "total", (4,))),
        "own",
    )
"""
RUN = ["run", "own.plan", "--stream", "--program", "own.py"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with the program, a machine, and what is made of both."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "m.toml").write_text(MACHINE)
    (folder / "own.py").write_text(OWN)
    with contextlib.chdir(folder):
        words = ["--stream", "--program", "own.py", "--calibrate", "--iterations=2", "--quiet"]
        assert main(["run", *words, "-o", "own.toml", "--cores", "cores.toml"]) == 0
        assert main(["map", "own.toml", "--machine", "m.toml", "-o", "own.plan", "--quiet"]) == 0
    return folder


@pytest.fixture
def here(tmp_path, monkeypatch, made):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_program_runs_on_the_plan_of_its_measured_graph(evener, here):
    words = [*RUN, "--iterations", "30", "--verify", "-o", "x.npz", "--trace", "x.json"]
    said = evener(*words, "--report", "x.html", "--json")
    assert said.code == 0, said.err
    assert json.loads(said.out)["records"] == ["x.html", "x.json"]
    assert "Evener run of the stream program own" in (here / "x.html").read_text()
    found = json.loads(said.out)
    assert (found["program"], found["iterations"], found["verified"]) == ("own", 30, True)
    assert found["period"] > 0 < found["predicted"]
    assert [one["name"] for one in found["devices"]] == ["cpu0", "cpu1"]
    assert [one["name"] for one in found["filters"]] == ["number", "through", "total"]
    expected = run_in_turn(StreamProgram.from_file("own.py"), 30)["total"]
    assert np.array_equal(np.load("x.npz")["total"], expected)
    events = json.loads((here / "x.json").read_text())["traceEvents"]
    assert sum(one["ph"] == "X" for one in events) == 90
    said = evener(*RUN, "--iterations", "30", "--verify")
    assert "Verified by one filter after the other." in said.out
    assert "predicted" in said.out


def test_the_machine_of_the_cores_is_written_for_the_plan(evener, here):
    assert ev.read_platform("cores.toml").k == cores()
    assert evener("map", "own.toml", "--machine", "cores.toml", "-o", "own.plan").code == 0


def test_an_app_is_verified_by_another_algorithm(evener, here):
    words = ["--stream", "--app", "jacobi", "--set", "n=20"]
    said = evener("run", *words, "--calibrate", "-o", "j.toml", "--iterations", "1")
    assert said.code == 0, said.err
    assert evener("map", "j.toml", "--machine", "m.toml", "-o", "j.plan").code == 0
    said = evener("run", "j.plan", *words, "--verify", "--iterations", "4", "--devices=cpu:0,cpu:1")
    assert said.code == 0, said.err
    assert "Verified by another algorithm." in said.out
    assert "Too few iterations for a period" in said.out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--set", "bad=7"], 5, "filter 'through' on cpu"),
        (["--set", "bad=7"], 5, "failed in iteration 7: ValueError: bad luck"),
        (["--set", "bad=7"], 5, "own.py:15"),
        (["--set", "text=7"], 3, "returned float64 (3,), but the channel from 'through'"),
        (["--set", "n=7"], 3, "own has no parameter n"),
        (["--iterations", "0"], 2, "at least 1, not 0"),
        (["--devices", "cpu:0"], 2, "has 2 devices, but 1 was given"),
        (["--report", "x.txt"], 2, "html"),
        (["--samples", "x"], 2, "--samples does not work with --stream"),
        (["--rebalance"], 2, "--rebalance does not work with --stream"),
        (["--calibrate"], 2, "--calibrate takes no plan"),
        (["-o", "own.plan"], 2, "own.plan"),
        (["--locality", "on"], 2, "does not work with --stream"),
        (["--cores", "c.toml"], 2, "--cores works with --calibrate only"),
    ],
)
def test_what_goes_wrong_is_said(evener, here, words, code, said):
    done = evener(*RUN, *words)
    assert done.code == code, done.err
    assert said in done.err
    assert "Traceback" not in done.err


@pytest.mark.slow
def test_a_filter_that_holds_pythons_lock_for_ever_ends_the_process(here):
    """No thread can raise an error: faulthandler prints where each one is."""
    text = OWN.replace("raise ValueError", "stuck(x); raise ValueError")
    stuck = "import numba\n@numba.njit('f8(f8[:])')\ndef stuck(x):\n    while x[0] >= 0:\n"
    stuck += "        x[1] = x[1] * 0.5 + 1\n    return x[1]\n"
    (here / "own.py").write_text(stuck + text)
    began = time.monotonic()
    code = "import sys; from evener.cli import main; from evener.running.streams import executing;"
    code += "executing.LATER = 2; sys.exit(main(sys.argv[1:]))"
    words = [*RUN, "--set", "bad=7", "--timeout", "1"]
    done = run_python("-c", code, *words, timeout=60)
    assert done.returncode == 1
    assert "Timeout (0:00:03)!" in done.stderr
    assert re.search(r'own.py", line \d+ in through', done.stderr)
    assert time.monotonic() - began < 50


@pytest.mark.slow
def test_ctrl_c_ends_a_run(here):
    (here / "own.py").write_text(OWN.replace("raise ValueError", "print('here', flush=True);1/1;"
                                             "time.sleep(50);raise ValueError")
                                 .replace("import numpy", "import time\nimport numpy"))  # fmt: skip
    words = [sys.executable, "-m", "evener", *RUN, "--set", "bad=7"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "here\n"
        began = time.monotonic()
        run.send_signal(signal.SIGINT)
        said = run.communicate(timeout=30)[1]
    assert time.monotonic() - began < 10
    assert run.returncode not in (0, None)
    assert "Traceback" not in said


def test_which_program_and_which_plan(evener, here):
    assert "PLAN is required" in evener("run", "--stream", "--app", "jacobi").err
    assert "works with --stream only" in evener("run", "--app", "bfs", "--calibrate").err
    assert "GRAPH is required" in evener("run", "--app", "bfs").err
    words = ["run", "--stream", "--app", "jacobi", "--calibrate", "-o", "j.toml"]
    assert "--report does not work with" in evener(*words, "--report", "x.html").err
    assert "needs an output file" in evener("run", "--stream", "--app", "jacobi", "--calibrate").err
    done = evener(*words, "--cores", "j.toml")
    assert (done.code, "j.toml" in done.err) == (2, True)
    assert "may not use core 9999" in evener(*words, "--devices", "cpu:0,cpu:9999").err
    done = evener("run", "own.plan", "--stream", "--app", "jacobi")
    assert (done.code, "the plan has 3 filters" in done.err) == (2, True)
    done = evener("run", "own.plan", "--stream", "--app", "jacob")
    assert "did you mean jacobi" in done.err
