"""Compiles the staged kernels to PTX. Run by test_gpu.py.

Numba asks the device for its compute capability, which is answered here instead.
"""

import sys
from types import SimpleNamespace

import numpy as np
from numba import cuda, typeof
from numba.cuda import dispatcher

from evener.running.locality import rows_cuda_kernels
from evener.running.locality import staged_cuda_kernels as kernels

CAPABILITIES = (7, 5), (8, 0)
INT, LONG, SHORT, FLOAT = (np.zeros(1, kind) for kind in ("i4", "i8", "u2", "f8"))
TABLE = np.zeros((4, 1))
STAGED, LOCAL = (LONG, INT, LONG, INT), (SHORT, SHORT)
ARGUMENTS = {
    "swapped": (LONG, INT, INT, FLOAT, FLOAT, FLOAT),
    "by_edges": (LONG, LOCAL, FLOAT, STAGED, FLOAT, FLOAT, INT),
    "by_cache": (LONG, SHORT, INT, FLOAT, (LONG, INT), FLOAT, FLOAT, INT),
    "by_outputs": (LONG, LOCAL, FLOAT, STAGED, FLOAT, FLOAT, INT),
    "combine": (LONG, LONG, FLOAT, FLOAT),
    "by_rows": (LONG, INT, FLOAT, FLOAT, FLOAT),
    "by_runs": (1, INT, INT, FLOAT, FLOAT, FLOAT),
    "by_parts": (INT, INT, INT, INT, FLOAT, FLOAT, FLOAT, FLOAT),
    "join_pieces": (INT, np.zeros((1, 2), "i4"), FLOAT, FLOAT),
    "swapped_flux": (LONG, INT, INT, FLOAT, TABLE, TABLE),
    "staged_flux": (LONG, SHORT, FLOAT, LONG, INT, TABLE, TABLE, INT),
}
STAGING = "by_edges", "by_outputs", "by_cache", "by_runs", "by_parts", "join_pieces", "staged_flux"


def compiled(kernel, arguments, capability):
    """Return the PTX of a kernel."""
    types = tuple(typeof(argument) for argument in arguments)
    return cuda.compile_ptx(kernel.py_func, types, cc=capability)[0]


try:
    cuda.compile_ptx(lambda x: None, (typeof(FLOAT),), cc=CAPABILITIES[0])
except Exception as error:  # of the driver or of NVVM, whatever they are
    print(f"no compiler: {type(error).__name__}")
    sys.exit()
made = {**vars(rows_cuda_kernels), **vars(kernels)} | vars(kernels.kernels_for(kernels.entry_times))
for capability in CAPABILITIES:
    answer = SimpleNamespace(compute_capability=capability)
    dispatcher.get_current_device = lambda answer=answer: answer
    for name, arguments in ARGUMENTS.items():
        text = compiled(made[name], arguments, capability)
        assert ".visible .entry" in text
        assert (".shared" in text) == (name in STAGING), name
    likelihood = kernels.kernels_for(kernels.likelihood).by_edges
    assert ".visible .entry" in compiled(likelihood, ARGUMENTS["by_edges"], capability)
print("all compiled")
