"""Compiles what an engine would launch on a CUDA device to PTX. Run by test_cuda_engine.py."""

from evener.running.apps import bfs, pagerank, sssp, wcc
from evener.running.engine.cuda_engine import cuda_engine
from tests.running.compiling_device import Compiling, needs_compiler, pretend
from tests.running.engine.parts import random_graph, whole

# Devices of the second lack no instruction of the first, and run what is compiled for it: one
# schedule shows that the compiler takes another capability.
PROGRAMS = {
    (7, 5): (pagerank.PROGRAM, bfs.PROGRAM, sssp.PROGRAM, wcc.PROGRAM),
    (8, 0): (wcc.PROGRAM,),
}


needs_compiler()
graph = random_graph(40, 150, 1, directed=True, weights=9)
for capability, programs in PROGRAMS.items():
    pretend(capability)
    for program in programs:
        device = Compiling(capability)
        cuda_engine(program, whole(graph), device).compile()
        print(capability, program.name, device.compiled)
print("all compiled")
