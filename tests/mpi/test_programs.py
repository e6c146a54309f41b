"""The apps on processes of MPI: mpiexec -n 2 and 3, where mpi4py and an MPI are installed."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from socket import gethostname

import numpy as np
import pytest

import evener as ev
from evener import write_graph, write_plan
from evener.cli import main
from evener.graphs.generating.random_graphs import barabasi_albert
from evener.io.machines.processes import write_processes
from evener.io.machines.speeds import read_speeds
from evener.platforms.processes import Process
from tests.mpi import killing
from tests.running.streams.programs import plan_of

ROOT = Path(__file__).parents[2]
BESIDE = Path(sys.executable).parent / "mpiexec"
MPIEXEC = str(BESIDE) if BESIDE.exists() else shutil.which("mpiexec")
pytestmark = pytest.mark.skipif(
    MPIEXEC is None or find_spec("mpi4py") is None,
    reason="needs mpi4py and mpiexec: python -m pip install 'evener[mpi]'",
)


def run_words(ranks, *words, cwd=ROOT):
    return subprocess.run(
        [MPIEXEC, "-n", str(ranks), sys.executable, *words],
        cwd=cwd,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


@pytest.mark.parametrize(
    ("ranks", "names"),
    [
        (2, "jacobi hybrid random moves edges streams slices rebalanced told"),
        pytest.param(
            3,
            "halo hybrid moves matmul spmv streams slices rebalanced told",
            marks=pytest.mark.slow,
        ),
        pytest.param(5, "random:0:4", marks=pytest.mark.slow),
    ],
)
def test_apps_run_on_processes(ranks, names):
    """One after another in the same processes: starting these takes longer than most apps."""
    done = run_words(ranks, "-m", "tests.mpi.programs", *names.split())
    said = [f"{name.split(':')[0]} is fine" for name in names.split()]
    assert (done.returncode, done.stdout.splitlines()) == (0, said), done.stderr


@pytest.mark.slow
def test_the_example_rebalances_a_loop_of_mpi4py():
    done = run_words(2, str(ROOT / "examples" / "rebalance_mpi.py"), "mpi")
    assert done.returncode == 0, done.stderr
    assert "after iteration 14: " in done.stdout
    assert "least and largest value" in done.stdout


@pytest.mark.slow
def test_the_example_moves_rows_on_ranks():
    done = run_words(3, str(ROOT / "examples" / "rebalance_ranks.py"))
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"iteration 14: .*\neach row's value is with it: True\n", done.stdout)


@pytest.mark.slow
def test_the_example_exchanges_halos_of_a_program_of_mpi4py():
    done = run_words(3, str(ROOT / "examples" / "halo_mpi.py"))
    assert done.returncode == 0, done.stderr
    assert "3 ranks: the values sum to 1000.0" in done.stdout


def test_a_rank_that_fails_ends_all():
    done = run_words(2, "-m", "tests.mpi.programs", "failing")
    assert done.returncode != 0
    assert "rank 1 fails on purpose" in done.stderr
    assert "fine" not in done.stdout


def test_a_plan_runs_on_processes(tmp_path):
    """`mpiexec -n 2 evener run`: the values of one process; to --verify, ranks read all."""
    graph, plan = tmp_path / "web.graph", tmp_path / "web.plan"
    write_graph(graph, barabasi_albert(400, 1, 3))
    write_plan(plan, ev.plan(str(graph), [1, 2, 1]))
    words = ["-m", "evener", "run", str(plan), str(graph), "--app", "bfs", "--verify", "-o"]
    assert main([*words[2:], str(tmp_path / "alone.npy"), "--quiet"]) == 0
    done = run_words(2, *words, str(tmp_path / "both.npy"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Verified by another algorithm.") == 1
    assert "each rank reads all of" in done.stderr
    assert np.array_equal(np.load(tmp_path / "both.npy"), np.load(tmp_path / "alone.npy"))


BAD = """
import time
from pathlib import Path
import numpy as np
import evener as ev

def program(fault=0):
    def through(x):
        if x[0] == 7:
            Path(__file__).with_name("when").write_text(str(time.monotonic()))
            if fault == 2:
                time.sleep(60)
            if fault == 1:
                return x[1:]
            raise ValueError("bad luck")
        return x

    return ev.StreamProgram(
        (
            ev.StreamFilter("n", lambda i: np.full(4, float(i))),
            ev.StreamFilter("through", through),
            ev.StreamFilter("last", lambda x: x[0]),
        ),
        (ev.StreamChannel("n", "through", (4,)), ev.StreamChannel("through", "last", (4,))),
    )
"""
RAISES, SHRINKS, HANGS = range(3)
SAID = {
    RAISES: "failed in iteration 7: ValueError: bad luck",
    SHRINKS: "returned float64 (3,), but the channel from 'through' to 'last' carries",
    HANGS: "has not ended iteration 7 within 1 s",
}


@pytest.mark.parametrize(
    ("ranks", "fault"), [(2, RAISES), (3, HANGS), pytest.param(3, SHRINKS, marks=pytest.mark.slow)]
)
def test_a_filter_that_fails_ends_all_ranks_and_is_named(tmp_path, ranks, fault):
    """Soon after the fault, which the filter stamps; of one that hangs, after its timeout."""
    (tmp_path / "bad.py").write_text(BAD)
    program = ev.StreamProgram.from_file(tmp_path / "bad.py")
    ev.write_stream_plan(tmp_path / "x.plan", plan_of(program, [0, 1, 2]))
    words = [str(tmp_path / "x.plan"), "--stream", "--program", str(tmp_path / "bad.py")]
    words += ["--set", f"fault={fault}", "--iterations", "100000", "--timeout", "1"]
    done = run_words(ranks, "-m", "evener", "run", *words)
    since = time.monotonic() - float((tmp_path / "when").read_text())
    where = "rank 1 (p1): " if ranks == 3 else "rank 0 (p0, p1): "
    assert done.returncode == (3 if fault == SHRINKS else 5)
    assert f"filter 'through' on p1 {SAID[fault]}" in done.stderr
    assert f"evener: {where}" in done.stderr
    assert "Traceback" not in done.stderr
    assert since < 10 + (fault == HANGS)


@pytest.fixture
def endless(tmp_path):
    """The words of a run that would take hours, on two processes."""
    graph, plan = tmp_path / "web.graph", tmp_path / "web.plan"
    write_graph(graph, barabasi_albert(400, 1, 3))
    write_plan(plan, ev.plan(str(graph), 2))
    return ["-m", "evener", "run", str(plan), str(graph), "--app", "pagerank", "--quiet",
            "--iterations", "1000000000", "--timeout", "3"]  # fmt: skip


@pytest.mark.parametrize(
    ("signal_name", "said"),
    [("SIGKILL", r"rank 1 \(dev1\) was killed"), ("SIGSTOP", r"rank 1 \(dev1\) has not answered")],
)
def test_a_process_that_is_killed_or_stopped_is_named(endless, signal_name, said):
    """Within seconds, and the launcher ends: the process that plays the last rank ends itself."""
    code = f"""
import os, signal, sys, threading, evener.cli
from evener.running.mpi_comm import MpiComm
describe = MpiComm.describe
def describe_and_end(self, *given):
    describe(self, *given)
    if self.rank == 1:
        threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.{signal_name})).start()
MpiComm.describe = describe_and_end
sys.exit(evener.cli.main({endless[2:]!r}))
"""
    done = run_words(2, "-c", code)
    assert done.returncode != 0
    assert re.search(said, done.stderr), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("signal_name", "said"),
    [
        ("SIGSTOP", r"rank 1 \(dev1\) has not answered for ([\d.]+) s"),
        pytest.param("SIGKILL", r"rank 1 \(dev1\) was killed()", marks=pytest.mark.slow),
    ],
)
def test_a_process_that_ends_while_memory_is_shared_is_named(endless, signal_name, said):
    """The others wait for it no longer than told: a window of MPI would wait for ever."""
    words = [*endless[2:-4], "--timeout", "2", "--app", "bfs"]
    code = f"""
import os, signal, sys, evener.cli
from evener.running import mpi_comm
in_common = mpi_comm.in_common
def in_common_but_one(n_bytes, rank, *given):
    if rank == 1:
        os.kill(os.getpid(), signal.{signal_name})
    return in_common(n_bytes, rank, *given)
mpi_comm.in_common = in_common_but_one
sys.exit(evener.cli.main({words!r}))
"""
    done = run_words(2, "-c", code)
    assert done.returncode != 0
    found = re.search(said, done.stderr)
    assert found, done.stderr
    assert 2 <= float(found[1] or 2) < 20


@pytest.mark.slow
@pytest.mark.parametrize("app", ["pagerank", "bfs"])
def test_a_killed_run_continues_with_the_same_values(tmp_path, app):
    killing.make(tmp_path, [app])
    draw = np.random.default_rng(len(app))
    happened, took = killing.killed_and_continued(tmp_path, app, draw)
    assert "not named" not in happened
    assert took < killing.WITHIN


LATE = """
import os, sys, time
from evener.running import guarding
guarding.begin()
import evener.cli
code = evener.cli.main(sys.argv[1:])
time.sleep(0.3 * int(os.environ.get("PMI_RANK", 0)))
sys.exit(guarding.leave(code))
"""


@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_ranks_read_a_graph_together(ranks, tmp_path):
    """Values are those of one process that holds the graph.

    As where much else runs, ranks end one after another: the launcher is not to end the later ones.
    """
    graph = barabasi_albert(3000, 4, 2)
    write_graph(tmp_path / "x.graph", graph)
    write_plan(tmp_path / "x.plan", ev.plan(graph, [1, 2, 1]))
    words = ["run", str(tmp_path / "x.plan"), str(tmp_path / "x.graph"), "--app", "pagerank"]
    assert main([*words, "-o", str(tmp_path / "one.npy")]) == 0
    done = run_words(ranks, "-c", LATE, *words, "-o", str(tmp_path / "own.npy"))
    assert done.returncode == 0, done.stderr
    assert "each rank reads all of" not in done.stderr
    assert np.array_equal(np.load(tmp_path / "one.npy"), np.load(tmp_path / "own.npy"))


@pytest.mark.slow
def test_sizes_by_measuring_with_a_process_file(tmp_path):
    """Each rank measures the device of its process; rank 0 says and writes what all found."""
    file, speeds = tmp_path / "p.toml", tmp_path / "s.toml"
    core = f"cpu{min(os.sched_getaffinity(0))}"
    write_processes(file, [Process(gethostname(), bind=core), Process(gethostname(), 1)])
    words = ["sizes", "--measure", "axpy", "--dynamic", "--n", "3000", "--epsilon", "0.9"]
    words += ["--max-steps", "2", "--time-limit", "0.1", "--processes", str(file)]
    done = run_words(2, "-m", "evener", *words, "-o", str(speeds), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["devices"] == ["rank0", "rank1"]
    assert [sum(step["sizes"]) for step in found["steps"]] == [3000] * len(found["steps"])
    assert [device.name for device in read_speeds(speeds)] == ["rank0", "rank1"]
    assert not speeds.with_name("s.toml.journal").exists()
