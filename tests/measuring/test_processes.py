"""Devices of a process file on ranks: which process each rank is, and what its kernel is given."""

import os
import socket

import pytest

from evener.errors import NotFoundError, UsageError
from evener.measuring import processes
from evener.measuring.devices import MeasuredDevice, cores
from evener.measuring.kernels import refuse_options
from evener.measuring.processes import devices_here, devices_of_processes, processes_here
from evener.measuring.ranks import one_rank
from evener.platforms.processes import Process
from evener.running.comm import run_threads

HERE, CPU = socket.gethostname(), cores()[0].cpu


@pytest.fixture
def bound(monkeypatch):
    """What processes would have been bound to: the tests' own process stays as it is."""
    found = []
    monkeypatch.setattr(processes, "_bind", lambda process, cpus: found.append(tuple(cpus)))
    return found


def test_a_rank_alone_has_all_devices_of_its_host(bound):
    listed = [Process(HERE, 1, "cuda", 2, options={"block": 32}), Process("elsewhere"),
              Process(HERE, 0, bind=f"cpu{CPU}", memory=1e6)]  # fmt: skip
    assert devices_here(None, one_rank(), listed) == [
        MeasuredDevice("process0", "cpu", (CPU,), 0, 1e6),
        MeasuredDevice("cuda2", "cuda", (), 2, None, (("block", 32),)),
    ]
    assert bound == []


def test_each_of_several_ranks_has_the_process_of_its_place(bound):
    listed = [Process(HERE, 5), Process(HERE, 2, bind=f"cpu{CPU}")]
    found = run_threads(2, lambda comm: devices_of_processes(listed, comm))
    assert [[(d.name, d.cpus) for d in own] for own in found] == [
        [("rank0", (CPU,))], [("rank1", ())]
    ]  # fmt: skip
    assert bound == [(CPU,)]


def test_the_process_itself_is_bound():
    before = os.sched_getaffinity(0)
    try:
        devices_of_processes([Process(HERE, bind=f"cpu{CPU}")], one_rank())
        assert os.sched_getaffinity(0) == {CPU}
    finally:
        os.sched_setaffinity(0, before)


def test_refused(bound):
    with pytest.raises(NotFoundError, match=f"no process of the process file is of {HERE}"):
        devices_of_processes([Process("elsewhere")], one_rank())
    with pytest.raises(UsageError, match=f"2 ranks on {HERE}, for which .* 1 processes"):
        run_threads(2, lambda comm: devices_of_processes([Process(HERE)], comm))
    with pytest.raises(UsageError, match="there is no socket99 here"):
        devices_of_processes([Process(HERE, bind="socket99")], one_rank())
    with pytest.raises(UsageError, match="there is no core 99999 here"):
        devices_of_processes([Process(HERE, bind="cpu99999")], one_rank())
    refuse_options("gemm", "cuda", ["block", "transfers"])
    with pytest.raises(UsageError, match="kernel gemm takes no option 'transfers' on cpu"):
        refuse_options("gemm", "cpu", ["block", "transfers"])


def test_a_file_to_begin_with(bound):
    found = processes_here(one_rank())
    assert [p.bind for p in found] == [f"cpu{core.cpu}" for core in cores()]
    assert devices_of_processes(found, one_rank())[0].cpus == (CPU,)
