"""Makespan refinement: vertices moved to lower the predicted seconds of the slowest device.

refine.py        the search; search_kernels.py: its loop
gain_state.py    what it keeps up to date: compute, volumes and messages of each block
move_kernels.py  moves, evaluated and carried out; price_kernels.py: their seconds

May import levels and refinement. Read refine.py.
"""
