"""Hands a plan to programs that people already run: solvers, MPI launchers, viewers.

One module for each program. A module imports the program's own package, where it needs one, when
it is called, and says how to install it. Those that run inside a solver (petsc, dolfinx, firedrake)
need NumPy alone, as solvers may have a Python of their own. Imports what is below: plans,
platforms, graphs, io.
"""
