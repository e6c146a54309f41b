"""Listed: collects the filters and edges of a file before they become a StreamGraph."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from evener.errors import InputError
from evener.graphs.stream_graph import EdgeRow, FilterRow, StreamGraph
from evener.io.sources import Source

REFERENCE_RATE = 1e9  # assumed instructions per second where run times were measured
NEEDS = "needs."  # prefix of requirements in formats whose attributes cannot be tables


@dataclass
class Listed:
    """The filters and edges of a file, in file order."""

    source: Source
    filters: list[FilterRow] = field(default_factory=list)
    edges: list[EdgeRow] = field(default_factory=list)

    def graph(self) -> StreamGraph:
        """Return the graph. Raises InputError, with the file's name, if the graph is invalid."""
        if not self.filters:
            raise self.source.error("contains no filters")
        try:
            return StreamGraph.of(self.filters, self.edges)
        except InputError as error:
            raise self.source.error(error.message, hint=error.hint) from error


class Attributes:
    """Attributes of a node or an edge as texts, to be converted to numbers, flags and needs.

    whose: name of their owner in errors. refuse: returns the error for a key and a message.
    """

    def __init__(
        self, own: Mapping[str, str], whose: str, refuse: Callable[[str, str], InputError]
    ) -> None:
        self._own, self._whose, self._refuse = own, whose, refuse

    def number(self, key: str, default: float | None = None) -> float:
        """Return the attribute as a number; if it is invalid or missing, raise `refuse`'s error."""
        text = self._own.get(key)
        if text is None and default is not None:
            return default
        if text is None:
            raise self._refuse(key, f"has no {key} for {self._whose}")
        value = number_in(text)
        if value is None:
            raise self._refuse(
                key, f"has {key} {text[:30]!r} for {self._whose}; a number is needed"
            )
        return value

    def flag(self, key: str) -> bool:
        """Return whether the attribute is true; False if it is missing. Raises as `number`."""
        text = self._own.get(key, "false").strip().lower()
        if text not in ("true", "1", "yes", "false", "0", "no", ""):
            said = f"has {key} {text[:30]!r} for {self._whose}; true or false is needed"
            raise self._refuse(key, said)
        return text in ("true", "1", "yes")

    def needs(self) -> dict[str, float]:
        """Return the requirements: the attributes called needs.NAME, by NAME."""
        keys = [key for key in self._own if key.startswith(NEEDS) and key != NEEDS]
        return {key.removeprefix(NEEDS): self.number(key) for key in keys}


def number_in(text: str) -> float | None:
    """Parse a text as a finite number; return None if it is not one."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None


def add_node(listed: Listed, name: str, own: Attributes) -> None:
    """Add a filter for a node with these attributes."""
    listed.filters.append(
        FilterRow(
            name,
            own.number("scalar"),
            own.number("vector", 1.0),
            own.flag("stateful"),
            own.needs(),
        )
    )


def add_edge(listed: Listed, tail: str, head: str, own: Attributes) -> None:
    """Add an edge with these attributes."""
    listed.edges.append(EdgeRow(tail, head, own.number("bytes"), own.number("tokens", 0.0)))


def node_attributes(row: FilterRow) -> dict[str, float | bool]:
    """Return a filter's attributes by name; those with default values are left out."""
    own: dict[str, float | bool] = {"scalar": row.scalar}
    if row.vector != 1:
        own["vector"] = row.vector
    if row.stateful:
        own["stateful"] = True
    return own | {NEEDS + key: value for key, value in row.needs.items()}


def edge_attributes(row: EdgeRow) -> dict[str, float]:
    """Return an edge's attributes by name; those with default values are left out."""
    return {"bytes": row.nbytes} | ({"tokens": row.tokens} if row.tokens else {})
