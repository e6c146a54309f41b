"""The makespan search: the plan of least predicted seconds.

search.py         candidates, rounds of sizes and blocks, refinement; the best is kept
task.py           what is searched for, its limits, and the predicted seconds of a candidate
record.py         what was found so far, and by which steps
baselines.py      METIS at the same sizes, and the plan of least cut: never slower than either
slabs.py          blocks side by side along a line, with two neighbours each
size_rounds.py    blocks, the halos they really have, sizes that hold those, and again
coarse_search.py  candidates tried on a coarse graph first
device_swaps.py   blocks that change places among devices alike
refine.py         vertices moved to lower the makespan; presets.py: how much is tried
vertex_order.py   the graph with neighbours near each other in memory

May import device_sets. Read search.py.
"""
