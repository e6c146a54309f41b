"""Completion scripts name every command and option; bash completes with its own."""

import json
import os
import pty
import select
import shutil
import subprocess
import time

import pytest

from evener.cli import COMMANDS
from evener.cli.commands.completion import SCRIPTS, offers
from evener.cli.parsing import parser_of


@pytest.fixture(scope="module")
def found():
    return offers()


@pytest.mark.parametrize("shell", SCRIPTS)
def test_every_command_and_option_is_there(found, shell):
    script = SCRIPTS[shell](found)
    for name in COMMANDS:
        assert name in script
        for action in parser_of(name)._actions:
            for option in action.option_strings:
                word = option.lstrip("-") if shell == "fish" else option
                assert word in script, (name, option)


def test_values_are_the_choices_and_the_names_there_are(found):
    assert found["plan"].values["--preset"] == ["fast", "default", "strong"]
    assert "metis" in found["compare"].values["--with"]
    assert "grid" in found["machine"].values[""]
    assert "--shape" in found["machine"].options
    assert "delaunay" in found["generate"].values[""]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["pl"], {"plan"}),
        (["plan", "g.graph", "--pre"], {"--preset"}),
        (["plan", "--preset", ""], {"fast", "default", "strong"}),
        (["machine", "gr"], {"grid"}),
        (["export", "x.plan", "--to", "v"], {"vtu"}),
        (["help", "rep"], {"replay", "report"}),
        (["compare", "g", "--with", "metis,sc"], {"metis,scotch"}),
        (["plan", "wing"], set()),  # a file
    ],
)
def test_bash_completes(found, tmp_path, words, offered):
    (tmp_path / "script").write_text(SCRIPTS["bash"](found))
    ask = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _evener;'
    done = subprocess.run(
        ["bash", "-c", ask + ' printf "%s\\n" "${COMPREPLY[@]}"', "-", tmp_path / "script",
         "evener", *words], capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert set(done.stdout.split()) == offered
    assert done.stderr == ""


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_take_their_scripts(found, tmp_path, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not here")
    (tmp_path / "script").write_text(SCRIPTS[shell](found))
    subprocess.run([shell, "-n", tmp_path / "script"], check=True)


ASKED = [
    ("plan --prese", {"--preset"}),
    ("plan --preset f", {"fast"}),
    ("machine gri", {"grid"}),
    ("export x.plan --to vt", {"vtu"}),
    ("compare g --with metis,sco", {"metis,scotch"}),
    ("refi", {"refine"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("line", "offered"), ASKED)
def test_fish_completes(found, tmp_path, line, offered):
    if shutil.which("fish") is None:
        pytest.skip("fish is not here")
    (tmp_path / "script").write_text(SCRIPTS["fish"](found))
    ask = f'source {tmp_path}/script; complete -C "evener {line}"'
    done = subprocess.run(["fish", "-c", ask], capture_output=True, text=True, check=True,
                          env=os.environ | {"HOME": str(tmp_path)})  # fmt: skip
    assert {said.split("\t")[0] for said in done.stdout.splitlines()} == offered
    assert done.stderr == ""


class Zsh:
    """An interactive zsh on a terminal of its own, as completion needs one."""

    def __init__(self, folder):
        self.file, terminal = pty.openpty()
        env = os.environ | {"TERM": "dumb", "HOME": str(folder)}
        self.shell = subprocess.Popen(["zsh", "-f", "-i"], stdin=terminal, stdout=terminal,
                                      stderr=terminal, cwd=folder, env=env,
                                      start_new_session=True)  # fmt: skip
        os.close(terminal)
        self.send("autoload -Uz compinit; compinit -u -D; source ./script; stty cols 200\n")
        self.send("PROMPT='ready> '; setopt no_beep; bindkey '^I' complete-word\n")
        self.until("ready> ")

    def send(self, text):
        os.write(self.file, text.encode())

    def until(self, text):
        """What it writes, up to a text."""
        said, end = "", time.monotonic() + 20
        while text not in said:
            left = end - time.monotonic()
            assert left > 0, said
            assert select.select([self.file], [], [], left)[0], said
            said += os.read(self.file, 65536).decode(errors="replace")
        return said

    def close(self):
        self.shell.kill()
        self.shell.wait()
        os.close(self.file)


@pytest.fixture(scope="module")
def zsh(found, tmp_path_factory):
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not here")
    folder = tmp_path_factory.mktemp("zsh")
    (folder / "script").write_text(SCRIPTS["zsh"](found))
    shell = Zsh(folder)
    yield shell
    shell.close()


@pytest.mark.slow
@pytest.mark.parametrize(("line", "offered"), ASKED)
def test_zsh_completes(zsh, line, offered):
    (word,) = offered
    zsh.send(f"evener {line}\t")
    kept = line.rpartition(" ")[0]
    assert f"evener {kept} {word} ".replace("  ", " ") in zsh.until(f"{word} ")
    zsh.send("\x15")  # deletes the line
    zsh.send("\n")
    zsh.until("ready> ")


def test_for_people_and_machines(evener, found):
    assert evener("completion", "fish").out.rstrip("\n") == SCRIPTS["fish"](found)
    told = json.loads(evener("completion", "zsh", "--json").out)
    assert told["script"] == SCRIPTS["zsh"](found)
    assert "evener completion zsh" in told["install"]
    assert "did you mean fish?" in evener("completion", "fihs").err
