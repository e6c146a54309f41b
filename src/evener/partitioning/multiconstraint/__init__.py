"""Several weights per vertex: blocks within limits on each of them.

multiconstraint.py  the partitioner: start, balance and refine on every level
loads.py            the weights of blocks, their limits, and how far they are off
start.py            blocks of the coarsest level, by bisection
balance.py          brings blocks within all limits; fm.py lowers their cut
enforce.py          brings any blocks within limits on several weights, or proves that none can be

May import levels, refinement, repair (proofs), initial and multilevel. Read multiconstraint.py.
"""
