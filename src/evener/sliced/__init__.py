"""Divides graphs stored in slices of rows, on MPI ranks or in a file; no process holds all rows.

Every graph is cut into N_SLICES slices, whatever the number of ranks. The work on a slice depends
only on its rows and on values that processes exchange between steps. So the blocks are the same for
any number of ranks, and for a file that is read slice by slice.

rows.py          SlicedGraph, the input of all other modules, and a graph in memory: read this first
blocks.py        divides a graph: makes clusters, divides their graph, refines borders
uneven.py        divides graphs of uneven degrees
border_graph.py  a graph with single vertices at borders, on which messages are exact
recounting.py    counts what blocks hold and send
facts.py         figures that sizes and contracts need; graphs with other vertex weights
files.py         a file that is read slice by slice
memory.py        the memory that dividing a graph needs
distributed.py   DistributedGraph: rows on MPI ranks
tools.py         other partitioners: LDG, Fennel, and runs of the Hilbert curve
slabs.py         divides a graph into slabs across a direction
clusters.py      clusters of vertices; contraction.py: their graph
borders.py       refines borders in groups of blocks; windows.py: in windows of rows
degrees.py       degrees, by which uneven.py fills blocks
given_rows.py    rows as the ranks of a program pass them; dealing.py: sends them to other ranks
curve_order.py   renumbers a distributed graph along a space-filling curve
gathering.py     exchanges of arrays between ranks; reading.py: reports how much has been read

May import partitioning, sizing, running (communication), io, plans, graphs, platforms.
"""
