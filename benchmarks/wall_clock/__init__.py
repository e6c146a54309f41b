"""Seconds on the wall clock of two cores: what truth.py and measured.py are made of.

launching.py    ranks of MPI, each of them one of the programs below, and rivals for a core
two_ranks.py    program: two cores in real time, or four ranks on them
jacobi_ranks.py program: two ranks whose rows move when a rival comes
emulated.py     program: devices emulated in real time, eight of them on two cores
cases.py        what measured.py runs, and the goals
machines.py     what a machine looks like to a planner: samples of speeds, links
plans.py        partitions to compare: equal blocks, METIS at the same sizes, Evener's plan
timing.py       a product repeated, sampled by itself or iterated with its halo
figures.py      medians, intervals by bootstrap, expected maxima
"""
