"""Mapping of blocks onto devices: blocks that exchange much onto near devices.

blocks.py        map_blocks, the order of all steps
costs.py         the problem, from a partition and a platform; cost_kernels.py: what mappings cost
multisection.py  a first mapping, along the machine's tree
search.py        swaps of blocks, and random perturbations; swap_kernels.py: the loops

May import initial (trees) and what lies below partitioning. Read blocks.py.
"""
