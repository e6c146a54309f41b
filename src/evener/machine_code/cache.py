"""The cache of one kernel: searches this computer's files, then packs; else the kernel is compiled.

Machine code contains inlined code of other kernels, so it is valid only if the sources of the
kernel's file *and* of all kernel files that it imports are unchanged; Numba checks only the former.
Each combination of types has its own file, so that several processes can save at the same time:
with Numba's common index, a process would overwrite what another process saved at the same time.

A file contains three things: what it was made for (`_head`), the machine code with the data that
Numba needs to call it (pickled), and LLVM's bitcode. LLVM reads the bitcode only when another
kernel that calls this kernel is compiled, which never happens if all kernels are found. Numba's
annotated source, which fills a quarter of Numba's own files, is omitted: `inspect_types()` shows
none for loaded kernels.

The folder is searched for when the first kernel is called: NUMBA_CACHE_DIR, the package's
__pycache__, or a folder in ~/.cache/numba; modules of vertex programs are in its subfolder
`programs`. If none is writable, kernels from packs still run. Numba's tables of what it can compile
are updated only when a kernel is compiled, not, as by Numba, before each kernel is loaded, which
took 0.2 s in every process.
"""

# mypy: ignore-errors

from __future__ import annotations

import functools
import hashlib
import io
import pickle
import re
import sys
import uuid
from pathlib import Path

import numba
from llvmlite import binding as llvm
from numba.core.caching import CompileResultCacheImpl, NullCache
from numba.core.compiler import CompileResult
from numba.core.environment import Environment, _rebuild_env, lookup_environment
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from evener.machine_code import packs

ANNOTATION = 5  # index of Numba's annotation in the data of a kernel, after the library
OPTIONS = "evener.jit"  # its source is part of every stamp: it chooses the compiler's options
USED: dict[str, str] = {}  # kernels loaded or saved by this process: name in packs -> file
_IMPORTS = re.compile(rb"^from (evener\.[\w.]*_kernels) import", re.MULTILINE)


class KernelCache(NullCache):
    """The interface through which a Numba dispatcher requests the machine code of its kernel."""

    def __init__(self, function):
        self._function = function

    @functools.cached_property
    def _numba(self):
        """Numba's own cache, which chooses a folder; RuntimeError if no folder is writable."""
        return CompileResultCacheImpl(self._function)

    @property
    def cache_path(self):
        """The folder of this kernel's own files; RuntimeError if no folder is writable."""
        return self._numba.locator.get_cache_path()

    def load_overload(self, sig, target_context):
        """Return the kernel compiled for these types; None if it must be compiled.

        Raises RuntimeError if it must be compiled but cannot be stored anywhere.
        """
        rtsys.initialize(target_context)
        magic = target_context.codegen().magic_tuple()
        head = self._head(sig, magic)
        found = self._from_file(sig, head) or packs.load(*head[1:])
        if found is None:
            self.cache_path  # noqa: B018
            target_context.refresh()
            return None
        data, bitcode, path = found
        USED[head[2]] = str(path)
        return _rebuilt(target_context, _Unpickler(io.BytesIO(data)).load(), bitcode)

    def save_overload(self, sig, data):
        """Store a compiled kernel, replacing files of other sources or versions."""
        if not self._numba.check_cachable(data):
            return
        self._numba.locator.ensure_cache_path()
        head = self._head(sig, data.codegen.magic_tuple())
        (name, kind, (code, bitcode)), *rest = self._numba.reduce(data)
        rest[ANNOTATION] = ""
        kept = dumps(((name, kind, (code, _no_bitcode())), *rest))
        path = self._path(sig, head)
        new = path.with_name(f"{path.name}.tmp.{uuid.uuid4().hex[:16]}")
        try:
            with new.open("wb") as file:
                pickle.dump(head, file)
                pickle.dump(kept, file)
                file.write(bitcode)
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)
        USED[head[2]] = str(path)

    def flush(self):
        """Remove the files of this kernel for all types."""
        for path in Path(self.cache_path).glob(f"{self._numba.filename_base}.*.nbc"):
            path.unlink(missing_ok=True)

    def _head(self, sig, magic):
        """Return what machine code depends on: Numba's version and settings, sources, name, CPU."""
        function = self._function
        magic = (*magic, *packs.changed_settings())
        digest = _digest((sig, _code_of(function)))
        name = f"{function.__module__}.{function.__qualname__}.{digest}"
        return numba.__version__, stamp(function.__module__), name, magic

    def _path(self, sig, head):
        digest = _digest((sig, head[3], _code_of(self._function)))
        return Path(self.cache_path) / f"{self._numba.filename_base}.{digest}.nbc"

    def _from_file(self, sig, head):
        """Return data, bitcode function and path from the kernel's own file; None if missing."""
        try:
            return read_file(self._path(sig, head), head)
        except (FileNotFoundError, RuntimeError):  # RuntimeError: no folder is writable
            return None


def read_file(path, head):
    """Return a file's data, a function that returns its bitcode, and the path.

    Returns None if the file was made for something else than `head`.
    """
    with Path(path).open("rb") as file:
        if pickle.load(file) != head:
            return None
        data, bitcode = pickle.load(file), file.read()
    return data, lambda: bitcode, path


def _rebuilt(context, data, bitcode):
    """Return Numba's object of a compiled kernel from its data.

    bitcode: function that returns what LLVM needs to inline the kernel; called only when needed.
    """
    engine = context.codegen()._engine  # noqa: SLF001
    described = data[1]
    engine._defined_symbols |= {  # noqa: SLF001
        described.llvm_func_name,
        described.llvm_cpython_wrapper_name,
    }
    result = CompileResult._rebuild(context, *data)  # noqa: SLF001
    library = result.library

    @functools.cache
    def for_linking():
        module = llvm.parse_bitcode(bitcode())
        engine._load_defined_symbols(module)  # noqa: SLF001
        return module

    library._get_module_for_linking = for_linking  # noqa: SLF001
    return result


class _Unpickler(pickle.Unpickler):
    """Reads the data that Numba needs to call a kernel, without importing the modules it names."""

    def find_class(self, module, name):
        """Return the object called `name` in pickled data; replace Numba's _rebuild_env."""
        found = super().find_class(module, name)
        return _environment if found is _rebuild_env else found


def _environment(module, consts, name):
    """Return Numba's environment of a function, which is stored with its machine code.

    An environment contains the globals of the function's module, which only Python's object mode
    needs. Numba's own modules are therefore not imported: the module of np.mean would import half
    of SciPy.
    """
    if not module.startswith("numba.") or module in sys.modules or lookup_environment(name):
        return _rebuild_env(module, consts, name)
    found = Environment({"__name__": module})
    found.consts[:] = consts
    found.env_name = name
    Environment._memo[name] = found  # noqa: SLF001
    return found


@functools.cache
def _no_bitcode():
    return llvm.parse_assembly("").as_bitcode()


def _code_of(function):
    """Return digests of a function's bytecode and of the variables in its closure."""
    around = tuple(cell.cell_contents for cell in function.__closure__ or ())
    parts = function.__code__.co_code, dumps(around) if around else b""
    return tuple(hashlib.sha256(part).hexdigest() for part in parts)


def _digest(key):
    return hashlib.sha256(repr(key).encode()).hexdigest()[:20]


@functools.cache
def stamp(module):
    """Return a digest of the sources of a module and of all kernel modules that it imports."""
    found, waiting = {}, [module, OPTIONS]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = _source(name)
            waiting += [named.decode() for named in _IMPORTS.findall(found[name])]
    digest = hashlib.sha256()
    for name in sorted(found):
        digest.update(name.encode() + hashlib.sha256(found[name]).digest())
    return digest.hexdigest()


@functools.cache
def _source(module):
    found = sys.modules[module]
    return found.__loader__.get_data(found.__file__)
