"""`evener warm`: compiles ahead, says where kernels are kept."""

import json
from pathlib import Path

import numba
import numpy as np
import pytest

from evener.cli.commands.warm import _whose
from evener.cli.precompile import precompile as module
from evener.graphs.graph import Graph
from evener.machine_code.packs import Pack
from tests.assertions import printed_by


def test_all_is_said(evener, monkeypatch):
    monkeypatch.setattr(module, "REHEARSALS", {})
    said = evener("warm", "--processes", 1)
    assert said.code == 0
    assert "kernels were compiled already." in said.out
    assert "Stored in " in said.out


def test_json(evener, monkeypatch):
    monkeypatch.setattr(module, "REHEARSALS", {})
    said = evener("warm", "--processes", 1, "--json")
    found = json.loads(said.out)
    assert found["compiled"] == []
    assert found["processes"] == 1
    assert found["place"] in ("NUMBA_CACHE_DIR", "the package", "the user")


def test_what_was_compiled_is_counted_once(evener, monkeypatch):
    def compiled(*_):
        return module._Done(["a.kernel", "a.kernel", "", "b.kernel"], {})

    monkeypatch.setattr(module, "REHEARSALS", {})
    monkeypatch.setattr(module, "_in_processes", compiled)
    assert "2 kernels compiled in " in evener("warm", "--processes", 2).out


def test_the_first_kernels_alone(evener, monkeypatch):
    monkeypatch.setattr(module, "REHEARSALS", {"not this": None})
    monkeypatch.setattr(module, "FIRST", {})
    said = evener("warm", "--first", "--processes", 1)
    assert said.code == 0
    assert "The kernels of a first plan were compiled already." in said.out


def piece():
    """Call one kernel."""
    Graph.from_edges(3, np.array([0, 1]), np.array([1, 2])).components()


def test_a_pack_of_what_was_used(evener, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "REHEARSALS", {"a piece": piece})
    said = evener("warm", "--processes", 1, "--pack", tmp_path, "--json")
    told = json.loads(said.out)
    assert Path(told["pack"]).parent == tmp_path
    assert Path(told["pack"]).stat().st_size > 1000
    assert told["used"] > 0


def test_a_pack_with_changed_settings_is_refused(evener, monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    said = evener("warm", "--pack", tmp_path)
    assert said.code == 2
    assert "NUMBA_BOUNDSCHECK=1 is set" in said.err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_pack_of_a_level_is_for_its_processors(tmp_path):
    """In processes that compile for it, which this one does not."""
    code = (
        "import sys; from evener.cli import main; from evener.cli.precompile import precompile;"
        "precompile.REHEARSALS = {'policies': None}; sys.exit(main(sys.argv[1:]))"
    )
    words = ["warm", "--pack", str(tmp_path), "--level", "x86-64-v2", "--processes", "1"]
    printed = printed_by(code, *words)
    (pack,) = tmp_path.glob("*-x86-64-v2.pack")
    assert (Pack(pack).made.processor, Pack(pack).made.features) == ("x86-64-v2", "")
    assert f"Written: {pack}" in printed


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--level", "x86-64-v2"], 2, "--level works with --pack"),
        (["--pack", "no/such"], 3, "no/such: is not a folder"),
        (["--pack", ".", "--level", "x86-64-v9"], 2, "x86-64-v2"),
    ],
)
def test_packs_that_cannot_be_made(evener, words, code, said):
    found = evener("warm", *words)
    assert found.code == code
    assert said in found.err


def test_processes_are_one_or_more(evener):
    said = evener("warm", "--processes", 0)
    assert said.code == 2
    assert "--processes must be one or more, not 0" in said.err


@pytest.mark.parametrize("place", ["NUMBA_CACHE_DIR", "the package", "the user", "a pack"])
def test_every_place_has_words(place):
    assert _whose(place)


@pytest.mark.slow
def test_where_the_package_cannot_be_written_the_users_cache_is_named(tmp_path):
    """NUMBA_CACHE_DIR that cannot be made counts as none; the package's folder comes next."""
    file = tmp_path / "file"
    file.touch()
    code = "from evener.cli.precompile.compiler import cache_place; print(cache_place()[1])"
    place = printed_by(code, NUMBA_CACHE_DIR=str(file / "below")).strip()
    assert place in ("the package", "the user")


@pytest.mark.slow
def test_what_was_compiled_once_is_not_compiled_again(evener, monkeypatch):
    """With one piece; tests/cli/precompile rehearses all of them."""
    monkeypatch.setattr(module, "REHEARSALS", {"building": None})
    assert evener("warm", "--processes", 2).code == 0
    again = json.loads(evener("warm", "--processes", 2, "--json").out)
    assert again["compiled"] == []
    assert again["kernels"] > 100
