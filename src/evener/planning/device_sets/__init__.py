"""Estimates for sets of devices: the loads and seconds of thousands of sets, without a partition.

estimate.py          read first: Estimator, seconds of sets of devices
set_loads.py         loads at which the devices of many sets finish together
halo_law.py          what a block exchanges, from its size alone
line_arrangement.py  an order of the devices, and what slabs in that order exchange
sets.py              kinds and groups of devices, and the sets that the makespan search tries

All of it serves both the plan (makespan/ begins with the sets of least estimate) and the advice
(advise/ searches far more sets, in advise/set_search.py). Imports nothing else of planning.
"""
