"""Reads a stream graph from a file of any known format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from evener.graphs.stream_graph import StreamGraph
from evener.io.dataflow import dot, graphml, toml, workflows
from evener.io.formats import refuse_removed
from evener.io.sources import Source, open_source


class StreamFormat(NamedTuple):
    """How a format is recognised, and how it is read."""

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
    """A stream graph, the file's format and SHA-256, and notes on anything unusual."""

    graph: StreamGraph
    format: str
    sha256: str
    notes: tuple[str, ...] = ()


def read_stream_graph(path: str | Path) -> StreamReading:
    """Read a stream graph from TOML, DOT (also StreamIt's), GraphML, DAX or WfCommons.

    The file may be packed. Raises InputError if the format is unknown or the file is damaged.
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
