"""Tilings: divide a dense matrix into one rectangle per device, by speed, with short edges.

Read methods.py first: it has tile() and the table of all methods, 1.5D among them.

methods.py  tile: divides a matrix by speeds, models or surfaces of devices
cuts.py     BR: columns of least total half-perimeter; KL's grid; guillotine cuts, optimal for few
            devices, good for up to 256
grids.py    FPM-KL: a grid whose widths and heights follow speed surfaces s(m, n)
whole.py    columns and cuts in whole blocks, with the least max(area / target); tilings along the
            tree: nodes first, then the devices in each node
"""
