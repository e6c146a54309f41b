"""Plan files and partition files.

plan.py        one portable archive; manifest.py is its JSON part
partitions.py  written as solvers and viewers read them; parts.py: read from any tool
promises.py    what exports carry of a plan: workload, contract, way of reading
"""
