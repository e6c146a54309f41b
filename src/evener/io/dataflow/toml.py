"""Reads and writes stream graphs in TOML, which people can also write by hand.

[[filter]]
name = "blur"
scalar = 4.0e6        # sequential instructions per iteration
vector = 1024         # data to which each instruction applies; 1 if left out
stateful = false
needs = { memory_MB = 64 }   # capabilities of a device that it needs

[[edge]]
from = "blur"
to = "show"
bytes = 4.0e6         # per iteration
tokens = 0            # number of iterations whose data are on the edge at the start
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from evener.errors import InputError
from evener.graphs.stream_graph import EdgeRow, FilterRow, StreamGraph
from evener.io.machines import toml_tables as tables
from evener.io.machines.toml_syntax import TomlFile, parse_toml, toml_key, toml_number, toml_text
from evener.io.sources import Source

_FILTER = re.compile(rb"(?m)^[ \t]*\[\[[ \t]*filter[ \t]*\]\]")


def _one_or_more(value: Any) -> float | None:
    number = tables.real(value)
    return number if number is not None and number >= 1 else None


def _needs(value: Any) -> dict[str, float] | None:
    found = tables.numbers(value)
    return found if found is not None and all(v >= 0 for v in found.values()) else None


_FILE = TomlFile("stream graph", "no [[filter]] table", "See docs/streams.md.", 1 << 28)
_COUNT = (tables.not_negative, "a number not below zero", True)
_TOKENS = (tables.index, "a whole number not below zero", False)
_NAME = (tables.text, "a text that is not empty", True)
FILTER = {
    "name": _NAME,
    "scalar": _COUNT,
    "vector": (_one_or_more, "a number of one or more", False),
    "stateful": (tables.flag, "true or false", False),
    "needs": (_needs, "a table of numbers not below zero", False),
}
EDGE = {"from": _NAME, "to": _NAME, "bytes": _COUNT, "tokens": _TOKENS}


def recognises(source: Source) -> bool:
    """Return whether the suffix is .toml, or a [[filter]] table is near the file's beginning."""
    return source.suffix == ".toml" or _FILTER.search(source.data[: 1 << 14]) is not None


def read(source: Source) -> StreamGraph:
    """Return the graph. Raises InputError with the line and the key concerned."""
    text, data = parse_toml(source.data, source.path, _FILE)
    with tables.placed(source.path, text):
        return _graph(data)


def _graph(data: Mapping[str, Any]) -> StreamGraph:
    tables.refuse_unknown(data, ("filter", "edge"), "", 0)
    filters = tables.listed(data, "filter", FILTER)
    edges = tables.listed(data, "edge", EDGE)
    if not filters:
        raise tables.TableError("no [[filter]] table: a stream graph needs one", "", 0)
    names: set[str] = set()
    for index, table in enumerate(filters):
        if table["name"] in names:
            message = f"two filters have the name {tables.shown(table['name'])}"
            raise tables.TableError(message, "filter", index, "name")
        names.add(table["name"])
    for index, edge in enumerate(edges):
        for key in ("from", "to"):
            if edge[key] not in names:
                message = f"`{key}` of an edge is {tables.shown(edge[key])}, which is not a filter"
                raise tables.TableError(message, "edge", index, key)
    try:
        return StreamGraph.of(
            [
                FilterRow(
                    table["name"],
                    table["scalar"],
                    table.get("vector", 1.0),
                    table.get("stateful", False),
                    table.get("needs", {}),
                )
                for table in filters
            ],
            [EdgeRow(t["from"], t["to"], t["bytes"], t.get("tokens", 0.0)) for t in edges],
        )
    except InputError as error:
        raise tables.TableError(error.message, "", 0, hint=error.hint) from error


def stream_toml(graph: StreamGraph) -> str:
    """Return the text of a stream graph in TOML."""
    parts = []
    for row in graph.filter_rows():
        lines = ["[[filter]]", f"name = {toml_text(row.name)}"]
        lines.append(f"scalar = {toml_number(row.scalar)}")
        if row.vector != 1:
            lines.append(f"vector = {toml_number(row.vector)}")
        if row.stateful:
            lines.append("stateful = true")
        if row.needs:
            inner = ", ".join(f"{toml_key(k)} = {toml_number(v)}" for k, v in row.needs.items())
            lines.append(f"needs = {{ {inner} }}")
        parts.append("\n".join(lines))
    for edge in graph.edge_rows():
        lines = ["[[edge]]", f"from = {toml_text(edge.tail)}", f"to = {toml_text(edge.head)}"]
        lines.append(f"bytes = {toml_number(edge.nbytes)}")
        if edge.tokens:
            lines.append(f"tokens = {toml_number(edge.tokens)}")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"
