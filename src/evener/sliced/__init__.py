"""Divide graphs in slices of rows, on MPI ranks or in a file; no process holds the whole graph.

Every graph is cut into the same N_SLICES slices. The work on a slice depends only on its rows and
on values that processes exchange between steps. So the blocks are the same for any number of ranks,
and for a file that is read slice by slice.

rows.py          SlicedGraph, the input of all others, and a graph in memory: read this first
blocks.py        clusters, their graph divided, borders refined: all steps in one file
uneven.py        graphs of uneven degrees instead
border_graph.py  borders with exact messages, for predicted seconds
recounting.py    figures of blocks, counted independently; counted.py: derived figures
facts.py         what sizes and contracts need; the same rows with other weights
files.py         a file read slice by slice; memory.py: within how much
distributed.py   rows on MPI ranks
tools.py         LDG, Fennel, and runs of the Hilbert curve; slabs.py: along a line

May import partitioning, sizing, running (communication), io, plans, graphs, platforms.
"""
