"""List all kernels, observe which are being compiled, and find where machine code is stored.

Within the command line, only this file calls Numba.
"""

from __future__ import annotations

import gc
import importlib
import pkgutil
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import evener

# Endings of modules with kernels; those of the second kind are compiled for GPUs, not here.
SUFFIX, ELSEWHERE = "_kernels", "cuda_kernels"

# New objects after which the youngest are searched for garbage. The compiler makes objects by the
# million and almost no cycles. At this number a process that compiles all kernels takes 0.9 GB.
OBJECTS_PER_COLLECTION = 20_000


class Compiled:
    """Compilations since `watch`: kernels' names, in the order in which they began; wall time."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._seconds = 0.0
        self._began: dict[int, float] = {}  # by thread, of the outermost kernel
        self._depth: dict[int, int] = {}

    @property
    def seconds(self) -> float:
        """Time spent compiling until now [s], including a compilation in progress."""
        now = time.monotonic()
        return self._seconds + sum(now - began for began in list(self._began.values()))

    @property
    def is_busy(self) -> bool:
        """Whether a kernel is being compiled now."""
        return bool(self._began)

    def begin(self, name: str) -> None:
        """Record that a compilation begins, perhaps within the compilation of another kernel."""
        thread = threading.get_ident()
        depth = self._depth.get(thread, 0)
        self._depth[thread] = depth + 1
        if depth == 0:
            self._began[thread] = time.monotonic()
        if name:
            self.names.append(name)

    def end(self) -> None:
        """Record that a compilation ends; one that began before `watch` was called is ignored."""
        thread = threading.get_ident()
        depth = self._depth.get(thread, 0)
        if depth == 1:
            self._seconds += time.monotonic() - self._began.pop(thread)
        if depth > 0:
            self._depth[thread] = depth - 1


def watch(compiled: Compiled) -> None:
    """Record in `compiled` every kernel compiled from now on, but none loaded from the cache."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, told: Any) -> None:
            compiled.begin(name_of(told.data["dispatcher"]))

        def on_end(self, told: Any) -> None:  # noqa: ARG002
            compiled.end()

    event.register("numba:compile", Listener())


def watch_if_imported(compiled: Compiled) -> bool:
    """Watch if the compiler has been imported, without importing it; return whether it has."""
    if not hasattr(sys.modules.get("numba.core.event"), "register"):
        return False
    watch(compiled)
    return True


@contextmanager
def hastened() -> Iterator[None]:
    """Context manager: compile with less CPU time, for a process that does little else.

    The machine code is the same: garbage is collected less often, LLVM calls send no events to
    listeners, and some functions that Numba calls most are replaced (`_sooner`).
    """
    from llvmlite.binding import ffi

    thresholds = gc.get_threshold()
    listeners = ffi.lib._lock._cblist  # noqa: SLF001
    kept = listeners.copy()
    replaced = [(owner, name, getattr(owner, name), new) for owner, name, new in _sooner()]
    listeners.clear()
    gc.set_threshold(OBJECTS_PER_COLLECTION, *thresholds[1:])
    for owner, name, _, new in replaced:
        setattr(owner, name, new)
    try:
        yield
    finally:
        for owner, name, old, _ in replaced:
            setattr(owner, name, old)
        gc.set_threshold(*thresholds)
        listeners.extend(kept)


def _sooner() -> Iterator[tuple[type, str, Any]]:
    """Yield classes of Numba, names of methods, and faster methods with the same results.

    Numba hashes and compares sets of flags some 500,000 times, and each time builds dictionaries of
    all flags, although few are set; its hashes only depend on the flags' names. Numba searches all
    parts of a statement for variables, although most parts contain none. Numba's abstract types
    allow registered subclasses, but there are none, so the faster check of `type` suffices.
    """
    from numba.core.ir import Inst, Var
    from numba.core.targetconfig import TargetConfig
    from numba.core.types.abstract import Type

    hash_of, equal = TargetConfig.__hash__, TargetConfig.__eq__
    hashes: dict[type, int] = {}
    holds: dict[type, bool] = {}  # whether variables may be in values of a type

    def kept_hash(self: Any) -> int:
        kind = type(self)
        if kind not in hashes:
            hashes[kind] = hash_of(self)
        return hashes[kind]

    def are_equal(self: Any, other: Any) -> Any:
        if type(self) is not type(other):
            return equal(self, other)
        ours, theirs = self._values, other._values  # noqa: SLF001
        for name in ours.keys() | theirs.keys():  # those set in neither have their defaults
            default = self.options[name].default
            if ours.get(name, default) != theirs.get(name, default):
                return False
        return True

    def variables(self: Any, value: Any) -> list[Any]:
        if isinstance(value, Var):
            return [value]
        if isinstance(value, Inst):
            return list(value.list_vars())
        found: list[Any] = []
        if isinstance(value, dict | list | tuple):
            for one in value.values() if isinstance(value, dict) else value:
                kind = type(one)
                if kind is Var:
                    found.append(one)
                elif holds.get(kind, True):
                    holds[kind] = issubclass(kind, Inst | Var | dict | list | tuple)
                    found += variables(self, one)
        return found

    yield TargetConfig, "__hash__", kept_hash
    yield TargetConfig, "__eq__", are_equal
    yield Inst, "_rec_list_vars", variables
    yield type(Type), "__instancecheck__", type.__instancecheck__


def name_of(kernel: Any) -> str:
    """Return a kernel's name, such as "partitioning.fm_kernels.search".

    "" for functions of Numba itself and for kernels that exist only as parts of other kernels.
    """
    from evener.jit import INNER

    function = kernel.py_func
    module = str(function.__module__)
    counts = module.startswith("evener.") and not hasattr(function, INNER)
    return f"{module[7:]}.{function.__name__}" if counts else ""


def kernels() -> dict[str, Any]:
    """Return all kernels by name, except those that exist only inside other kernels."""
    found = {}
    for module in _modules():
        for value in vars(module).values():
            function = getattr(value, "py_func", None)
            if function is None or function.__module__ != module.__name__:
                continue
            if value.targetoptions.get("inline") != "always":
                found[name_of(value)] = value
    return found


def kernels_used() -> dict[str, str]:
    """Return the kernels that this process compiled or loaded: names, and the files they are in.

    A file is either one of this computer's own, or a pack (machine_code/packs.py).
    """
    from evener.machine_code.cache import USED

    return dict(USED)


def cache_place(used: Mapping[str, str] | None = None) -> tuple[Path, str]:
    """Return the folder in which machine code is stored, and what kind of folder it is.

    The kinds are "NUMBA_CACHE_DIR"; "the package" (its __pycache__ folders); "the user", whose
    folder is used if neither of the others can be written; and "a pack", if all used kernels came
    from packs.
    """
    from numba import config

    from evener.machine_code.packs import SUFFIX

    packed = [path for path in (used or {}).values() if path.endswith(SUFFIX)]
    if packed and len(packed) == len(used or {}):
        return Path(packed[0]).parent, "a pack"
    from evener.graphs.graph_kernels import components  # of all kernels, the soonest imported

    folder = Path(components.stats.cache_path)
    if folder.name == "__pycache__":
        return Path(evener.__path__[0]), "the package"
    given = Path(config.CACHE_DIR) if config.CACHE_DIR else None  # type: ignore[attr-defined]
    return folder.parent, "NUMBA_CACHE_DIR" if folder.parent == given else "the user"


def _modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(evener.__path__, "evener."):
        if found.name.endswith(SUFFIX) and not found.name.endswith(ELSEWHERE):
            yield importlib.import_module(found.name)
