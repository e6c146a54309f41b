"""Compiling kernels: `njit` for those that Python calls, `inner` for those that kernels call.

`njit` is Numba's with another cache in the same folders (machine_code/cache.py). No wrapper for
callers in C is made, as there are none.

`inner` kernels get no wrapper for callers in Python either, are not cached by themselves, and are
compiled once for all numbers given as literals, which saves a fifth of the compile time. Python may
call them, but then runs them uncompiled.

counted=False, for a kernel and all that it calls: no counting of references to arrays, which takes
longer than the work itself where kernels hand many arrays to each other. Such kernels may neither
make arrays nor return them. It also saves a quarter to a half of the compile time. What they call
counts none either, unless it says counted=True.

This file is part of what machine code is made from: change it, and all of it is made anew.

Three files use what Numba does not document: this one the option `_nrt`, machine_code/cache.py what
its docstrings name, of both of which tests/machine_code/test_cache.py says what a new version of
Numba has changed; and cli/precompile/compiler.py the comparison of `TargetConfig`, and events of
the compiler.
"""

# mypy: ignore-errors

from __future__ import annotations

import numba
from numba.core.dispatcher import Dispatcher
from numba.extending import register_jitable

from evener.machine_code.cache import KernelCache

INNER = "called_by_kernels"


def njit(**options):
    """Compile a function for Python's calls, as numba.njit."""

    counting = _counting(options)
    is_kept = options.pop("cache", False)  # else Numba looks for a folder for each kernel at once

    def compiled(function):
        kernel = numba.njit(no_cfunc_wrapper=True, **counting, **options)(function)
        if is_kept and isinstance(kernel, Dispatcher):  # no dispatcher without a JIT
            kernel._cache = KernelCache(function)  # noqa: SLF001
        return kernel

    return compiled


def inner(**options):
    """Compile a function for the calls of other kernels alone; INNER is among its attributes."""

    counting = _counting(options)

    def compiled(function):
        setattr(function, INNER, True)
        return register_jitable(no_cfunc_wrapper=True, **counting, **options)(function)

    return compiled


def _counting(options):
    """Take `counted` out of the options; return Numba's private option for it, unless inherited."""
    counted = options.pop("counted", None)
    return {} if counted is None else {"_nrt": counted}
