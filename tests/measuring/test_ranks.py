"""Ranks measure together and hold the same outcomes; threads play them here, tests/mpi has MPI."""

import pytest

from evener.errors import InputError, UsageError
from evener.io.machines.speeds import read_speeds
from evener.measuring.devices import MeasuredDevice
from evener.measuring.outcomes import Precision
from evener.measuring.session import Settings, measure
from evener.measuring.this_computer import cores
from evener.running.comm import run_threads
from tests.measuring.virtual import EmulatedBench

FAST = Precision(0.5, repetitions=4, seconds=0.3, least=0.0)


def settings_of(rank, kernel="axpy", **more):
    cpu = cores()[rank % len(cores())].cpu
    device = MeasuredDevice(f"rank{rank}", cpus=(cpu,))
    return Settings(kernel, (device,), (10, 1000), FAST, 2.0**30, **more)


def test_two_ranks_one_file(tmp_path):
    file = tmp_path / "s.toml"
    both = run_threads(
        2, lambda comm: measure(settings_of(comm.rank), file, lambda step, done: None, comm)
    )
    assert [r.samples for r in both[0]] == [r.samples for r in both[1]]
    devices = read_speeds(file)
    assert [d.name for d in devices] == ["rank0", "rank1"]
    assert all([s.load for s in d.samples] == [10, 1000] for d in devices)
    assert all(d.notes["measured"] == "together" and "alone" in d.notes for d in devices)
    assert [file.name for file in tmp_path.iterdir()] == ["s.toml"]


@pytest.mark.slow
def test_what_one_rank_cannot_all_hear(tmp_path):
    seen = []

    def work(comm):
        kernel = "axpy" if comm.rank else "no_such_module:x"
        try:
            measure(settings_of(comm.rank, kernel), tmp_path / "s.toml", lambda *_: None, comm)
        except UsageError as error:
            seen.append(str(error))

    run_threads(2, work)
    assert len(seen) == 2
    assert "cannot be imported" in seen[0]


def test_a_journal_that_rank_0_refuses_is_everybodys_error(tmp_path):
    (tmp_path / "s.toml.journal").write_text("nonsense\n")
    seen = []

    def work(comm):
        try:
            measure(settings_of(comm.rank), tmp_path / "s.toml", lambda *_: None, comm)
        except InputError as error:
            seen.append(error.file)

    run_threads(2, work)
    assert len(seen) == 2


def test_one_device_a_computer_at_a_time():
    from evener.measuring.campaign import run_campaign
    from evener.measuring.journal import Journal
    from evener.measuring.loads import GridPlan
    from evener.platforms.models.fitting import Constant

    bench = EmulatedBench([Constant(1.0)] * 3)
    plans = [GridPlan([5]) for _ in range(3)]
    run_campaign(bench, plans, Journal(None, {}), together=False, groups=["a", "a", "b"])
    assert bench.asked == [[5, None, 5], [None, 5, None]]
