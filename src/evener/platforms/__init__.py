"""Platforms: what the machine is, and how fast its devices are at each load.

platform.py      Platform: devices in a tree of levels, or joined by any network
device.py        Device, Link, Level, Connection: what it is made of
network.py       routes over a graph of links; shared_links.py, which messages share one
checks.py        what keeps devices and links from being a platform
with_curves.py   a platform whose devices have speed curves
with_only.py     a platform of some of its devices, with the links that they need
models/          speed as a function of load: fitted, and the samples it is fitted to
examples.py      the papers' machines, flat ones, grids

Imports the loose modules alone. Read device.py, then platform.py.
"""
