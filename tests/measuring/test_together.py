"""Processes of devices: measured side by side; whatever a kernel does costs its own point alone."""

import os
import time

import pytest

from evener.errors import ToolError, UsageError
from evener.measuring import together
from evener.measuring.outcomes import Gap, Point, Precision
from evener.measuring.this_computer import cores
from evener.measuring.together import Bench
from evener.measuring.workers import KernelJob, Worker, end_all, environment

KERNELS = """
import os, time, signal
def busy(d):
    end = lambda: time.perf_counter() + 1e-3
    def run():
        stop = end()
        while time.perf_counter() < stop: pass
    return run
def where(d):
    print("printed", flush=True)
    with open(f"pid{os.getpid()}", "w") as file:
        file.write(f"{sorted(os.sched_getaffinity(0))}{os.environ['OMP_NUM_THREADS']}")
    return busy(d)
def troubled(d):
    if d == 2: raise ValueError("two is too many")
    if d == 3: return lambda: time.sleep(60)
    if d == 4: os.kill(os.getpid(), signal.SIGTERM)
    if d == 5: return bytearray(1 << 40) and None
    if d == 6: time.sleep(60)
    if d == 7: return lambda: None
    if d == 8: os.kill(os.getpid(), signal.SIGKILL)
    if d == 9: os._exit(3)
    return busy(d)
"""
FAST = Precision(precision=0.5, repetitions=5, seconds=0.3, least=0.0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "kernels_of_test.py").write_text(KERNELS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def short(monkeypatch):
    """No long patience with a kernel that sleeps for a minute."""
    monkeypatch.setattr(together, "GRACE", 1.0)
    monkeypatch.setattr(together, "PREPARING_FACTOR", 2.0)


@pytest.mark.slow
def test_two_devices_one_of_them_troubled(folder, short):
    workers = [
        Worker("calm", KernelJob("kernels_of_test:busy")),
        Worker("troubled", KernelJob("kernels_of_test:troubled", memory=2.0**28)),
    ]
    kinds = {}
    with Bench(workers, FAST) as bench:
        for load in range(1, 10):
            calm, other = bench.measure([1, load])
            assert isinstance(calm, Point)
            kinds[load] = other
    assert isinstance(kinds[1], Point)
    assert kinds[2] == Gap(2, "raised", "ValueError: two is too many")
    assert kinds[3].sample.status == "slower"
    assert kinds[3].sample.seconds == FAST.seconds
    said = {load: kinds[load].kind for load in (4, 5, 6, 7, 8, 9)}
    assert said == {4: "lost", 5: "memory", 6: "stuck", 7: "at once", 8: "killed", 9: "lost"}
    assert "SIGTERM" in kinds[4].message
    assert "code 3" in kinds[9].message


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system binds no processes")
def test_a_device_runs_on_its_cores_and_prints_to_nobody(folder):
    core = cores()[0].cpu
    worker = Worker("d", KernelJob("kernels_of_test:where", cpus=(core,)))
    with Bench([worker], FAST) as bench:
        assert isinstance(bench.measure([1])[0], Point)
        assert bench.measure([None]) == [None]
        assert worker.last_words() == "printed"
    (file,) = folder.glob("pid*")
    assert file.read_text() == f"[{core}]1"


def test_kernels_that_cannot_be_made(folder, monkeypatch):
    with pytest.raises(UsageError, match="cannot be imported"):
        Worker("d", KernelJob("kernels_of_test:nobody")).ensure()
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    with pytest.raises(ToolError, match=r"device d .* before it was ready"):
        Worker("d", KernelJob("axpy")).ensure()


@pytest.mark.slow
def test_processes_end_with_those_that_started_them(folder):
    worker = Worker("d", KernelJob("kernels_of_test:busy"))
    worker.ensure()
    process = worker._process
    end_all()
    assert process.poll() is not None
    worker.end()
    worker.ensure()
    process = worker._process
    os.close(worker._lifeline)  # as when this process is gone
    worker._lifeline = os.open(os.devnull, os.O_RDONLY)
    deadline = time.monotonic() + 20
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert process.poll() is not None
    worker.end()


def test_blas_gets_as_many_threads_as_cores(monkeypatch):
    monkeypatch.setenv("PMI_RANK", "3")
    variables = environment(KernelJob("gemm", cpus=(2, 3)))
    assert variables["OPENBLAS_NUM_THREADS"] == "2"
    assert "PMI_RANK" not in variables
