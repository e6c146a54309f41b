"""What a cold cache looks like: one line, once; nothing on stdout; a clear word where it fails."""

import json
import os
import pty
import time
from contextlib import suppress

import pytest

from evener.cli.compiling import WORDS, CompilingShown, explained
from evener.cli.output import Output
from evener.cli.precompile.compiler import Compiled
from evener.errors import ToolError, UsageError
from tests.assertions import printed_by, run_evener


class Said(Output):
    """Keeps what it is told to wait for."""

    def __init__(self):
        super().__init__()
        self.waits = []

    def wait_for(self, text, seconds=0.0, detail=""):
        self.waits.append(text)
        self.detail = detail


def shown_after(seconds, monkeypatch, command="plan"):
    """What is said while a kernel has been compiled for so many seconds."""
    out = Said()
    shown = CompilingShown(out, command)
    monkeypatch.setattr(shown, "_is_watching", True)
    compiled = Compiled()
    compiled.begin("a.kernel")
    monkeypatch.setattr(
        compiled, "_began", dict.fromkeys(compiled._began, time.monotonic() - seconds)
    )
    monkeypatch.setattr(shown, "_compiled", compiled)
    shown()
    return out.waits


def test_only_what_takes_long_is_said(monkeypatch):
    assert shown_after(0.2, monkeypatch) == [""]
    assert shown_after(5.0, monkeypatch) == [
        "compiling kernels that `evener plan` needs for the first time"
    ]
    assert shown_after(5.0, monkeypatch, "warm") == []


def test_it_says_how_far_it_is(monkeypatch):
    out = Said()
    shown = CompilingShown(out, "plan")
    monkeypatch.setattr(shown, "_is_watching", True)
    compiled = shown._compiled
    for name in ("one_kernels.first", "other_kernels.second"):
        compiled.begin(name)
        monkeypatch.setattr("evener.cli.compiling.WORTH_SAYING", 0.0)
        shown()
        compiled.end()
    assert out.detail == "1 compiled, now other_kernels.second"


def test_it_says_once_why_kernels_that_came_compiled_do_not_serve(monkeypatch, capsys):
    out = Said()
    shown = CompilingShown(out, "plan")
    monkeypatch.setattr(shown, "_is_watching", True)
    monkeypatch.setattr("evener.cli.compiling.WORTH_SAYING", 0.0)
    whys = ["what an earlier command met"] * shown._n_whys + ["they are for others", "later"]
    monkeypatch.setattr("evener.machine_code.packs.why_compiled", lambda: whys)
    shown._compiled.begin("one_kernels.first")
    for _ in range(3):
        shown()
    said = capsys.readouterr().err
    assert said == "Kernels are compiled here, once: they are for others.\n"


def test_nothing_is_imported_to_watch():
    """The compiler takes half a second to import; a command without kernels does not."""
    code = (
        "import sys; from evener.cli import main; main(['machine', 'flat', '--speeds', '1,2']);"
        "assert 'numba' not in sys.modules"
    )
    printed_by(code)


def test_said_once_where_stderr_is_no_terminal(capsys):
    out = Output()
    for text in ("waiting", "waiting", "", "waiting"):
        out.wait_for(text, 3.0)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "waiting\n"


def test_quiet_says_nothing(capsys):
    Output(quiet=True).wait_for("waiting", 3.0)
    assert capsys.readouterr().err == ""


def test_on_a_terminal_the_seconds_run_and_go(monkeypatch):
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr("sys.stderr", terminal)
        out = Output()
        out.wait_for("waiting", 3.0)
        out.wait_for("waiting", 4.0)
        out.say("")
        out.say("")  # nothing is left to be removed
    shown = b""
    with suppress(OSError):  # when all was read, as the other end is closed
        while more := os.read(ours, 1000):
            shown += more
    os.close(ours)
    assert shown.decode() == "".join(
        f"\r\x1b[K{t}" for t in ("waiting (3 s so far)", "waiting (4 s so far)", "")
    )


def test_with_a_bar_it_stands_beside_the_step():
    out = Output()
    with out.progress("Planning") as bar:
        out._bar = bar  # as on a terminal
        bar("partitioning", 0.1)
        out.wait_for("waiting", 3.0, "for it")
        assert bar._waits_for == "waiting, for it (3 s so far)"
        out.wait_for("")
        assert bar._waits_for == ""


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SystemExit(7), "the user's program called sys.exit(7)"),
        (MemoryError(), "out of memory"),
        (MemoryError("no room for 3"), "out of memory: no room for 3"),
        (RuntimeError("can't start new thread"), "does not let this process start another thread"),
        (OSError("Could not load shared object file 'a'. It"), "a library cannot be loaded: Could"),
    ],
)
def test_what_is_no_bug_is_explained(error, said):
    known = explained(error)
    assert isinstance(known, ToolError)
    assert said in str(known)


def test_nowhere_to_keep_kernels_is_explained():
    error = explained(RuntimeError("cannot cache function 'f': no locator available for file 'x'"))
    assert isinstance(error, UsageError)
    assert "NUMBA_CACHE_DIR" in error.hint
    other = RuntimeError("else")
    assert explained(other) is other


@pytest.mark.slow
def test_a_cold_command_says_so_and_json_stays_json(tmp_path, grid_file):
    cold = {"NUMBA_CACHE_DIR": str(tmp_path / "cold"), "EVENER_PACKS": "no"}
    said = run_evener("info", grid_file, "--json", **cold)
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout)["n"] == 120
    assert WORDS.format("info") in said.stderr.splitlines()
