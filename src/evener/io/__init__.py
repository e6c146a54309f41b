"""Reading and writing: one file per format; `read` finds out which it is."""

from __future__ import annotations

from evener.io.graphs.write import write_graph
from evener.io.read import Reading, read, read_graph

__all__ = ["Reading", "read", "read_graph", "write_graph"]
