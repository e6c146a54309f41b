"""Plan files and partition files.

plan.py        one portable archive; manifest.py is its JSON part
edge_plan.py, stream_plan.py
               plans of edges and of filters; archived.py: what their files share
partitions.py  written as solvers and viewers read them; parts.py: read from any tool
promises.py    what exports contain of a plan: workload, contract, reading options
"""
