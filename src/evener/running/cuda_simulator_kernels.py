"""Whether Numba simulates CUDA devices on a CPU; and a workaround for a defect of the simulator."""

# mypy: ignore-errors
from __future__ import annotations

import functools
import sys

import numpy as np
from numba import config


def is_simulated() -> bool:
    """Return whether NUMBA_ENABLE_CUDASIM=1 makes Numba simulate kernels on a CPU.

    If so, shared arrays are repaired: if several threads call `cuda.shared.array` for the first
    time at once, Numba's simulator (0.61 to 0.68) gives each thread its own array; after the repair
    they get the same one.
    """
    if config.ENABLE_CUDASIM:
        _share_arrays()
    return bool(config.ENABLE_CUDASIM)


@functools.cache
def _share_arrays() -> None:
    from numba import types
    from numba.cuda.simulator.kernelapi import FakeCUDAShared
    from numba.np import numpy_support

    of_dynamic_size = FakeCUDAShared.array

    def array(self, shape, dtype):
        if shape == 0:
            return of_dynamic_size(self, shape, dtype)
        dtype = numpy_support.as_dtype(dtype) if isinstance(dtype, types.Type) else dtype
        caller = sys._getframe(1)  # noqa: SLF001 - the line tells one array of a kernel from others
        place = caller.f_code.co_filename, caller.f_lineno
        return self._allocations.setdefault(place, np.empty(shape, dtype))

    FakeCUDAShared.array = array
