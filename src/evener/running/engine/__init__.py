"""The engine: vertex programs, compiled, on the threads or the GPU of one device.

program.py          VertexProgram: the functions and traits that a user writes; Solver: an
                    application with its own loop
*_kernels.py        the schedules, as templates; hooks_kernels.py: functions of a program that they
                    call; pulling_kernels.py, pushing_kernels.py, pulled_front_kernels.py: parts of
                    templates; fronts_kernels.py, buckets_kernels.py: lists of vertices, and
                    the choice between pushing and pulling; atomics_kernels.py: operations shared by
                    threads
generating.py       makes a module for each program: its schedule with its functions
engine.py, work.py  Engine: a program on one device's part of a graph
pool.py             ThreadPool: the threads
cuda_engine.py      engines on a CUDA device; cuda_base.py: their base; cuda_*.py: one for each
                    schedule, with templates *_cuda_kernels.py; device_cuda_kernels.py: the device
step_counts.py      DeviceEngine: what both kinds of engines have in common
recording.py        times of supersteps
states.py           RunState: the data from which a run is continued
supersteps.py       SuperstepLoop: the engines of many devices in the same superstep; what they
                    exchange: ghosts.py if vertices are divided, mirrors.py if edges are; near.py,
                    near_kernels.py: inside kernels, between the ranks of one computer
gathering.py        GatherEngine: the dense schedule for divided edges

Read program.py first, then hooks_kernels.py.
"""

from evener.running.engine.engine import Engine, EngineRun, run_on
from evener.running.engine.pool import ThreadPool
from evener.running.engine.program import VertexProgram

__all__ = ["Engine", "EngineRun", "ThreadPool", "VertexProgram", "run_on"]
