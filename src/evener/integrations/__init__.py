"""Exports plans to programs that people already run: solvers, MPI launchers, viewers.

One module for each program. If a module needs the program's own package, it imports it when called,
and says how to install it. Modules that run inside a solver (petsc, dolfinx, firedrake) need only
NumPy, because solvers may have their own Python.

exports.py    EXPORTERS, the formats of `evener export`; read first
requests.py   ExportRequest and ExportFiles, the argument and the result of an exporter
ranks.py      the part of a plan for a rank, inside a solver
launching/    MPI launchers

This package imports planning.evaluate, plans, platforms, graphs and io.
"""
