"""Graphs and meshes: what is divided.

graph.py      Graph, undirected, in CSR form; graph_checks.py validates what it is made of
mesh.py       Mesh, cells over points; polymesh.py, cells bounded by any polygons
foreign.py    graphs of SciPy, networkx and meshio, recognised and converted
hilbert.py    the order of points along the Hilbert curve
generating/   meshes and graphs made from parameters and a seed

Imports the loose modules alone. Read graph.py first.
"""
