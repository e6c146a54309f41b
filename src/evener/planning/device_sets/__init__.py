"""Device sets: what any set of devices would take, estimated without a partition.

estimate.py          seconds of thousands of sets of devices
halo_law.py          what a block exchanges by its size alone
equal_finish.py      loads at which the devices of a set end at one time
line_arrangement.py  devices in line, and what slabs in that order exchange
search.py, sets.py   which sets are looked at, and the best of each size

Read estimate.py.
"""
