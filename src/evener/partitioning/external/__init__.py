"""Partitioners of other projects, each called in its own child process.

children.py   starts the process, waits for it, reports its errors
worker.py     the program of the process
jobs.py       Job: the input of a tool; integer weights; functions that the modules below share
trees.py      divides a graph along a tree of blocks, by METIS
metis.py, scotch.py, kaminpar.py, mtkahypar.py, mtkahypar_nets.py: one tool each

Imports nothing of partitioning. To add a tool, write a module with `prepare(job, folder) -> Call`
and an entry in partitioning/tools.py. Read jobs.py, then metis.py.
"""
