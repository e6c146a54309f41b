"""Advice: which devices are worth using.

advise.py      the scaling curve of a machine on a graph
confirming.py  plans for the sets of devices that are likely to be best
trials.py      what a set of devices really takes: a plan of all of them
rows.py        seconds, money and energy of each set, and which stand out

May import device_sets and makespan. Read advise.py.
"""
