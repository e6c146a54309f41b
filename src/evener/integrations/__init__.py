"""Exports plans to programs that people already run: solvers, MPI launchers, viewers.

One module for each program. If a module needs the program's own package, it imports it when called,
and says how to install it. Modules that run inside a solver (petsc, dolfinx, firedrake) need only
NumPy, because solvers may have their own Python. This package imports plans, platforms, graphs, io.
"""
