"""Initial partitions: blocks of a small graph, or by coordinates alone.

bisection.py   multilevel recursive bisection, compiled as one
kmeans.py      balanced k-means from coordinates; diffusion.py, embedding.py: without them
geometric.py   Hilbert curve, recursive coordinate and inertial bisection; multijagged.py
trees.py       the tree of a machine: groups of targets

May import levels and refinement.
"""
