"""Plans of least predicted seconds.

subsets.py    which devices are worth using: the best sets of each size
orders.py     kinds and groups of devices, and orders in which to take them
estimates.py  seconds of thousands of sets of devices, without a partition
computing.py  times at loads, and loads by times, of many sets at once
surfaces.py   what a block exchanges by its size alone: the surface law of a graph
"""
