"""What benchmarks/engine.py measures in a process of its own; prints a JSON line.

engine_child.py start PROGRAM.py FILE.sg     a user's program, from the start of the process
engine_child.py memory APP FILE THREADS      the most memory that a run takes
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

from evener.running.engine import VertexProgram, run_on


def start(program, file):
    """Seconds of a user's program, loading and running it, and what Numba compiled for it."""
    from engine_graphs import part_of

    part = part_of(Path(file))
    compiled = compiled_from_now()
    began = time.perf_counter()
    run = run_on(VertexProgram.from_file(program), part, 1, 10)
    return {
        "seconds": time.perf_counter() - began,
        "compiled": len(compiled),
        "supersteps": run.supersteps,
    }


def compiled_from_now():
    """Return a list to which Numba adds the name of each function that it compiles."""
    from numba.core import event

    names = []

    class Listener(event.Listener):
        def on_start(self, told):
            names.append(told.data["dispatcher"].py_func.__name__)

        def on_end(self, told):
            pass

    event.register("numba:compile", Listener())
    return names


def memory(app, file, threads):
    """Bytes of the graph's CSR arrays, and by how much the process grows from before it to a run's
    peak; kernels are loaded and have run before.
    """
    from engine_cases import APPS, STEPS
    from engine_graphs import part_from, part_of

    case = APPS[app]
    program, weights = case.program, np.ones(2, np.int32) if case.is_weighted else None
    edge = part_from(np.arange(3), np.array([1, 0], np.uint32), weights)
    run_on(program, edge, int(threads), 1)
    before = in_memory("VmRSS")
    part = part_of(Path(file))
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
    run_on(program, part, int(threads), STEPS.get(app, 1 << 40))
    return {"csr_bytes": part.out.nbytes, "peak_bytes": in_memory("VmHWM") - before}


def in_memory(name):
    """Bytes of this process in memory: VmRSS now, VmHWM at most."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(name))


if __name__ == "__main__":
    print(json.dumps({"start": start, "memory": memory}[sys.argv[1]](*sys.argv[2:])))
