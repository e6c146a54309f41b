"""Locality on one device: which order of vertices and arcs reads memory least.

`ordering.py` numbers a device's vertices anew, so that neighbours lie together; `adapting.py` does
so while the program runs. Read `ordering.py` first. Imports `running.local_graphs` and the rooms
below `running`, but for `adapting.py`, which knows runs of the engine.
"""
