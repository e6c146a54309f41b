"""Levels: a graph and its coarser graphs.

levels.py              GraphLevel, one step of coarsening, and the hierarchy from fine to coarse
coarsening_kernels.py  the kernels of coarsening
clusters.py            recognises graphs made of clusters; bundles the leaves of hubs
csr_kernels.py         CSRGraph, a graph in the form for kernels
heap_kernels.py        priority queues of vertices

The lowest package of partitioning: it imports no other one. Read levels.py.
"""
