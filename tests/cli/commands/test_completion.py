"""Completion scripts name every command and option; bash completes with its own."""

import json
import shutil
import subprocess

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
        (["help", "rep"], {"replay", "report", "reproduce"}),
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
    subprocess.run([shell, "--no-execute", tmp_path / "script"], check=True)


def test_for_people_and_machines(evener, found):
    assert evener("completion", "fish").out.rstrip("\n") == SCRIPTS["fish"](found)
    told = json.loads(evener("completion", "zsh", "--json").out)
    assert told["script"] == SCRIPTS["zsh"](found)
    assert "evener completion zsh" in told["install"]
    assert "did you mean fish?" in evener("completion", "fihs").err
