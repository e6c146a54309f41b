"""The multilevel partitioner: coarsen, partition, project and refine.

multilevel.py   the main functions
level_state.py  initial partitions of the coarsest level; refinement on each level
few_blocks.py   combines several partitions if there are few blocks
presets.py      how much work each preset does

May import levels, repair, refinement, initial, label_propagation and external.jobs. Read
multilevel.py.
"""
