"""Graph files read piece by piece: only a window of the file is in memory at a time.

This works for formats whose lines or arrays hold arcs one after another: METIS, Matrix Market
(coordinate), edge lists of numbers without gaps, binary CSR, and Evener's own archives. WholeNeeded
says why another file must be read whole.
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
    """The file must be read whole; the message says why."""


class ArcPiece(NamedTuple):
    """Arcs of a piece of a file.

    tails, heads (a,) whole numbers from 0; weights (a,) int64 or float64, or None.
    """

    tails: npt.NDArray[Any]
    heads: npt.NDArray[Any]
    weights: npt.NDArray[Any] | None


class Tally(NamedTuple):
    """Counts and checks collected over pieces of a file.

    lines: entries or arcs; loops: arcs from a vertex to itself. fractional: whether some weight is
    not written as a whole number; unfit: why values cannot be weights of arcs. low, high: the
    smallest and the largest vertex number. signature: its sum over all pieces is 0 if every arc is
    listed at both ends with the same weight. arcs, isolated: for the graph, the number of arcs and
    of vertices without arcs.
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
        """Return the combined tally."""
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

    n: vertices. directed: whether lines are arcs of a directed graph. both: each pair means two
    arcs, one each way, the second with `turned` times the weight. repeats: for equal arcs, whether
    the first counts, their sum counts, or the file is wrong. weighted: whether arcs have weights;
    fractional: whether weights are always float64. vertices_weigh: whether vertices have weights,
    which are not read. n_pieces: number of pieces.
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
        """Return the number of rows that begin in a piece."""
        return 0

    def surveyed(self, rows: Sequence[int]) -> None:
        """Store the row counts of all pieces. Raises InputError if there are too few."""

    def read(self, first: int, last: int) -> Iterator[tuple[ArcPiece, Tally]]:
        """Yield pieces first to last - 1. Raises InputError for errors in them."""
        raise NotImplementedError

    def finish(self, seen: Tally) -> None:
        """Check the combined tally of all pieces, and add notes.

        Raises InputError; WholeNeeded if the vertices can be determined only from the whole file.
        """


@dataclass(frozen=True, eq=False)
class Window(Source):
    """A part of a file, from byte `start` on, in the form that readers of whole files accept.

    whole: size of the file [B].
    """

    start: int = 0
    whole: int = 0

    @property
    def extent(self) -> int:
        """Size of the whole file [B]."""
        return max(self.whole, len(self.data))

    def line_at(self, offset: int) -> int:
        """Return the file's line number, from 1, for the byte at `offset` of this window."""
        before = 0
        with open_input(self.path) as file:
            left = self.start
            while left and (data := file.read(min(PIECE, left))):
                before += data.count(b"\n")
                left -= len(data)
        return before + super().line_at(offset)


def head_of(path: str | Path) -> Window:
    """Return the beginning of a file. Raises InputError; WholeNeeded if it is packed."""
    if is_stdin(path):
        raise WholeNeeded("standard input can be read only once")
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
    """A file of lines, cut at line ends; bounds: offsets of the pieces, then the file's end."""

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
    """Return the offsets of the pieces of a file, from byte `start` on, and of its end."""
    bounds = [start]
    with open_input(path) as file:
        end = os.fstat(file.fileno()).st_size
        while bounds[-1] + PIECE < end:
            file.seek(bounds[-1] + PIECE)
            file.readline()  # to the end of the current line
            bounds.append(file.tell())
    return bounds if bounds[-1] == end and len(bounds) > 1 else [*bounds, end]


def both_ways(m: int) -> str:
    """Return the note on a file of m undirected edges that is read as arcs."""
    return f"Its {m:,} edges have no direction; each becomes two arcs."


def lines_at_most(window: Window) -> int:
    """Return an upper bound of the number of lines: the number of newlines plus one."""
    return window.data.count(b"\n") + 1
