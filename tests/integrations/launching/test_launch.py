"""The launcher's module for a job, and programs that are not there."""

import pytest

from evener.errors import InputError, UsageError
from evener.integrations.launching import placing
from evener.integrations.launching.launch import (
    launch_of,
    needs_shared_folder,
    refuse_missing_program,
)
from evener.integrations.launching.launchers import Launcher
from tests.integrations.launching.jobs import ALIKE, job, places


@pytest.mark.parametrize(
    ("kind", "word"),
    [("openmpi", "--rankfile"), ("mpich", "-bind-to"), ("slurm", "sbatch"), ("hostfile", "sh")],
)
def test_each_launcher_has_its_own(kind, word):
    assert word in launch_of(job(*ALIKE), Launcher(kind, "x", (4, 1))).command


@pytest.mark.parametrize("options", [("-n", "4"), ("--ntasks=4",), ("-np", "2")])
def test_the_number_of_ranks_is_that_of_the_devices(options):
    with pytest.raises(UsageError, match="each of the 3 devices"):
        launch_of(job(*ALIKE, options=options), Launcher("openmpi", "mpirun", (4, 1)))


def test_programs_that_are_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr(placing, "this_host", lambda: "a")
    (tmp_path / "text").write_text("")
    for name, said in (
        (f"{tmp_path}/none", "there is no such program"),
        (f"{tmp_path}/text", "is not executable"),
        ("no-such-program", "no program 'no-such-program' in PATH"),
    ):
        with pytest.raises(InputError, match=said):
            refuse_missing_program([name], places(*ALIKE))
        refuse_missing_program([name], places(("b", [])))
    refuse_missing_program(["sh"], places(*ALIKE))


def test_a_script_of_ranks_elsewhere_needs_a_shared_folder(monkeypatch):
    monkeypatch.setattr(placing, "this_host", lambda: "a")
    launcher = Launcher("hostfile", "")
    for where, needs in ((("a", [0]), False), (("b", [0]), True), (("b", []), False)):
        made = launch_of(job(where), launcher)
        assert needs_shared_folder(made, places(where)) == needs
