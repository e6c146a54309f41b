"""Graphs and meshes: what is divided.

graph.py      Graph, undirected, in CSR form; directed.py: DirectedGraph, of arcs
lists.py      what both have in common; graph_checks.py validates what they are made of
mesh.py       Mesh, cells over points; polymesh.py, cells bounded by any polygons
foreign.py    graphs of SciPy, networkx and meshio, recognised and converted
stream_graph.py  StreamGraph, of filters; stream_networkx.py: what networkx holds of one
hilbert.py    the order of points along the Hilbert curve
generating/   meshes and graphs made from parameters and a seed

Imports the loose modules alone. Read graph.py first.
"""
