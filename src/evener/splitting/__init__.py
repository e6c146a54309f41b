"""Edge partitions: split-and-connect and other methods, for devices of unequal speed.

A vertex is copied to every block that contains one of its edges; a good edge partition has few
copies. `EdgeList` (package `graphs`) numbers the edges; `EdgePartition` (package `plans`) stores
the block of each edge. May import `partitioning`, which divides graphs whose vertices stand for
edges, and the packages below it. Read `methods.py` first, then `split_and_connect.py`.
"""
