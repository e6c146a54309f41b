"""The files of Open MPI: a rankfile where it can say all, else hosts rank by rank."""

import pytest

from evener.integrations.launching.launchers import Launcher
from evener.integrations.launching.openmpi import launch
from tests.integrations.launching.jobs import MIXED, UNLIKE, WITHOUT, job

FOUR, FIVE = Launcher("openmpi", "mpirun", (4, 1)), Launcher("openmpi", "mpirun", (5, 0))
BY_RANK = ["--map-by", "seq", "--bind-to", "none", "-n", "3", "sh", "F/rank.sh", "./solver", "a"]


def test_a_rankfile_binds():
    made = launch(job(*MIXED), FOUR)
    assert made.files["hosts"] == "a slots=2\nb slots=1\n"
    assert made.files["ranks"].endswith("rank 0=a slot=0-1\nrank 1=b slot=0-1\nrank 2=a slot=2\n")
    assert list(made.command) == [
        "mpirun", "--hostfile", "F/hosts", "--rankfile", "F/ranks",
        "--mca", "rmaps_rank_file_physical", "1", "--use-hwthread-cpus", "-n", "3",
        "./solver", "a",
    ]  # fmt: skip
    assert set(made.files) == {"hosts", "ranks", "launch.sh"}
    assert made.files["launch.sh"].endswith(f"exec {' '.join(made.command)}\n")


@pytest.mark.parametrize(
    ("where", "launcher"),
    [(UNLIKE, FIVE), (UNLIKE, Launcher("openmpi", "mpirun")), (WITHOUT, FOUR)],
)
def test_hosts_rank_by_rank_where_a_rankfile_cannot_say_it(where, launcher):
    made = launch(job(*where), launcher)
    assert made.files["hosts"].split() == [host for host, _ in where]
    assert list(made.command) == ["mpirun", "--hostfile", "F/hosts", *BY_RANK]
    bound = [f"{i}) set -- taskset -c" in made.files["rank.sh"] for i in range(3)]
    assert bound == [bool(cores) for _, cores in where]


def test_gpus_need_the_script_and_options_stand_before_the_program():
    made = launch(job(("a", [0], 1), options=("--report-bindings",)), FOUR)
    words = list(made.command)
    assert words[words.index("-n") :] == [
        "-n", "1", "--report-bindings", "sh", "F/rank.sh", "./solver", "a"
    ]  # fmt: skip
    assert "taskset" not in made.files["rank.sh"]


def test_ranks_that_share_a_core_yield_it():
    yielding = "--mca mpi_yield_when_idle 1 -n"
    for where, yields in (
        ((("a", [0, 1]), ("a", [1])), True),
        ((("a", [0, 1]), ("b", [1])), False),
        ((("a", []), ("a", [])), False),
    ):
        assert (yielding in " ".join(launch(job(*where), FOUR).command)) == yields


def test_without_cores_nothing_is_bound():
    made = launch(job(("a", []), ("b", [])), FOUR)
    assert set(made.files) == {"hosts", "launch.sh"}
