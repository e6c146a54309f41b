"""The files of MPICH: one list of cores for all hosts, or the script of a rank."""

import pytest

from evener.integrations.launching.launchers import Launcher
from evener.integrations.launching.mpich import launch
from tests.integrations.launching.jobs import ALIKE, MIXED, MIXED_UNLIKE, UNLIKE, WITHOUT, job

BIND = ["-bind-to", "user:0+1,2"]


@pytest.fixture(params=[(5, 0, 2), (5, 0, 1), ()])
def hydra(request):
    """A Hydra that heeds -rankmap, one that does not, and one of which nothing is known."""
    return Launcher("mpich", "mpiexec", request.param), request.param == (5, 0, 2)


@pytest.mark.parametrize(
    ("where", "hosts", "bound"),
    [
        (ALIKE, "a:2\nb:1\n", True),
        (UNLIKE, "a:2\nb:1\n", False),
        (WITHOUT, "a:1\nb:2\n", False),
        ((("a", []),), "a:1\n", False),
    ],
)
def test_ranks_that_follow_each_other(hydra, where, hosts, bound):
    made = launch(job(*where), hydra[0])
    assert made.files["hosts"] == hosts
    assert list(made.command[1:5]) == ["-f", "F/hosts", "-n", str(len(where))]
    assert list(made.command[5:7]) == BIND if bound else "-bind-to" not in made.command
    has_script = not bound and any(cores for _, cores in where)
    assert ("rank.sh" in made.files) == has_script
    assert "-rankmap" not in made.command


def test_ranks_by_turns(hydra):
    launcher, has_map = hydra
    made = launch(job(*MIXED), launcher)
    if has_map:
        assert made.files["hosts"] == "a:2\nb:1\n"
        assert list(made.command[5:9]) == ["-rankmap", "0,1,0", *BIND]
    else:
        assert made.files["hosts"] == "a:1\nb:1\na:1\n"
        assert "2) set -- taskset -c 2 " in made.files["rank.sh"]
        assert "-bind-to" not in made.command


def test_ranks_by_turns_with_lists_of_their_own(hydra):
    made = launch(job(*MIXED_UNLIKE), hydra[0])
    assert made.files["hosts"] == "a:1\nb:1\na:1\n"
    assert "-bind-to" not in made.command
    assert "1) set -- taskset -c 3 " in made.files["rank.sh"]
