"""Generators of meshes and graphs, all seeded.

families.py       every family by name: read this first
delaunay.py       Delaunay graphs and meshes of uniform, graded and refined points
random_graphs.py  random geometric, R-MAT and Barabási-Albert graphs; grid.py, regular grids
adaptive.py       triangles refined along a trace and along bubbles
airfoil.py        a graded mesh around an airfoil
airways.py        prisms in forking tubes
checks.py         common checks of parameters and of free memory

This package may import graphs; evener.platforms.examples makes machines.
"""
