"""Compiling kernels: `njit` for those that Python calls, `inner` for those that kernels call.

`njit` is Numba's, with Evener's own cache in the same folders (machine_code/cache.py), and without
the wrapper for callers in C.

`inner` kernels get no wrapper for callers in Python either, are not cached by themselves, and are
compiled once, not again for each number passed as a literal, which saves a fifth of the compile
time. Python may call them, but then runs them uncompiled.

counted=False turns off reference counting of arrays in a kernel and in all kernels that it calls,
unless these say counted=True. Counting takes longer than the work itself if kernels pass many
arrays to each other, and a quarter to a half of the compile time. Kernels without counting may
neither make arrays nor return them.

All machine code depends on this file: if it changes, all kernels are compiled again.

Three files use undocumented parts of Numba: this file the option `_nrt`; machine_code/cache.py the
parts that its docstrings name; cli/precompile/compiler.py the comparison of `TargetConfig` and
events of the compiler. For the first two, tests/machine_code/test_cache.py reports what a new
version of Numba has changed.
"""

# mypy: ignore-errors

from __future__ import annotations

import numba
from numba.core.dispatcher import Dispatcher
from numba.extending import register_jitable

from evener.machine_code.cache import KernelCache

INNER = "called_by_kernels"


def njit(**options):
    """Compile a function that Python calls; like numba.njit."""

    counting = _counting(options)
    is_kept = options.pop("cache", False)  # else Numba looks for a folder for each kernel at once

    def compiled(function):
        kernel = numba.njit(no_cfunc_wrapper=True, **counting, **options)(function)
        if is_kept and isinstance(kernel, Dispatcher):  # no dispatcher without a JIT
            kernel._cache = KernelCache(function)  # noqa: SLF001
        return kernel

    return compiled


def inner(**options):
    """Compile a function that only other kernels call; sets its attribute INNER."""

    counting = _counting(options)

    def compiled(function):
        setattr(function, INNER, True)
        return register_jitable(no_cfunc_wrapper=True, **counting, **options)(function)

    return compiled


def _counting(options):
    """Remove `counted` from `options`; return Numba's option for it, or {} if it is not given."""
    counted = options.pop("counted", None)
    return {} if counted is None else {"_nrt": counted}
