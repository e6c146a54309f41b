"""Filters on a CUDA device: their functions launch kernels on arrays in the device's memory.

Channels that lead to other processors have their slots in this computer's memory; a firing copies
these to the device and back. Between filters of one device arrays stay in its memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evener.errors import UsageError
from evener.running.streams.channels import Channel
from evener.running.streams.firing import Firing
from evener.running.streams.program import Array, StreamChannel, StreamProgram

if TYPE_CHECKING:
    from evener.running.engine.device_cuda_kernels import CudaDevice


class DeviceArray:
    """An array of a channel in a device's memory: flat, for copies, and with the channel's shape.

    An array without dimensions has one entry on the device.
    """

    def __init__(self, device: CudaDevice, of: StreamChannel) -> None:
        self.flat: Any = device.empty(int(np.prod(of.shape)), of.dtype)
        self.shaped: Any = self.flat.reshape(of.shape or (1,))


class DeviceChannel(Channel):
    """A channel between filters of one CUDA device; once opened, its slots are in device memory."""

    def __init__(self, of: StreamChannel, size: int) -> None:
        super().__init__(replace(of, initial=()), 0)
        self._of, self._size = of, size

    def open(self, device: CudaDevice) -> None:
        """Create the slots, and copy the channel's initial arrays to them."""
        self._slots = [DeviceArray(device, self._of) for _ in range(self._size)]
        for array in self._of.initial:
            device.send(np.ascontiguousarray(array).reshape(-1), self.slot().flat)
            self.send()
        device.wait()  # the arrays may be changed by others after this


class CudaFiring(Firing):
    """A filter's function for CUDA devices, as one run calls it; call `open` before `fire`."""

    def __init__(self, program: StreamProgram, number: int, where: str = "") -> None:
        super().__init__(program, number, where)
        self._incoming = [program.channels[e] for e in program.incoming[number]]

    def open(self, device: CudaDevice) -> None:
        """Create the filter's arrays on the device; called by the thread that fires."""
        self._device = device
        self._on_device = tuple(device.put(state) for state in self._first)
        self._inputs = [DeviceArray(device, channel) for channel in self._incoming]
        self._outputs = [DeviceArray(device, channel) for channel in self.channels]

    def fire(self, iteration: int, inputs: Sequence[Any], slots: Sequence[Any]) -> Array | None:
        """Call the function on arrays of the device; when it is done, return its result.

        inputs, slots: arrays of this computer, or DeviceArrays. Raises the errors of Firing.
        """
        assert self.filter.cuda is not None
        try:
            given = [
                self._put(one, own) for one, own in zip(inputs, self._inputs, strict=True)
            ] or [iteration]
            out = [
                one if isinstance(one, DeviceArray) else own
                for one, own in zip(slots, self._outputs, strict=True)
            ]
            shaped = [one.shaped for one in out]
            found = self.filter.cuda(self._device, *self._on_device, *given, *shaped)
            for one, own in zip(slots, out, strict=True):
                if one is not own:
                    self._device.fetch(own.flat, one.reshape(-1))
            self._device.wait()
            if hasattr(found, "copy_to_host"):
                found = found.copy_to_host()
        except Exception as error:
            raise self._failed(error, iteration) from error
        if not self.channels:
            return self._given(found, iteration)
        if found is not None:
            raise self._wrong(
                iteration,
                "returned a value, but on a CUDA device it must fill the arrays of its "
                "outgoing channels",
            )
        return None

    def _put(self, one: Any, own: DeviceArray) -> Any:
        """Return an incoming array on the device; if it is not there, copy it to `own`."""
        if isinstance(one, DeviceArray):
            return one.shaped
        self._device.send(one.reshape(-1), own.flat)
        return own.shaped


def refuse_cuda(program: StreamProgram, number: int, device: str) -> None:
    """Raise UsageError if a filter cannot run on a CUDA device."""
    one = program.filters[number]
    if one.cuda is None:
        raise UsageError(
            f"filter {one.name!r} has no function for CUDA devices, but the plan places "
            f"it on {device}",
            hint="Pass a function by StreamFilter(cuda=...), or keep the filter off CUDA devices "
            "by `needs`, see docs/streams.md.",
        )
    if one.state is not None and not isinstance(one.state, np.ndarray):
        raise UsageError(f"the state of filter {one.name!r} on {device} is not an array")
    for e in (*program.incoming[number], *program.outgoing[number]):
        if program.channels[e].nbytes == 0:
            raise UsageError(
                f"{program.channels[e]} carries no bytes, which does not work on CUDA devices"
            )
