"""The script of a rank, run by the shell itself."""

import os
import subprocess
from dataclasses import replace

import pytest

from evener.integrations.launching.rank_script import OF_ANY, OF_OPENMPI, OF_SLURM, script, wrapped
from evener.platforms.homes import cores_of_text
from tests.integrations.launching.jobs import job, places

UUID = "GPU-8f6d5c2e-1111"
SHOW = 'echo "${CUDA_VISIBLE_DEVICES-unset} ${CUDA_DEVICE_ORDER-unset} $1"; taskset -pc $$'
CORE = min(os.sched_getaffinity(0))


def ran(tmp_path, text, **variables):
    """Return gpu, order, the program's argument and its cores, as the script leaves them."""
    file = tmp_path / "rank.sh"
    file.write_text(text)
    done = subprocess.run(
        ["sh", str(file), "sh", "-c", SHOW, "sh", "two words; $HOME"],
        env={"PATH": os.environ["PATH"], **variables}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        return done.returncode, done.stderr
    first, second = done.stdout.splitlines()
    return *first.split(maxsplit=2), cores_of_text(second.split(":")[1])


def test_each_rank_has_its_gpu_and_cores(tmp_path):
    text = script(places(("a", [CORE], 1), ("a", [], UUID), ("a", [])), OF_OPENMPI, binds=True)
    whole = tuple(sorted(os.sched_getaffinity(0)))
    said = [ran(tmp_path, text, OMPI_COMM_WORLD_RANK=str(rank)) for rank in range(3)]
    assert said == [
        ("1", "PCI_BUS_ID", "two words; $HOME", (CORE,)),
        (UUID, "unset", "two words; $HOME", whole),
        ("unset", "unset", "two words; $HOME", whole),
    ]


@pytest.mark.parametrize(
    ("variables", "environment"),
    [
        (OF_SLURM, {"SLURM_PROCID": "1", "PMI_RANK": "0"}),
        (OF_ANY, {"SLURM_PROCID": "0", "PMI_RANK": "1"}),
        (OF_ANY, {"SLURM_PROCID": "0", "PMIX_RANK": "1"}),
        (OF_ANY, {"SLURM_PROCID": "1"}),
    ],
)
def test_the_rank_is_the_launchers(tmp_path, variables, environment):
    text = script(places(("a", [], 5), ("a", [], 6)), variables, binds=True)
    assert ran(tmp_path, text, **environment)[0] == "6"


@pytest.mark.parametrize("environment", [{}, {"PMI_RANK": "2"}, {"PMI_RANK": "x"}])
def test_other_ranks_end_with_an_error(tmp_path, environment):
    text = script(places(("a", [], 5), ("a", [], 6)), OF_ANY, binds=True)
    code, said = ran(tmp_path, text, **environment)
    assert code == 1
    assert "the plan has ranks 0 to 1" in said


def test_the_program_gets_the_kind_of_its_device(tmp_path):
    own = places(("a", [], None, "openmp"), ("a", [CORE], 1, "it's; $HOME"))
    text = script(own, OF_OPENMPI, ("sh", "-c", SHOW, "sh", "-b={kind} $HOME"), binds=True)
    said = [ran(tmp_path, text, OMPI_COMM_WORLD_RANK=str(rank)) for rank in range(2)]
    assert [one[2] for one in said] == ["-b=openmp $HOME", "-b=it's; $HOME $HOME"]
    assert said[1][3] == (CORE,)
    by_kind = replace(job(("a", [])), program=("./solver", "{kind}"))
    files, words = wrapped(by_kind, OF_ANY, binds=False)
    assert words == ("sh", "F/rank.sh", "./solver", "{kind}")
    assert "./solver cpu" in files["rank.sh"]
    spaced = replace(by_kind, program=("./solver", "(a)  b"))
    assert "'(a)  b'" in script(spaced.places, OF_ANY, spaced.program, binds=False)


def test_no_script_where_it_has_nothing_to_do():
    bound = job(("a", [0]))
    assert wrapped(bound, OF_ANY, binds=False) == ({}, ("./solver", "a"))
    files, words = wrapped(bound, OF_ANY, binds=True)
    assert words == ("sh", "F/rank.sh", "./solver", "a")
    assert "taskset -c 0" in files["rank.sh"]
    assert "taskset" not in wrapped(job(("a", [0], 1)), OF_ANY, binds=False)[0]["rank.sh"]


def test_a_name_does_not_leave_its_comment(tmp_path):
    odd = replace(places(("a", [], 3))[0], device="x\ntouch gone #\r;;")
    assert ran(tmp_path, script([odd], OF_ANY, binds=True), PMI_RANK="0")[0] == "3"
    assert not (tmp_path / "gone").exists()
