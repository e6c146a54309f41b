"""Label propagation with limits: partitions of graphs of very uneven degrees.

propagation.py  the partitioner, and which graphs it is used for
cycles.py       cycles of coarsening by clusters and refinement in rounds

May import levels and initial. Read propagation.py.
"""
