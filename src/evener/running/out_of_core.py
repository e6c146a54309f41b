"""Distributes a graph that does not fit into memory: files store the arcs of each device.

Several threads read the graph's file in pieces and write the arcs of each piece to a file, sorted
by device. Then each thread builds the parts of devices, one after another. Memory contains one
piece and one device's part per thread, and arrays over all vertices.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector
from evener.files.temporary import private_folder
from evener.files.writing import refusal, write_text
from evener.io.graphs.streams import ArcStream, Tally
from evener.plans.partition import Partition
from evener.running.distributed import (
    INDEX_FILE,
    GraphHead,
    PartHead,
    index_of,
    new_folder,
    refuse_folder,
    write_part,
)
from evener.running.local_graphs import Want, signed, unsigned
from evener.running.slices import Count, Dealer, Dealt, Facts, Slice, count_of, facts_of
from evener.running.slicing import share_of
from evener.threads import cores, in_slices

NUMBER = 8  # bytes of a weight


def distribute_file(
    folder: str | Path,
    stream: ArcStream,
    partition: Partition,
    *,
    want: Want = "out",
    names: Sequence[str] = (),
    inputs: Mapping[str, str] | None = None,
    force: bool = False,
    threads: int | None = None,
) -> dict[str, Any]:
    """Write the parts of all devices to a new folder, as `write_distributed` does.

    stream: the graph's file. threads: by default, the number of cores. Temporary files next to the
    folder take 8 bytes per arc, plus its weight. Raises the errors of `write_distributed`,
    InputError for faults in the file, and WholeNeeded if the file must be read as a whole.
    """
    refuse_folder(folder, force=force)
    with private_folder(Path(folder).parent) as private:
        work = _Work(stream, partition, want, private, threads or cores())
        try:
            work.deal()
            work.make_rows()
            heads, facts = work.number()
        except OSError as error:
            raise refusal(error, private) from error
        graph = GraphHead(facts.n, facts.directed, want if facts.directed else "out")
        index = index_of(graph, heads, list(names), dict(inputs or {}))
        with new_folder(Path(folder)) as new:
            work.write(new, facts, index)
            write_text(new / INDEX_FILE, json.dumps(index, indent=1) + "\n")
    return index


class _Written(NamedTuple):
    """Position of a piece's arcs in its file: for each list, its offset [B] and starts (k + 1,).

    A list consists of three consecutive arrays: own, other, weights; the last is missing if there
    are no weights.
    """

    file: Path
    lists: dict[str, tuple[int, IntVector]]
    dtype: np.dtype[Any]
    weight: np.dtype[Any] | None


def _write(file: Path, dealt: dict[str, Dealt]) -> _Written:
    """Write the arcs of a piece to a file."""
    lists: dict[str, tuple[int, IntVector]] = {}
    with file.open("wb") as out:
        for name, one in dealt.items():
            lists[name] = out.tell(), one.starts
            for array in (one.own, one.other, one.weights):
                if array is not None:
                    out.write(array.data)
    one = dealt["out"]
    return _Written(file, lists, one.own.dtype, None if one.weights is None else one.weights.dtype)


class _Stored:
    """The arcs of a device in one list; each iteration reads them from the files of all pieces."""

    def __init__(self, written: Sequence[_Written], name: str, rank: int) -> None:
        self._written, self._name, self._rank = written, name, rank

    def __iter__(self) -> Iterator[Dealt]:
        for one in self._written:
            at, starts = one.lists[self._name]
            first, last = starts[self._rank : self._rank + 2].tolist()
            count, size, item = last - first, int(starts[-1]), one.dtype.itemsize
            if count == 0:
                continue
            with one.file.open("rb") as file:
                own = _part(file, one.dtype, count, at + first * item)
                other = _part(file, one.dtype, count, at + (size + first) * item)
                weights = None
                if one.weight is not None:
                    place = at + 2 * size * item + first * one.weight.itemsize
                    weights = _part(file, one.weight, count, place)
            yield Dealt(np.array([0, count]), own, other, weights)


def _part(file: BinaryIO, dtype: np.dtype[Any], count: int, offset: int) -> npt.NDArray[Any]:
    file.seek(offset)
    return np.fromfile(file, dtype, count)


class _Work:
    """The steps of the distribution, and the data that they pass on."""

    def __init__(
        self, stream: ArcStream, partition: Partition, want: Want, folder: Path, threads: int
    ) -> None:
        self.stream, self.partition, self.want = stream, partition, want
        self.folder, self.threads, self.k = folder, threads, partition.k
        self.dealer = Dealer(stream, partition, want)
        self.written: list[_Written] = []
        self.tallies: list[Tally] = []
        self.degrees: npt.NDArray[Any] = np.empty(0, np.int32)
        self.ghost_starts: list[IntVector] = []

    def deal(self) -> None:
        """Read all pieces, and write their arcs to files."""
        stream, count = self.stream, self.stream.n_pieces
        rows = [0] * count

        def survey(piece: int) -> None:
            rows[piece] = stream.survey(piece)

        in_slices(survey, count, self.threads)
        stream.surveyed(rows)
        written: list[Any] = [None] * count
        tallies = [Tally()] * count
        turns = max(min(self.threads, count), 1)

        def work(turn: int) -> None:
            own = share_of(count, turn, turns)
            for number, (piece, seen) in zip(own, stream.read(own.start, own.stop), strict=True):
                dealt, tallies[number] = self.dealer.deal(piece, seen)
                written[number] = _write(self.folder / f"piece-{number}", dealt)

        in_slices(work, turns, self.threads)
        self.written, self.tallies = written, tallies

    def make_rows(self) -> None:
        """Build the rows of all devices, and write them to files."""
        starts: list[Any] = [None] * self.k
        most = sum(int(one.lists["out"][1][-1]) for one in self.written)
        self.degrees = np.zeros(self.stream.n, signed(most))

        def work(rank: int) -> None:
            pieces = {name: _Stored(self.written, name, rank) for name in self.dealer.lists}
            one = Slice.of(rank, pieces, self.partition, self.stream.repeats, self.want)
            self.degrees[one.own] = one.degrees
            starts[rank] = one.ghost_starts
            one.ghosts.tofile(self._file("ghosts", rank))
            self._save(one)

        in_slices(work, self.k, self.threads)
        self.ghost_starts = starts
        for one in self.written:
            one.file.unlink()

    def number(self) -> tuple[list[PartHead], Facts]:
        """Number the vertices of all devices; return the figures for index.json."""
        found: list[Any] = [None] * self.k

        def work(rank: int) -> None:
            one = self._load(rank)
            one.number(self._asked(rank))
            count = count_of(one, self.stream.n, self.stream.repeats)
            arcs = next(iter(one.lists.values())).adjncy.size
            owned = one.own[one.rows].astype(unsigned(self.stream.n))
            head = PartHead(owned, one.n_interior, int(one.ghosts.size), int(arcs), 0)
            found[rank] = head, one.size(self.k), count

        in_slices(work, self.k, self.threads)
        counts: list[Count] = [count for _, _, count in found]
        facts = facts_of(self.stream, self.tallies, counts)
        weight = NUMBER * facts.weighted
        heads = [head._replace(nbytes=size.nbytes(facts.arcs, weight)) for head, size, _ in found]
        return heads, facts

    def write(self, folder: Path, facts: Facts, index: Mapping[str, Any]) -> None:
        """Write the files of all devices."""

        def work(rank: int) -> None:
            one = self._load(rank)
            self._file("slice", rank).unlink()
            one.number(self._asked(rank))
            local = one.finish(self.degrees[one.ghosts], facts, self.k)
            write_part(folder, local, index)

        in_slices(work, self.k, self.threads)

    def _asked(self, owner: int) -> dict[int, IntVector]:
        """Return, for each other device, the vertices of `owner` that are its ghosts."""
        asked: dict[int, IntVector] = {}
        for q, starts in enumerate(self.ghost_starts):
            first, last = starts[owner : owner + 2].tolist()
            if first < last:
                with self._file("ghosts", q).open("rb") as file:
                    asked[q] = _part(file, np.dtype(np.int64), last - first, 8 * first)
        return asked

    def _file(self, what: str, rank: int) -> Path:
        return self.folder / f"{what}-{rank}"

    def _save(self, one: Slice) -> None:
        with self._file("slice", one.rank).open("wb") as file:
            pickle.dump(one, file, pickle.HIGHEST_PROTOCOL)

    def _load(self, rank: int) -> Slice:
        with self._file("slice", rank).open("rb") as file:
            one: Slice = pickle.load(file)
            return one
