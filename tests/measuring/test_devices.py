"""The devices that a rank measures: by name, or by a process file."""

import os
import re
import socket

import pytest

from evener.errors import NotFoundError, UsageError
from evener.measuring import devices
from evener.measuring.devices import (
    MeasuredDevice,
    devices_here,
    devices_of_processes,
    devices_of_rank,
    processes_here,
)
from evener.measuring.kernels import refuse_options
from evener.measuring.this_computer import cores
from evener.measuring.together import one_rank
from evener.platforms.processes import Process
from evener.running.comm import run_threads

HERE, CPU = socket.gethostname(), cores()[0].cpu


@pytest.fixture
def bound(monkeypatch):
    """What processes would have been bound to: the tests' own process stays as it is."""
    found = []
    monkeypatch.setattr(devices, "_bind", lambda process, cpus: found.append(tuple(cpus)))
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
    with pytest.raises(NotFoundError, match=f"the process file has no process on {HERE}"):
        devices_of_processes([Process("elsewhere")], one_rank())
    with pytest.raises(UsageError, match=f"{HERE} has 2 ranks, but 1 processes in"):
        run_threads(2, lambda comm: devices_of_processes([Process(HERE)], comm))
    with pytest.raises(UsageError, match="this computer has no socket99"):
        devices_of_processes([Process(HERE, bind="socket99")], one_rank())
    with pytest.raises(UsageError, match="this computer has no core 99999"):
        devices_of_processes([Process(HERE, bind="cpu99999")], one_rank())
    refuse_options("gemm", "cuda", ["block", "transfers"])
    with pytest.raises(UsageError, match="kernel gemm takes no option 'transfers' on cpu"):
        refuse_options("gemm", "cpu", ["block", "transfers"])


def test_a_file_to_begin_with(bound):
    found = processes_here(one_rank())
    assert [p.bind for p in found] == [f"cpu{core.cpu}" for core in cores()]
    assert devices_of_processes(found, one_rank())[0].cpus == (CPU,)


def names(text, rows):
    """The devices of ranks that may use these cores, all on one computer."""
    return run_threads(len(rows), lambda comm: devices_of_rank(text, comm, rows[comm.rank]))


def test_which_cores_a_rank_measures(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(8)), raising=False)
    unbound = names(None, [range(4)] * 2)
    assert [d.cpus for (d,) in unbound] == [(0,), (1,)]
    assert [d.name for (d,) in unbound] == ["rank0", "rank1"]
    bound = names(None, [(0, 1), (2, 3)])
    assert [d.cpus for (d,) in bound] == [(0, 1), (2, 3)]  # each all of its own
    listed = names("cpu3,cuda0", [range(4)] * 2)
    assert [d.kind for (d,) in listed] == ["cpu", "cuda"]
    (alone,) = names("cpu0,cpu1", [range(4)])
    assert [d.name for d in alone] == ["rank0.cpu0", "rank0.cpu1"]


@pytest.mark.parametrize(
    ("text", "rows", "message"),
    [(None, [range(1)] * 2, "2 ranks share 1 cores"),
     ("cpu0", [range(4)] * 2, "names 1 devices, but .* has 2 ranks"),
     ("core0", [range(4)] * 2, "is not a device")],
)  # fmt: skip
def test_devices_that_do_not_match_ranks_are_an_error_on_every_rank(text, rows, message):
    seen = []

    def ask(comm):
        try:
            devices_of_rank(text, comm, rows[comm.rank])
        except UsageError as error:
            seen.append(str(error))

    run_threads(2, ask)
    assert len(seen) == 2
    assert all(re.search(message, text) for text in seen)
