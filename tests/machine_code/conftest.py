"""Small kernels in a folder of their own, imported anew as another process would import them."""

import importlib
import importlib.util
import sys

import numba
import pytest

from evener.graphs.generating.grid import grid
from evener.io import write_graph
from evener.machine_code import cache, packs

SOURCE = """
from evener.jit import njit

@njit(cache=True)
def sum_of(values):
    return {total}

@njit(cache=True)
def twice(values):
    return {twice}
"""
CALLER = """
from evener.jit import njit
from toy_kernels import sum_of

@njit(cache=True)
def thrice(values):
    return 3 * sum_of(values)
"""


class Toys:
    """The module toy_kernels, and a folder in which its machine code is kept."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.kept = folder, folder / "kept"
        self._monkeypatch = monkeypatch
        self.keep_in(self.kept)
        monkeypatch.syspath_prepend(folder)
        self.write()

    def write(self, total="values.sum()", twice="2 * sum_of(values)"):
        text = SOURCE.format(total=total, twice=twice)
        (self.folder / "toy_kernels.py").write_text(text)
        (self.folder / "more_kernels.py").write_text(CALLER)

    def keep_in(self, folder):
        self._monkeypatch.setattr(numba.config, "CACHE_DIR", str(folder))

    def imported(self, name="toy_kernels"):
        """The module as a new process has it: nothing is compiled or loaded."""
        for one in ("toy_kernels", "more_kernels"):
            self._monkeypatch.delitem(sys.modules, one, raising=False)
        importlib.invalidate_caches()
        for known in (cache._source, cache.stamp, packs._search):
            known.cache_clear()
        packs._searches.clear()
        cache.USED.clear()
        return importlib.import_module(name)

    def files(self):
        return sorted(self.kept.rglob("*.nbc"))


def n_compiled(kernel):
    """How many combinations of types were compiled; `stats` needs a folder that can be written."""
    return sum(kernel._cache_misses.values())


@pytest.fixture
def toys(tmp_path, monkeypatch):
    if numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # of sources changed within a second
    monkeypatch.setattr(packs, "users_folder", lambda: None)
    monkeypatch.setattr(packs, "FOLDER", tmp_path / "packs")
    monkeypatch.delenv(packs.SWITCH, raising=False)
    used = dict(cache.USED)
    yield Toys(tmp_path, monkeypatch)
    cache.USED.clear()
    cache.USED.update(used)
    packs._search.cache_clear()
    packs._searches.clear()


@pytest.fixture
def grid_plan(tmp_path):
    """The words of a command that plans a grid, and writes grid.plan."""
    write_graph(tmp_path / "grid.graph", grid([20, 20]))
    return ["plan", str(tmp_path / "grid.graph"), "--k", "4", "-o", str(tmp_path / "grid.plan")]
