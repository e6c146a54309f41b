"""The multilevel partitioner: coarsen, partition, project and refine.

multilevel.py   the whole of it on a page
level_state.py  initial partitions of the coarsest level; what is refined on each, and how
presets.py      how much work each preset does

May import levels, repair, refinement and initial. Read multilevel.py.
"""
