"""Locality on one device: orders of vertices and arcs with which a program reads less memory.

`ordering.py` renumbers a device's vertices, so that neighbours are near each other in memory;
`adapting.py` does so while the program runs. Read `ordering.py` first. Imports
`running.local_graphs` and the packages below `running`; only `adapting.py` also imports the engine.
"""
