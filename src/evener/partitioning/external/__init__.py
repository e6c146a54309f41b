"""Other people's partitioners, each called in a child process of its own.

children.py   starts the process, waits for it, reports what went wrong
worker.py     the process itself
jobs.py       what a tool is asked, whole weights, and what the modules below share
metis.py, scotch.py, kaminpar.py, mtkahypar.py: one tool each

Imports nothing of partitioning. A new tool is a module with `prepare(job, folder) -> Call` and an
entry in partitioning/tools.py. Read jobs.py, then metis.py.
"""
