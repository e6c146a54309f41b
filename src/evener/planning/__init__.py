"""Planning: from a graph and a platform to a certified plan, and what is asked about plans.

plan.py        the whole story on a page; options.py: what chooses a plan, keywords.py: as keywords
makespan/      the search for the plan of least predicted seconds
compare.py     several partitioners side by side
evaluate.py    any partition judged; a plan's statements counted anew
bottleneck.py  what limits a partition, and what would help most
advise/        which devices are worth using; device_sets/: estimates for sets of devices

Imports all below but reporting and cli. Read plan.py first.
"""
