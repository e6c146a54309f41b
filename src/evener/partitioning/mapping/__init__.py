"""Mapping of blocks onto devices: blocks that exchange much onto near devices.

blocks.py           map_blocks: the problem, and the order of all steps
device_search.py    a first mapping, along the machine's tree; swaps, and random perturbations
mapping_kernels.py  what mappings cost, and the loops over swaps

May import initial (trees) and what lies below partitioning. Read blocks.py.
"""
