"""Repair: any blocks brought within their contract; driven by partitioning.enforce.

state.py       what all steps share: blocks, weights, limits
flowing.py     weight flows along neighbouring blocks; routing_kernels.py: which way
peeling.py     in balls, where blocks have no neighbours with room
packing.py     heavy vertices one by one
connecting.py  blocks in one piece each, on request
proofs.py      proofs that no partition keeps a contract

May import levels. Read state.py, then flowing.py.
"""
