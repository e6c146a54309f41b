"""Writes and loads the module that runs one program: a schedule with the program's functions.

The module is a copy of the schedule's template in which placeholders are replaced, and in which the
parts shared by templates are inserted. Its name contains a hash of everything that it depends on,
and it is stored with the machine code of Evener's own kernels, so that another process which runs
the same program compiles nothing. The program's functions are called, not copied: Numba's messages
about them have their own file and lines.
"""

from __future__ import annotations

import dis
import hashlib
import importlib.util
import inspect
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from evener.errors import InputError
from evener.files.writing import write_text
from evener.graphs.graph_kernels import components
from evener.jit import inner, njit
from evener.running.engine.program import MOST_PRIORITY, SCHEDULES, VertexProgram, arguments_of

ENDING = ".program"  # not .py: such files beside the package would seem to be modules of it
# Kept at a time, each with some 0.3 MB of machine code; those of Evener itself are a tenth.
MOST_PROGRAMS = 100
PACKAGE = "evener.running.engine"
# What each hook of hooks_kernels calls: the program's function, and what it returns without one.
HOOKS = {
    "initial": ("init", "IDENTITY"),
    "payload_of": ("emit", "value"),
    "message_of": ("along", "payload"),
    "applied": ("apply", "joined(old, combined)"),
    "halts": ("halt", "False"),
    "is_settled": ("settled", "False"),
    "bucket_of": ("priority", "0"),
}
PLAIN_RESULT = ("halts", "is_settled")  # others but buckets are converted to the type of values
JOINS = {
    "sum": "one + other",
    "min": "one if one < other else other",
    "max": "one if one > other else other",
    "or": "one | other",
}
NAMED = "evener_program_"  # names of modules begin so
FORM = "2"  # of these modules: machine code of earlier ones is not used
_loading = threading.Lock()
PLACEHOLDERS = f"{PACKAGE}.hooks_kernels"  # the functions of a program, in place of this import
# What templates have in common, and is inserted in place of its import.
PARTS = {f"{PACKAGE}.{name}_kernels" for name in ("pulling", "pushing", "pulled_front")}
_NUMBER = re.compile(r"(?:u?int\d+|float\d+|bool(?:ean)?|Literal\[\w+\]\(.*\))$")
_PLACE = re.compile(r'File "([^"]+)", line (\d+)')


@dataclass(frozen=True, eq=False)
class Target:
    """What modules are generated for: threads of a CPU, or a CUDA device.

    templates: schedule -> module of this package. head: returns the lines that define `kernel` and
    `helper`. prepared: converts a program's function so that kernels can call it.
    """

    templates: Mapping[str, str]
    head: Callable[[VertexProgram], Sequence[str]]
    prepared: Callable[[Any, str], Any]


@cache
def module_of(program: VertexProgram, target: Target | None = None) -> ModuleType:
    """Return the program's compiled schedule: a module with the kernels of its template.

    target: by default the threads of a CPU. Equal programs share one module. Raises InputError for
    functions that use something that kernels cannot use.
    """
    target = target or CPU
    told = "\n".join([digest_of(program, target), *sorted(_homes(program))])
    name = f"{NAMED}{hashlib.sha256(told.encode()).hexdigest()[:20]}"
    with _loading:
        if name in sys.modules:
            return sys.modules[name]
        return _loaded(name, _text(program, target), program, target)


def digest_of(program: VertexProgram, target: Target | None = None) -> str:
    """Return a digest of everything that values depend on, except parameters and graph.

    target: by default the threads of a CPU. Raises InputError for functions that use something that
    kernels cannot use.
    """
    target = target or CPU
    marks = [f"{name} {mark}" for name in program.functions for mark in _marks(program, name)]
    text = _text(program, target)
    return hashlib.sha256("\n".join([FORM, text, *marks]).encode()).hexdigest()[:20]


def compile_error(program: VertexProgram, error: Exception, weight: Any) -> InputError:
    """Return an error that names the program's function, and its line, that Numba cannot compile.

    Each function is compiled separately, for its argument types. weight: an arc's weight.
    """
    error = error.with_traceback(None)  # Numba keeps the error, and with it the engine's arrays
    value = np.dtype(program.dtype).type(0)
    sample = dict.fromkeys(("value", "payload", "old", "combined", "infinity"), value)
    sample |= dict.fromkeys(("vertex", "degree", "step", "n"), 0)
    sample |= {"change": 0.0, "weight": weight, **program.parameters}
    for name, function in program.functions.items():
        alone = njit(error_model="numpy")(function)
        types = tuple(alone.typeof_pyval(sample[a]) for a in arguments_of(function))
        try:
            alone.compile(types)
        except Exception as own:
            if not is_compile_error(own):
                raise
            return _of_function(program, name, _gist(str(own)), str(own))
        result = str(alone.nopython_signatures[-1].return_type)
        if not _NUMBER.match(result):
            return _of_function(program, name, f"it returns {result} instead of one number", "")
    return InputError(f"{program.name} does not compile: {_gist(str(error))}")


def is_compile_error(error: Exception) -> bool:
    """Return whether Numba raised the error; only kernels may import Numba's exceptions."""
    return type(error).__module__.startswith(("numba.", "numba_cuda."))


def _text(program: VertexProgram, target: Target) -> str:
    """Return the source of the program's module."""
    before, after = _template(f"{PACKAGE}.{target.templates[program.schedule]}")
    return before + _hooks(program, target) + after


@cache
def _template(module: str) -> tuple[str, str]:
    """Return the text of a template before and after its placeholders, with its parts inserted."""
    before, after, lines = "", "", _source(module).splitlines(keepends=True)
    end = 0
    imports = list(_imports_of_parts(module))
    assert [name for name, _, _ in imports].count(PLACEHOLDERS) == 1, module
    for name, first, last in imports:
        text, end = "".join(lines[end:first]), last
        if name == PLACEHOLDERS:
            before, after = after + text, ""
        else:
            after += text + _part(name)
    return before, after + "".join(lines[end:])


def _part(module: str) -> str:
    """Return the text of a part of templates, without the imports that templates replace."""
    lines, end, text = _source(module).splitlines(keepends=True), 0, ""
    for _, first, last in _imports_of_parts(module):
        text, end = text + "".join(lines[end:first]), last
    return text + "".join(lines[end:])


def _imports_of_parts(module: str) -> Iterator[tuple[str, int, int]]:
    """Yield the module, the first line, and the line after each import that a template replaces.

    Does not call ast.parse, which may fail if two threads call it at once (seen in CPython 3.11).
    """
    lines = _source(module).splitlines()
    for i, line in enumerate(lines):
        name = line.split()[1] if line.startswith("from ") else ""
        if name in {PLACEHOLDERS, *PARTS}:
            yield name, i, 1 + (lines.index(")", i) if line.endswith("(") else i)


def _hooks(program: VertexProgram, target: Target) -> str:
    """Return the source of constants and hooks."""
    limits = np.finfo(program.dtype) if program.dtype.startswith("f") else np.iinfo(program.dtype)
    is_float = program.dtype.startswith("f")
    infinity = "np.inf" if is_float else f"{limits.max}"
    lowest = "-np.inf" if is_float else f"{limits.min}"
    identity = {"min": infinity, "max": lowest}.get(program.combine, "0")
    lines = [
        f"as_value = np.{program.dtype}",
        f"INFINITY = as_value({infinity})",
        f"IDENTITY = as_value({identity})",
        f"IS_WEIGHTED = {program.is_weighted}",
        f"HAS_HALT = {program.halt is not None}",
        f"HAS_SETTLED = {program.settled is not None}",
        f"TAKES_FIRST = {program.first}",
        f"GOES_BOTH_WAYS = {program.direction == 'both'}",
        *target.head(program),
        "",
        "",
        "@helper",
        "def joined(one, other):",
        f"    return as_value({JOINS[program.combine]})",
        "",
        "",
        "@helper",
        "def changes(old, new):",
        f"    return new != old{' and old == old' if is_float else ''}",
        "",
        "",
        f"MOST_PRIORITY = np.int64({MOST_PRIORITY})",
        "NO_PRIORITY = -MOST_PRIORITY - np.int64(1)",
        "",
        "",
        "@helper",
        "def bucket_in(priority):",
        "    is_one = -MOST_PRIORITY <= priority and priority <= MOST_PRIORITY",
        "    return np.int64(priority) if is_one else NO_PRIORITY  # as of NaN",
    ]
    for hook, given in _placeholders():
        lines += ["", "", "@helper", f"def {hook}({given}):", f"    return {_call(program, hook)}"]
    return "\n".join([*lines, "", ""])


@cache
def _placeholders() -> list[tuple[str, str]]:
    """Return the name and the arguments of each hook, as hooks_kernels states them."""
    hooks = importlib.import_module(PLACEHOLDERS)
    return [(hook, ", ".join(inspect.signature(getattr(hooks, hook)).parameters)) for hook in HOOKS]


def _call(program: VertexProgram, hook: str) -> str:
    """Return the expression by which a hook calls the program's function."""
    name, otherwise = HOOKS[hook]
    function = program.functions.get(name)
    result = otherwise
    if function is not None:
        order = list(program.parameters)
        names = [
            f"parameters[{order.index(a)}]" if a in order else "INFINITY" if a == "infinity" else a
            for a in arguments_of(function)
        ]
        result = f"users_{name}({', '.join(names)})"
    if hook == "bucket_of":
        return f"bucket_in({result})"
    return result if hook in PLAIN_RESULT else f"as_value({result})"


@cache
def _source(module: str) -> str:
    """Return the source of a module of this package."""
    name = module.rpartition(".")[2]
    return (Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8")


def _loaded(name: str, text: str, program: VertexProgram, target: Target) -> ModuleType:
    """Write the module if it does not exist, and run it with the program's functions in it."""
    path = program_file(name, text)
    loader = SourceFileLoader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    for key, function in program.functions.items():
        setattr(module, f"users_{key}", target.prepared(function, name))
    sys.modules[name] = module  # jit reads it there, and Numba when it loads machine code
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


_known: set[FunctionType] = set()


def _compiled_inside(function: Any, module: str) -> Any:
    """Return a program's function, compiled for calls in kernels, with the functions that it calls.

    module: name of the program's module. A function whose file is not a known Python module is
    assigned to this module: another process that loads the machine code imports the function's
    module.
    """
    if function not in _known:
        _known.add(function)
        if inspect.getmodule(function) is None:
            function.__module__ = module
        inner(counted=False, error_model="numpy")(function)
        for value in _used(function).values():
            if isinstance(value, FunctionType):
                _compiled_inside(value, module)
    return function


CPU = Target(
    {name: f"{name}_kernels" for name in SCHEDULES},
    lambda _: (
        "from evener.jit import inner, njit",
        "",
        'kernel = njit(nogil=True, cache=True, counted=False, error_model="numpy")',
        'helper = inner(counted=False, error_model="numpy")',
    ),
    _compiled_inside,
)


def _marks(program: VertexProgram, name: str) -> Iterator[str]:
    """Yield everything that the machine code of a function depends on."""
    waiting: list[Any] = [program.functions[name]]
    seen = set(waiting)
    while waiting:
        function = waiting.pop()
        yield from map(repr, _code_marks(function.__code__))
        yield repr((function.__defaults__, function.__kwdefaults__))
        for key, value in sorted(_used(function).items()):
            if isinstance(value, FunctionType):
                if value not in seen:
                    seen.add(value)
                    waiting.append(value)
                yield key
            elif isinstance(value, int | float | bool | np.generic | type):
                yield f"{key} = {value!r} {type(value)}"
            elif isinstance(value, ModuleType):
                yield f"{key} is {value.__name__}"
            else:
                kind = type(value).__name__
                hint = "Functions may use numbers, functions, modules and parameters."
                message = f"{name}() uses {key}, which is of type {kind}"
                raise program.refused(function, message, hint)


def _homes(program: VertexProgram) -> set[str]:
    """Return the modules of a program's functions; loading machine code imports these."""
    waiting: list[Any] = list(program.functions.values())
    seen = set(waiting)
    while waiting:
        inside = {v for v in _used(waiting.pop()).values() if isinstance(v, FunctionType)}
        waiting += inside - seen
        seen |= inside
    known = {one.__module__ for one in seen if inspect.getmodule(one) is not None}
    return {home for home in known if not home.startswith(NAMED)}


def _code_marks(code: CodeType) -> Iterator[object]:
    """Yield the properties that distinguish a function's code from other code."""
    yield code.co_code
    yield code.co_names
    yield code.co_varnames
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_marks(constant)
        else:
            yield constant


def _used(function: FunctionType) -> dict[str, Any]:
    """Return the global names that a function uses, with their values, except Python's builtins."""
    code = function.__code__
    names = {i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}
    used = {name: function.__globals__[name] for name in names if name in function.__globals__}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        used[name] = cell.cell_contents
    return used


def _of_function(program: VertexProgram, name: str, gist: str, said: str) -> InputError:
    """Return the error of one function, at the last line in it that Numba names."""
    file, first, last = _lines(program.functions[name])
    places = [
        int(line)
        for path, line in _PLACE.findall(said)
        if os.path.realpath(path) == os.path.realpath(file) and first <= int(line) <= last
    ]
    message = f"{program.name}: {name}() does not compile: {gist}"
    return InputError(message, file=file, line=places[-1] if places else first)


def _lines(function: Callable[..., Any]) -> tuple[str, int, int]:
    """Return a function's file, first and last line."""
    code = function.__code__
    last = max(line for *_, line in code.co_lines() if line is not None)
    return code.co_filename, code.co_firstlineno, last


def _gist(said: str) -> str:
    """Return the most informative line of Numba's message."""
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", said).splitlines()]
    telling = [
        line
        for line in lines
        if line and not line.startswith(("Failed in", "During", "File ", "def ", "<source", "^"))
    ]
    return telling[0] if telling else lines[0]


def program_file(name: str, text: str) -> Path:
    """Return the file of a module; if it does not exist, write it and remove the oldest files."""
    path = _folder() / f"{name}{ENDING}"
    if path.exists():
        with suppress(PermissionError):  # another user's: it is that user's to say when it was used
            os.utime(path)
    else:
        remove_oldest(path.parent, MOST_PROGRAMS - 1)
        write_text(path, text)
    return path


def remove_oldest(folder: Path, kept: int) -> None:
    """Remove a folder's programs except the last used `kept` ones, with their machine code."""
    programs = sorted(folder.glob(f"*{ENDING}"), key=_last_used, reverse=True)
    for program in programs[kept:]:
        machine_code = (folder / "__pycache__").glob(f"{program.stem}.*")
        for file in (*machine_code, program):
            file.unlink(missing_ok=True)  # another process may remove the same


def _last_used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another process removed it
        return 0.0


@cache
def _folder() -> Path:
    """Return the folder of programs, in the folder of machine code of evener.graphs' kernels."""
    folder = Path(components.stats.cache_path) / "programs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
