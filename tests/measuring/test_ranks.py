"""Ranks measure together and hold the same outcomes; threads play them here, tests/mpi has MPI."""

import pytest

from evener.errors import InputError, UsageError
from evener.io.machines.speeds import read_speeds
from evener.measuring.devices import MeasuredDevice, cores
from evener.measuring.outcomes import Precision
from evener.measuring.ranks import devices_of_rank
from evener.measuring.session import Settings, measure
from evener.running.comm import run_threads
from tests.measuring.virtual import EmulatedBench

FAST = Precision(0.5, repetitions=4, seconds=0.3, least=0.0)


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
    [(None, [range(1)] * 2, "2 ranks share 1 cores"), ("cpu0", [range(4)] * 2, "not one for each"),
     ("core0", [range(4)] * 2, "no device")],
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
    assert all(message in text for text in seen)


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
