"""Which edge goes to which block: split-and-connect and its rivals, for unequal devices.

A vertex is copied to each block that one of its edges is in; copies beyond the first are what an
edge partition is to have few of. `EdgeList` (`graphs`) numbers the edges, `EdgePartition` (`plans`)
says their blocks. May import `partitioning`, which divides the graphs whose vertices stand for
edges, and the rooms below it. Read `methods.py` first, then `split_and_connect.py`.
"""
