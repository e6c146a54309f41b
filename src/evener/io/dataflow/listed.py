"""Listed: filters and edges as a file names them, on their way to a StreamGraph."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from evener.errors import InputError
from evener.graphs.stream_graph import StreamGraph
from evener.io.sources import Source

REFERENCE_RATE = 1e9  # instructions a second of the processor on which a second was measured


@dataclass
class Listed:
    """Filters by name with what they need, and edges between names.

    filters: name -> instructions, width. edges: tail, head -> bytes, added up where they repeat.
    """

    source: Source
    filters: dict[str, tuple[float, float]] = field(default_factory=dict)
    edges: dict[tuple[str, str], float] = field(default_factory=dict)
    stateful: set[str] = field(default_factory=set)

    def add_filter(self, name: str, scalar: float, vector: float = 1.0) -> None:
        """Add a filter. Raises InputError where there is one of this name."""
        if name in self.filters:
            raise self.source.error(f"has two filters called {name!r}")
        self.filters[name] = scalar, vector

    def add_edge(self, tail: str, head: str, nbytes: float) -> None:
        """Add bytes from a filter to another one."""
        self.edges[tail, head] = self.edges.get((tail, head), 0.0) + nbytes

    def graph(self) -> StreamGraph:
        """Return the graph. Raises InputError with the file's name where it cannot be one."""
        if not self.filters:
            raise self.source.error("has no filter")
        number = {name: i for i, name in enumerate(self.filters)}
        for pair in self.edges:
            unknown = next((name for name in pair if name not in number), None)
            if unknown is not None:
                raise self.source.error(f"has an edge of {unknown!r}, which is no filter")
        work = np.array(list(self.filters.values()), np.float64).reshape(-1, 2)
        ends = np.array([[number[a], number[b]] for a, b in self.edges], np.int64).reshape(-1, 2)
        is_stateful = np.array([name in self.stateful for name in number], np.bool_)
        try:
            return StreamGraph(
                tuple(number), work[:, 0], work[:, 1], ends[:, 0], ends[:, 1],
                np.array(list(self.edges.values()), np.float64), is_stateful,
            )  # fmt: skip
        except InputError as error:
            raise self.source.error(error.message, hint=error.hint) from error
