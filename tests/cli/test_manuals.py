"""Manual pages say what --help says, and are clean roff."""

import argparse
import re
import shutil
import subprocess

import pytest

from evener.cli import COMMANDS
from evener.cli.manuals import _text, manuals, write_manuals
from evener.cli.parsing import parser_of


@pytest.fixture(scope="module")
def pages():
    return manuals()


def plain(roff):
    return roff.replace(r"\-", "-").replace(r"\fB", "").replace(r"\fI", "").replace(r"\fR", "")


def test_a_page_for_every_command_and_one_for_all(pages):
    assert set(pages) == {"evener.1", *(f"evener-{name}.1" for name in COMMANDS)}
    for name, command in COMMANDS.items():
        assert f"evener-{name}(1)" in plain(pages["evener.1"])
        assert command.purpose in plain(pages[f"evener-{name}.1"])


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_with_its_help(pages, name):
    text = plain(pages[f"evener-{name}.1"])
    waiting = [parser_of(name)]
    while waiting:
        for action in waiting.pop()._actions:
            if isinstance(action, argparse._SubParsersAction):
                waiting += action.choices.values()
            elif action.help != argparse.SUPPRESS:
                for option in action.option_strings:
                    assert re.search(rf"(^|, ){option}\b", text, re.MULTILINE), option
                first = " ".join((action.help or "").split()).partition("%")[0]
                assert first.replace("\\", r"\e") in text or not first.isascii()


def test_roff_is_escaped():
    assert _text(".TH is no request") == r"\&.TH is no request"
    assert _text("a\\b --c") == r"a\eb \-\-c"
    assert _text("µs") == r"\[u00B5]s"


def test_equal_dates_equal_bytes(pages, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    written = write_manuals(tmp_path / "man1")
    assert len(written) == len(pages)
    assert '"1970-01-02"' in (tmp_path / "man1" / "evener.1").read_text()
    assert all(path.read_text() == manuals()[path.name] for path in written)


@pytest.mark.slow
@pytest.mark.parametrize(
    "check", [["mandoc", "-T", "lint", "-W", "warning"], ["man", "--warnings", "-l", "-Z"]],
    ids=lambda words: words[0],
)  # fmt: skip
def test_readers_find_nothing_to_mend(pages, tmp_path, check):
    if shutil.which(check[0]) is None:
        pytest.skip(f"{check[0]} is not here")
    for path in write_manuals(tmp_path):
        done = subprocess.run([*check, path], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), path.name
        assert check[0] == "man" or done.stdout == ""
