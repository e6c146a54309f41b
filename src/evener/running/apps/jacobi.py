"""Jacobi's method for a dense system A x = b: each rank has consecutive rows and the whole x.

A balancer may move rows between iterations: this is the program of section 2.3.1 of [Cla14]_. Every
rank calls `run`; ranks are threads or MPI processes (see evener.running.comm).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, as_integers
from evener.errors import InputError
from evener.running.comm import Comm
from evener.running.emulation import EmulatedMachine
from evener.running.spreading import HeldRows, moved_rows, starts_of

# Rows first:end of A, (rows, n), and of b, (rows,).
RowsOf = Callable[[int, int], tuple[FloatArray, FloatArray]]


class Observer(Protocol):
    """Chooses sizes from times: an evener.Balancer, or an evener.RowRebalancer."""

    def observe(self, times: npt.ArrayLike) -> npt.NDArray[np.int64] | None:
        """Return new sizes for the next iterations, or None for no change. times (p,) [s]."""


@runtime_checkable
class Pays(Observer, Protocol):
    """An observer that must be given the duration of moves: an evener.RowRebalancer."""

    def moved(self, seconds: float) -> None:
        """Record how long the last move took [s]."""


@dataclass(frozen=True, eq=False)
class JacobiRun:
    """The solution x (n,), and what happened in each iteration.

    change: largest change of an entry of x in the last iteration. sizes, seconds (iterations, p):
    rows and computing time [s] of each rank. moved: rows moved to another rank, summed over
    iterations. took [s]: wall time of all iterations on rank 0, including moves and waits, but not
    the initial distribution of the rows.
    """

    x: FloatArray
    iterations: int
    change: float
    sizes: IntArray
    seconds: FloatArray
    moved: int
    took: float


@dataclass
class _History:
    sizes: list[IntArray] = field(default_factory=list)
    seconds: list[list[float]] = field(default_factory=list)
    moved: int = 0


def run(
    comm: Comm,
    rows_of: RowsOf,
    sizes: npt.ArrayLike,
    balancer: Observer | None = None,
    *,
    machine: EmulatedMachine | None = None,
    tolerance: float = 1e-12,
    iterations: int = 1000,
) -> JacobiRun:
    """Iterate until x changes by at most tolerance times its largest entry, or `iterations` times.

    rows_of: function that makes a rank's initial rows. sizes (p,): number of rows of each rank.
    balancer: called after each iteration, on rank 0. machine: an emulated machine with one device
    per rank, whose times replace the measured ones. Raises InputError unless there are p sizes, and
    for a zero on the diagonal.
    """
    own = as_integers(sizes, "sizes")
    if own.size != comm.size or own.min() < 0 or own.sum() < 1:
        raise InputError(
            f"sizes must be {comm.size} numbers, one per rank, of zero or more, not {own.tolist()}"
        )
    starts = starts_of(own)
    first = int(starts[comm.rank])
    given = rows_of(first, int(starts[comm.rank + 1]))
    A, b = (HeldRows(comm, rows, own, ready=balancer is not None) for rows in given)
    del given  # where they may move, these are copies
    result = iterate(
        comm, A, b, balancer, machine=machine, tolerance=tolerance, iterations=iterations
    )
    A.free()
    b.free()
    return result


def iterate(
    comm: Comm,
    A: HeldRows,
    b: HeldRows,
    balancer: Observer | None = None,
    *,
    machine: EmulatedMachine | None = None,
    tolerance: float = 1e-12,
    iterations: int = 1000,
) -> JacobiRun:
    """Iterate as `run` does, on rows that are already distributed; the rows stay on the ranks.

    A, b: rows of the matrix and of the right-hand side, divided over ranks by the same sizes.
    """
    own, x, history, change = A.sizes, np.zeros(int(A.sizes.sum())), _History(), np.inf
    comm.barrier()
    started = time.perf_counter()
    for _ in range(iterations):
        begin = time.perf_counter()
        mine = _sweep(A.rows, b.rows, x, A.first)
        pieces = comm.allgather((mine, time.perf_counter() - begin))
        following = np.concatenate([piece for piece, _ in pieces])
        change, x = float(np.abs(following - x).max()), following
        times = [seconds for _, seconds in pieces]
        decided = comm.bcast(_decided(comm, own, times, balancer, machine, history))
        if change <= tolerance * np.abs(x).max():
            break
        if decided is not None:
            begin = time.perf_counter()
            for held in (A, b):
                held.move(decided)
            if comm.rank == 0 and machine is None and isinstance(balancer, Pays):
                balancer.moved(time.perf_counter() - begin)
            own = decided
    took = time.perf_counter() - started
    history, took = comm.bcast((history, took))
    all_sizes, all_seconds = np.array(history.sizes), np.array(history.seconds)
    return JacobiRun(x, len(all_sizes), change, all_sizes, all_seconds, history.moved, took)


def verify(A: FloatArray, b: FloatArray, result: JacobiRun, tolerance: float = 1e-9) -> bool:
    """Return whether x is LAPACK's solution of A x = b, up to tolerance times the largest entry."""
    expected = np.linalg.solve(A, b)
    return bool(np.abs(result.x - expected).max() <= tolerance * np.abs(expected).max())


def dominant_rows(n: int, seed: int = 7) -> RowsOf:
    """Return a function that makes rows of a random system for which Jacobi's method converges.

    Each diagonal entry is twice the sum of its row. A row depends only on n, seed and its number.
    """

    def rows(first: int, end: int) -> tuple[FloatArray, FloatArray]:
        A, b = np.empty((end - first, n)), np.empty(end - first)
        for i in range(first, end):
            rng = np.random.default_rng([seed, i])
            A[i - first], b[i - first] = rng.random(n), rng.random()
            A[i - first, i] = 2 * A[i - first].sum()
        return A, b

    return rows


def _sweep(A: FloatArray, b: FloatArray, x: FloatArray, first: int) -> FloatArray:
    """Return the new values of x for the rows from `first` on."""
    place = np.arange(b.size)
    diagonal = A[place, first + place]
    if not diagonal.all():
        row = first + int(np.argmin(np.abs(diagonal)))
        raise InputError(f"row {row} has a zero on the diagonal: Jacobi's method divides by it")
    return np.asarray(x[first : first + b.size] + (b - A @ x) / diagonal)


def _decided(
    comm: Comm,
    sizes: IntArray,
    times: list[float],
    balancer: Observer | None,
    machine: EmulatedMachine | None,
    history: _History,
) -> npt.NDArray[np.int64] | None:
    """Return the balancer's new sizes or None; add to the history.

    Returns None except on rank 0.
    """
    if comm.rank != 0:
        return None
    if machine is not None:
        times = machine.run(sizes).tolist()
    history.sizes.append(sizes)
    history.seconds.append(times)
    decided = None if balancer is None else balancer.observe(times)
    if decided is not None:
        history.moved += moved_rows(sizes, decided)
    return decided
