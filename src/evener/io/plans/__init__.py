"""Plan files and partition files.

plan.py        a plan file, one portable archive; manifest.py: its JSON part
edge_plan.py, stream_plan.py
               plans of edges and of filters; archived.py: code shared by both
partitions.py  writes partitions for solvers and viewers; parts.py reads those of any tool
promises.py    the terms of a plan that exports contain: workload, contract, reading options
"""
