"""A hostfile for any launcher."""

from evener.integrations.launching.launch import plain_launch
from evener.integrations.launching.launchers import Launcher
from tests.integrations.launching.jobs import MIXED, job


def test_a_host_a_line_and_what_each_rank_runs():
    made = plain_launch(job(*MIXED), Launcher("hostfile", ""))
    assert made.files["hosts"] == "a\nb\na\n"
    assert made.command == ("sh", "F/rank.sh", "./solver", "a")
    assert "${PMI_RANK:-" in made.files["rank.sh"]
    assert set(made.files) == {"hosts", "rank.sh"}
