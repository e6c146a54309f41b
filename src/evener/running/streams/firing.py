"""One call of a filter's function: its arguments, checks of its result, and errors that name it."""

from __future__ import annotations

import copy
import traceback
from collections.abc import Sequence
from typing import Any

import numpy as np

from evener.errors import EvenerError, InputError, ToolError, shown
from evener.running.streams.program import Array, StreamProgram


class Firing:
    """A filter of a program as one run calls it, with the run's own copy of its state.

    where: the processor, for messages; "" if there is none.
    """

    def __init__(self, program: StreamProgram, number: int, where: str = "") -> None:
        self.filter, self.number = program.filters[number], number
        self.channels = [program.channels[e] for e in program.outgoing[number]]
        self._where = f" on {where}" if where else ""
        self._first = () if self.filter.state is None else (copy.deepcopy(self.filter.state),)
        self._starts = not program.incoming[number]
        self._gives: tuple[tuple[int, ...], Any] | None = None

    def fire(self, iteration: int, inputs: Sequence[Array], slots: Sequence[Array]) -> Array | None:
        """Call the function; fill the slots of outgoing channels, or return the filter's output.

        Raises ToolError if the function raises, InputError if its result is invalid; both name
        filter, processor and iteration.
        """
        given = (iteration,) if self._starts else inputs
        more = slots if self.filter.fills else ()
        try:
            found = self.filter.work(*self._first, *given, *more)
        except (Exception, SystemExit) as error:
            raise self._failed(error, iteration) from error
        if not self.channels:
            return self._given(found, iteration)
        if self.filter.fills:
            if found is not None:
                raise self._wrong(
                    iteration,
                    f"returned {_described(found)}, but a filter with fills=True must return None",
                )
            return None
        for slot, array in zip(slots, self._parts(found, iteration), strict=True):
            slot[...] = array
        return None

    def _parts(self, found: Any, iteration: int) -> Sequence[Array]:
        """Return the array for each channel, checked."""
        parts = found if isinstance(found, tuple) else (found,) * len(self.channels)
        if len(parts) != len(self.channels):
            said = f"returned {len(parts)} arrays for {len(self.channels)} channels"
            raise self._wrong(iteration, said)
        for array, channel in zip(parts, self.channels, strict=True):
            is_array = isinstance(array, np.ndarray | np.generic)
            if not is_array or (array.shape, array.dtype) != (channel.shape, channel.dtype):
                wanted = f"{channel.dtype} {channel.shape}"
                said = f"returned {_described(array)}, but {channel} carries {wanted}"
                raise self._wrong(iteration, said)
        return parts

    def _given(self, found: Any, iteration: int) -> Array | None:
        """Return a copy of an output of the program.

        Its type must be the same in all iterations.
        """
        if found is None and self._gives is None:
            return None
        try:
            array = np.array(found)
        except ValueError as error:
            raise self._wrong(
                iteration, f"returned a value that is not an array: {error}"
            ) from error
        if array.dtype.kind not in "biufc":
            raise self._wrong(iteration, f"returned {_described(found)}, which is not a number")
        if self._gives is None:
            self._gives = array.shape, array.dtype
        if self._gives != (array.shape, array.dtype):
            before = f"{self._gives[1]} {self._gives[0]}"
            raise self._wrong(
                iteration, f"returned {_described(array)}, but {before} in earlier iterations"
            )
        return array

    def _failed(self, error: BaseException, iteration: int) -> EvenerError:
        said = "has run out of memory" if isinstance(error, MemoryError) else "failed"
        frames = traceback.extract_tb(error.__traceback__)[1:]
        place = frames[-1] if frames else None
        return ToolError(
            f"filter {self.filter.name!r}{self._where} {said} in iteration {iteration}: "
            f"{type(error).__name__}: {error}",
            file=None if place is None else place.filename,
            line=None if place is None else place.lineno,
        )

    def _wrong(self, iteration: int, said: str) -> InputError:
        return InputError(
            f"filter {self.filter.name!r}{self._where} {said}, in iteration {iteration}"
        )


def _described(value: Any) -> str:
    """Return type and shape of an array, or the type of another value."""
    if isinstance(value, np.ndarray | np.generic):
        return f"{value.dtype} {value.shape}"
    return shown(value)
