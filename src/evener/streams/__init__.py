"""Mapping of the filters of a stream graph to processors for the shortest period.

readings.py     cost of an iteration for a processor: the paper's equations and their variants
processors.py   capabilities of a platform's processors, and costs of bytes between them
period.py       loads of processors and links, the period, its bottleneck
cycles.py       the slowest cycle of filters
bounds.py       lower bounds on the period
placing.py      simple mappings: greedy, by a list, at random
hmap.py         HMAP: clusters processors in a tree and divides the filters from its root
search.py       direct search for a shorter period
replicating.py  copies of a filter that share the data of an iteration; a search for such copies
exact.py        the optimal mapping of a few filters
emulating.py    runs a stream program on a virtual clock, with the times of a plan
methods.py      these methods by name

May import partitioning and the packages below it. Read period.py first.
"""
