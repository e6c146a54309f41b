"""Tilings: rectangles of a dense matrix, one a device, sized to its speed, with short edges.

Read methods.py first: tile() and all methods by name, 1.5D among them.

methods.py  tile: devices by speeds, models or surfaces; areas; the method; the result
cuts.py     BR: columns of least total half-perimeter; KL's grid; guillotine cuts, optimal for few
            devices, good for up to 256
grids.py    FPM-KL: a grid whose widths and heights follow speed surfaces s(m, n)
whole.py    columns and cuts in whole blocks, with the least max(area / target); nodes first, then
            the devices in each
"""
