"""Initial partitions of a small graph, or of points by coordinates alone.

bisection.py   multilevel recursive bisection
kmeans.py      balanced k-means of coordinates
diffusion.py   rounds blocks, like k-means, but without coordinates
embedding.py   computes coordinates from hop distances
geometric.py   Hilbert curve, recursive coordinate and inertial bisection
multijagged.py multi-jagged: recursive cuts into many sections
sweeping.py    bisection along straight fronts that cut the fewest edges
trees.py       the tree of a machine: groups of devices

May import levels and refinement.
"""
