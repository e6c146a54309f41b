"""stdout and stderr that are full, closed, or read no more: an error, an exit code, whole files."""

import io
import os
import subprocess
import sys

import pytest

from evener.cli import main
from evener.io.machines.platforms import read_platform
from tests.cli.test_manners import COSTLY, EXAMPLES, fast_but

FULL = "/dev/full"
pytestmark = pytest.mark.skipif(not os.path.exists(FULL), reason="there is no /dev/full")  # noqa: PTH110


def full():
    """A stream on a full disk."""
    return open(FULL, "w")  # noqa: PTH123


def unread():
    """A pipe whose reader has gone."""
    reader, writer = os.pipe()
    os.close(reader)
    return os.fdopen(writer, "w")


def run(monkeypatch, words, *, stdout, stderr):
    """Run evener with these streams; returns the exit code."""
    monkeypatch.setattr(sys, "stdout", stdout)
    monkeypatch.setattr(sys, "stderr", stderr)
    code = main(words)
    for stream in (stdout, stderr):
        if stream is not None and not isinstance(stream, io.StringIO):
            stream.close()  # nothing is left to be written, or this would fail
    monkeypatch.undo()
    return code


@pytest.mark.parametrize("command", fast_but(COSTLY))
def test_full_stdout(place, monkeypatch, command):
    said = io.StringIO()
    words = EXAMPLES[command].split()
    assert run(monkeypatch, words, stdout=full(), stderr=said) == 6
    lines = said.getvalue().splitlines()
    assert lines[-1] == "evener: stdout cannot be written: No space left on device"
    assert not [file for file in os.listdir() if file.startswith(".evener")]  # noqa: PTH208


@pytest.mark.parametrize("command", fast_but(COSTLY))
def test_nobody_reads(place, monkeypatch, command):
    said = io.StringIO()
    assert run(monkeypatch, EXAMPLES[command].split(), stdout=unread(), stderr=said) == 141
    assert "evener" not in said.getvalue()


@pytest.mark.parametrize("command", fast_but(COSTLY))
def test_closed_stdout(place, monkeypatch, command):
    said = io.StringIO()
    assert run(monkeypatch, EXAMPLES[command].split(), stdout=None, stderr=said) == 6
    assert said.getvalue().splitlines()[-1] == "evener: stdout cannot be written: it is closed"


@pytest.mark.parametrize("command", fast_but(COSTLY))
def test_stderr_that_takes_nothing(place, monkeypatch, command):
    out = io.StringIO()
    words = EXAMPLES[command].split()
    assert run(monkeypatch, words, stdout=out, stderr=full()) == 0
    assert out.getvalue()


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["info", "--help"]])
@pytest.mark.parametrize(("stream", "code"), [(unread, 141), (full, 6)])
def test_help(monkeypatch, words, stream, code):
    assert run(monkeypatch, words, stdout=stream(), stderr=io.StringIO()) == code


def test_quiet_needs_no_stdout(place, monkeypatch):
    words = ["sizes", "--k", "3", "--n", "9", "--quiet"]
    assert run(monkeypatch, words, stdout=None, stderr=io.StringIO()) == 0


def test_an_error_keeps_its_code_where_stderr_is_closed(place, monkeypatch):
    assert run(monkeypatch, ["info", "none"], stdout=io.StringIO(), stderr=None) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("redirected", "code", "said"),
    [
        (">&-", 6, "evener: stdout cannot be written: it is closed\n"),
        ("2>&-", 0, ""),
        (">&- 2>&-", 6, ""),
        (">/dev/full", 6, "evener: stdout cannot be written: No space left on device\n"),
        ("| true", 141, ""),
        ("2>/dev/full", 0, ""),
    ],
)
def test_of_a_process(tmp_path, redirected, code, said):
    command = f"{sys.executable} -m evener machine flat --speeds 1,2 -o m.toml {redirected}"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (code, said)
    assert read_platform(tmp_path / "m.toml").k == 2


@pytest.mark.slow
def test_remarks_on_a_full_stderr(place):
    """Nothing is left for Python to write at its end, where it would fail once more."""
    command = f"{sys.executable} -m evener info g.graph 2>/dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_files_do_not_take_the_numbers_of_closed_streams(tmp_path):
    """What a library printed would be written into them."""
    code = """import sys, os
from evener.cli.streams import watched_streams
with watched_streams():
    number = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
    os.write(1, b"printed by a library")
    sys.exit(0 if number > 2 else 1)
"""
    command = f"{sys.executable} -c '{code}' {tmp_path}/file >&- 2>&- <&-"
    assert subprocess.run(["bash", "-c", command], check=False).returncode == 0
    assert (tmp_path / "file").read_bytes() == b""
