"""Graph files read piece by piece: a window of the file in memory at a time, never all of it.

Formats whose lines or arrays hold arcs one after another can be read so: METIS, Matrix Market
(coordinate), edge lists of numbers without gaps, binary CSR, and Evener's own archives. WholeNeeded
says why another file cannot.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy.typing as npt

from evener.files.opening import is_stdin, open_input
from evener.io.sources import PACKINGS, Source, is_packed

PIECE = 2**22  # bytes of a piece of text: see evener.io.text.PIECE
HEAD = 2**20  # bytes in which the header must end
Repeats = Literal["refused", "first", "sum"]


class WholeNeeded(Exception):  # noqa: N818 - no error: the graph is read in another way
    """The file must be read whole; the text says why."""


class ArcPiece(NamedTuple):
    """Arcs of a piece of a file.

    tails, heads (a,) whole numbers from 0; weights (a,) int64 or float64, or None.
    """

    tails: npt.NDArray[Any]
    heads: npt.NDArray[Any]
    weights: npt.NDArray[Any] | None


class Tally(NamedTuple):
    """What was seen in pieces of a file.

    lines: entries or arcs; loops: those from a vertex to itself. fractional: whether a weight is
    written other than as a whole number; unfit: why values cannot weigh arcs. low, high: the least
    and the greatest number of a vertex. signature: 0 over all pieces if every arc stands at both
    ends with one weight. arcs, isolated: of the graph, how many arcs, and vertices without any.
    """

    lines: int = 0
    loops: int = 0
    fractional: bool = False
    unfit: str = ""
    low: int = 2**63 - 1
    high: int = -1
    signature: int = 0
    arcs: int = 0
    isolated: int = 0

    @staticmethod
    def together(tallies: Sequence[Tally]) -> Tally:
        """Return what was seen in all."""
        return reduce(_added, tallies, Tally())


def _added(one: Tally, other: Tally) -> Tally:
    return Tally(
        one.lines + other.lines,
        one.loops + other.loops,
        one.fractional or other.fractional,
        one.unfit or other.unfit,
        min(one.low, other.low),
        max(one.high, other.high),
        (one.signature + other.signature) % 2**64,
        one.arcs + other.arcs,
        one.isolated + other.isolated,
    )


@dataclass
class ArcStream:
    """A graph file that is read in pieces; one subclass for each format.

    n: vertices. directed: whether lines are arcs of a directed graph. both: each pair stands for an
    arc each way, the other one with `turned` times the weight. repeats: of equal arcs the first
    counts, or their sum, or the file is wrong. weighted: whether arcs have weights;
    fractional: whether these are float64 whatever they are. vertices_weigh: whether vertices have
    weights, which are not read. n_pieces: how many pieces there are.
    """

    source: Source
    n: int
    directed: bool
    both: bool = False
    turned: float = 1.0
    repeats: Repeats = "first"
    weighted: bool = False
    fractional: bool = False
    vertices_weigh: bool = False
    n_pieces: int = 1
    notes: list[str] = field(default_factory=list)

    def survey(self, piece: int) -> int:  # noqa: ARG002 - formats without rows have none
        """Return how many rows begin in a piece."""
        return 0

    def surveyed(self, rows: Sequence[int]) -> None:
        """Take the rows of all pieces. Raises InputError where there are too few."""

    def read(self, first: int, last: int) -> Iterator[tuple[ArcPiece, Tally]]:
        """Yield the pieces first to last - 1. Raises InputError for what is wrong in them."""
        raise NotImplementedError

    def finish(self, seen: Tally) -> None:
        """Check what all pieces hold together, and add notes.

        Raises InputError, and WholeNeeded where only the whole file tells its vertices.
        """


@dataclass(frozen=True, eq=False)
class Window(Source):
    """A part of a file, from the byte `start` on, as readers of whole files take it.

    whole: bytes of the file.
    """

    start: int = 0
    whole: int = 0

    @property
    def extent(self) -> int:
        """Bytes of the whole file."""
        return max(self.whole, len(self.data))

    def line_at(self, offset: int) -> int:
        """Number of the line of the file, from 1, that holds the byte at `offset` here."""
        before = 0
        with open_input(self.path) as file:
            left = self.start
            while left and (data := file.read(min(PIECE, left))):
                before += data.count(b"\n")
                left -= len(data)
        return before + super().line_at(offset)


def head_of(path: str | Path) -> Window:
    """Return the beginning of a file. Raises InputError, and WholeNeeded for packed files."""
    if is_stdin(path):
        raise WholeNeeded("standard input is read once")
    if Path(path).is_dir():
        raise WholeNeeded("it is a folder")
    path = Path(path)
    with open_input(path) as file:
        data = file.read(HEAD)
        whole = os.fstat(file.fileno()).st_size
    if path.suffix in PACKINGS or is_packed(data):
        raise WholeNeeded("it is packed")
    if not data or data.isspace():
        raise WholeNeeded("it begins with white space or is empty")
    return Window(path, path.name, data, "", whole=whole)


@dataclass
class TextStream(ArcStream):
    """A file of lines, cut at line ends; bounds: offsets of the pieces, and the file's end."""

    start: int = 0
    bounds: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bounds = _bounds(self.source.path, self.start)
        self.n_pieces = len(self.bounds) - 1

    def windows(self, first: int, last: int) -> Iterator[Window]:
        """Yield the text of pieces first to last - 1."""
        with open_input(self.source.path) as file:
            for piece in range(first, last):
                begin, end = self.bounds[piece : piece + 2]
                file.seek(begin)
                data = file.read(end - begin)
                if len(data) != end - begin:
                    raise self.source.error("was changed while it was read")
                yield Window(self.source.path, self.source.name, data, "", start=begin)


def _bounds(path: Path, start: int) -> list[int]:
    """Return where the pieces of a file begin, from the byte `start` on, and where it ends."""
    bounds = [start]
    with open_input(path) as file:
        end = os.fstat(file.fileno()).st_size
        while bounds[-1] + PIECE < end:
            file.seek(bounds[-1] + PIECE)
            file.readline()  # to the end of the line that holds this byte
            bounds.append(file.tell())
    return bounds if bounds[-1] == end and len(bounds) > 1 else [*bounds, end]


def both_ways(m: int) -> str:
    """Return the note on a file of m edges whose arcs were asked for."""
    return f"Its {m:,} edges have no direction; each becomes two arcs."


def lines_at_most(window: Window) -> int:
    """Return how many lines a window may have: its line ends, and one."""
    return window.data.count(b"\n") + 1
