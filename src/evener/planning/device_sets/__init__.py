"""Estimates for sets of devices: loads and seconds of thousands of sets, without partitions.

estimate.py       read first: Estimator, seconds of sets of devices
set_loads.py      loads at which the devices of many sets finish together
exchange_laws.py  estimates what blocks exchange from their sizes, and slabs from their order
sets.py           which sets are estimated: a few for a plan, far more for advice

Used by plans (makespan/ begins with the sets of lowest estimates) and by advice (advise/). Imports
nothing else of planning.
"""
