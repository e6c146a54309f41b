"""Platforms: what the machine is, and how fast its devices are at each load.

platform.py      Platform: devices in a tree of levels, or joined by any network; with_only
                 selects devices
device.py        Device, Link, Level, Connection: the parts of a platform, and their checks
network.py       links of usual networks, and routes over them; shared_links.py: which messages
                 share a link
with_curves.py   a platform whose devices have speed curves
models/          speed as a function of load: fitted, and the samples it is fitted to
examples.py      the papers' machines, flat ones, grids
hosts.py         GPUs behind their hosts
computer.py      a described computer; described.py: a platform of such computers, with guesses of
                 what no description states
processes.py     processes of a program: host, binding, device, options

Imports only the modules that lie directly in evener. Read device.py, then platform.py.
"""
