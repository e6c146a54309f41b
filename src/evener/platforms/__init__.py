"""Platforms: what the machine is, and how fast its devices are at each load.

platform.py      Platform: devices in a tree of levels, or joined by any network; with_only some
device.py        Device, Link, Level, Connection: what it is made of, and what is refused
network.py       routes over a graph of links; shared_links.py, which messages share one
with_curves.py   a platform whose devices have speed curves
models/          speed as a function of load: fitted, and the samples it is fitted to
examples.py      the papers' machines, flat ones, grids; topologies.py, links of usual networks
hosts.py         GPUs behind their hosts
computer.py      a computer as it is described; described.py: a platform of such, guesses.py: what
                 no description says
processes.py     processes of a program: host, binding, device, options

Imports the loose modules alone. Read device.py, then platform.py.
"""
