"""Advice: which devices of a machine are worth using, as a row for every number of devices.

advise.py      read first: estimate sets, plan the likely ones, make rows
set_search.py  the best sets of every size, by estimates
confirming.py  which sets are planned: those likely to be best, until none is left
set_plans.py   the plan of one set, in which each of its devices has a block
rows.py        seconds, money and energy of each set; the best, the knee

Nothing here decides about a plan: `plan` leaves devices out by itself, see makespan/__init__.py.
Imports device_sets and makespan of planning, and the rooms below it.
"""
