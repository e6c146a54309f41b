"""Plans of least predicted seconds.

loop.py         the search: candidates, rounds of sizes and blocks, refinement; the best is kept
rivals.py       METIS with speeds, and the plain plan: never worse than either
slabs.py        blocks side by side along one line, with two neighbours each
starts.py       which devices, and loads that hold an estimated halo
halos.py        what a device exchanges by its load alone: the surface law
sizes.py        loads at which computing and exchanging end at one time
ordering.py     the graph with neighbours near each other in memory
placing.py      blocks that change places among devices alike
judging.py      the task, its limits, and the seconds of a candidate
efforts.py      how much is tried, by preset

Which devices are worth using:

searching.py    the search for the best sets of each size, by estimates
found.py        the sets looked at, and the best of each size
orders.py       kinds and groups of devices, and orders in which to take them
estimates.py    seconds of thousands of sets of devices, without a partition
linked.py       devices by their links: groups of near ones, costs between them
computing.py    times at loads, and loads by times, of many sets at once
surfaces.py     what a block exchanges by its size alone, of many sets at once
confirming.py   plans for the sets that are likely to be best
trials.py       what a set of devices really takes: a plan of all of them
leaving_out.py  a platform with some of its devices only
"""
