"""Makespan refinement: vertices moved to lower the predicted seconds of the slowest device.

refine_seconds.py   the search; search_kernels.py: its loop
gain_state.py       what it keeps up to date: compute, volumes and messages of each block
seconds_kernels.py  seconds of blocks; moves, evaluated and carried out

May import levels and refinement. Read refine_seconds.py.
"""
