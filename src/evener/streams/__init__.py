"""Which filter of a stream graph on which processor: the shortest period.

readings.py     what an iteration costs a processor: the paper's equations, and how they are read
processors.py   what the processors of a platform can do, and what bytes cost between them
period.py       loads of processors and links, the period, its bottleneck
cycles.py       the slowest cycle of filters
bounds.py       lower bounds of the period
placing.py      simple ways to place filters: one by one, as a list, at random
hmap.py         HMAP: the machine is clustered, the filters follow from the top
search.py       direct search for a shorter period
replicating.py  filters in copies that share one iteration's data; a search for them
exact.py        the shortest period of all, for a few filters
emulating.py    a stream program on a virtual clock for the processors of a plan
methods.py      these by name

May import partitioning and what is below it. Read period.py first.
"""
