"""Repair: changes partitions until they satisfy their contract; called by partitioning.enforce.

state.py       State, the data that all steps change; block_kernels.py: the same for kernels
proofs.py      proofs that no partition satisfies a contract
flowing.py     moves weight between neighbouring blocks, or balls of vertices between other blocks;
               routing_kernels.py: along which blocks; flowing_kernels.py: which vertices
packing.py     moves heavy vertices one by one, or assigns all vertices again
connecting_kernels.py  pieces of blocks, and moves that disconnect no block

May import levels. Read state.py, then flowing.py.
"""
