"""The engine: vertex programs, compiled, on the threads or the GPU of one device.

program.py          VertexProgram: the functions and traits that a user writes; Solver: an
                    application with a loop of its own
*_kernels.py        the schedules, as templates; hooks_kernels.py: what they call of a program;
                    pulling_kernels.py, pushing_kernels.py, pulled_front_kernels.py: parts of
                    templates; fronts_kernels.py, buckets_kernels.py: lists of vertices;
                    atomics_kernels.py: what threads share
generating.py       a module for each program: its schedule with its functions
engine.py, work.py  Engine: a program on one device's part of a graph
pool.py             ThreadPool: the threads
cuda_engine.py      the same on a CUDA device: cuda_base.py, and for each schedule cuda_*.py with
                    templates of its own: *_cuda_kernels.py; device_cuda_kernels.py: the device
step_counts.py      what both kinds of engines count
recording.py        what supersteps take
states.py           RunState: what is needed of a run between supersteps to continue it
supersteps.py       SuperstepLoop: the engines of many devices in step, with their exchanges;
                    near.py, near_kernels.py: ranks of one computer that exchange inside kernels
mirror_loop.py      the same where edges are divided: gathering.py: the dense schedule

Read program.py first, then hooks_kernels.py.
"""

from evener.running.engine.engine import Engine, EngineRun, run_on
from evener.running.engine.pool import ThreadPool
from evener.running.engine.program import VertexProgram

__all__ = ["Engine", "EngineRun", "ThreadPool", "VertexProgram", "run_on"]
