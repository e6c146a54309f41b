"""DirectExchange: payloads go from a CUDA device to others by an MPI that reads its memory.

Values of boundary vertices are gathered on the device, and ghosts are received in place: nothing
passes through this computer's memory. Other ranks may be of any kind: messages are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evener.running.comm import Comm
from evener.running.engine.device_cuda_kernels import CudaDevice, gather
from evener.running.local_graphs import LocalGraph


class DirectExchange:
    """The exchange of one array on a device, made once; call it in every superstep.

    comm: one whose `swap` takes arrays on devices. payloads (n_local,): on the device.
    """

    def __init__(self, comm: Comm, local: LocalGraph, device: CudaDevice, payloads: Any) -> None:
        self._device, self._payloads = device, payloads
        self._given = [
            (device.put(numbers), device.empty(numbers.size, payloads.dtype))
            for numbers in local.sends.values()
        ]
        buffers = (buffer.view(np.uint8) for _, buffer in self._given)
        outgoing = dict(zip(local.sends, buffers, strict=True))
        ghosts = local.receives.items()
        incoming = {q: payloads[first:end].view(np.uint8) for q, (first, end) in ghosts}
        self._swap = comm.swap(outgoing, incoming)

    def __call__(self) -> None:
        """Set the payloads of the ghosts to those of their owners."""
        self._swap.settle()
        for numbers, buffer in self._given:
            self._device.launch(gather, buffer.size, numbers, self._payloads, buffer)
        self._device.wait()  # MPI knows nothing of the stream
        self._swap.start()
        self._swap.finish()
