"""Reading and writing: one file per format; `read` detects the format.

A plan enters this package three times: for the machine file, for the graph, and to be written.
Public functions of all packages use accept.py, which accepts a file name or another library's graph
in place of a Graph or a Platform.
"""

from __future__ import annotations

from evener.io.read import Reading, read, read_graph
from evener.io.write import write_graph

__all__ = ["Reading", "read", "read_graph", "write_graph"]
