"""Advice: which devices of a machine are worth using, as a row for every number of devices.

advise.py     read first: estimate sets, plan the likely ones, make rows
set_plans.py  plans of the sets that are likely to be best, until none is left
choices.py    seconds, money and energy of each set; the best, the knee

Nothing here decides about a plan: `plan` leaves devices out by itself, see makespan/__init__.py.
Imports device_sets and makespan of planning, and the rooms below it.
"""
