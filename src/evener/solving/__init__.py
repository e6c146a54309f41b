"""Plans of least predicted seconds.

loop.py         the search: candidates, rounds of sizes and blocks, refinement; the best is kept
record.py       what was found so far, and by which steps
rivals.py       METIS at the same sizes, and the plan of least cut: never slower than either
slabs.py        blocks side by side along one line, with two neighbours each
starts.py       where rounds begin: devices, and loads that hold an estimated halo
rounds.py       blocks, the halos they really have, sizes that hold those, and again
ordering.py     the graph with neighbours near each other in memory
placing.py      blocks that change places among devices alike
judging.py      the task, its limits, and the seconds of a candidate
efforts.py      how much is tried, by preset

What sets of devices would take, without a plan:

estimates.py    seconds of thousands of sets of devices
surfaces.py     what a block exchanges by its size alone: the surface law
lining.py       devices in line, and what slabs in that order exchange
linked.py       devices by their links: groups of near ones, costs between them
evening.py      loads at which the devices of a set end at one time
computing.py    times at loads, and loads by times
orders.py       kinds and groups of devices, and orders in which to take them
searching.py    sets of devices: a few of all kinds, or the best of each size
found.py        the sets looked at, and the best of each size

Which devices are worth using:

confirming.py   plans for the sets that are likely to be best
trials.py       what a set of devices really takes: a plan of all of them
leaving_out.py  a platform with some of its devices only
"""
