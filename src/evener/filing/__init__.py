"""Reading and writing: one file per format; `read` finds out which it is."""

from __future__ import annotations

from evener.filing.reading import Reading, read, read_graph
from evener.filing.writing_graphs import write_graph

__all__ = ["Reading", "read", "read_graph", "write_graph"]
