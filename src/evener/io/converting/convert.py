"""convert_to_csr: converts a file of any size to a binary CSR file, with bounded memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from evener.errors import InputError
from evener.files.opening import ANY_SIZE, is_stdin, open_input
from evener.files.steps import LoggedSteps
from evener.files.writing import is_stdout, refusal, refuse_unwritable
from evener.io.converting.blocks import TextBlocks
from evener.io.converting.buckets import Spool
from evener.io.converting.lists import ListsConverter, layout_of
from evener.io.converting.pairs import Filled, fill_from_lines, fill_from_matrix
from evener.io.converting.vertices import VertexFiles
from evener.io.csr.csr_file import CsrFile
from evener.io.csr.csr_writer import can_be_filled, csr_written
from evener.io.csr.layout import HEADER, MAGIC
from evener.io.formats import Format, format_named, format_of
from evener.io.graphs import metis
from evener.io.graphs.streams import WholeNeeded, Window
from evener.wording import memory as shown_memory

MEMORY = 2**30  # bytes in addition to the process's current memory, by default
Progress = Callable[[str, float], None]
_STEP = 0.01  # share of a text after which progress is reported
_READ = 0.6  # share of the time for reading text, if rows are sorted afterwards


@dataclass(frozen=True)
class Converted:
    """The result: numbers of vertices and edges, the input's format, notes on omitted data."""

    n: int
    m: int
    format: str
    notes: tuple[str, ...]


class _Work(NamedTuple):
    """A text to be converted: its blocks, its first lines, and separate files about its vertices.

    memory [B]: limit for data made from the blocks.
    """

    blocks: TextBlocks
    source: Window
    target: Path
    vertices: VertexFiles
    memory: int
    tell: Progress


def convert_to_csr(
    path: str | Path,
    target: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    vertices: VertexFiles | None = None,
    memory: int = MEMORY,
    progress: Progress | None = None,
) -> Converted:
    """Write the graph of a METIS file, edge list, Matrix Market or binary CSR file as binary CSR.

    memory: bytes to work in. progress: called with (step, fraction). The file is the same as if the
    whole graph had been read. Raises InputError for a wrong file, OutputError if the disk is full,
    and WholeNeeded, with the reason, for a file that must be read whole; in these cases nothing is
    written.
    """
    path, target = Path(path), Path(target)
    if is_stdin(path):
        raise WholeNeeded("standard input can be read only once")
    if path.is_dir():
        raise WholeNeeded("it is a folder")
    refuse_unwritable(target)
    if not can_be_filled(target):
        raise WholeNeeded(f"{target} is not a regular file")
    tell = progress or LoggedSteps(f"converting {path.name}")
    to_parse = memory // 2
    blocks = TextBlocks(path, memory=to_parse)
    source = _head(blocks)
    entry = format_of(source) if format is None else format_named(format)
    if entry.name not in _WAYS or (format is None and not _is_certain(entry, source)):
        raise WholeNeeded(f"Evener reads the format {entry.name} only as a whole")
    if entry.name == "ecsr" and blocks.packed:
        raise WholeNeeded("it is a packed binary file")
    work = _Work(blocks, source, target, vertices or VertexFiles(), memory - to_parse, tell)
    try:
        made = _WAYS[entry.name](work)
    except InputError as error:
        if error.file is not None:
            raise
        raise source.error(error.message, line=error.line, hint=error.hint) from error
    except BrokenPipeError:
        raise  # the reader of stdout has closed the pipe
    except OSError as error:  # from the temporary files
        raise refusal(error, target) from error
    tell("done", 1.0)
    return made


def _is_certain(entry: Format, source: Window) -> bool:
    """Return whether the beginning of a file suffices to determine its format."""
    return entry.name in ("ecsr", "matrixmarket") or source.suffix in SUFFIXES


def _lists(work: _Work) -> Converted:
    head = metis.header_of(work.source)
    metis.check_extent(work.source, head)
    with Spool(folder_of(work.target)) as spool:
        vertices = work.vertices.read(
            work.source, head.n, spool, head.n_weights, memory=work.memory
        )
        layout = vertices.added(layout_of(head))
        converter = ListsConverter(work.source, head, vertices)
        with csr_written(work.target, layout) as writer:
            if not work.blocks.packed:
                writer.reserve()
            work.blocks.told = _said(work, "", 1.0)
            converter.write(work.blocks, writer)
            vertices.write(writer)
    return Converted(head.n, head.m, "metis", (*metis.skipped(head), *work.vertices.notes))


def _pairs(name: str, fill: Fill, passes: int, work: _Work) -> Converted:
    with Spool(folder_of(work.target)) as spool:
        work.blocks.told = _said(work, f"pass 1 of {passes}: ", _READ)
        filled = fill(work.blocks, work.source, spool, work.memory)
        layout = filled.layout
        vertices = work.vertices.read(work.source, layout.n, spool, memory=work.memory)
        with csr_written(work.target, vertices.added(layout)) as writer:
            for row in filled.write(writer, spool):
                step = f"pass {passes} of {passes}: sorting rows, {row:,} of {layout.n:,}"
                work.tell(step, _READ + (1 - _READ) * row / layout.n)
            vertices.write(writer)
            layout = writer.layout
    notes = (*filled.said(layout.arcs), *work.vertices.notes)
    return Converted(layout.n, layout.arcs // 2, name, notes)


def _rows(work: _Work) -> Converted:
    """Copy a binary CSR file; separate vertex files replace its own vertex data."""
    with CsrFile(work.source.path) as file, Spool(folder_of(work.target)) as spool:
        own = file.layout
        vertices = work.vertices.read(
            work.source, own.n, spool, own.constraints, memory=work.memory
        )
        with csr_written(work.target, vertices.added(own)) as writer:
            writer.reserve()
            arcs = 0
            for first, last in file.ranges():
                work.tell(f"copying rows, {first:,} of {own.n:,}", first / own.n)
                rows = file.rows(first, last)
                writer.put("xadj", first, rows.xadj + arcs)
                writer.put("adjncy", arcs, rows.adjncy)
                if rows.adjwgt is not None:
                    writer.put("adjwgt", arcs, rows.adjwgt)
                if rows.vwgt is not None and vertices.weights is None:
                    vwgt = vertices.chosen(rows.vwgt)
                    writer.put("vwgt", first * writer.layout.constraints, vwgt.ravel())
                if own.dimension and vertices.points is None:
                    writer.put("coords", first * own.dimension, file.points(first, last).ravel())
                if (labels := file.labels(first, last)) is not None:
                    writer.put("labels", first, labels)
                arcs += rows.adjncy.size
            vertices.write(writer)
    return Converted(own.n, own.arcs // 2, "ecsr", tuple(work.vertices.notes))


def _head(blocks: TextBlocks) -> Window:
    """Return the first lines of a text, or the first bytes of a binary CSR file."""
    with open_input(blocks.path, ANY_SIZE) as file:
        first = file.read(HEADER)
        whole = os.fstat(file.fileno()).st_size
    if first.startswith(MAGIC):
        return Window(blocks.path, blocks.name, first, "", whole=whole)
    return blocks.head()


def _said(work: _Work, begin: str, share: float) -> Callable[[float], None]:
    """Return a function that reports the fraction of a text read so far as progress."""
    size = work.blocks.size
    name = work.blocks.path.name
    last = -1.0

    def told(fraction: float) -> None:
        nonlocal last
        if fraction - last < _STEP:
            return
        last = fraction
        read = f"{shown_memory(fraction * size)} of {shown_memory(size)}"
        work.tell(f"{begin}reading {name}, {read}", share * fraction)

    return told


def folder_of(target: Path) -> Path:
    """Return the target's folder, for temporary files; for stdout, the temporary folder."""
    return Path(tempfile.gettempdir() if is_stdout(target) else os.path.realpath(target.parent))


Fill = Callable[[TextBlocks, Window, Spool, int], Filled]
_WAYS: dict[str, Callable[[_Work], Converted]] = {
    "ecsr": _rows,
    "metis": _lists,
    "edges": partial(_pairs, "edges", fill_from_lines, 3),
    "matrixmarket": partial(_pairs, "matrixmarket", fill_from_matrix, 2),
}
SUFFIXES = {suffix for name in _WAYS for suffix in format_named(name).suffixes} | {".snap"}
