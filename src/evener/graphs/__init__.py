"""Graphs and meshes: what is divided.

graph.py      Graph, undirected, in CSR form; directed.py: DirectedGraph, of arcs
lists.py      what both have in common; graph_checks.py validates their arrays
mesh.py       Mesh, cells over points; polymesh.py, cells bounded by any polygons
foreign.py    graphs of SciPy, networkx and meshio, recognised and converted
stream_graph.py  StreamGraph, of filters; stream_networkx.py: conversion from and to networkx
hilbert.py    the order of points along the Hilbert curve
generating/   meshes and graphs made from parameters and a seed

Imports only the modules that lie directly in evener. Read graph.py first.
"""
