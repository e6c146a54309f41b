"""The batch scripts of Slurm: one step, or a component for each node where they differ."""

import pytest

from evener.integrations.launching.launchers import Launcher
from evener.integrations.launching.slurm import launch
from tests.integrations.launching.jobs import ALIKE, MIXED, MIXED_UNLIKE, UNLIKE, WITHOUT, job

SRUN = Launcher("slurm", "srun", (22, 5))


@pytest.fixture(autouse=True)
def _outside(monkeypatch):
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)


def lines(made, begin):
    return [one for one in made.files["job.sbatch"].splitlines() if one.startswith(begin)]


@pytest.mark.parametrize(
    ("where", "bind"),
    [
        (ALIKE, "mask_cpu:0x3,0x4"),
        (MIXED, "mask_cpu:0x3,0x4"),
        (WITHOUT, "none"),
        (MIXED_UNLIKE, "none"),
    ],
)
def test_one_step_by_a_hostfile(where, bind):
    made = launch(job(*where), SRUN)
    assert made.files["hosts"].split() == [host for host, _ in where]
    assert lines(made, "#SBATCH")[1:] == [
        "#SBATCH --nodes=2", "#SBATCH --nodelist=a,b", "#SBATCH --ntasks=3",
        "#SBATCH --exclusive", "#SBATCH --overcommit", "#SBATCH --mem=0",
    ]  # fmt: skip
    assert lines(made, "export") == ["export SLURM_HOSTFILE=F/hosts"]
    program = "sh F/rank.sh ./solver a" if bind == "none" else "./solver a"
    assert lines(made, "exec") == [
        f"exec srun --ntasks=3 --overcommit --distribution=arbitrary --cpu-bind={bind} {program}"
    ]
    assert ("rank.sh" in made.files) == (bind == "none")


def test_a_heterogeneous_job_where_nodes_differ():
    made = launch(job(*UNLIKE, options=("--mpi=pmix",)), SRUN)
    assert "hosts" not in made.files
    text = made.files["job.sbatch"]
    first, second = text.split("#SBATCH hetjob\n")
    assert "--nodelist=a\n#SBATCH --ntasks=2\n" in first
    assert "--nodelist=b\n#SBATCH --ntasks=1\n" in second
    assert " ".join(text.partition("exec ")[2].replace("\\\n", "").split()) == (
        "srun --het-group=0 --ntasks=2 --overcommit --cpu-bind=mask_cpu:0x3,0x4 --mpi=pmix "
        "./solver a : --het-group=1 --ntasks=1 --overcommit --cpu-bind=mask_cpu:0x8 --mpi=pmix "
        "./solver a"
    )
    assert made.command == ("sbatch", "F/job.sbatch")
    asked = "--nodes=1 --nodelist={} --ntasks={} --exclusive --overcommit --mem=0"
    assert " ".join(made.to_wait) == (
        f"salloc --quiet {asked.format('a', 2)} : {asked.format('b', 1)} sh F/job.sbatch"
    )


def test_within_an_allocation_the_script_is_run(monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert launch(job(*ALIKE), SRUN).to_wait == ("sh", "F/job.sbatch")


def test_comments_name_devices():
    assert lines(launch(job(*ALIKE), SRUN), "# rank")[1] == "# rank 1: d1"


def test_gpus_need_the_script():
    made = launch(job(("a", [0], 1), ("b", [2], 0)), SRUN)
    assert "CUDA_VISIBLE_DEVICES=1" in made.files["rank.sh"]
    assert "rank=${SLURM_PROCID:-}" in made.files["rank.sh"]
    assert made.files["job.sbatch"].count("sh F/rank.sh ./solver a") == 2
