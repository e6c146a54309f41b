"""Repair: brings any blocks within their contract; partitioning.enforce drives it.

state.py       State, what all steps work on; block_kernels.py: the same for kernels
proofs.py      proofs that no partition keeps a contract
flowing.py     moves weight along neighbouring blocks, or balls of vertices between others;
               routing_kernels.py: which way, flowing_kernels.py: which vertices
packing.py     heavy vertices one by one, then all afresh
connecting_kernels.py  pieces of blocks, and which moves take no block apart

May import levels. Read state.py, then flowing.py.
"""
