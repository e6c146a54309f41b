"""Reads a stream graph from a file of any known format; writes TOML, DOT and GraphML."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from evener.errors import UsageError, one_of
from evener.files.writing import atomic_write
from evener.graphs.stream_graph import StreamGraph
from evener.io.dataflow import dot, graphml, toml, workflows
from evener.io.formats import refuse_removed
from evener.io.sources import Source, open_source, without_packing
from evener.io.write import packing_of


class StreamFormat(NamedTuple):
    """How a format is recognised, and how it is read."""

    recognises: Callable[[Source], bool]
    read: Callable[[Source], StreamGraph]


STREAM_FORMATS = {
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
    for name, known in STREAM_FORMATS.items():
        if known.recognises(source):
            return StreamReading(known.read(source), name, source.sha256, tuple(source.notes))
    raise source.error(
        "is not a stream graph in a known format",
        hint=f"Formats of stream graphs: {', '.join(STREAM_FORMATS)}.",
    )


class StreamWriter(NamedTuple):
    """The suffixes of a format, and a function that returns a graph's text in it."""

    suffixes: tuple[str, ...]
    text: Callable[[StreamGraph], str]


WRITERS = {
    "toml": StreamWriter((".toml",), toml.stream_toml),
    "dot": StreamWriter((".dot", ".gv"), dot.stream_dot),
    "graphml": StreamWriter((".graphml",), graphml.graphml),
}


def stream_writer_for(path: str | Path, name: str | None = None) -> str:
    """Return the name of the format to write: `name` if given, else the suffix's format.

    Raises UsageError if there is none.
    """
    if name is not None:
        one_of("format", name, WRITERS)
        return name
    suffix = without_packing(path).suffix.lower()
    for known, writer in WRITERS.items():
        if suffix in writer.suffixes:
            return known
    raise UsageError(
        f"no format for stream graphs has the suffix of {Path(path).name}",
        hint=f"Use one of {', '.join(w.suffixes[0] for w in WRITERS.values())}, or name a format.",
    )


def write_stream_graph(
    path: str | Path,
    graph: StreamGraph,
    format: str | None = None,  # noqa: A002
) -> None:
    """Write a stream graph; `read_stream_graph` reads back an equal one.

    format: "toml", "dot" or "graphml"; None: by the suffix. `.zst`, `.gz`, `.xz`, `.bz2` compress
    it. Raises UsageError for other formats, InputError for names that the format cannot hold; an
    existing file then stays unchanged.
    """
    name = stream_writer_for(path, format)
    content = WRITERS[name].text(graph).encode()
    with atomic_write(path) as file:
        file.write(packing_of(Path(path))(content))
