"""Levels: a graph coarsened step by step, and what is kept of each step.

levels.py              Level, and the hierarchy of levels from fine to coarse
coarsening_kernels.py  matching and contraction; cluster_kernels.py: by label propagation
clusters.py            clusters of a graph, for portfolios
heap_kernels.py        the priority queue that searches share

Lowest room of partitioning. Read levels.py.
"""
