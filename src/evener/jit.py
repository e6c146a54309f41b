"""Compiling kernels: `njit` for those that Python calls, `inner` for those that kernels call.

`njit` is Numba's with another cache in the same folders. Machine code has the code of other kernels
inlined, so it is taken from the cache only if the sources of the kernel's file *and* of all kernel
files that this one imports are unchanged; Numba checks the former alone. Each combination of types
has a file of its own, so that processes can save side by side: in Numba's common index one would
overwrite what another saved at the same time. No wrapper for callers in C is made, as there are
none.

`inner` kernels get no wrapper for callers in Python either, are not cached by themselves, and are
compiled once for all numbers given as literals, which saves a fifth of the compile time. Python may
call them, but then runs them uncompiled.

counted=False, for a kernel and all that it calls: no counting of references to arrays, which takes
longer than the work itself where kernels hand many arrays to each other. Such kernels may neither
make arrays nor return them. It also saves a quarter to a half of the compile time. What they call
counts none either, unless it says counted=True.

Two files use what Numba does not document: this one `_KernelCache`, `_KernelFiles` and the option
`_nrt` of `_counting`, of which tests/test_jit.py says what a new version of Numba has changed; and
cli/precompile/compiler.py the comparison of `TargetConfig`, and events of the compiler.
"""

# mypy: ignore-errors

from __future__ import annotations

import functools
import hashlib
import pickle
import re
import sys
import threading
import time
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher
from numba.extending import register_jitable

INNER = "called_by_kernels"
_IMPORTS = re.compile(rb"^from (evener\.[\w.]*_kernels) import", re.MULTILINE)


def njit(**options):
    """Compile a function for Python's calls, as numba.njit."""

    counting = _counting(options)

    def compiled(function):
        kernel = numba.njit(no_cfunc_wrapper=True, **counting, **options)(function)
        if options.get("cache") and isinstance(kernel, Dispatcher):  # no dispatcher without a JIT
            kernel._cache = _KernelCache(function)  # noqa: SLF001
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


class _KernelCache(FunctionCache):
    """Numba's cache of one kernel, in the same folder, with files of another kind."""

    def __init__(self, function):
        super().__init__(function)
        base = self._impl.filename_base
        self._cache_file = _KernelFiles(self.cache_path, base, _stamp(function.__module__))


class _KernelFiles(IndexDataCacheFile):
    """One file per combination of types: the versions of compiler and sources, then the code."""

    def save(self, key, data):
        """Save the code, and overwrite what there was."""
        with self._open_for_write(self._path(key)) as file:
            pickle.dump((self._version, self._source_stamp), file)
            file.write(self._dump(data))

    def load(self, key):
        """Return the code; None where there is none, or other versions made it."""
        try:
            with self._path(key).open("rb") as file:
                fresh = pickle.load(file) == (self._version, self._source_stamp)
                return pickle.load(file) if fresh else None
        except FileNotFoundError:
            return None

    def flush(self):
        """Remove the files of all keys."""
        for path in Path(self._cache_path).glob(self._data_name("*")):
            path.unlink(missing_ok=True)

    def _path(self, key):
        digest = hashlib.sha256(repr(key).encode()).hexdigest()
        return Path(self._cache_path) / self._data_name(digest[:20])

    def _data_name(self, number):
        return f"{self._index_name.removesuffix('.nbi')}.{number}.nbc"


@functools.cache
def _stamp(module):
    """Return a digest of the sources of a module and of all modules of kernels that it imports."""
    found, waiting = {}, [module, __name__]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = _source(name)
            waiting += [told.decode() for told in _IMPORTS.findall(found[name])]
    digest = hashlib.sha256()
    for name in sorted(found):
        digest.update(name.encode() + hashlib.sha256(found[name]).digest())
    return digest.hexdigest()


@functools.cache
def _source(module):
    found = sys.modules[module]
    return found.__loader__.get_data(found.__file__)


# CPU time of this process without that of compiling, loading and saving kernels, which happens once
# on a computer, or once in a process, and is no part of what a tool costs. Numba reports when a
# thread takes and releases the compiler's lock; in between the thread does nothing else.

EVENT = "numba:compiler_lock"


class Preparing:
    """The CPU time that threads spend between `begin` and `end`, which may be nested [s]."""

    def __init__(self) -> None:
        self._ended = 0.0
        self._lock = threading.Lock()
        self._of_thread = threading.local()

    def begin(self) -> None:
        """Start this thread's clock, unless it runs."""
        own = self._of_thread
        own.depth = getattr(own, "depth", 0) + 1
        if own.depth == 1:
            own.began = time.thread_time()

    def end(self) -> None:
        """Stop it at the end that belongs to the first `begin`."""
        own = self._of_thread
        if getattr(own, "depth", 0) == 0:  # begun before anyone listened
            return
        own.depth -= 1
        if own.depth == 0:
            with self._lock:
                self._ended += time.thread_time() - own.began

    @property
    def seconds(self) -> float:
        """Time between begins and ends that are over."""
        return self._ended


def cpu_seconds() -> float:
    """Return the CPU time of this process, without that of compiling and loading kernels [s].

    Only differences count, as of time.process_time.
    """
    prepared = _listening().seconds
    return time.process_time() - prepared


@cache
def _listening() -> Preparing:
    """Return the clock of the compiler; it runs from the first call on."""
    from numba.core import event

    preparing = Preparing()

    class Listener(event.Listener):
        def on_start(self, told: Any) -> None:  # noqa: ARG002
            preparing.begin()

        def on_end(self, told: Any) -> None:  # noqa: ARG002
            preparing.end()

    event.register(EVENT, Listener())
    return preparing
