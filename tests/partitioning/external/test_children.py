"""Tools in child processes: they may hang, crash, raise and print; we report it and go on."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from evener.errors import ToolError
from evener.partitioning.external import children
from evener.partitioning.external.children import run_in_child
from evener.partitioning.external.jobs import Job
from tests.assertions import printed_by

METIS = "evener.partitioning.external.metis"


def job(**changes):
    n = 30  # a path
    degrees = np.r_[1, np.full(n - 2, 2), 1]
    inner = np.column_stack([np.arange(n) - 1, np.arange(n) + 1]).ravel()
    fields = {
        "tool": "fake",
        "xadj": np.r_[0, np.cumsum(degrees)],
        "adjncy": inner[(inner >= 0) & (inner < n)].astype(np.int32),
        "vwgt": None,
        "adjwgt": None,
        "targets": np.array([2.0, 1.0]),
        "epsilon": 0.03,
        "seed": 7,
        "threads": 1,
        "objective": "cut",
        "preset": "default",
    }
    return Job(**(fields | changes))


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Write a tool whose `run` is the given code; returns its module name."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def write(code):
        lines = ["import ctypes, os, signal, subprocess, sys, time", "import numpy as np"]
        lines += ["from evener.partitioning.external.jobs import Call", ""]
        lines += ["def prepare(job, folder):", "    def run():"]
        lines += ["        " + line for line in code.splitlines()]
        lines += ["    return Call(run, 'fake 1.0', ('a remark',))"]
        (tmp_path / "fake_tool.py").write_text("\n".join(lines))
        return "fake_tool"

    return write


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The folder that private folders are made in, instead of the one all processes share."""
    folder = tmp_path / "place"
    folder.mkdir()
    monkeypatch.setattr(children, "SHARED_MEMORY", folder)
    return folder


def test_result(fake, place):
    module = fake("x = sum(range(10**6))\nreturn np.arange(job.n) % 2")
    outcome = run_in_child(job(), module, 30.0)
    np.testing.assert_array_equal(outcome.part, np.arange(30) % 2)
    assert outcome.version == "fake 1.0"
    assert outcome.notes == ("a remark",)
    assert 0 < outcome.cpu_seconds < 5
    assert not list(place.iterdir())


def test_hanging_tool_is_ended_in_time(fake, place):
    module = fake("print('thinking', flush=True)\ntime.sleep(600)")
    start = time.monotonic()
    with pytest.raises(ToolError, match=r"fake did not finish within 0\.8 s") as caught:
        run_in_child(job(), module, 0.8)
    assert time.monotonic() - start < 3
    assert "thinking" in caught.value.hint
    assert not list(place.iterdir())


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="process groups are POSIX's")
def test_what_the_tool_started_is_ended_too(fake, tmp_path):
    note = tmp_path / "pid"
    module = fake(
        "child = subprocess.Popen(['sleep', '600'])\n"
        f"open({str(note)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(600)"
    )
    with pytest.raises(ToolError):
        run_in_child(job(), module, 1.5)
    assert has_ended(int(note.read_text()))


def _is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGFPE"])
def test_crash_names_the_signal(fake, name):
    module = fake(f"print('before', flush=True)\nos.kill(os.getpid(), signal.{name})")
    with pytest.raises(ToolError, match=rf"fake crashed \({name}\)") as caught:
        run_in_child(job(), module, 30.0)
    assert "before" in caught.value.hint
    assert caught.value.exit_code == 5


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "may be out of memory"),
        ("raise ValueError('the moon is wrong')", "fake failed: ValueError: the moon is wrong"),
        ("os._exit(0)", "ended with code 0 and no result"),
    ],
)
def test_how_a_tool_ended_is_said(fake, code, said):
    with pytest.raises(ToolError, match=said):
        run_in_child(job(), fake(code), 30.0)


def test_missing_module():
    with pytest.raises(ToolError, match="no_such_tool"):
        run_in_child(job(), "no_such_tool", 30.0)


def test_output_stays_with_the_child(fake, capfd):
    code = "ctypes.CDLL(None).puts(b'from C')\nprint('from Python')\nprint('err', file=sys.stderr)"
    run_in_child(job(), fake(code + "\nreturn np.zeros(job.n, int)"), 30.0)
    out, err = capfd.readouterr()
    assert out == ""
    assert err == ""


def test_metis_prints_nothing(capfd):
    # Such targets make METIS print warnings to C's stdout.
    run_in_child(job(tool="metis", targets=np.r_[np.full(20, 1e-9), 1.0]), METIS, 30.0)
    assert capfd.readouterr() == ("", "")


def test_end_all(fake, place):
    module = fake("time.sleep(600)")
    failure = []

    def call():
        try:
            run_in_child(job(), module, 60.0)
        except ToolError as error:
            failure.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    deadline = time.monotonic() + 10
    while not children._running and time.monotonic() < deadline:
        time.sleep(0.01)
    assert children._running
    children.end_all()
    thread.join(10)
    assert not thread.is_alive()
    assert "SIGKILL" in failure[0].message or os.name != "posix"
    assert not children._running
    assert not list(place.iterdir())


def start_elsewhere(module, tmp_path, call):
    """Run `call`, with `t` this module and `job`, `module` at hand, in another Python process."""
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        f"import test_children as t; from evener.cli.compiling import run_beside\n"
        f"t.children.SHARED_MEMORY = t.Path('/nowhere'); job, module = t.job(), {module!r}\n"
        f"{call}"
    )
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE)


def pid_in(note):
    deadline = time.monotonic() + 20
    while not (note.exists() and note.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return int(note.read_text())


def has_ended(pid):
    deadline = time.monotonic() + 5
    while _is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not _is_running(pid)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="process groups are POSIX's")
def test_no_process_is_killed_by_a_number_that_may_be_anothers(monkeypatch):
    killed = []
    monkeypatch.setattr(os, "killpg", lambda number, _: killed.append(number))
    process = subprocess.Popen([sys.executable, "-S", "-c", ""], stdin=subprocess.PIPE)
    children._wait_for_end(process)
    assert children._end(process)
    assert not children._wait(process, None)
    assert not children._end(process)
    assert killed == [process.pid]


@pytest.mark.skipif(sys.platform != "linux", reason="the signal on a closed pipe is Linux's")
def test_an_orphan_ends(fake, tmp_path):
    note = tmp_path / "pid"
    module = fake(f"open({str(note)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)")
    parent = start_elsewhere(module, tmp_path, "t.run_in_child(job, module, 60.0)")
    pid = pid_in(note)
    parent.kill()
    parent.communicate()
    assert has_ended(pid)
    left = [path for path in tmp_path.glob("evener-*/*") if path.is_file()]
    assert sum(path.stat().st_size for path in left) < 10_000  # the arrays are gone


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_interrupted_command_leaves_nothing(fake, tmp_path):
    note = tmp_path / "pid"
    module = fake(f"open({str(note)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)")
    call = "run_beside(lambda: t.run_in_child(job, module, 60.0))"
    parent = start_elsewhere(module, tmp_path, call)
    pid = pid_in(note)
    start = time.monotonic()
    parent.send_signal(signal.SIGINT)
    _, said = parent.communicate()
    assert time.monotonic() - start < 2  # half a second, on a machine that is not busy
    assert parent.returncode == 130
    assert said.decode().strip() == "evener: interrupted"
    assert has_ended(pid)
    assert not list(tmp_path.glob("evener-*"))


def test_worker_imports_little():
    code = "import sys; import evener.partitioning.external.worker; print(*sys.modules)"
    heavy = {"numba", "scipy", "evener.graphs.graph", "rich", "matplotlib"}
    assert not heavy & set(printed_by(code).split())
