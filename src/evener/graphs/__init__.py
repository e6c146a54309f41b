"""Graphs and meshes, which are the inputs of a division.

graph.py      Graph, undirected, in CSR form; directed.py: DirectedGraph, of arcs
lists.py      the base class of both; graph_checks.py validates their arrays
mesh.py       Mesh, cells over points; polymesh.py, cells bounded by any polygons
joined.py     joins vertices that must share a block, and maps blocks back
foreign.py    recognises and converts objects of SciPy, networkx and meshio
stream_graph.py  StreamGraph, of filters; stream_networkx.py: conversion from and to networkx
hilbert.py    the order of points along the Hilbert curve
generating/   meshes and graphs made from parameters and a seed

Imports only the modules that lie directly in evener. Read graph.py first.
"""
