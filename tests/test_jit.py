"""Where kernels' machine code is kept, and when what is found there counts."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest
from numba.core.caching import FunctionCache
from numba.core.options import DefaultOptions

import evener
from evener import jit
from evener.arrays_kernels import sort_along
from evener.partitioning.refinement import fm_kernels, volumes_kernels


def files(folder, stamp):
    return jit._KernelFiles(str(folder), "a_kernel-7.py311", stamp)


def test_types_are_kept_side_by_side(tmp_path):
    one, other = files(tmp_path, "stamp"), files(tmp_path, "stamp")
    one.save(("int64",), b"whole")
    other.save(("float64",), b"real")
    assert one.load(("float64",)) == b"real"
    assert other.load(("int64",)) == b"whole"
    assert one.load(("int32",)) is None


def test_what_other_sources_made_does_not_count(tmp_path):
    old, new = files(tmp_path, "old"), files(tmp_path, "new")
    old.save(("int64",), b"old")
    assert new.load(("int64",)) is None
    new.save(("int64",), b"new")
    assert new.load(("int64",)) == b"new"
    assert len(list(tmp_path.iterdir())) == 1
    new.flush()
    assert list(tmp_path.iterdir()) == []


def test_the_stamp_tells_of_kernels_inside(monkeypatch):
    """The search for volumes has functions of the FM kernels inlined; both have options of jit."""
    name, source = volumes_kernels.__name__, jit._source
    stamp = jit._stamp.__wrapped__
    before = stamp(name)
    for changed, matters in (
        ("evener.partitioning.refinement.fm_kernels", True),
        ("evener.jit", True),
        ("evener.graphs.graph_kernels", False),
    ):
        monkeypatch.setattr(jit, "_source", lambda m, c=changed: source(m) + b"\n#" * (m == c))
        assert (stamp(name) != before) == matters
        monkeypatch.undo()


@pytest.mark.slow
def test_nothing_but_kernels_calls_inner_kernels():
    """From Python they would run as they stand, a hundred times slower."""
    imported = list(_imported())
    modules = {f"{module}.{name}" for _, module, name in imported} | {row[1] for row in imported}
    inner = {
        module: {n for n, v in vars(importlib.import_module(module)).items() if _is_inner(v)}
        for module in modules
        if module.endswith("_kernels")
    }
    assert sum(map(len, inner.values())) > 50
    for path, module, name in imported:
        assert name not in inner.get(module, ()), path
        text = path.read_text(encoding="utf-8")
        for called in inner.get(f"{module}.{name}", ()):
            if called in text:  # sooner said than sought
                assert not re.search(rf"\b(kernels|{name})\.{called}\b", text), (path, called)


IMPORT = re.compile(r"^ *from (evener[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


def _imported():
    """Every (file, module, name) of ours that files other than kernels import."""
    for path in Path(evener.__path__[0]).rglob("*.py"):
        if not path.stem.endswith("_kernels"):
            for module, names in IMPORT.findall(path.read_text(encoding="utf-8")):
                for name in re.findall(r"(\w+)(?: as \w+)?", re.sub("#.*", "", names)):
                    yield path, module, name


def _is_inner(value):
    return hasattr(value, jit.INNER)


def test_a_kernel_without_a_cache_or_a_wrapper_runs():
    @jit.njit()
    def doubled(values):
        return 2 * values

    assert (doubled(np.ones(2)) == 2).all()
    keys = np.array([3, 1, 2])
    sort_along(keys, np.empty(0, np.int64))  # as it stands: Python called it
    assert keys.tolist() == [1, 2, 3]


PRIVATE = {
    "FunctionCache no longer keeps a kernel's file name in _impl.filename_base": (
        lambda kernel: isinstance(kernel._cache._impl.filename_base, str)
    ),
    "FunctionCache no longer reads and writes by _cache_file": (
        lambda kernel: (
            isinstance(kernel._cache._cache_file, jit._KernelFiles)
            and all("_cache_file" in names_of(FunctionCache, name) for name in ("_load", "_save"))
        )
    ),
    "IndexDataCacheFile has lost one of the attributes that _KernelFiles reads": (
        lambda kernel: all(
            hasattr(kernel._cache._cache_file, name)
            for name in ("_version", "_source_stamp", "_cache_path", "_index_name", "_dump")
        )
    ),
    "IndexDataCacheFile no longer opens files for writing by _open_for_write": (
        lambda kernel: hasattr(kernel._cache._cache_file, "_open_for_write")
    ),
    "a dispatcher no longer looks for compiled code in its attribute _cache": (
        lambda kernel: (
            sum(kernel.stats.cache_hits.values()) + sum(kernel.stats.cache_misses.values()) > 0
        )
    ),
    "compiled code is not saved where _KernelFiles looks for it": (
        lambda kernel: list(Path(kernel.stats.cache_path).glob("*.shuffle-*.nbc"))
    ),
    "the option _nrt, which turns reference counting off, is gone": (
        lambda _: hasattr(DefaultOptions, "_nrt")
    ),
}


def names_of(cls, prefix):
    """The names that methods of a class use, whose own names begin like this."""
    methods = [pair for one in cls.__mro__ for pair in vars(one).items() if callable(pair[1])]
    own = [method.__code__ for name, method in methods if name.startswith(prefix)]
    return {used for code in own for used in code.co_names}


@pytest.mark.parametrize("broken", PRIVATE)
def test_what_numba_does_not_document_is_as_jit_needs_it(broken):
    fm_kernels.shuffle(np.arange(5), np.uint64(1))
    assert PRIVATE[broken](fm_kernels.shuffle), f"{broken}: adapt evener.jit"


@jit.njit(counted=True)
def total_of_a_new_array(n):
    return np.ones(n).sum()


@jit.njit(counted=False)
def total_without_counting(values):
    return values[0] + total_of_a_new_array(3)


def test_a_kernel_that_counts_nothing_calls_one_that_does():
    assert total_without_counting(np.array([2.0])) == 5.0
