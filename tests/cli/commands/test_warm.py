"""`evener warm`: compiles ahead, says where kernels are kept."""

import json
import os
import subprocess
import sys

import pytest

from evener.cli.commands.warm import _whose
from evener.cli.precompile import precompile as module


def test_all_is_said(evener, monkeypatch):
    monkeypatch.setattr(module, "REHEARSALS", {})
    said = evener("warm", "--processes", 1)
    assert said.code == 0
    assert "kernels were compiled already." in said.out
    assert "Kept in " in said.out


def test_json(evener, monkeypatch):
    monkeypatch.setattr(module, "REHEARSALS", {})
    said = evener("warm", "--processes", 1, "--json")
    found = json.loads(said.out)
    assert found["compiled"] == []
    assert found["processes"] == 1
    assert found["place"] in ("NUMBA_CACHE_DIR", "the package", "the user")


def test_what_was_compiled_is_counted_once(evener, monkeypatch):
    def compiled(*_):
        return ["a.kernel", "a.kernel", "", "b.kernel"]

    monkeypatch.setattr(module, "REHEARSALS", {})
    monkeypatch.setattr(module, "_in_processes", compiled)
    assert "2 kernels compiled in " in evener("warm", "--processes", 2).out


def test_processes_are_one_or_more(evener):
    said = evener("warm", "--processes", 0)
    assert said.code == 2
    assert "--processes must be one or more, not 0" in said.err


@pytest.mark.parametrize("place", ["NUMBA_CACHE_DIR", "the package", "the user"])
def test_every_place_has_words(place):
    assert _whose(place)


@pytest.mark.slow
def test_where_the_package_cannot_be_written_the_users_cache_is_named(tmp_path):
    """NUMBA_CACHE_DIR that cannot be made counts as none; the package's folder comes next."""
    file = tmp_path / "file"
    file.touch()
    code = "from evener.cli.precompile.compiler import cache_place; print(cache_place()[1])"

    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env=os.environ | {"NUMBA_CACHE_DIR": str(file / "below")},
    )  # fmt: skip
    assert ended.stdout.strip() in ("the package", "the user")


@pytest.mark.slow
def test_what_was_compiled_once_is_not_compiled_again(evener, monkeypatch):
    """With one piece; tests/cli/precompile rehearses all of them."""
    monkeypatch.setattr(module, "REHEARSALS", {"building": None})
    assert evener("warm", "--processes", 2).code == 0
    again = json.loads(evener("warm", "--processes", 2, "--json").out)
    assert again["compiled"] == []
    assert again["kernels"] > 100
