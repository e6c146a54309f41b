"""Platforms: descriptions of machines, and the speed of their devices at each load.

platform.py      Platform: devices in a tree of levels, or joined by any network; with_only
                 selects devices
device.py        Device, Link, Level, Connection: the parts of a platform, and their checks
network.py       links of usual networks, and routes over them; shared_links.py: which messages
                 share a link
with_curves.py   a platform whose devices have speed curves
models/          speed as a function of load: samples, and models fitted to them
examples.py      the papers' machines, flat machines, grids
hosts.py         GPUs behind their hosts
computer.py      a described computer; described.py: a platform of such computers, with guessed
                 values where descriptions lack them
processes.py     processes of a program: host, binding, device, options

Imports only the modules that lie directly in evener. Read device.py, then platform.py.
"""
