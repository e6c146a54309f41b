"""Levels: a graph and the smaller ones that it is coarsened to.

levels.py              GraphLevel, one step of coarsening, and the hierarchy from fine to coarse
coarsening_kernels.py  its loops
clusters.py            graphs made of clusters; leaves of hubs in bundles
csr_kernels.py         CSRGraph, a graph as kernels take it
heap_kernels.py        priority queues of vertices

The lowest room of partitioning: imports none of its others. Read levels.py.
"""
