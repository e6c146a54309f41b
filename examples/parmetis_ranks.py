"""A program whose ranks hold rows of a graph, as ParMETIS takes them: one call is another.

mpiexec -n 4 python examples/parmetis_ranks.py
"""

import numpy as np
from mpi4py import MPI

import evener as ev

comm = MPI.COMM_WORLD
side = 120  # of a grid, whose points each rank has some rows of
vtxdist = np.arange(comm.size + 1) * side**2 // comm.size
own = np.arange(vtxdist[comm.rank], vtxdist[comm.rank + 1])
row, column = np.divmod(own, side)
beside = np.stack([own - side, own - 1, own + 1, own + side], axis=1)
is_there = np.stack([row > 0, column > 0, column < side - 1, row < side - 1], axis=1)
xadj, adjncy = np.append(0, np.cumsum(is_there.sum(axis=1))), beside[is_there]

speeds = [8, 8, 1, 1]  # of the devices on which the points will be computed
# part = parmetis.ParMETIS_V3_PartKway(vtxdist, xadj, adjncy, tpwgts=..., ubvec=..., comm=comm)
graph = ev.DistributedGraph.from_local(comm, xadj, adjncy, vtxdist=vtxdist)
plan = ev.plan(graph, speeds)
part = plan.part  # the device of each of this rank's rows

counts = comm.allreduce(np.bincount(part, minlength=len(speeds)))
if comm.rank == 0:
    print(f"points of each device: {counts}; edges cut: {plan.evaluation.edge_cut:.0f}", flush=True)
    ev.write_plan("grid.plan", plan.plan)  # rank 0 has the whole

# It prints:
# points of each device: [6297 6551  776  776]; edges cut: 239
