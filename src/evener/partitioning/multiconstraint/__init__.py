"""Several weights per vertex: blocks within limits on each weight.

multiconstraint.py  the partitioner: bisect the coarsest level, balance and refine on every level
loads.py            the weights of blocks, their limits, and by how much these are violated
balance.py          moves vertices until blocks satisfy all limits, and reduces the cut
enforce_several.py  makes any partition satisfy limits on several weights, or proves that none can

May import levels, refinement, repair (proofs), initial and multilevel. Read multiconstraint.py.
"""
