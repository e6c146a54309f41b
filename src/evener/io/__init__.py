"""Reading and writing: one file per format; `read` detects the format.

A plan enters this package three times: to read the machine file, to read the graph, and to write
the plan. accept.py lets public functions of all packages take a file name, or another library's
graph, in place of a Graph or a Platform.
"""

from __future__ import annotations

from evener.io.read import Reading, read, read_graph
from evener.io.write import write_graph

__all__ = ["Reading", "read", "read_graph", "write_graph"]
