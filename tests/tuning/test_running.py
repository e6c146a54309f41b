"""`evener tune` with real programs: their ranks sleep for a stated time a unit of their blocks."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import evener as ev
from evener.cli import main
from evener.io.machines.speeds import read_speeds

HERE = Path(__file__).parent
MPIEXEC = Path(sys.prefix) / "bin" / "mpiexec"
COSTS = "2e-4,2e-4,6e-4"  # seconds a unit

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not MPIEXEC.exists(), reason="MPICH is not in this environment"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler"),
]


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """A grid of 400 vertices on three devices that are said to be equal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    assert main(["generate", "grid", "--shape", "20x20", "-o", "g.graph", "--quiet"]) == 0
    assert main(["plan", "g.graph", "--k", "3", "-o", "x.plan", "--quiet"]) == 0
    shutil.copy("x.plan", "now.plan")
    return "x.plan"


def program(*more, steps=12, costs=COSTS, n=3):
    words = (sys.executable, HERE / "program.py", "now.plan", steps, costs, *more)
    return [str(word) for word in ("--", MPIEXEC, "-n", n, *words)]


def test_speeds_are_found_and_the_new_plan_is_faster(plan, capsys):
    given = [
        "-o",
        "new.plan",
        "--samples",
        "speeds.toml",
        "--prepare",
        "cp {plan} now.plan",
        "--json",
    ]
    assert main(["tune", plan, *given, *program()]) == 0
    found = json.loads(capsys.readouterr().out)
    first, second = found["rounds"][:2]
    assert first["step"] == "each Allreduce of 16 bytes"
    assert 1.2 < first["gain"] < 2.4
    assert second["seconds"] < first["seconds"]
    assert found["taken"] >= 1
    fast, _, slow = (device.samples[0].speed for device in read_speeds("speeds.toml"))
    assert 2 < fast / slow < 4
    weights = ev.read_plan("new.plan").certificate.weights
    assert weights[2] < 0.6 * weights[0]


def test_equal_ranks_keep_their_plan(plan, capsys):
    same = program(costs="1e-3,1e-3,1e-3", steps=12)
    assert main(["tune", plan, "-o", "new.plan", *same]) == 0
    said = capsys.readouterr().out
    assert "The plan stays as it is." in said
    assert not Path("new.plan").exists()


def test_an_endless_program_is_ended(plan, capsys):
    assert main(["tune", plan, "--seconds", "4", "-o", "new.plan", *program("hang")]) == 0
    assert "Written: new.plan" in capsys.readouterr().out


def test_a_program_without_a_launcher_is_launched(plan, capsys, monkeypatch):
    monkeypatch.setenv("PATH", f"{MPIEXEC.parent}:{os.environ['PATH']}")
    words = program()
    alone = ["--", *words[words.index("-n") + 2 :]]
    assert main(["tune", plan, "-o", "new.plan", "--json", *alone]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rounds"][0]["step"] == "each Allreduce of 16 bytes"
    assert Path("new.plan").exists()


def test_a_program_without_collective_calls(plan, capsys):
    assert main(["tune", plan, "-o", "new.plan", *program("silent")]) == 0
    assert re.search(r"no steps were detected, .* of \d+ equal pieces", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (program("fail", steps=6), 5, "the program ended with exit code"),
        (program(n=2, costs="1e-4,1e-4"), 3, "has 2 ranks, and the plan 3 devices"),
        (["--", str(MPIEXEC), "-n", "3", "true"], 5, "no rank was measured"),
        (["--", "./none"], 3, "there is no such program"),
        (["--prepare", "cp x y", *program()], 2, "must contain {plan}"),
        (["--prepare", "false {plan}", *program()], 5, "--prepare ended with exit code 1"),
        (["-o", "no/x.plan", *program()], 3, "does not exist"),
        (["-o", "x.plan", *program()], 2, "is also an input"),
        ([], 2, "no program is given"),
    ],
)
def test_what_cannot_be_measured(plan, capsys, words, code, said):
    assert main(["tune", plan, *words]) == code
    assert said in capsys.readouterr().err


def test_samples_of_a_program_that_fails(plan, capsys):
    words = program("fail", steps=60, costs="2e-5,2e-5,6e-5")
    assert main(["tune", plan, "--samples", "speeds.toml", *words]) == 5
    assert "the program ended with exit code" in capsys.readouterr().err
    assert len(read_speeds("speeds.toml")) == 3


def test_a_plan_made_slice_by_slice_is_refused(plan, capsys):
    assert main(["plan", "g.graph", "--k", "3", "--memory", "2GiB", "-o", "s.plan"]) == 0
    assert main(["tune", "s.plan", *program()]) == 2
    assert "was made slice by slice" in capsys.readouterr().err


def test_fortran_is_measured(plan, capsys, monkeypatch):
    """By both interfaces of Open MPI."""
    if not (shutil.which("mpif90.openmpi") and shutil.which("gfortran")):
        pytest.skip("needs mpif90.openmpi and gfortran, Debian's libopenmpi-dev and gfortran")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    source = (HERE / "jacobi.f90").read_text()
    newer = source.replace("use mpi\n", "use mpi_f08\n").replace(
        "request(4), other", "other\n  type(mpi_request) :: request(4)"
    )
    for name, text in (("old", source), ("new", newer)):
        Path(f"{name}.f90").write_text(text)
        subprocess.run(["mpif90.openmpi", "-o", name, f"{name}.f90"], check=True)
        mpirun = "mpirun.openmpi", "--oversubscribe", "-n", "3", f"./{name}", "400", "30"
        assert main(["tune", plan, "--json", "--", *mpirun]) == 0
        found = json.loads(capsys.readouterr().out)
        computing = [device["computing"] for device in found["rounds"][0]["devices"]]
        assert found["rounds"][0]["step"] == "each Allreduce of 8 bytes"
        assert computing[1] > 1.5 * max(computing[0], computing[2])
