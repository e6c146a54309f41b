"""Repair: brings any blocks within their contract; partitioning.enforce drives it.

state.py       State, what all steps work on; block_kernels.py: the same for kernels
proofs.py      proofs that no partition keeps a contract
flowing.py     moves weight along neighbouring blocks; routing_kernels.py: which way,
               flowing_kernels.py: which vertices
peeling.py     moves balls of vertices between blocks that no chain of neighbours joins
packing.py     heavy vertices one by one, then all afresh
connecting.py  blocks in one piece each, on request

May import levels. Read state.py, then flowing.py.
"""
