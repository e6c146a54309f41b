"""Compiles what filters launch on a CUDA device to PTX. Run by test_cuda_firing.py."""

import numpy as np

from evener.running.streams.apps.registry import stream_app
from tests.running.compiling_device import Compiling, needs_compiler, pretend

needs_compiler()
for capability in ((7, 5), (8, 0)):
    pretend(capability)
    for name in ("jacobi", "image"):
        program, device = stream_app(name), Compiling(capability)
        for i, one in enumerate(program.filters):
            if one.cuda is not None:
                ends = [program.channels[e] for e in (*program.incoming[i], *program.outgoing[i])]
                first = () if program.incoming[i] else (0,)
                one.cuda(device, *first, *(np.zeros(end.shape, end.dtype) for end in ends))
        print(capability, name, device.compiled)
        assert len(device.compiled) == {"jacobi": 5, "image": 4}[name]
print("all compiled")
