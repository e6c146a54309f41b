"""Estimates for sets of devices: the loads and seconds of thousands of sets, without a partition.

estimate.py       read first: Estimator, seconds of sets of devices
set_loads.py      loads at which the devices of many sets finish together
exchange_laws.py  what blocks exchange, estimated from sizes; slabs, from their order
sets.py           which sets are estimated: a few for a plan, far more for advice

Used by plans (makespan/ begins with the sets of lowest estimates) and by advice (advise/). Imports
nothing else of planning.
"""
