"""Reading and writing: one file per format; `read` finds out which it is.

A plan enters this room three times: for the machine file, for the graph, and to be written. Public
functions of all rooms enter it by accept.py, which takes a file's name or another library's graph
where a Graph or a Platform is needed.
"""

from __future__ import annotations

from evener.io.read import Reading, read, read_graph
from evener.io.write import write_graph

__all__ = ["Reading", "read", "read_graph", "write_graph"]
