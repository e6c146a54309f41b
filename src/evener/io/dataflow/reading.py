"""Reads a stream graph from a file of any format that is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from evener.graphs.stream_graph import StreamGraph
from evener.io.dataflow import dot, graphml, toml, workflows
from evener.io.formats import refuse_removed
from evener.io.sources import Source, open_source


class StreamFormat(NamedTuple):
    """Whether a file is of it, and how it is read."""

    recognises: Callable[[Source], bool]
    read: Callable[[Source], StreamGraph]


FORMATS = {
    "dot": StreamFormat(dot.recognises, dot.read),
    "graphml": StreamFormat(graphml.recognises, graphml.read),
    "dax": StreamFormat(workflows.recognises_dax, workflows.read_dax),
    "wfcommons": StreamFormat(workflows.recognises_wfcommons, workflows.read_wfcommons),
    "toml": StreamFormat(toml.recognises, toml.read),
}


class StreamReading(NamedTuple):
    """A stream graph, the file's format, its SHA-256, and what was odd."""

    graph: StreamGraph
    format: str
    sha256: str
    notes: tuple[str, ...] = ()


def read_stream_graph(path: str | Path) -> StreamReading:
    """Read a stream graph: TOML, DOT (also StreamIt's), GraphML, DAX, WfCommons; packed ones.

    Raises InputError where the file is of no format that is known, or damaged.
    """
    source = open_source(path, folders=False)
    refuse_removed(source)
    for name, known in FORMATS.items():
        if known.recognises(source):
            return StreamReading(known.read(source), name, source.sha256, tuple(source.notes))
    raise source.error(
        "is not a stream graph in a known format",
        hint=f"Formats of stream graphs: {', '.join(FORMATS)}.",
    )
