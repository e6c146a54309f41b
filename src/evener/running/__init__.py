"""Running: ranks and what they exchange, example programs, emulated machines.

comm.py       ranks as threads of this process; mpi_comm.py: as processes of MPI; hybrid.py: as
              both; swaps.py: their exchanges that are made once and repeated
failures.py   waits that end, names of ranks that fail; guarding.py, guard_child.py: who was killed
distributing.py  each device's part of a graph: own vertices, ghosts, arcs, what it sends
distributed.py   folders of such parts; fitting.py: how many bytes a run will take
edge_copies.py  masters and mirrors where edges are divided; edge_shares.py: each device's edges
halos.py      values exchanged between the ranks that own vertices and those that need them;
              sparse.py: of some ghosts, to their owners
spreading.py  rows divided over ranks, moved when their sizes change; sharing.py: without copying
              between the ranks of one computer
emulation.py  devices with given speed models, noise and drift, on a virtual clock
executing.py  a vertex program on all devices of a partition of vertices or edges; on_device.py:
              on one of them; program_run.py: the result; devices.py: cores by words;
              records.py: what supersteps took, as samples of speeds and as a trace;
              moving.py: vertices that change device
checkpoints.py   what is needed to continue a run, in a folder
emulated_run.py  the same, with a virtual clock for the devices of a platform that is not here
engine/       vertex programs, compiled, on the threads of one device
apps/         programs on unequal devices, each with run() and verify()

Imports io, plans, platforms, graphs. Only mpi_comm.py imports mpi4py. Read comm.py first.
"""
