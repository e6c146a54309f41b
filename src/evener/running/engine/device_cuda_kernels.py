"""A CUDA device: its memory, its stream, launches of kernels; how functions are compiled for it.

With NUMBA_ENABLE_CUDASIM=1 Numba simulates kernels on a CPU, with a Python thread for each thread
of the device, one block after another. Imported only if a CUDA device is used.
"""

# mypy: ignore-errors
from __future__ import annotations

import threading
import weakref
from importlib import import_module
from types import FunctionType

import numba
import numpy as np
from numba import cuda

from evener.errors import ToolError, UsageError
from evener.running.cuda_simulator_kernels import is_simulated
from evener.running.engine.generating import Target

SIMULATED = is_simulated()
# Threads that run in step on every device of NVIDIA, and threads of a block: 4 warps, of which each
# multiprocessor holds several. A simulated thread takes 50 us to start.
WARP, THREADS = (4, 16) if SIMULATED else (32, 128)
SCHEDULES = {"dense": "dense", "frontier": "frontier", "bucket": "frontier", "union": "union"}
JOINS_AT = {
    "min": "cuda.atomic.min(array, place, value)",
    "max": "cuda.atomic.max(array, place, value)",
    "or": "cuda.atomic.or_(array, place, value)",
}
_simulating = threading.Lock()  # one kernel at a time is all that the simulator can play
# The simulator replaces `cuda` among the globals of a kernel's module while the kernel runs. What
# other threads call here meanwhile is therefore named `numba.cuda`.


_starting = threading.Lock()  # Numba's driver fails in a thread that asks while another starts it


def check_cuda(index: int) -> None:
    """Raise UsageError unless this CUDA device exists; the simulator has number 0."""
    try:
        if not SIMULATED:
            import_module("cuda.bindings.driver")  # which CudaDevice.recorded calls
        with _starting:
            count = len(numba.cuda.gpus) if numba.cuda.is_available() else 0
    except Exception as error:  # the driver's, whatever they are
        raise UsageError(f"CUDA does not work here: {error}") from error
    if not 0 <= index < count:
        raise UsageError(
            f"CUDA device {index} does not exist; devices found: {count}",
            hint="nvidia-smi lists the devices; CUDA_VISIBLE_DEVICES may hide some; CUDA needs "
            "pip install 'evener[cuda13]' or [cuda12].",
        )


class CudaDevice:
    """A CUDA device as one thread uses it, with its own stream.

    Calls return at once; the device carries them out later, in their order, and `wait` waits for
    it. The thread that uses the object must create it. index: number of the device as listed by
    CUDA. Raises UsageError if there is no such device.
    """

    def __init__(self, index: int) -> None:
        check_cuda(index)
        if not SIMULATED:
            from numba.cuda import dispatcher

            dispatcher.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # small graphs are no mistake
        numba.cuda.select_device(index)
        self.stream = numba.cuda.stream()

    def put(self, array):
        """Return a copy of an array in the device's memory."""
        return numba.cuda.to_device(np.ascontiguousarray(array), self.stream)

    def empty(self, size, dtype):
        """Return an array in the device's memory, with at least one entry."""
        return numba.cuda.device_array(max(int(size), 1), np.dtype(dtype), stream=self.stream)

    def pinned(self, size, dtype):
        """Return a pinned array in this computer's memory, which the device can access directly."""
        return numba.cuda.pinned_array(max(int(size), 1), np.dtype(dtype))[: int(size)]

    def pair(self, size, dtype):
        """Return an array on the device, and a pinned array here for copies of it."""
        return self.empty(size, dtype), self.pinned(size, dtype)

    def send(self, here, there, first=0, end=None):
        """Copy entries first to end - 1 of an array here to an array on the device."""
        end = here.size if end is None else end
        if end - first == there.size:  # a slice of an array on the device takes Numba 0.1 ms
            there.copy_to_device(here[first:end], self.stream)
        elif end > first:
            there[first:end].copy_to_device(here[first:end], self.stream)

    def fetch(self, there, here, first=0, end=None):
        """Copy entries first to end - 1 of an array on the device to an array here."""
        end = here.size if end is None else end
        if end - first == there.size:
            there.copy_to_host(here[first:end], self.stream)
        elif end > first:
            there[first:end].copy_to_host(here[first:end], self.stream)

    def launch(self, kernel, threads, *arguments):
        """Run a kernel in blocks with at least `threads` threads in total."""
        configured = max(-(-int(threads) // THREADS), 1), THREADS, self.stream
        if SIMULATED:
            with _simulating:
                kernel[configured](*arguments)
        else:
            kernel[configured](*arguments)

    def recorded(self, work):
        """Return a function that repeats the launches of work() with the same arguments.

        A launch takes this computer 20 us, and 4 more for each array among its arguments; a
        repetition (a CUDA graph) takes 2 us in all (H200). The kernels must have been compiled
        before.
        """
        if SIMULATED:
            return work
        from cuda.bindings import driver

        stream, mode = int(self.stream), driver.CUstreamCaptureMode
        _checked(driver.cuStreamBeginCapture(stream, mode.CU_STREAM_CAPTURE_MODE_RELAXED))
        try:
            work()
        finally:
            graph = _checked(driver.cuStreamEndCapture(stream))
        made = _checked(driver.cuGraphInstantiate(graph, 0))
        _checked(driver.cuGraphDestroy(graph))

        def repeat():
            _checked(driver.cuGraphLaunch(made, stream))

        weakref.finalize(repeat, driver.cuGraphExecDestroy, made)
        return repeat

    def wait(self) -> None:
        """Return when all work of the stream is done."""
        self.stream.synchronize()


def _checked(answer):
    """Return the result of a driver call. Raises ToolError if it failed."""
    error, *found = answer
    if error:
        raise ToolError(f"the CUDA driver failed: {error.name}")
    return found[0] if found else None


@cuda.jit
def count_up(count):
    """Add 1 to count (1,)."""
    if cuda.grid(1) == 0:
        count[0] += 1


@cuda.jit
def gather(numbers, values, found):
    """Set found (s,) to the values with the indices `numbers` (s,)."""
    i = cuda.grid(1)
    if i < numbers.size:
        found[i] = values[numbers[i]]


def _head(program):
    """Return the lines that define `kernel`, `helper`, `join_at` and HAS_BUCKETS."""
    decorator = "lambda function: function" if SIMULATED else "cuda.jit(device=True)"
    lines = ["from numba import cuda", "", "kernel = cuda.jit", f"helper = {decorator}"]
    lines += [f"HAS_BUCKETS = {program.schedule == 'bucket'}"]
    if program.combine in JOINS_AT:
        joining = JOINS_AT[program.combine]
        lines += ["", "", "@helper", "def join_at(array, place, value):", f"    {joining}"]
    return lines


def _prepared(function, _):
    """Return a program's Python function compiled for calls in kernels.

    Functions that it calls are compiled, too.
    """
    return function if SIMULATED else _compiled(function, {})


TARGET = Target(
    {schedule: f"{name}_cuda_kernels" for schedule, name in SCHEDULES.items()}, _head, _prepared
)


def _compiled(function, known):
    if function not in known:
        known[function] = function  # one that calls itself stays as it is
        names = function.__code__.co_names
        inside = {
            name: _compiled(value, known)
            for name in names
            if isinstance(value := function.__globals__.get(name), FunctionType)
        }
        own = FunctionType(
            function.__code__,
            {**function.__globals__, **inside},
            function.__name__,
            function.__defaults__,
            function.__closure__,
        )
        known[function] = cuda.jit(device=True)(own)
    return known[function]
