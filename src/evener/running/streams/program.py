"""StreamProgram: a stream graph with a function for each filter and a type for each channel.

def blur(image):
    return (image[1:] + image[:-1]) / 2

program = ev.StreamProgram(
    (ev.StreamFilter("camera", camera), ev.StreamFilter("blur", blur)),
    (ev.StreamChannel("camera", "blur", (481, 640), "float32"),),
)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import InputError
from evener.graphs.stream_graph import StreamGraph, topological_order
from evener.running.engine.program import imported, parameters_of

Array = npt.NDArray[Any]
Outputs = Mapping[str, Array]
INSTRUCTIONS = 1e9  # a second, of a processor of 1000 MIPS, in which measured costs are written


@dataclass(frozen=True, eq=False)
class StreamFilter:
    """A filter's function, its state between iterations, and its costs.

    work: called once per iteration, in the order of iterations, with the array of each incoming
    channel, in the order of the program's channels; a filter without incoming channels gets the
    iteration's number, from 0. It may change these arrays. It returns an array that is sent along
    all outgoing channels, or a tuple with one array for each; a filter without outgoing channels
    returns an output of the program, or None. state: first argument of work, which changes it in
    place; each run has a copy. None: the filter is stateless. fills: whether work gets the arrays
    of its outgoing channels as last arguments, fills them, and returns None. cuda: called instead
    on a CUDA device; its arguments are its CudaDevice, then state and arrays in the device's
    memory, then the arrays of outgoing channels, which it fills; without outgoing channels it
    returns an array of the device, or None. If cuda is None, the filter runs only on cores. scalar,
    vector, needs: instructions, data and requirements, as in StreamGraph; in a measured graph,
    vector is the number of shares into which copies may divide the iterations.
    """

    name: str
    work: Callable[..., Any]
    state: Any = None
    fills: bool = False
    cuda: Callable[..., Any] | None = None
    scalar: float = 1.0
    vector: float = 1.0
    needs: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class StreamChannel:
    """What flows from one filter to another: one array per iteration.

    source, to: names of filters. initial: arrays that are in the channel at the beginning, each of
    which delays the following arrays by an iteration; a cycle of channels needs some. Raises
    InputError if these have another shape or type, and if the type is not a type of numbers.
    """

    source: str
    to: str
    shape: tuple[int, ...]
    dtype: npt.DTypeLike = "float64"
    initial: Sequence[Array] = ()

    def __post_init__(self) -> None:
        try:
            kind = np.dtype(self.dtype)
            shape = tuple(int(size) for size in self.shape)
        except (TypeError, ValueError) as error:
            raise InputError(f"{self} has an invalid shape or type: {error}") from error
        if kind.kind not in "biufc" or any(size < 0 for size in shape):
            raise InputError(f"{self} must carry arrays of numbers, not {kind} {shape}")
        object.__setattr__(self, "dtype", kind)
        object.__setattr__(self, "shape", shape)
        for array in self.initial:
            if np.shape(array) != shape or np.asarray(array).dtype != kind:
                raise InputError(f"an initial array of {self} is not {kind} {shape}")

    def __str__(self) -> str:
        return f"the channel from {self.source!r} to {self.to!r}"

    @property
    def nbytes(self) -> int:
        """Bytes per iteration."""
        return int(np.prod(self.shape)) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True, eq=False)
class StreamProgram:
    """Filters with functions, and the channels between them.

    verify: returns whether a run's outputs are right; the outputs are a mapping from names of
    filters without outgoing channels to what they returned (iterations, ...). Raises InputError as
    StreamGraph does, for functions that cannot be called, and for channels of filters that do not
    exist.
    """

    filters: tuple[StreamFilter, ...]
    channels: tuple[StreamChannel, ...]
    name: str = "a program"
    verify: Callable[[Outputs], bool] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "filters", tuple(self.filters))
        object.__setattr__(self, "channels", tuple(self.channels))
        for one in self.filters:
            if not callable(one.work):
                raise InputError(f"filter {one.name!r} of {self.name} has no function")
            if not (one.cuda is None or callable(one.cuda)):
                raise InputError(f"filter {one.name!r} of {self.name}: cuda is not a function")
        known = {one.name for one in self.filters}
        for channel in self.channels:
            for name in (channel.source, channel.to):
                if name not in known:
                    raise InputError(f"{channel}: {self.name} has no filter {name!r}")
        if not self.filters:
            raise InputError(f"{self.name} has no filters")
        _ = self.graph, self.order

    @cached_property
    def graph(self) -> StreamGraph:
        """The filters and channels as a graph, with the costs that the filters state."""
        number = {one.name: i for i, one in enumerate(self.filters)}
        keys = dict.fromkeys(key for one in self.filters for key in one.needs)
        return StreamGraph(
            tuple(one.name for one in self.filters),
            np.array([one.scalar for one in self.filters], np.float64),
            np.array([one.vector for one in self.filters], np.float64),
            np.array([number[channel.source] for channel in self.channels], np.int64),
            np.array([number[channel.to] for channel in self.channels], np.int64),
            np.array([channel.nbytes for channel in self.channels], np.float64),
            np.array([one.state is not None for one in self.filters], np.bool_),
            np.array([len(channel.initial) for channel in self.channels], np.float64),
            {key: np.array([one.needs.get(key, 0.0) for one in self.filters]) for key in keys},
        )

    def costing(self, seconds: FloatArray) -> StreamGraph:
        """Return the graph with other costs. seconds (n,): of each filter, on 1000 MIPS.

        The costs are distributed over the data of each filter, as on processors with a vector
        length of 1.
        """
        return replace(self.graph, scalar=seconds * INSTRUCTIONS / self.graph.vector)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The filters in topological order, ignoring channels with initial arrays."""
        return tuple(topological_order(self.graph).tolist())

    @cached_property
    def incoming(self) -> tuple[tuple[int, ...], ...]:
        """The incoming channels of each filter, in order."""
        return self._at_ends(self.graph.heads.tolist())

    @cached_property
    def outgoing(self) -> tuple[tuple[int, ...], ...]:
        """The outgoing channels of each filter, in order."""
        return self._at_ends(self.graph.tails.tolist())

    def _at_ends(self, ends: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        found: list[list[int]] = [[] for _ in self.filters]
        for e, v in enumerate(ends):
            found[v].append(e)
        return tuple(map(tuple, found))

    @classmethod
    def from_file(
        cls, path: str | Path, parameters: Mapping[str, float] | None = None
    ) -> StreamProgram:
        """Return the program in a Python file: PROGRAM, or the result of program(**parameters).

        Raises InputError if the file cannot be read or run, or has neither.
        """
        module, given = imported(Path(path)), parameters or {}
        make, made = getattr(module, "program", None), getattr(module, "PROGRAM", None)
        if callable(make):
            made = made_by(make, Path(path).stem, given)
        elif given:
            parameters_of(Path(path).stem, {}, given)
        if not isinstance(made, cls):
            raise InputError(
                "has neither a StreamProgram named PROGRAM nor a function program() that "
                "returns one",
                file=path,
                hint="docs/streams.md shows an example.",
            )
        return made


def made_by(
    make: Callable[..., StreamProgram], name: str, parameters: Mapping[str, float]
) -> StreamProgram:
    """Return the result of calling `make` with these parameters, which must have defaults.

    Raises InputError for names that are not parameters of `make`.
    """
    defaults = {
        key: one.default
        for key, one in inspect.signature(make).parameters.items()
        if isinstance(one.default, int | float)
    }
    return make(**parameters_of(name, defaults, parameters))
