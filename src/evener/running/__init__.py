"""Running: ranks and what they exchange, example programs, emulated machines.

comm.py       ranks as threads of this process or as processes of MPI
halos.py      the vertices that a rank owns, the ghosts that it needs, and what it sends
spreading.py  rows divided over ranks, moved when their sizes change; sharing.py: without copying
              between the ranks of one computer
emulation.py  devices with given speed models, noise and drift, on a virtual clock
engine/       vertex programs, compiled, on the threads of one device
apps/         programs on unequal devices, each with run() and verify()

Imports plans, platforms, graphs. Only comm.py imports mpi4py. Read comm.py first.
"""
