"""Kernels that Python calls, those that only kernels call, and counting of references."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest
from numba.core.options import DefaultOptions

import evener
from evener import jit
from evener.arrays_kernels import sort_along


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


def test_numba_still_has_the_option_that_turns_reference_counting_off():
    assert hasattr(DefaultOptions, "_nrt"), "the option _nrt is gone: adapt evener.jit"


@jit.njit(counted=True)
def total_of_a_new_array(n):
    return np.ones(n).sum()


@jit.njit(counted=False)
def total_without_counting(values):
    return values[0] + total_of_a_new_array(3)


def test_a_kernel_that_counts_nothing_calls_one_that_does():
    assert total_without_counting(np.array([2.0])) == 5.0
