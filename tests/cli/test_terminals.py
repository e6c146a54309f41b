"""What a terminal shows: colours where they are wanted, bars that wait, names as they are."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import time

import pytest
import rich.progress  # noqa: F401 (no bar waits for its import)

from evener.cli.output import Output
from tests.assertions import run_evener

TIME = 60  # seconds by which anything here must have ended, on the slowest machine


def on_a_terminal(words, width=100, **environment):
    """Run evener with stdout and stderr on a terminal; returns exit code and what it showed."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    usual = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    process = subprocess.Popen(
        [sys.executable, "-m", "evener", *words],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=usual | {"TERM": "xterm-256color"} | environment,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            chunk = os.read(ours, 4096)
        except OSError:  # the terminal is gone with its last user
            break
        if not chunk:
            break
        shown += chunk
    os.close(ours)
    return process.wait(TIME), shown.decode()


@pytest.mark.slow
def test_no_color(place):
    words = ["sizes", "--machine", "m.toml", "--n", "100"]
    code, shown = on_a_terminal(words, NO_COLOR="1")
    assert code == 0
    assert "\x1b" not in shown
    assert "[bold]" in shown
    code, shown = on_a_terminal(words, NO_COLOR="")
    assert "\x1b[" in shown


def test_odd_device_names_are_shown_as_they_are(evener, place):
    said = evener("sizes", "--machine", "m.toml", "--n", 90)
    assert "a[/b] :smile:" in said.out
    assert "[bold]" in said.out


def test_tables_are_not_cut_where_no_terminal_is(evener, place):
    name = "n" * 300
    (place / "m.toml").write_text(f'[[device]]\nname = "{name}"\nspeed = 1\n')
    assert name in evener("sizes", "--machine", "m.toml", "--n", 90).out


class Terminal:
    """A stream that says it is a terminal and keeps what is written."""

    encoding = "utf-8"

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text
        return len(text)

    def flush(self):
        """Nothing is held back."""


@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_a_bar_shows_from_a_second_on(monkeypatch, seconds):
    monkeypatch.setattr("evener.cli.output.SHOWN_AFTER", 0.1)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with Output().progress("Reading [/x].graph") as progress:
        progress("long step", 0.25)
        time.sleep(seconds)
    assert ("long step" in terminal.text) == (seconds > 0)
    assert ("Reading [/x].graph" in terminal.text) == (seconds > 0)


@pytest.mark.parametrize("output", [Output(quiet=True), Output(json=True)])
def test_no_bar_where_none_is_wanted(monkeypatch, output):
    monkeypatch.setattr("evener.cli.output.SHOWN_AFTER", 0.01)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with output.progress("Reading") as progress:
        progress("step", 0.5)
        time.sleep(0.1)
    assert terminal.text == ""


def test_any_encoding_of_the_terminal(place):
    done = run_evener("sizes", "--machine", "m.toml", "--n", 9, cwd=place, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    (place / "é.toml").write_text('[[device]]\nname = "日本"\nspeed = 1\n', encoding="utf-8")
    done = run_evener("sizes", "--machine", "é.toml", "--n", 9, cwd=place, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "\\u65e5\\u672c" in done.stdout
