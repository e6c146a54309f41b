"""Several weights per vertex: blocks within limits on each of them.

multiconstraint.py  the partitioner: bisect the coarsest level, balance and refine on every level
loads.py            the weights of blocks, their limits, and how far they are off
balance.py          brings blocks within all limits, and lowers their cut
enforce_several.py  brings any blocks within limits on several weights, or proves that none can be

May import levels, refinement, repair (proofs), initial and multilevel. Read multiconstraint.py.
"""
