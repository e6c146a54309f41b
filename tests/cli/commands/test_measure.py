"""`evener measure`: a file of speeds, a table, a JSON object; what is refused; what is resumed."""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evener.io.machines.speeds import read_speeds
from evener.measuring.devices import cores

DEVICE = f"cpu{cores()[0].cpu}"
QUICK = ("--time-limit", "0.3", "--precision", "0.5", "--device", DEVICE)


def test_a_given_matrix_in_a_file_of_speeds(evener, grid_file, tmp_path):
    file = tmp_path / "speeds.toml"
    said = evener("measure", "spmv", "--graph", grid_file, "--range", "10:500", "--points", 3,
                  "-o", file, *QUICK)  # fmt: skip
    assert (said.code, said.err) == (0, "")
    assert "unit: row" in said.out
    (device,) = read_speeds(file)
    assert [s.load for s in device.samples] == [10, 71, 500]
    assert all(s.half_width > 0 for s in device.samples)
    assert device.notes["matrix"] == "grid.graph"
    assert not file.with_name("speeds.toml.journal").exists()


@pytest.mark.slow
def test_json(evener, tmp_path):
    said = evener("measure", "axpy", "--range", "9:9", "-o", tmp_path / "s.toml", "--json", *QUICK)
    found = json.loads(said.out)
    assert found["unit"] == "element"
    (device,) = found["devices"]
    assert device["capacity"] is None
    assert device["gaps"] == []
    assert device["samples"][0]["flops"] == 18.0


@pytest.mark.slow
def test_surfaces_from_measuring_to_a_tiling(evener, tmp_path):
    file = tmp_path / "surfaces.toml"
    said = evener("measure", "gemm", "--range", "1:3", "--second", "1:2", "--points", "2",
                  "--block", "8", "-o", file, *QUICK)  # fmt: skip
    assert (said.code, said.err) == (0, "")
    assert "1 surface; unit: block of b x b" in said.out
    tiled = evener("tile", "--speeds", file, "--size", "64", "--block", "8", "--method", "fpm-kl")
    assert tiled.code == 0
    assert evener("measure", "spmv", "--second", "1:2", "-o", file, *QUICK).code == 2
    assert evener("measure", "gemm", "--second", "1:2", "--adaptive", "-o", file, *QUICK).code == 2
    assert evener("measure", "axpy", "--range", "1:9", "--block", 8, "-o", file).code == 2
    unused = evener("measure", "axpy", "--range", "1:9", "--tolerance", 0.1, "-o", file)
    assert (unused.code, "works with --adaptive" in unused.err) == (2, True)
    assert evener("measure", "gemm", "--second", "2:1", "-o", file, *QUICK).code == 2


OWN = """
import time
from pathlib import Path
class Small:
    def complexity(self, d): return d
    def initialize(self, d):
        if d > 50: raise MemoryError
        with open("loads", "a") as f: f.write(f"{d}\\n")
        self.d = d
        if d == 4 and Path("hang").exists(): time.sleep(60)
    def execute(self):
        end = time.perf_counter() + 1e-3
        while time.perf_counter() < end: pass
    def finalize(self): pass
class Broken(Small):
    def execute(self): raise RuntimeError("no luck")
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_memory_that_ends_is_the_capacity(evener, own):
    said = evener(
        "measure", "own:Small", "--range", "10:1000", "--points", 3, "-o", "s.toml", *QUICK
    )
    assert said.code == 0
    assert "holds" in said.out
    (device,) = read_speeds("s.toml")
    assert 45 < device.capacity <= 50
    assert "memory" in device.notes["gaps"]


def test_nothing_measured_is_an_error_and_no_file(evener, own):
    said = evener("measure", "own:Broken", "--range", "1:9", "--points", 2, "-o", "s.toml", *QUICK)
    assert said.code == 4
    assert "no luck" in said.err
    assert not list(own.glob("s.toml*"))  # nor a journal: repaired, the kernel is tried anew


@pytest.mark.slow
def test_after_a_kill_the_same_command_goes_on(evener, own):
    words = ["measure", "own:Small", "--range", "1:8", "--points", "4", "-o", "s.toml", *QUICK]
    (own / "hang").touch()
    process = subprocess.Popen([sys.executable, "-m", "evener", *words], stderr=subprocess.PIPE)
    loads = own / "loads"
    deadline = time.monotonic() + 60
    while not (loads.exists() and "4" in loads.read_text().split()):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (own / "s.toml").exists()
    assert len((own / "s.toml.journal").read_text().splitlines()) >= 3  # settings, 1 and 2
    (own / "hang").unlink()
    assert evener(*words).code == 0
    tried = loads.read_text().split()
    at = tried.index("4")  # before and behind it odd moments may be looked at again
    assert tried[at : at + 2] == ["4", "4"]
    assert "8" in tried
    (device,) = read_speeds("s.toml")
    assert [s.load for s in device.samples] == [1, 2, 4, 8]
    assert device.capacity == math.inf


@pytest.fixture
def mpiexec():
    """Start a command on two ranks."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    program = shutil.which("mpiexec", path=tools)
    if program is None:
        pytest.skip("there is no mpiexec")

    def run(*words):
        command = [program, "-n", "2", sys.executable, "-m", "evener", *map(str, words)]
        return subprocess.run(command, text=True, capture_output=True, timeout=120, check=False)

    return run


@pytest.mark.slow
def test_all_ranks_in_one_file(mpiexec, tmp_path):
    file = tmp_path / "s.toml"
    words = ["--range", "10:1000", "--points", "2", *QUICK[:4]]
    done = mpiexec("measure", "axpy", "-o", file, *words)
    shared = "share 1 cores" in done.stderr
    assert (done.returncode, done.stderr) == (0, "") or shared, done.stderr
    if not shared:
        assert [d.name for d in read_speeds(file)] == ["rank0", "rank1"]
        assert done.stdout.count("Written") == 1
    done = mpiexec("measure", "nothing:here", "-o", file, *words)
    assert done.returncode != 0
    assert "cannot be imported" in done.stderr or shared
    done = mpiexec("measure", "link", "-o", file)
    assert done.returncode == 0, done.stderr
    assert read_speeds(file)[0].name == "rank0-rank1"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["fft"], "no kernel 'fft'", marks=pytest.mark.slow),
        (["spmv", "--range", "9:1"], "LOW:HIGH"),
        (["spmv", "--points", "0"], "--points"),
        (["spmv", "--device", "core0"], "no device"),
        (["spmv", "--precision", "2"], "precision"),
        (["spmv", "--repetitions", "1"], "repetitions"),
        (["spmv", "--memory", "-1"], "--memory"),
        (["axpy", "--graph", "x.graph"], "has no matrix"),
        pytest.param(["gemm", "--block", "0"], "width", marks=pytest.mark.slow),
    ],
)
def test_what_is_refused(evener, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    said = evener("measure", *words, "-o", "s.toml")
    assert said.code == 2
    assert message in said.err
    assert not list(tmp_path.iterdir())


def test_links_in_a_file_of_speeds(evener, tmp_path):
    file = tmp_path / "l.toml"
    said = evener("measure", "link", "--between", "threads", "-o", file, "--json")
    (link,) = json.loads(said.out)["devices"]
    assert link["alpha"] > 0
    assert read_speeds(file)[0].notes["unit"] == "byte"


def test_traces_in_place_of_a_kernel(evener, tmp_path):
    trace, file = tmp_path / "t.csv", tmp_path / "s.toml"
    trace.write_text("device,load,seconds\na,10,0.5\na,20,1.5\nb,10,0.25\nb,10")
    said = evener("measure", "--trace", trace, "-o", file)
    assert said.code == 0
    assert "cut off" in said.err
    assert "–" in said.out  # of one time nobody knows how it scatters
    assert "0.0 %" not in said.out
    assert [(d.name, len(d.samples)) for d in read_speeds(file)] == [("a", 2), ("b", 1)]
    both = evener("measure", "spmv", "--trace", trace, "-o", file)
    neither = evener("measure", "-o", file)
    assert both.code == neither.code == 2
    assert evener("measure", "--trace", trace, "--loads", "1,x", "-o", file).code == 2
