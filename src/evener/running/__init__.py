"""Running: ranks and their communication, example programs, emulated machines.

comm.py       ranks as threads of this process; mpi_comm.py: as MPI processes; hybrid.py: as both;
              swaps.py: exchanges that are created once and repeated
failures.py   waits with a timeout, and names of ranks that failed
guarding.py   a process that reports which rank was killed; guard_child.py: its program
distributing.py  each device's part of a graph: own vertices, ghosts, arcs, what it sends
              (local_graphs.py: LocalGraph, building.py: its arrays)
distributed.py   folders of such parts
slicing.py    parts that each rank reads from a file (slices.py: how); out_of_core.py: folders of
              parts of a graph that fits on no computer
fitting.py    the bytes that a run will allocate
edge_copies.py  masters and mirrors of vertices if edges are divided
edge_shares.py  each device's part if edges are divided
halos.py      exchanges values between the ranks that own vertices and those that need them;
              sparse.py: sends values of some ghosts to their owners
spreading.py  rows divided over ranks, which move when sizes change; sharing.py: rows shared by the
              ranks of one computer without copying
emulation.py  devices with given speed models, noise and drift, on a virtual clock
executing.py  runs a vertex program on all devices of a partition of vertices or edges
on_device.py  runs it on one of them
program_run.py  the result of a run
devices.py    devices given as text
records.py    times of supersteps, as samples of speeds and as a trace
moving.py     vertices that change device during a run
checkpoints.py   folders from which a run is continued
emulated_run.py  a run with a virtual clock for the devices of another platform
engine/       vertex programs, compiled, on the threads of one device
apps/         programs on unequal devices, each with run() and verify()

Imports io, plans, platforms, graphs. Only mpi_comm.py imports mpi4py. Read comm.py first; for
`evener run`, executing.py, then engine/supersteps.py.
"""
