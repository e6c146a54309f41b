"""Advice: which devices of a machine are worth using, as a table with a row for each set size.

advise.py     read first: estimate sets, plan the likely ones, make rows
set_plans.py  plans of the sets that are likely to be best, until none is left
choices.py    seconds, money and energy of each set; the best, the knee

Plans do not depend on this package: `plan` itself leaves devices out, see makespan/__init__.py.
Imports device_sets and makespan of planning, and the packages below it.
"""
