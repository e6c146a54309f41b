"""Solves Poisson's equation on mesh.xdmf, by mesh.plan on several ranks; saves values at nodes."""

import numpy as np
import ufl
from dolfinx import fem
from dolfinx.fem.petsc import LinearProblem
from dolfinx.mesh import GhostMode, create_mesh, locate_entities_boundary
from dolfinx_mesh import TRIANGLES, read
from mpi4py import MPI
from petsc4py import PETSc

from evener.integrations import dolfinx

comm = MPI.COMM_WORLD
more = {} if comm.size == 1 else {"partitioner": dolfinx.partitioner("mesh.plan")}
mesh = create_mesh(comm, *read(), TRIANGLES, GhostMode.none, **more)
V = fem.FunctionSpace(mesh, ("Lagrange", 1))
u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
x = ufl.SpatialCoordinate(mesh)
a = ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx
L = (1 + x[0] * ufl.sin(5 * x[1])) * v * ufl.dx
mesh.topology.create_connectivity(1, 2)
facets = locate_entities_boundary(mesh, 1, lambda x: np.full(x.shape[1], True))
fixed = fem.dirichletbc(PETSc.ScalarType(0), fem.locate_dofs_topological(V, 1, facets), V)
options = {"ksp_type": "cg", "ksp_rtol": 1e-13, "pc_type": "jacobi"}
found = LinearProblem(a, L, [fixed], petsc_options=options).solve()

cells = mesh.topology.index_map(2).size_local
nodes = np.concatenate([mesh.geometry.dofmap.links(c) for c in range(cells)])
places = np.concatenate([V.dofmap.cell_dofs(c) for c in range(cells)])
names = np.array(mesh.geometry.input_global_indices)[nodes]  # in the file
np.savez(f"rank{comm.rank}.npz", nodes=names, values=found.x.array[places], cells=cells)
