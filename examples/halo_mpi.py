"""Halos in a program of mpi4py: heat spreads over a grid whose vertices any partition divides.

mpiexec -n 4 python examples/halo_mpi.py
"""

import numpy as np
from mpi4py import MPI

import evener as ev
from evener.graphs.generating.grid import grid

comm = MPI.COMM_WORLD
graph = grid((100, 100))  # or ev.read("mesh.su2").graph
plan = ev.plan(graph, comm.size, threads=1)  # or ev.read_plan("mesh.plan")
local = ev.local_graph(graph, plan, comm.rank)
halo = ev.Halo.of(comm, local)
tails = np.repeat(np.arange(local.n_owned), np.diff(local.out.offsets))

heat = np.zeros(local.n_local)  # own vertices, then ghosts
heat[: local.n_owned][local.owned == 4950] = 1000.0
for _ in range(100):
    halo.exchange(heat)  # owners' values to the ghosts
    flow = 0.2 * (heat[local.out.ends] - heat[tails])
    heat[: local.n_owned] += np.bincount(tails, flow, local.n_owned)

total = comm.allreduce(heat[: local.n_owned].sum())
if comm.rank == 0:
    print(f"{comm.size} ranks: the values sum to {total:.1f}", flush=True)

# It prints:
# 1 ranks: the values sum to 1000.0
