"""Tries what must be refused, one after the other; each rank saves what it was told."""

import numpy as np
from petsc4py import PETSc

from evener.errors import EvenerError
from evener.integrations import firedrake, petsc

comm = PETSc.COMM_WORLD


def mesh(name="mesh.msh"):
    return PETSc.DMPlex().createFromFile(name, comm=comm)


def distributed(name, plan):
    dm = mesh(name)
    dm.setPartitioner(petsc.partitioner(plan, dm))
    return petsc.check(dm, dm.distribute(), plan)


def not_ours():
    dm = mesh()
    dm.getPartitioner().setType("simple")
    return petsc.check(dm, dm.distribute(), "mesh.plan")


def overlapped():
    dm = mesh()
    dm.setPartitioner(petsc.partitioner("mesh.plan", dm))
    return petsc.check(dm, dm.distribute(overlap=1), "mesh.plan")


tried = {
    "ranks": lambda: petsc.partitioner("two.plan", mesh()),
    "blocks": lambda: petsc.partitioner("five.npz", mesh()),
    "cells": lambda: petsc.partitioner("mesh.plan", mesh("shorter.msh")),
    "other file": lambda: petsc.partitioner("mesh.plan", mesh("shuffled.msh"), file="shuffled.msh"),
    "points": lambda: petsc.partitioner("points.plan", mesh()),
    "edges": lambda: petsc.partitioner("edges.plan", mesh()),
    "text": lambda: petsc.partitioner("mesh.msh", mesh()),
    "damaged": lambda: petsc.partitioner("damaged.plan", mesh()),
    "missing": lambda: petsc.partitioner("nothing.plan", mesh()),
    "none": lambda: petsc.partitioner(None, mesh()),
    "shuffled": lambda: distributed("shuffled.msh", "mesh.plan"),
    "not ours": not_ours,
    "overlapped": overlapped,
    "rows": lambda: petsc.rows("two.plan"),
    "rows n": lambda: petsc.rows("mesh.plan", n=7),
    "rows of blocks": lambda: petsc.rows("mesh.plan", n=7, block_size=2),
    "rows of no blocks": lambda: petsc.rows("mesh.plan", block_size=0),
    "mixed": lambda: distributed("mixed.msh", "mixed.plan"),
    "firedrake points": lambda: firedrake.partition("points.plan", comm.tompi4py()),
    "firedrake n": lambda: firedrake.partition("mesh.plan", n=7),
}
told = {}
for name, trial in tried.items():
    try:
        told[name] = f"not refused: {trial()}"
    except EvenerError as error:
        told[name] = f"{type(error).__name__}: {error}"
    comm.tompi4py().Barrier()  # all ranks get here
np.savez(f"rank{comm.rank}.npz", **told)
