"""Solves Poisson's equation by DOLFINx 0.5, each rank on the cells of its block.

mpirun -n 3 python3 dolfinx_poisson.py mesh.xdmf mesh.plan
"""

import sys

import numpy as np
import ufl
from dolfinx import fem
from dolfinx.fem.petsc import LinearProblem
from dolfinx.io import XDMFFile
from dolfinx.mesh import create_mesh, exterior_facet_indices
from mpi4py import MPI

from evener.integrations import dolfinx

path, plan = sys.argv[1:3]
with XDMFFile(MPI.COMM_WORLD, path, "r") as file:
    cells, x = file.read_topology_data(name="Grid"), file.read_geometry_data(name="Grid")
domain = ufl.Mesh(ufl.VectorElement("Lagrange", "triangle", 1))
partitioner = dolfinx.partitioner(plan, file=path)
mesh = create_mesh(MPI.COMM_WORLD, cells, x[:, :2].copy(), domain, partitioner=partitioner)
own = dolfinx.check(mesh, plan)

V = fem.FunctionSpace(mesh, ("Lagrange", 1))
u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
mesh.topology.create_connectivity(1, 2)
edge = fem.locate_dofs_topological(V, 1, exterior_facet_indices(mesh.topology))
fixed = fem.dirichletbc(0.0, edge, V)
a, L = ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, fem.Constant(mesh, 1.0) * v * ufl.dx
found = LinearProblem(a, L, [fixed], petsc_options={"ksp_rtol": 1e-10}).solve()

highest = mesh.comm.allreduce(np.max(found.x.array), MPI.MAX)
ghosts = mesh.topology.index_map(2).num_ghosts
for rank, (count, copies) in enumerate(mesh.comm.allgather((own, ghosts))):
    if mesh.comm.rank == 0:
        print(f"rank {rank}: {count:,} cells of its own, {copies} ghosts")
if mesh.comm.rank == 0:
    print(f"highest value {highest:.5f}")
