"""How kernels are compiled: `njit` for those that Python calls, `inner` for those within others.

`njit` is Numba's, and so are the places of its cache. But machine code has other kernels' code
inlined: what is found there counts only if the sources of the kernel's own file *and* of all
files of kernels that this one imports are as they were; Numba by itself asks for the former
only. Each combination of types has a file of its own, so that processes may save side by side;
Numba's index of them would lose what another process saves at once. And no wrapper is made for
callers in C, of which there are none.

`inner` kernels get no wrapper for callers in Python either, are not cached by themselves, and are
compiled once for all numbers given as literals; all of which makes a fifth of the time that
compiling takes. Called from Python they run as they stand, without compiling.

counted=False, of a kernel and of all that it calls: references to arrays are not counted, which
takes longer than the work itself where kernels hand many arrays to each other. They may then make
no arrays, nor keep any.
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
    """Take `counted` out of the options; return what Numba calls it."""
    return {} if options.pop("counted", True) else {"_nrt": False}


class _KernelCache(FunctionCache):
    """Numba's, in its place, with another kind of files."""

    def __init__(self, function):
        super().__init__(function)
        base = self._impl.filename_base
        self._cache_file = _Files(self.cache_path, base, _stamp(function.__module__))


class _Files(IndexDataCacheFile):
    """One file for each key: the compiler's version with the sources' stamp, then the data."""

    def save(self, key, data):
        """Save the data, whatever there was."""
        with self._open_for_write(self._path(key)) as file:
            pickle.dump((self._version, self._source_stamp), file)
            file.write(self._dump(data))

    def load(self, key):
        """Return the data; None where there are none, or made by another version or sources."""
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
    """Digest of the sources of a module and of the modules of kernels it imports, to any depth."""
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


# CPU time of this process, without that of making kernels ready: compiling, loading, keeping
# them.
#
# That happens once on a computer, or once in a process, and is no part of what a tool costs. The
# compiler tells when a thread takes its lock, and when it lets it go; in between it does nothing
# else. Beside the kernels and `evener.cli.precompile.compiler` the one file that knows the
# compiler.

EVENT = "numba:compiler_lock"


class Preparing:
    """CPU time that threads spend between begins and ends, however deep [s]."""

    def __init__(self) -> None:
        self._ended = 0.0
        self._lock = threading.Lock()
        self._of_thread = threading.local()

    def begin(self) -> None:
        """Take note that this thread begins, perhaps once more."""
        own = self._of_thread
        own.depth = getattr(own, "depth", 0) + 1
        if own.depth == 1:
            own.began = time.thread_time()

    def end(self) -> None:
        """Take note that it ends what it began last."""
        own = self._of_thread
        if getattr(own, "depth", 0) == 0:  # begun before anyone listened
            return
        own.depth -= 1
        if own.depth == 0:
            with self._lock:
                self._ended += time.thread_time() - own.began

    @property
    def seconds(self) -> float:
        """What has ended."""
        return self._ended


def cpu_seconds() -> float:
    """Return the CPU time that this process has spent, but for that on making kernels ready [s].

    Only differences count, as of time.process_time.
    """
    prepared = _listening().seconds
    return time.process_time() - prepared


@cache
def _listening() -> Preparing:
    """Return what counts, listening to the compiler from the first call on."""
    from numba.core import event

    preparing = Preparing()

    class Listener(event.Listener):
        def on_start(self, told: Any) -> None:  # noqa: ARG002
            preparing.begin()

        def on_end(self, told: Any) -> None:  # noqa: ARG002
            preparing.end()

    event.register(EVENT, Listener())
    return preparing
