"""Partitioners for blocks of unequal weight: Evener's and external ones; repair and refinement.

For all partitioners:

registry.py      partition_with: calls a partitioner by name, after checking what it can do
tools.py         the table of all partitioners: what each can do, and how to call it
requests.py      Request: targets and options of a call
external/        partitioners of other projects, called in child processes

Evener's partitioners:

portfolio.py     one partition or, for small graphs, the best of several
multilevel/      coarsen, partition the coarsest graph, refine level by level; uses levels/ (coarse
                 graphs), initial/ (k-means, bisection, diffusion, geometry) and refinement/ (FM,
                 minimum cuts, volumes)
label_propagation/ for graphs of uneven degrees
multiconstraint/ the multilevel method for several weights per vertex
hierarchical.py  divides along the tree of a machine
geographer.py    the partitioner of the LDHT paper: k-means, then FM between pairs of blocks
makespan/        refinement for predicted seconds, called by planning
policies/        the policies of Guo et al., for machines of CPUs and GPUs

For any partition:

enforce.py       changes it until it satisfies its contract, with the steps of repair/ (for several
                 weights: of multiconstraint/)
refine.py        improves it, and never makes it worse
mapping/         assigns blocks to devices

May import sizing (rounding), io (accept), plans, graphs and platforms. Read registry.py, then
portfolio.py and enforce.py.

A plan enters this package three times: to make blocks, to satisfy their contract, and to map them
to devices.
"""
