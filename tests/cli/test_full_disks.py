"""Disks that fill up while a command writes: an error that names the file, and what was kept."""

import errno
import json
import os
import resource
import signal
import subprocess
import sys

import pytest

from evener.cli import main
from evener.io.machines.speeds import read_speeds

MEASURE = "measure axpy --device cpu0 --range 9:900 --time-limit 0.1 --alone -o s.toml --quiet"


def limited(words, size, folder):
    """Run evener where no file may be larger than `size` bytes."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # the write fails with EFBIG
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return subprocess.run(
        [sys.executable, "-m", "evener", *words.split()],
        cwd=folder, preexec_fn=limit, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_measure_keeps_its_journal(tmp_path):
    """What was measured is not lost, and the same command goes on."""
    first = limited(MEASURE, 2000, tmp_path)
    assert first.returncode == 6
    assert "s.toml.journal: the journal cannot be written: File too large" in first.stderr
    assert "s.toml.journal contains" in first.stderr
    kept = (tmp_path / "s.toml.journal").read_bytes()
    assert kept.count(b"\n") >= 3
    assert limited(MEASURE, 10**6, tmp_path).returncode == 0
    assert not (tmp_path / "s.toml.journal").exists()
    load = json.loads(kept.splitlines()[1])["point"]["sample"]["load"]
    samples = read_speeds(tmp_path / "s.toml")[0].samples
    assert load in [sample.load for sample in samples]


@pytest.mark.slow
def test_measure_where_its_file_has_no_room(evener, tmp_path, monkeypatch):
    """The journal is written, the file of speeds is not."""
    monkeypatch.chdir(tmp_path)
    fsync = os.fsync

    def refuse(number):
        if ".journal" not in os.readlink(f"/proc/self/fd/{number}"):  # noqa: PTH115
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(number)

    monkeypatch.setattr(os, "fsync", refuse)
    said = evener(*MEASURE.split())
    assert said.code == 6
    assert "evener: s.toml: cannot be written: No space left on device" in said.err
    assert "s.toml.journal contains" in said.err
    assert sorted(os.listdir()) == ["s.toml.journal"]  # noqa: PTH208
    monkeypatch.setattr(os, "fsync", fsync)
    assert evener(*MEASURE.split()).code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    ["generate grid --shape 60x60 -o new.graph", "plan g.graph --k 3 -o new.plan",
     "convert g.graph new.ecsr", "generate rmat --scale 7 -o new.ecsr",
     "report g.plan -o new.html", "split e.snap --k 3 --stream -o new.plan"],
)  # fmt: skip
def test_nothing_half_written_is_left(place, words):
    (place / "e.snap").write_text("".join(f"{i} {i + 1}\n" for i in range(900)))
    before = sorted(os.listdir())  # noqa: PTH208
    done = limited(words, 500, place)
    assert done.returncode == 6
    assert f"evener: {words.split()[-1]}: cannot be written: File too large" in done.stderr
    assert "bug" not in done.stderr
    assert sorted(os.listdir()) == before  # noqa: PTH208


@pytest.mark.parametrize("named", [True, False])
def test_a_disk_that_fails_elsewhere(place, monkeypatch, capsys, named):
    """As where a library keeps something: no bug of ours, and the file is named if it is known."""

    def refuse(*_, **__):
        file = ["/somewhere/file"] if named else []
        raise OSError(errno.EIO, os.strerror(errno.EIO), *file)

    monkeypatch.setattr("evener.cli.commands.info.read_workload", refuse)
    assert main(["info", "g.graph"]) == 6
    said = capsys.readouterr().err
    file = "/somewhere/file: " if named else "a file "
    assert said.startswith(f"evener: {file}cannot be written: Input/output error\n")
