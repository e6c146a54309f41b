"""Rectangles for dense matrices: one a device, sized to its speed, with short edges.

columns.py       BR: columns of least total half-perimeter, and KL's grid
whole.py         column arrangements in whole blocks, the least load over target
cuts.py          guillotine cuts: the best of all, for a few devices
many_cuts.py     guillotine cuts for up to 256 devices, never worse than columns
whole_cuts.py    the same in whole blocks
grids.py         FPM-KL: a grid whose widths and heights follow speed surfaces s(m, n)
hierarchical.py  nodes first, then the devices in each
requests.py      what is asked: devices by speeds, models or surfaces; areas for equal finish
methods.py       all of them by name, 1.5D among them
"""
