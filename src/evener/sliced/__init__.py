"""Divides graphs in slices of rows, on MPI ranks or in a file; no process holds the whole graph.

Every graph is cut into the same N_SLICES slices. The work on a slice depends only on its rows and
on values that processes exchange between steps. So the blocks are the same for any number of ranks,
and for a file that is read slice by slice.

rows.py          SlicedGraph, the input of all other modules, and a graph in memory: read this first
blocks.py        divides a graph: makes clusters, divides their graph, refines borders
uneven.py        divides graphs of uneven degrees
border_graph.py  the graph of borders, with exact messages, for predicted seconds
recounting.py    counts what blocks hold and send
facts.py         figures that sizes and contracts need; the same rows with other weights
files.py         a file that is read slice by slice
memory.py        the memory that dividing a graph needs
distributed.py   DistributedGraph: rows on MPI ranks
tools.py         other partitioners: LDG, Fennel, and runs of the Hilbert curve
slabs.py         slabs across a direction

May import partitioning, sizing, running (communication), io, plans, graphs, platforms.
"""
