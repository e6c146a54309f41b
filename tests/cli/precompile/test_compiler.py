"""The compiler from outside: what it compiles, which kernels there are, where they are kept."""

import gc
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from llvmlite.binding import ffi
from numba import njit, types
from numba.core.compiler import DEFAULT_FLAGS, Flags
from numba.core.ir import Assign, Expr, Inst, Loc, Scope, Var

import evener
from evener.cli.precompile.compiler import (
    Compiled,
    cache_place,
    hastened,
    kernels,
    name_of,
    watch,
    watch_if_imported,
)

NOWHERE = Scope(None, Loc("", 1))
VAR, OTHER = Var(NOWHERE, "a", Loc("", 1)), Var(NOWHERE, "b", Loc("", 1))


def test_kernels_have_names_and_are_listed_where_they_are_defined():
    found = kernels()
    assert found["graphs.graph_kernels.components"].py_func.__name__ == "components"
    assert "partitioning.refinement.fm_kernels.search" in found
    assert "partitioning.levels.heap_kernels.push" not in found  # exists only inside others
    assert not [
        name for name in found if name.startswith("partitioning.repair.flowing_kernels.push")
    ]
    assert all(name == name_of(kernel) for name, kernel in found.items())


def test_every_kernel_is_cached():
    assert not [name for name, kernel in kernels().items() if not kernel.stats.cache_path]


def test_a_kernel_is_counted_when_it_is_compiled_and_not_when_it_is_called():
    @njit
    def doubled(values):
        return 2 * values

    doubled.py_func.__module__ = "evener.some_kernels"
    compiled = Compiled()
    watch(compiled)
    doubled(np.ones(2))
    names, seconds = list(compiled.names), compiled.seconds
    assert names.count("some_kernels.doubled") == 1
    assert seconds > 0
    doubled(np.ones(3))
    assert (compiled.names, compiled.seconds) == (names, seconds)
    assert not compiled.is_busy


def test_kernels_within_kernels_and_other_threads():
    compiled = Compiled()
    compiled.begin("outer")
    compiled.begin("inner")
    compiled.end()
    assert compiled.is_busy
    other = threading.Thread(target=lambda: (compiled.begin("beside"), compiled.end()))
    other.start()
    other.join()
    assert compiled.is_busy
    time.sleep(0.01)
    assert compiled.seconds >= 0.01
    compiled.end()
    assert not compiled.is_busy
    assert compiled.names == ["outer", "inner", "beside"]


def test_an_end_whose_beginning_was_missed():
    compiled = Compiled()
    compiled.end()
    assert (compiled.seconds, compiled.is_busy) == (0.0, False)


def test_watching_waits_for_the_compiler(monkeypatch):
    monkeypatch.setattr("sys.modules", {})
    assert not watch_if_imported(Compiled())
    monkeypatch.undo()
    assert watch_if_imported(Compiled())


def test_where_machine_code_is_kept():
    folder, place = cache_place()
    kernel = Path(kernels()["graphs.graph_kernels.components"].stats.cache_path)
    assert kernel.is_relative_to(folder)
    assert place in ("NUMBA_CACHE_DIR", "the package", "the user")
    if place == "the package":
        assert folder == Path(evener.__path__[0])


def test_hastened_compilers_tell_flags_apart_as_before():
    """A version of Numba that hashes the flags' values would fail here."""
    with hastened():
        assert Flags() == Flags()
        assert hash(Flags()) == hash(DEFAULT_FLAGS)
        assert Flags() != DEFAULT_FLAGS
        unset = Flags()
        unset.nrt = False  # its default
        assert unset == Flags()
        assert {Flags(): 1, DEFAULT_FLAGS: 2}[DEFAULT_FLAGS.copy()] == 2
    assert hash(Flags()) == hash(DEFAULT_FLAGS)


@pytest.mark.parametrize(
    "held",
    [None, 3, VAR, [VAR, OTHER], (1, "a", [OTHER, [VAR]]), {"a": VAR, "b": {"c": (OTHER,)}},
     Assign(VAR, OTHER, Loc("", 1)), [Expr.getattr(VAR, "size", Loc("", 1))], {}, ()],
)  # fmt: skip
def test_hastened_compilers_find_the_variables_of_a_statement(held):
    statement = Assign(VAR, OTHER, Loc("", 1))
    expected = statement._rec_list_vars(held)
    with hastened():
        for _ in range(2):  # the second time what types hold is known
            assert list(map(id, statement._rec_list_vars(held))) == list(map(id, expected))


def test_hastened_compilers_know_kinds_of_types():
    """A version of Numba that registers classes with its abstract types would fail here."""
    known = [one for one in vars(types).values() if isinstance(one, types.Type)]
    classes = [one for one in vars(types).values() if isinstance(one, type(types.Type))]
    expected = [[isinstance(one, cls) for cls in classes] for one in [*known, 3, None, types]]
    with hastened():
        found = [[isinstance(one, cls) for cls in classes] for one in [*known, 3, None, types]]
    assert found == expected
    assert sum(map(sum, found)) > len(known)


def changed_by_hastening():
    methods = Flags.__hash__, Flags.__eq__, Inst._rec_list_vars, type(types.Type).__instancecheck__
    return gc.get_threshold(), tuple(ffi.lib._lock._cblist), *methods


def test_hastening_ends():
    before = changed_by_hastening()
    with hastened():
        for there, here in zip(before, changed_by_hastening(), strict=True):
            assert there != here
    assert changed_by_hastening() == before
