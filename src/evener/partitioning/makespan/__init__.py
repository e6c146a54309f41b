"""Makespan refinement: moves vertices to lower the predicted seconds of the slowest device.

refine_seconds.py   the search; search_kernels.py: its kernel
gain_state.py       the data that moves update: computing time, volumes and messages of each block
seconds_kernels.py  seconds of blocks; evaluating and making moves

May import levels and refinement. Read refine_seconds.py.
"""
