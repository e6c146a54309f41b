"""Manners that all commands share: streams, exit codes, interrupts, pipes, names."""

import ast
import functools
import json
import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import psutil
import pytest

from evener.cli import COMMANDS, main
from evener.cli.output import Output
from evener.filing.writing_graphs import write_graph
from evener.reproducing.fupermod import reproduce
from evener.writing import write_text
from tests.assertions import grid, run_evener

# Words with which each command succeeds in a folder made by `place`.
EXAMPLES = {
    "plan": "plan g.graph --k 3 -o new.plan",
    "evaluate": "evaluate g.graph g.plan --k 3",
    "refine": "refine g.graph g.plan --k 3 -o new.part",
    "compare": "compare g.graph --k 3 --with metis,rcb",
    "fits": "fits g.graph --machine m.toml",
    "sizes": "sizes --machine m.toml --n 100",
    "tile": "tile --machine m.toml --size 64 --block 8",
    "measure": "measure axpy --device cpu0 --range 9:9 --time-limit 0.1 -o s.toml",
    "models": "models v.toml",
    "machine": "machine topo1 --k 4 --fast 2 -o new.toml",
    "advise": "advise g.graph --machine m.toml",
    "replay": "replay g.plan g.graph",
    "export": "export g.plan --to csv -o new.csv",
    "report": "report g.plan -o new.html",
    "info": "info g.graph",
    "convert": "convert g.graph new.mtx",
    "generate": "generate grid --shape 4x5 -o new.graph",
    "reproduce": "reproduce fupermod --fast",
    "warm": "warm --processes 1",
    "doctor": "doctor",
}
READERS = [
    "plan",
    "evaluate",
    "refine",
    "compare",
    "advise",
    "fits",
    "replay",
    "export",
    "report",
    "info",
    "convert",
]
# Those that start processes are run twice in test-fast, not four times; papers take seconds.
COSTLY, COSTLIEST = ("advise", "compare", "doctor", "measure", "reproduce"), ("reproduce",)
HEAVY = ("numpy", "scipy", "numba", "matplotlib", "meshio", "rich", "jinja2")

TIME = 60  # seconds by which anything here must have ended, on the slowest machine


def fast_but(slow):
    """All commands, those of `slow` marked so."""
    return [
        pytest.param(command, marks=[pytest.mark.slow] if command in slow else [])
        for command in COMMANDS
    ]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    graph = grid(8, 9)
    write_graph(folder / "g.graph", graph)
    write_text(folder / "m.toml", '[[device]]\nname = "a[/b] :smile:"\nspeed = 2\n'
               '[[device]]\nname = "[bold]"\nspeed = 1\n')  # fmt: skip
    write_text(folder / "v.toml", '[[device]]\nname = "[bold]"\nsamples = [[9, 1], [19, 3]]\n')
    assert main(["plan", str(folder / "g.graph"), "--k", "3", "-o", str(folder / "g.plan"),
                 "--quiet"]) == 0  # fmt: skip
    return folder


@functools.cache
def reproduced():
    return reproduce(True, lambda *_: None)


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    """A folder with a graph, a machine with odd names and a plan; the current one."""
    for file in made.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    # Seconds each time, all the same.
    monkeypatch.setattr("evener.warming.warm.REHEARSALS", {})
    monkeypatch.setattr("evener.reproducing.fupermod.reproduce", lambda *_: reproduced())
    return tmp_path


def test_every_command_has_an_example():
    assert EXAMPLES.keys() == COMMANDS.keys()


@pytest.mark.parametrize("command", fast_but(COSTLIEST))
def test_succeeds_and_writes_no_escapes(evener, place, command):
    said = evener(*EXAMPLES[command].split())
    assert said.code == 0, said.err
    assert said.out
    assert "\x1b" not in said.out + said.err
    assert "\r" not in said.out + said.err


@pytest.mark.parametrize("command", COMMANDS)
def test_help(evener, command):
    said = evener(command, "--help")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"usage: evener {command} ")
    assert "--json" in said.out
    assert "--quiet" in said.out


@pytest.mark.parametrize("command", fast_but(COSTLIEST))
def test_json_is_one_object(evener, place, command):
    said = evener(*EXAMPLES[command].split(), "--json")
    assert said.code == 0, said.err
    assert isinstance(json.loads(said.out), dict)
    assert "NaN" not in said.out
    assert "Infinity" not in said.out


@pytest.mark.parametrize("command", fast_but(COSTLY))
def test_quiet(evener, place, command):
    said = evener(*EXAMPLES[command].split(), "--quiet")
    assert (said.code, said.out, said.err) == (0, "", "")


@pytest.mark.parametrize("command", fast_but(COSTLY))
def test_quiet_does_not_silence_json(evener, place, command):
    said = evener(*EXAMPLES[command].split(), "--quiet", "--json")
    assert isinstance(json.loads(said.out), dict)
    assert said.err == ""


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("more", [["--nothing"], ["--jso"]])
def test_unknown_options(evener, place, command, more):
    said = evener(*EXAMPLES[command].split(), *more)
    assert (said.code, said.out) == (2, "")
    assert more[0] in said.err
    assert f"See `evener {command}" in said.err
    assert len(said.err.splitlines()) <= 3


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "No such file"),
        ("folder", ""),
        (b"", "is empty"),
        (bytes(range(256)) * 20, ""),
        (b"these are words\nand more of them\n", ""),
    ],
    ids=["missing", "folder", "empty", "binary", "text"],
)
def test_bad_files(evener, place, command, content, reason):
    words = ["bad" if word in ("g.graph", "g.plan") else word for word in EXAMPLES[command].split()]
    if command in ("evaluate", "replay"):
        words[1] = "g.graph" if command == "evaluate" else "bad"
    if content == "folder":
        (place / "bad").mkdir()
    elif content is not None:
        (place / "bad").write_bytes(content)
    before = sorted(place.iterdir())
    said = evener(*words)
    assert said.code == 3, said.err
    assert said.out == ""
    assert "bad" in said.err
    # Plans have no word of their own for what is empty.
    if command not in ("replay", "export", "report"):
        assert reason in said.err
    assert "Traceback" not in said.err
    assert 1 <= len(said.err.splitlines()) <= 4  # a note may come before
    assert sorted(place.iterdir()) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
@pytest.mark.parametrize("command", READERS)
def test_unreadable_files(evener, place, command):
    for name in ("g.graph", "g.plan"):
        (place / name).chmod(0)
    said = evener(*EXAMPLES[command].split())
    assert said.code == 3
    assert "Permission denied" in said.err


@pytest.mark.parametrize("option", ["--weights", "--coords"])
@pytest.mark.parametrize("name", ["", ".", "/", ":", "missing", "cell:"])
def test_bad_names_of_further_files(evener, place, option, name):
    said = evener("info", "g.graph", option, name)
    assert said.code in (2, 3)
    assert said.out == ""


def test_debug_shows_where(evener, place):
    said = evener("info", "missing", "--debug")
    assert said.code == 3
    assert "Traceback" in said.err
    assert said.err.rstrip().endswith("evener: missing: cannot be read: No such file or directory")


def test_a_bug_says_so(evener, place, monkeypatch):
    monkeypatch.setattr("evener.cli.info.describe", lambda reading: 1 / 0)
    said = evener("info", "g.graph")
    assert said.code == 1
    assert "unexpected ZeroDivisionError" in said.err
    assert "--debug" in said.err
    assert "Traceback" not in said.err
    assert "Traceback" in evener("info", "g.graph", "--debug").err


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_help_lists_the_commands(evener, words):
    said = evener(*words)
    assert (said.code, said.err) == (0, "")
    for command in COMMANDS:
        assert f"\n  {command} " in said.out


def test_version(evener):
    assert evener("--version") == (0, f"evener {version('evener')}\n", "")


def test_unknown_command(evener):
    said = evener("plans")
    assert (said.code, said.out) == (2, "")
    assert "no command 'plans'" in said.err


def test_help_imports_nothing_heavy():
    """In one process after another's help, the lightest first; whoever imports it is named."""
    words = [["--help"], ["--version"], *[[command, "--help"] for command in COMMANDS]]
    code = (
        f"import sys; from evener.cli import main\n"
        f"for words in {words}:\n"
        f"    main(words)\n"
        f"    found = [name for name in {HEAVY} if name in sys.modules]\n"
        f"    print(*words, found, sep='|', file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    told = [line.split("|") for line in done.stderr.splitlines()]
    assert [line[:-1] for line in told] == words
    for *said, found in told:
        allowed = {"numpy", "scipy"} if said[0] in COMMANDS else set()
        assert set(ast.literal_eval(found)) <= allowed, said


@pytest.mark.slow
def test_output_nobody_reads_ends_quietly(place):
    for words in (["--help"], ["info", "g.graph"], ["machine", "topo1", "--k", "20000"]):
        with subprocess.Popen(
            [sys.executable, "-m", "evener", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            process.stdout.close()
            said = process.stderr.read().splitlines()
            assert all(line.startswith(b"note: ") for line in said), said
            assert process.wait(TIME) == 0


def on_a_terminal(words, **environment):
    """Run evener with stdout and stderr on a terminal; returns exit code and what it showed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "evener", *words],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "100"} | environment,
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


@contextmanager
def started(words, place, **environment):
    """A process that is gone afterwards, whatever the test says of it."""
    with subprocess.Popen(
        [sys.executable, *words],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


SPIN = """
import sys
from numba import njit
from evener.cli.running import run_beside
from evener.writing import atomic_write

@njit(nogil=True)
def spin(n):
    x = 1
    while n:
        x = (x * 31) % 1009
        if x == 5000:
            return x
    return x

def command():
    spin(0)
    with atomic_write("half.plan") as file:
        file.write(b"half")
        file.flush()
        print("ready", flush=True)
        spin(1)

run_beside(command)
"""


@pytest.mark.slow
def test_interrupted_within_a_kernel(place):
    before = sorted(place.iterdir())
    with started(["-c", SPIN], place) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIME)
    assert process.returncode == 130
    assert err.strip() == "evener: interrupted"
    assert out == ""
    assert sorted(place.iterdir()) == before


@pytest.mark.slow
def test_interrupted_within_a_foreign_call(place):
    before = {file.name for file in place.iterdir()}
    scratch = place / "scratch"
    scratch.mkdir()
    write_graph(place / "big.npz", grid(500, 500).with_(coords=None))
    words = "plan big.npz --k 200 --with metis-recursive --preset strong -o x.plan --report x.html"
    # Its own scratch folder, so that nobody else's files are taken for its.
    with started(["-m", "evener", *words.split()], place, TMPDIR=str(scratch)) as process:
        children = []
        while process.poll() is None and not children:
            children = psutil.Process(process.pid).children(recursive=True)
            time.sleep(0.01)
        shared = [file for child in children for file in child.cmdline() if "evener-" in file]
        assert shared
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIME)
    assert process.returncode == 130, err
    assert err.strip().endswith("evener: interrupted")
    assert "Traceback" not in err
    _, alive = psutil.wait_procs(children, timeout=TIME)
    assert alive == []
    assert not any(Path(folder).exists() for folder in shared)
    assert {file.name for file in place.iterdir()} == {*before, "big.npz", "scratch"}
    assert list(scratch.iterdir()) == []


@pytest.mark.slow
def test_any_encoding_of_the_terminal(place):
    done = run_evener("sizes", "--machine", "m.toml", "--n", 9, cwd=place, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    (place / "é.toml").write_text('[[device]]\nname = "日本"\nspeed = 1\n', encoding="utf-8")
    done = run_evener("sizes", "--machine", "é.toml", "--n", 9, cwd=place, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "\\u65e5\\u672c" in done.stdout
