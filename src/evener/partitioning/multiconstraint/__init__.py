"""Partitions of vertices with several weights: all weights within limits of their own.

multiconstraint.py  the partitioner: start, balance, refine on every level
loads.py            the weights of blocks, and how far they are off
start.py            initial partition; balance.py: weights evened out; fm.py: refinement
enforce.py          any blocks brought within limits of all weights

May import levels, refinement, initial and multilevel. Read multiconstraint.py.
"""
