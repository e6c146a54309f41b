"""Computers of a hostfile: the command that starts their processes, their answers, their errors."""

import json
import shutil
import stat
import sys
from pathlib import Path

import pytest

from evener.cli import main
from evener.errors import InputError, ToolError, UsageError
from evener.io.machines.hwloc import computer_of_hwloc
from evener.io.machines.platforms import read_platform
from evener.measuring.hosts import Starter, described_hosts
from evener.measuring.machine_hosts import MARK, as_text
from evener.platforms.described import described
from tests.io.machines.descriptions import content_of

NO_DEVICES = '{"platform": {}, "guessed": {}, "sources": [], "notes": []}'
FOUND = described([computer_of_hwloc(content_of("gpu_node"), "x")])


@pytest.fixture
def starter(tmp_path):
    """Make a program that stands for a launcher; returns what makes it."""

    def make(text, kind="mpich"):
        path = tmp_path / "mpirun"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return Starter(kind, str(path))

    return make


def answered(text):
    return f"cat <<'EOF'\nhello\n{MARK}{text}\nEOF\n"


def test_the_answer_of_the_processes(starter):
    launcher = starter(answered(as_text(FOUND, ["a note"])))
    answer = described_hosts(launcher, ["a"], "core", measures=False)
    assert answer.found == FOUND
    assert answer.notes == ("a note",)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("mpich", "-f {} -ppn 1 -bind-to none -n 2"),
        ("openmpi", "--hostfile {} --map-by ppr:1:node --bind-to none -n 2"),
        ("slurm", "--nodelist a,b --ntasks-per-node=1 --cpu-bind=none -n 2"),
    ],
)
def test_one_process_a_computer_bound_to_no_core(starter, tmp_path, kind, options):
    out = tmp_path / "said"
    launcher = starter(
        f'echo "$@" > {out}; cat "$2" >> {out} 2>/dev/null\n{answered(as_text(FOUND, []))}', kind
    )
    described_hosts(launcher, ["a", "b"], "numa", measures=True)
    command, *listed = out.read_text().splitlines()
    words = command.split()
    place = words[1] if kind != "slurm" else ""
    child = f"{sys.executable} -m evener.measuring.machine_hosts numa measure a b"
    assert command == f"{options.format(place)} {child}"
    assert listed == ([] if kind == "slurm" else ["a", "b"])
    assert not Path(place or "/none").exists()


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("echo -----; echo no such host >&2; exit 255", ToolError, "ended with 255: no such host"),
        ("echo nothing", ToolError, "ended with 0: nothing"),
        (answered("{}"), ToolError, "answer cannot be read"),
        (answered("[1]"), ToolError, "answer cannot be read"),
        (answered(NO_DEVICES), InputError, "devices"),
        (f"echo '[0] {MARK}[2, \"two are one\", \"once\"]' >&2; exit 2", UsageError, "two are one"),
        (f"echo '{MARK}[5, \"no mpi4py\", null]' >&2; exit 5", ToolError, "no mpi4py"),
        (f"echo '{MARK}broken' >&2; exit 5", ToolError, "a process failed: broken"),
    ],
)  # fmt: skip
def test_what_fails(starter, text, error, message):
    with pytest.raises(error, match=message):
        described_hosts(starter(text), ["a"], "core", measures=False)


def test_a_launcher_that_starts_nothing():
    with pytest.raises(ToolError, match="cannot be run"):
        described_hosts(Starter("mpich", "/none/mpirun"), ["a"], "core", measures=False)
    with pytest.raises(UsageError, match="cannot be started by hostfile"):
        described_hosts(Starter("hostfile", ""), ["a"], "core", measures=False)


@pytest.mark.slow
@pytest.mark.skipif(
    not (Path(sys.executable).parent / "mpiexec").exists() and shutil.which("mpiexec") is None,
    reason="there is no mpiexec",
)
def test_this_computer_by_mpiexec(tmp_path, capsys):
    pytest.importorskip("mpi4py")
    beside = Path(sys.executable).parent / "mpiexec"
    mpiexec = str(beside) if beside.exists() else shutil.which("mpiexec")
    hosts, file = tmp_path / "hosts", tmp_path / "m.toml"
    hosts.write_text("localhost slots=4\n")
    words = ["machine", "hosts", hosts, "--per", "node", "--mpirun", mpiexec, "-o", file, "--json"]
    assert main([str(word) for word in words]) == 0
    data = json.loads(capsys.readouterr().out)
    (device,) = read_platform(file).devices
    assert (device.node, data["guessed"]["cpu"]) == ("localhost", ["speed"])
    assert device.cores
    hosts.write_text("# nothing\n")
    assert main([*(str(word) for word in words), "--force"]) == 3
