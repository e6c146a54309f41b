"""Reads and writes stream graphs in TOML, of which a person can write one.

[[filter]]
name = "blur"
scalar = 4.0e6        # instructions an iteration that follow each other
vector = 1024         # data that each of them is for; 1 if left out
stateful = false
needs = { memory_MB = 64 }   # capabilities of a device that it needs

[[edge]]
from = "blur"
to = "show"
bytes = 4.0e6         # an iteration
tokens = 0            # iterations' data that lie on the edge at first
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from evener.errors import InputError
from evener.files.writing import write_text
from evener.graphs.stream_graph import StreamGraph
from evener.io.machines import toml_tables as tables
from evener.io.machines.toml_syntax import TomlFile, read_toml, toml_key, toml_number, toml_text

_FILE = TomlFile("stream graph", "no [[filter]] table", "See docs/streams.md.", 1 << 28)
_COUNT = (tables.not_negative, "a number not below zero", True)
_MORE = (tables.not_negative, "a number not below zero", False)
_NAME = (tables.text, "a text that is not empty", True)
FILTER = {
    "name": _NAME,
    "scalar": _COUNT,
    "vector": (tables.positive, "a number of one or more", False),
    "stateful": (tables.flag, "true or false", False),
    "needs": (tables.numbers, "a table of numbers", False),
}
EDGE = {"from": _NAME, "to": _NAME, "bytes": _COUNT, "tokens": _MORE}


def read_stream_toml(path: str | Path) -> StreamGraph:
    """Read a stream graph in TOML. Raises InputError with file, line and the key meant."""
    text, data = read_toml(path, _FILE)
    with tables.placed(path, text):
        return _graph(data)


def _graph(data: Mapping[str, Any]) -> StreamGraph:
    tables.refuse_unknown(data, ("filter", "edge"), "", 0)
    filters = tables.listed(data, "filter", FILTER)
    edges = tables.listed(data, "edge", EDGE)
    if not filters:
        raise tables.TableError("no [[filter]] table: a stream graph needs one", "", 0)
    number = {table["name"]: i for i, table in enumerate(filters)}
    for index, edge in enumerate(edges):
        for key in ("from", "to"):
            if edge[key] not in number:
                message = f"an edge is {key} {edge[key]!r}, which is no filter"
                raise tables.TableError(message, "edge", index, key)
    keys = list(dict.fromkeys(key for table in filters for key in table.get("needs", {})))
    try:
        return StreamGraph(
            tuple(number) if len(number) == len(filters) else tuple(t["name"] for t in filters),
            np.array([float(table["scalar"]) for table in filters]),
            np.array([float(table.get("vector", 1.0)) for table in filters]),
            np.array([number[edge["from"]] for edge in edges], np.int64),
            np.array([number[edge["to"]] for edge in edges], np.int64),
            np.array([float(edge["bytes"]) for edge in edges], np.float64),
            np.array([table.get("stateful", False) for table in filters], np.bool_),
            np.array([float(edge.get("tokens", 0.0)) for edge in edges], np.float64),
            {
                key: np.array([float(t.get("needs", {}).get(key, 0.0)) for t in filters])
                for key in keys
            },
        )
    except InputError as error:
        raise tables.TableError(error.message, "", 0, hint=error.hint) from error


def write_stream_toml(path: str | Path, graph: StreamGraph) -> None:
    """Write a stream graph that read_stream_toml reads back as an equal one."""
    write_text(path, stream_toml(graph))


def stream_toml(graph: StreamGraph) -> str:
    """Return the text of a stream graph in TOML."""
    assert graph.stateful is not None
    assert graph.tokens is not None
    parts = []
    for i, name in enumerate(graph.names):
        lines = ["[[filter]]", f"name = {toml_text(name)}"]
        lines.append(f"scalar = {toml_number(float(graph.scalar[i]))}")
        if graph.vector[i] != 1:
            lines.append(f"vector = {toml_number(float(graph.vector[i]))}")
        if graph.stateful[i]:
            lines.append("stateful = true")
        needs = {key: float(value[i]) for key, value in graph.needs.items() if value[i] != 0}
        if needs:
            inner = ", ".join(f"{toml_key(k)} = {toml_number(v)}" for k, v in needs.items())
            lines.append(f"needs = {{ {inner} }}")
        parts.append("\n".join(lines))
    for e in range(graph.m):
        tail, head = graph.names[graph.tails[e]], graph.names[graph.heads[e]]
        lines = ["[[edge]]", f"from = {toml_text(tail)}", f"to = {toml_text(head)}"]
        lines.append(f"bytes = {toml_number(float(graph.nbytes[e]))}")
        if graph.tokens[e]:
            lines.append(f"tokens = {toml_number(float(graph.tokens[e]))}")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"
