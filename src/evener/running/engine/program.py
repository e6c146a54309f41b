"""VertexProgram: an application as a few small functions of one vertex or one arc.

A Solver is an application with its own loop.
"""

from __future__ import annotations

import importlib.util
import inspect
import math
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.errors import InputError, one_of
from evener.plans.partition import Partition
from evener.running.engine.recording import DeviceRun
from evener.running.local_graphs import Want
from evener.wording import meant

# What the engine offers to each function; a function names those that it needs, and parameters.
ALWAYS = ("n", "infinity")
OFFERED = {
    "init": ("vertex", "degree", *ALWAYS),
    "emit": ("value", "degree", "vertex", *ALWAYS),
    "along": ("payload", "weight", *ALWAYS),
    "apply": ("old", "combined", "degree", "vertex", "step", *ALWAYS),
    "halt": ("change", "step", *ALWAYS),
    "settled": ("value", *ALWAYS),
    "priority": ("value", *ALWAYS),
}
COMBINES = ("sum", "min", "max", "or")
DTYPES = ("float32", "float64", "int32", "uint32", "int64")
MOST_PRIORITY = 2**60  # numbers of buckets are from its negative to it
SCHEDULES = ("dense", "frontier", "bucket", "union")
FLAGS = ("first", "union", "in_place")


@dataclass(frozen=True, eq=False)
class VertexProgram:
    """An application that runs on every device of a plan.

    The functions take their arguments by name, from those that OFFERED lists and from `parameters`;
    each returns one number. `infinity` is the largest value of `dtype`, or infinite.

    init: the first value of a vertex. emit: what it sends along all its arcs; by default its value.
    along: the message that arrives along one arc; by default what was sent. combine: "sum", "min",
    "max" or "or" of the messages. apply: the new value; by default, for min, max and or, the old
    value combined with the messages. halt: whether to stop after a superstep (dense schedule).

    settled: whether no message can change a value any more. first: any single message of a
    superstep suffices. priority: the bucket in which a vertex is processed; a message must not have
    a lower priority than the value that it was sent for. union: the value becomes the smallest
    number of a vertex in the connected component; no function is called. in_place: a superstep may
    use values that it has already changed.

    direction: "out": messages go along arcs; "both": against them as well. schedule: by default
    chosen from the traits. With frontier and bucket, a vertex sends again if its value changed, and
    initially if its value differs from the result of `combine` for no message (infinity for min).

    Raises InputError, with file and line of the function, for traits and functions that contradict
    each other.
    """

    init: Callable[..., Any] | None = None
    emit: Callable[..., Any] | None = None
    along: Callable[..., Any] | None = None
    apply: Callable[..., Any] | None = None
    halt: Callable[..., Any] | None = None
    settled: Callable[..., Any] | None = None
    priority: Callable[..., Any] | None = None
    combine: str = "sum"
    dtype: str = "float32"
    direction: str = "out"
    first: bool = False
    union: bool = False
    in_place: bool = False
    schedule: str = ""
    parameters: Mapping[str, float] = field(default_factory=dict)
    name: str = field(default="a program")

    def __post_init__(self) -> None:
        one_of("combine", self.combine, COMBINES)
        one_of("type of values", self.dtype, DTYPES)
        one_of("direction", self.direction, ("out", "both"))
        if not self.schedule:
            object.__setattr__(self, "schedule", self._chosen())
        one_of("schedule", self.schedule, SCHEDULES)
        for name, value in self.parameters.items():
            if not isinstance(value, int | float):
                raise InputError(f"parameter {name} of {self.name} is not a number: {value!r}")
        for name in self.functions:
            self._check_arguments(name)
        self._check_traits()

    @property
    def functions(self) -> dict[str, Callable[..., Any]]:
        """The functions given, by name."""
        return {name: f for name in OFFERED if (f := getattr(self, name)) is not None}

    @property
    def is_weighted(self) -> bool:
        """Whether messages depend on the weights of arcs."""
        return self.along is not None and "weight" in arguments_of(self.along)

    @classmethod
    def from_file(cls, path: str | Path) -> VertexProgram:
        """Return the program in a Python file: PROGRAM, or functions and traits by their names.

        Raises InputError if the file cannot be read or run.
        """
        module = imported(Path(path))
        made = getattr(module, "PROGRAM", None)
        if isinstance(made, VertexProgram):
            return made
        names = (*OFFERED, "combine", "dtype", "direction", "schedule", "parameters", *FLAGS)
        given = {name: getattr(module, name) for name in names if hasattr(module, name)}
        try:
            return cls(**given, name=Path(path).stem)
        except InputError as error:
            error.file = error.file or str(path)
            raise

    def given(self, parameters: Mapping[str, float]) -> tuple[float, ...]:
        """Return the values of all parameters: the given ones, and defaults for the others.

        Raises InputError for names that the program does not have, and for a fraction if the
        default is an integer.
        """
        return tuple(parameters_of(self.name, self.parameters, parameters).values())

    @property
    def ends_by_itself(self) -> bool:
        """Return whether a run ends by itself if no number of supersteps is given."""
        return self.schedule != "dense" or self.halt is not None

    def halts(self, change: float, step: int, n: int, parameters: Sequence[float]) -> bool:
        """Return whether halt() ends a run. change: sum of all changes.

        step: number of supersteps done. n: number of vertices of the graph. parameters: the result
        of `given`.
        """
        assert self.halt is not None
        offered = {"change": change, "step": step, "n": n, "infinity": math.inf}
        offered.update(zip(self.parameters, parameters, strict=False))
        return bool(self.halt(**{name: offered[name] for name in arguments_of(self.halt)}))

    def wrong_priority(self, code: int) -> InputError:
        """Return the error for invalid priorities.

        code: 2: a priority is not a valid number; 1: a message had a lower priority than the value
        that it was sent for.
        """
        if code == 2:
            return InputError(
                f"{self.name}: priority() must return a number from -2^60 to 2^60 for each value"
            )
        return InputError(
            f"{self.name}: a message had a lower priority than the value that it was "
            "sent for: are weights or parameters negative?"
        )

    def refuse_nan(self, values: npt.NDArray[Any]) -> None:
        """Raise InputError if a value is NaN and messages are combined by min or max."""
        if self.combine in ("min", "max") and np.isnan(values).any():
            raise InputError(
                f"{self.name}: a vertex has the value NaN, which min and max cannot order",
                hint="init, along and apply must return numbers or infinity.",
            )

    def _chosen(self) -> str:
        """Return the schedule that follows from the traits."""
        if self.union:
            return "union"
        if self.priority is not None:
            return "bucket"
        return "dense" if self.combine == "sum" or self.halt is not None else "frontier"

    def _check_arguments(self, name: str) -> None:
        function = getattr(self, name)
        if not inspect.isfunction(function):
            raise InputError(f"{name} of {self.name} is not a Python function: {function!r}")
        offered = (*OFFERED[name], *self.parameters)
        for argument in inspect.signature(function).parameters.values():
            if argument.kind != argument.POSITIONAL_OR_KEYWORD:
                raise self.refused(
                    function, f"{name}() takes {argument}, but each argument must have a name", None
                )
            if argument.name not in offered:
                hint = (
                    f"{name} may take: {', '.join(offered)}; and names of `parameters`, such as "
                    f'parameters = {{"{argument.name}": 0}}.'
                )
                message = f"{name}() has the argument {argument.name}, for which there is no value"
                raise self.refused(function, message + meant(argument.name, offered), hint)

    def _check_traits(self) -> None:
        if self.schedule == "union":
            if not self.union or self.combine != "min" or self.dtype not in ("uint32", "int64"):
                raise InputError(
                    f"{self.name}: the union schedule needs the trait union, combine min, and "
                    "values of uint32 or int64"
                )
            return
        if self.init is None:
            raise InputError(
                f"{self.name} has no function init, which returns the first value of a vertex"
            )
        if self.schedule == "bucket" and self.priority is None:
            raise InputError(f"{self.name}: the bucket schedule needs a function priority")
        if self.schedule != "dense" and self.combine == "sum":
            raise InputError(
                f"{self.name}: the {self.schedule} schedule may deliver a message twice: "
                "combine must be min, max or or, not sum"
            )
        if self.combine == "or" and self.dtype.startswith("float"):
            raise InputError(
                f"{self.name} combines messages by bitwise or, so its values must be integers"
            )
        if self.halt is not None and self.schedule != "dense":
            message = (
                f"halt() works only with the dense schedule; the schedule {self.schedule} ends by "
                f"itself"
            )
            raise self.refused(self.halt, message, None)

    def refused(self, function: Any, message: str, hint: str | None) -> InputError:
        """Return an error about one of the functions, with its file and line."""
        code = function.__code__
        line = code.co_firstlineno
        return InputError(f"{self.name}: {message}", file=code.co_filename, line=line, hint=hint)


def parameters_of(
    program: str, defaults: Mapping[str, float], given: Mapping[str, float]
) -> dict[str, float]:
    """Return the values of all parameters of a program: the given ones, defaults for others.

    Raises InputError for names that it does not have, and, if the default is an integer, for values
    that are not 64-bit integers.
    """
    for name, value in given.items():
        if name not in defaults:
            hint = f"There are: {', '.join(defaults) or 'none'}."
            raise InputError(f"{program} has no parameter {name}{meant(name, defaults)}", hint=hint)
        is_integer = -(2**63) <= value < 2**63 and value == int(value)
        if isinstance(defaults[name], int) and not is_integer:
            raise InputError(f"{name} must be an integer, not {value}")
    whole = {**defaults, **given}
    return {name: type(defaults[name])(value) for name, value in whole.items()}


@cache
def arguments_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of a function's arguments.

    The result is cached, because `halts` needs it in each superstep.
    """
    return tuple(inspect.signature(function).parameters)


def imported(path: Path) -> Any:
    """Import a Python file and return it as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InputError("a program must be a Python file, NAME.py", file=path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from error
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(path)]
        line = lines[-1] if lines else getattr(error, "lineno", None)
        raise InputError(f"{type(error).__name__}: {error}", file=path, line=line) from error
    return module


@dataclass(frozen=True, eq=False)
class Solver:
    """An application that each device runs by a function, which exchanges through a Halo.

    solve(comm, local, pool, tell, most=, **parameters): what one device does, for up to `most`
    supersteps; returns its values and the record of its supersteps. want: the arcs that each
    device's part contains. parameters: their defaults. moves: whether `solve` takes `stretch`, a
    Stretch, so that vertices may change device during the run. bytes_held(own vertices, local
    vertices, arcs, whether arcs have weights): the bytes of its arrays on a device; one array of
    type `exchanged` is exchanged. bytes_on_devices(graph, partition): the bytes on each device, if
    they can be computed more exactly from a whole graph; it is None, or returns None, if they
    cannot. on_edges: whether `solve` also works on parts of divided edges.
    """

    name: str
    solve: Callable[..., DeviceRun]
    bytes_held: Callable[[int, int, int, bool], int]
    parameters: Mapping[str, float] = field(default_factory=dict)
    want: Want = "both"
    moves: bool = False
    exchanged: str = "f8"
    bytes_on_devices: Callable[[Any, Partition], list[int] | None] | None = None
    on_edges: bool = False

    ends_by_itself = True
    schedule = "dense"  # every superstep looks at each arc once

    def given(self, parameters: Mapping[str, float]) -> tuple[float, ...]:
        """Return the values of all parameters: the given ones, and defaults; see VertexProgram."""
        return tuple(parameters_of(self.name, self.parameters, parameters).values())
