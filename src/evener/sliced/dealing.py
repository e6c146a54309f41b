"""Dealing: sends values from ranks that hold rows in the user's program to owners of slices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector, offsets_of
from evener.errors import InputError
from evener.graphs.graph_checks import index_type
from evener.running.comm import Comm
from evener.sliced import distributed_kernels as kernels
from evener.sliced.gathering import Scalar, Values, exchanged, sent_to
from evener.sliced.rows import N_SLICES, share_of, slice_ends

NOTHING = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Dealing:
    """The ranks to which this rank's given rows go, and from which the rows of its slices come.

    The given rows are those that the calling program holds on this rank. sent, came (ranks,):
    number of rows sent to, and received from, each rank. order (sent.sum(),): indices of the given
    rows in the order of sending; place (came.sum(),): the own vertex of each received row. Either
    is empty if it would be 0, 1, 2, ...
    """

    comm: Comm
    sent: IntVector
    came: IntVector
    order: IntVector
    place: IntVector

    @classmethod
    def of_ranges(cls, comm: Comm, first: int, rows: int, n: int) -> Dealing:
        """Return the dealing if the given rows are vertices `first` to first + rows - 1 of n."""
        within = np.clip(bounds_of(comm.size, n), first, first + rows)
        sent = within[1:] - within[:-1]
        came = np.array(comm.exchange(sent.tolist()), np.int64)
        return cls(comm, sent, came, NOTHING, NOTHING)

    @classmethod
    def of_numbers(cls, comm: Comm, numbers: IntVector, n: int) -> Dealing:
        """Return the dealing if given row i is vertex numbers[i] of n.

        Every vertex must be given by one rank; call `check` on the result.
        """
        bounds = bounds_of(comm.size, n)
        order = np.argsort(numbers, kind="stable")
        listed = numbers[order]
        sent = np.diff(np.searchsorted(listed, bounds))
        got, came = exchanged(comm, listed.astype(index_type(n), copy=False), sent)
        return cls(comm, sent, came, order, got.astype(np.int64) - bounds[comm.rank])

    def check(self, n_own: int, first: int) -> None:
        """Raise InputError unless each own vertex was received once; first: number of the first."""
        if not self.place.size and self.came.sum() == n_own:
            return
        count = np.bincount(self.place, minlength=n_own)
        if (count == 1).all():
            return
        vertex = int(np.argmax(count != 1))
        rows = np.flatnonzero(self.place == vertex)
        who = [f"rank {self.sender_of(int(row))}" for row in rows[:2]]
        where = " and ".join(who) if len(who) > 1 else "no rank"
        raise InputError(
            f"vertex {first + vertex} is on {where}; each vertex must be on one rank",
            hint="Every vertex of the graph must belong to exactly one rank.",
        )

    def sender_of(self, row: int) -> int:
        """Return the rank that sent the received row with index `row`."""
        return int(np.searchsorted(np.cumsum(self.came), row, side="right"))

    def holder_of(self, vertex: int) -> int:
        """Return the rank on which the calling program holds an own vertex."""
        row = int(np.flatnonzero(self.place == vertex)[0]) if self.place.size else vertex
        return self.sender_of(row)

    def there(self, values: Values[Scalar]) -> Values[Scalar]:
        """Send values (rows, ...) of given rows; return the values (n_own, ...) of own vertices."""
        given = values[self.order] if self.order.size else values
        got = self._through(given, self.sent, self.came)
        if not self.place.size:
            return got
        placed = np.empty_like(got)
        placed[self.place] = got
        return placed

    def back(self, values: Values[Scalar]) -> Values[Scalar]:
        """Send values (n_own, ...) of own vertices back; return those (rows, ...) of given rows."""
        given = values[self.place] if self.place.size else values
        got = self._through(given, self.came, self.sent)
        if not self.order.size:
            return got
        placed = np.empty_like(got)
        placed[self.order] = got
        return placed

    def rows_there(
        self, xadj: IntVector, entries: list[npt.NDArray[Any]]
    ) -> tuple[IntVector, list[npt.NDArray[Any]]]:
        """Send adjacency lists of the given rows; return offsets and entries of the own rows.

        xadj (rows + 1,): offsets of the given rows, from 0, in each array of entries.
        """
        degrees = np.diff(xadj)
        most = max(self.comm.allgather(int(degrees.max(initial=0))))
        own = offsets_of(self.there(degrees.astype(np.min_scalar_type(most))))
        sent = _by_rank(degrees[self.order] if self.order.size else degrees, self.sent)
        came = np.array(self.comm.exchange(sent.tolist()), np.int64)
        return own, [self._entries(xadj, own, one, sent, came) for one in entries]

    def _entries(
        self,
        xadj: IntVector,
        own: IntVector,
        entries: npt.NDArray[Any],
        sent: IntVector,
        came: IntVector,
    ) -> npt.NDArray[Any]:
        if self.order.size:
            listed = np.empty_like(entries)
            kernels.take_rows(xadj, self.order, entries, listed)
            entries = listed
        got = self._through(entries, sent, came)
        if not self.place.size:
            return got
        placed = np.empty_like(got)
        kernels.put_rows(own, self.place, got, placed)
        return placed

    def _through(self, values: Values[Scalar], sent: IntVector, came: IntVector) -> Values[Scalar]:
        """Exchange values; return them uncopied if this rank exchanges none with other ranks."""
        here = self.comm.rank
        if sent.sum() == sent[here] and came.sum() == came[here]:
            return values
        return sent_to(self.comm, values, sent, came)


def bounds_of(ranks: int, n: int) -> IntVector:
    """Return an array (ranks + 1,): the first vertex of each rank, then n."""
    return slice_ends(n)[[*(share_of(rank, ranks).start for rank in range(ranks)), N_SLICES]]


def _by_rank(values: IntVector, counts: IntVector) -> IntVector:
    """Return the sum of values of each rank; counts[r] (ranks,) consecutive values are rank r's."""
    sums, ends = offsets_of(values), np.concatenate([[0], np.cumsum(counts)])
    found: IntVector = np.diff(sums[ends])
    return found
