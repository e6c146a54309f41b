"""`evener launch`: what it prints, writes and runs, and what it refuses."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import evener as ev
from evener.io.machines.platforms import platform_to_toml
from tests.assertions import grid, run_evener

CORE = min(os.sched_getaffinity(0))
# Says that it is Open MPI, and runs the program once, as rank 1.
MPIRUN = """#!/bin/sh
[ "$1" = --version ] && { echo 'mpirun (Open MPI) 4.1.4'; exit; }
echo "$*" >> "$LOG"
while [ "$1" != -n ]; do shift; done
shift 2
OMPI_COMM_WORLD_RANK=1 exec "$@"
"""


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine file of two devices here, a program, and the only mpirun, which logs its words."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "mpirun").write_text(MPIRUN)
    (tmp_path / "solver").write_text('#!/bin/sh\necho "solver $*"\nexit ${CODE-0}\n')
    for program in (folder / "mpirun", tmp_path / "solver"):
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    for key in ("SLURM_JOB_ID", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.chdir(tmp_path)
    return written(tmp_path, cores=(CORE,))


def written(folder, **second):
    devices = ev.Device("cpu", 1.0, cores=(CORE,)), ev.Device("gpu", 2.0, **second)
    (folder / "m.toml").write_text(platform_to_toml(ev.Platform(devices)))
    return "m.toml"


def listed(folder):
    return sorted(file.name for file in Path(folder).iterdir())


def test_devices_without_a_block_are_mentioned_and_left_out_on_request(evener, machine, tmp_path):
    """Three devices, one too far away to help: its rank would do nothing."""
    near, far = ev.Link(1e-7, 1e-9), ev.Link(1.0, 1e-9)
    devices = [
        ev.Device(f"d{i}", 1e8, at=at, cores=(CORE,)) for i, at in enumerate(["a", "b", "a"])
    ]
    platform = ev.Platform(tuple(devices), (ev.Level("far", far), ev.Level("near", near)))
    (tmp_path / "far.toml").write_text(platform_to_toml(platform))
    ev.write_graph(tmp_path / "g.graph", grid(30, 30))
    words = ("plan", "g.graph", "--machine", "far.toml", "-o", "x.plan")
    said = evener(*words)
    assert said.code == 0, said.err
    assert "1 of 3 devices unused" in said.out
    assert "--only-used leaves unused devices out" in said.out
    idle = "note: d1: no block assigned, so its rank has nothing to do; `evener plan --only-used`"
    for command in (["export", "x.plan", "--to", "metis", "-o", "x.part"],
                    ["launch", "x.plan", "--", "./solver"]):  # fmt: skip
        assert idle in evener(*command).err
    said = evener(*words, "--only-used")
    assert "note: left out of the plan, which does not use them: d1" in said.err
    assert "unused" not in said.out
    plan = ev.read_plan(tmp_path / "x.plan")
    assert plan.platform.names == ["d0", "d2"]
    assert plan.certificate.vertices.tolist() == [450, 450]
    said = evener("launch", "x.plan", "--", "./solver")
    assert "no block" not in said.err
    assert "rank 1=" in said.out
    assert "rank 2=" not in said.out
    assert evener("replay", "x.plan", "g.graph").code == 0


def test_what_starts_each_rank_is_printed(evener, machine, tmp_path):
    said = evener("launch", machine, "--", "./solver", "a b", "--json")
    assert said.code == 0
    assert "rank 1=" in said.out
    assert said.out.endswith("./solver 'a b' --json\n")
    assert "--- launch.sh" in said.out
    assert f"core {CORE} of" in said.err
    assert not (tmp_path / "log").exists()


def test_files_are_written_and_found_by_the_command(evener, machine, tmp_path):
    said = evener("launch", machine, "-o", "out/run", "--", "./solver", "x")
    assert said.code == 0
    assert listed("out/run") == ["hosts", "launch.sh", "ranks"]
    assert "Written: out/run/hosts, out/run/ranks, out/run/launch.sh." in said.out
    done = subprocess.run(["sh", "out/run/launch.sh"], capture_output=True, text=True, check=True)
    assert done.stdout == "solver x\n"
    assert "--hostfile out/run/hosts --rankfile out/run/ranks" in (tmp_path / "log").read_text()


def test_a_folder_whose_name_begins_as_an_option(evener, machine, tmp_path):
    assert evener("launch", machine, "-o=-odd", "--", "./solver", "x").code == 0
    subprocess.run(["sh", "./-odd/launch.sh"], capture_output=True, text=True, check=True)
    assert "--hostfile ./-odd/hosts --rankfile ./-odd/ranks" in (tmp_path / "log").read_text()


def test_files_that_are_there_stay(evener, machine):
    assert evener("launch", machine, "-o", "out", "--", "./solver").code == 0
    before = (Path("out/hosts").stat().st_mtime_ns, listed("out"))
    said = evener("launch", machine, "-o", "out", "--", "./solver", "y")
    assert said.code == 2
    assert "out/hosts already exists" in said.err
    assert (Path("out/hosts").stat().st_mtime_ns, listed("out")) == before
    assert evener("launch", machine, "-o", "out", "--force", "--", "./solver", "y").code == 0
    assert Path("out/launch.sh").read_text().endswith("./solver y\n")


def test_nothing_is_half_written(evener, machine, tmp_path):
    (tmp_path / "out" / "ranks").mkdir(parents=True)
    assert evener("launch", machine, "-o", "out", "--force", "--", "./solver").code == 3
    assert listed("out") == ["ranks"]


@pytest.mark.parametrize("output", [(), ("-o", "kept")])
def test_the_programs_exit_code_is_handed_on(machine, tmp_path, output, monkeypatch):
    monkeypatch.setenv("CODE", "7")
    done = run_evener("launch", machine, *output, "--run", "--", "./solver", "-n", 5)
    assert (done.returncode, done.stdout) == (7, "solver -n 5\n")
    assert "running: " in done.stderr
    used = (tmp_path / "log").read_text().split()[1]
    assert Path(used).exists() == bool(output)


def test_json_has_stdout_to_itself(machine):
    done = run_evener("launch", machine, "--run", "--json", "--", "./solver")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert "solver" in done.stderr
    assert told["exit_code"] == 0
    assert (told["launcher"], told["version"]) == ("openmpi", "4.1.4")
    assert [(r["rank"], r["device"], r["cores"], r["gpu"]) for r in told["ranks"]] == [
        (0, "cpu", [CORE], None), (1, "gpu", [CORE], None)
    ]  # fmt: skip


def test_json_without_running(evener, machine):
    told = json.loads(evener("launch", machine, "--json", "-o", "out", "--", "./solver").out)
    assert told["written"] == ["out/hosts", "out/ranks", "out/launch.sh"]
    assert told["command"][-1] == "./solver"
    assert "exit_code" not in told


def test_interrupted_it_ends_the_launcher(machine, tmp_path):
    (tmp_path / "solver").write_text("#!/bin/sh\necho $$ > pid\nexec sleep 100\n")
    words = [sys.executable, "-m", "evener", "launch", machine, "--run", "--", "./solver"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, start_new_session=True)
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
    ran = int((tmp_path / "pid").read_text())
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"interrupted" in said
    until(lambda: has_ended(ran))


def has_ended(process):
    """Return whether a process is gone, or waits only to be asked how it ended."""
    try:
        return "State:\tZ" in Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return True


def until(holds, seconds=60.0):
    limit = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["m.toml"], 2, "no program is given"),
        (["m.toml", "./solver"], 2, "argument: ./solver; write the program"),
        (["m.toml", "--ranks", "3", "--", "./solver"], 2, "--ranks is 3, but m.toml is for 2"),
        (["m.toml", "--", "./none"], 3, "none: there is no such program"),
        (["m.toml", "--", "solver"], 3, "no program 'solver' in PATH\nDid you mean ./solver?"),
        (["m.toml", "--", "./m.toml"], 3, r"is not executable\nchmod \+x ./m.toml"),
        (["m.toml", "--hosts", "hosts", "--", "./solver"], 3, "lacks host '.*' of device 'cpu'"),
        (["m.toml", "--hosts", "none", "--", "./solver"], 3, "none: cannot be read"),
        (["m.toml", "--with", "mpch", "--", "./solver"], 2, "no 'mpch'; did you mean mpich"),
        (["m.toml", "--with", "mpich", "--run", "--", "./solver"], 2, "no mpiexec of mpich"),
        (["m.toml", "--with", "hostfile", "--run", "--", "./solver"], 2, "--run needs a launcher"),
        (["m.toml", "--mpirun", "/none", "--", "./solver"], 5, "there is no program '/none'"),
        (["m.toml", "--mpirun", "mpirun -n 4", "--", "./solver"], 2, "each of the 2 devices"),
        (["m.toml", "--mpirun", "'", "--", "./solver"], 2, "No closing quotation"),
        (["none.plan", "--", "./solver"], 3, "none.plan: the machine file cannot be read"),
    ],
)  # fmt: skip
def test_what_is_refused(evener, machine, tmp_path, words, code, said):
    (tmp_path / "hosts").write_text("node1\nnode2\n")
    before = listed(tmp_path)
    found = evener("launch", *words[:1], "-o", "out", *words[1:])
    assert found.code == code
    assert re.search(said, found.err), found.err
    assert listed(tmp_path) == before


def test_cores_that_are_not_there(evener, machine, tmp_path):
    written(tmp_path, cores=(CORE, 65535))
    said = evener("launch", machine, "--", "./solver")
    assert said.code == 3
    assert "there is no core 65535 on" in said.err
    assert "for device 'gpu'" in said.err


def test_a_gpu_of_two_devices_is_a_note(evener, machine, tmp_path):
    devices = [ev.Device(name, 1.0, gpu=0) for name in "ab"]
    (tmp_path / "m.toml").write_text(platform_to_toml(ev.Platform(tuple(devices))))
    said = evener("launch", machine, "--", "./solver")
    assert said.code == 0
    assert "has 2 ranks: 0, 1" in said.err


def test_a_program_of_another_mpi(evener, machine, tmp_path):
    ldd = tmp_path / "bin" / "ldd"
    ldd.write_text("#!/bin/sh\necho 'libmpi.so.12 => /x'\n")
    ldd.chmod(0o755)
    said = evener("launch", machine, "--run", "--", "./solver")
    assert (said.code, said.out) == (2, "")
    assert "./solver is linked with mpich" in said.err
    assert "--with mpich" in said.err


def test_ranks_do_not_start_ranks(evener, machine, monkeypatch):
    monkeypatch.setenv("PMI_SIZE", "3")
    said = evener("launch", machine, "--", "./solver")
    assert said.code == 2
    assert "this command starts the ranks itself, but 3 ranks run it" in said.err


def test_a_script_for_other_computers_needs_a_shared_folder(evener, machine, tmp_path):
    devices = (ev.Device("a", 1.0, node="n1", gpu=0), ev.Device("b", 1.0, node="n2"))
    (tmp_path / "m.toml").write_text(platform_to_toml(ev.Platform(devices)))
    said = evener("launch", machine, "--run", "--", "./solver")
    assert said.code == 2
    assert "-o FOLDER" in said.err
    assert evener("launch", machine, "--run", "-o", "out", "--", "./solver").code == 0


def test_elsewhere_the_program_may_be_missing_here(evener, machine, tmp_path):
    (tmp_path / "m.toml").write_text(
        platform_to_toml(ev.Platform((ev.Device("a", 1.0, node="n1"),)))
    )
    assert evener("launch", machine, "--", "/opt/solver").code == 0


def test_plans_say_where_too(evener, machine, grid_file):
    assert evener("plan", grid_file, "--machine", machine, "-o", "x.plan").code == 0
    told = json.loads(evener("launch", "x.plan", "--json", "--", "./solver").out)
    assert [rank["cores"] for rank in told["ranks"]] == [[CORE], [CORE]]
