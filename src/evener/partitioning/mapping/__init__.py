"""Mapping of blocks to devices: blocks that exchange much go to devices near each other.

blocks.py           map_blocks: the problem, and the order of all steps
device_search.py    an initial mapping along the machine's tree; swaps, and random perturbations
mapping_kernels.py  costs of mappings, and the loops over swaps

May import initial (trees) and the packages below partitioning. Read blocks.py.
"""
