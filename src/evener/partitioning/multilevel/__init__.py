"""The multilevel partitioner: coarsen, partition, project and refine.

multilevel.py   the whole of it on a page
starts.py       initial partitions of the coarsest level
level_state.py  what is refined on one level, and how
presets.py      how much work each preset does

May import levels, repair, refinement and initial. Read multilevel.py.
"""
