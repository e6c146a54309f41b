"""Solvers for (L + shift I) x = b on divided graphs: conjugate gradients, and Jacobi's method.

L is the Laplacian of the graph's weighted edges; the shift makes the matrix positive definite, as
in the evaluation of [LDHT]_, section VI. Each device has the rows of its vertices. The same number
of devices gives the same x, for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector
from evener.errors import InputError
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.running.apps import laplacian_kernels as kernels
from evener.running.apps.matrices import matrix_of
from evener.running.apps.rows import MatrixRows, cut, piece_count, random_looking, row_sums
from evener.running.comm import Comm
from evener.running.engine.pool import ThreadPool
from evener.running.engine.program import Solver
from evener.running.engine.recording import DeviceRun, StepRecorder
from evener.running.engine.states import RunState
from evener.running.engine.supersteps import WHOLE, Stretch
from evener.running.local_graphs import LocalGraph

SHIFT = 0.1  # of the diagonal, in units of an edge's weight
TOLERANCE = 1e-6  # of the residual, relative to b


def right_side(vertices: IntVector) -> FloatArray:
    """Return b for these vertices: pseudo-random numbers in [0, 1) by global vertex number."""
    return random_looking(vertices)


class _System(NamedTuple):
    """A device's rows, diagonal and b of own vertices, and the rows at which pieces begin."""

    rows: MatrixRows
    diagonal: FloatArray
    b: FloatArray
    chunks: IntVector


def _system(local: LocalGraph, pool: ThreadPool, shift: float) -> _System:
    """Return the rows of a device.

    Raises InputError for directed graphs and shifts not above zero.
    """
    if not 0 < shift < np.inf:
        raise InputError(f"the shift must be above zero, not {shift}")
    if local.out is None or local.out is not local.into:
        raise InputError(
            "the Laplacian of a directed graph is not symmetric, so this solver does not work"
        )
    rows = MatrixRows.of(local.out)
    chunks = cut(rows, whole=True).first_rows
    diagonal = row_sums(rows, pool, chunks)
    diagonal += shift
    return _System(rows, diagonal, right_side(local.owned), chunks)


class _Asked(NamedTuple):
    """What a method must do: up to `most` supersteps, fewer if the tolerance is reached.

    stretch: start and checkpoints of the run.
    """

    most: int
    tolerance: float
    stretch: Stretch


# Iterates on a device's system as asked: begins the recorder's clock, ends each superstep, and
# returns x of owned vertices.
Method = Callable[[_System, LocalGraph, ThreadPool, StepRecorder, _Asked], FloatArray]


def _solver(method: Method) -> Callable[..., DeviceRun]:
    """Return the function with which a device solves its part of a system by a method."""

    def solve(
        comm: Comm,
        local: LocalGraph,
        pool: ThreadPool,
        tell: Callable[[int], None] | None = None,
        *,
        most: int = 1000,
        shift: float = SHIFT,
        tolerance: float = TOLERANCE,
        stretch: Stretch = WHOLE,
    ) -> DeviceRun:
        """Return one device's x after at most `most` supersteps of the method. Collective.

        stretch: initial state, and the function that saves later states. Raises InputError for
        directed graphs, and for shifts that are not above zero.
        """
        system = _system(local, pool, shift)
        steps = StepRecorder(comm, local, tell, stretch.first)
        return steps.result(method(system, local, pool, steps, _Asked(most, tolerance, stretch)))

    return solve


def _conjugate_gradients(
    system: _System,
    local: LocalGraph,
    pool: ThreadPool,
    steps: StepRecorder,
    asked: _Asked,
) -> FloatArray:
    """Run conjugate gradients with diagonal preconditioner.

    Ends when the 2-norm of the residual is at most `tolerance` times that of b.
    """
    rows, diagonal, b, chunks = system
    most, tolerance, (start, keep) = asked
    m, first = local.n_owned, asked.stretch.first
    x, r, q = np.zeros(m), b.copy(), np.empty(m)
    p = np.zeros(local.n_local)
    np.divide(r, diagonal, out=p[:m])
    if start is not None:
        x[:], r[:], p[:m] = start.values.T
    dots, pairs = np.zeros(chunks.size - 1), np.zeros((chunks.size - 1, 2))
    pool.prepare(kernels.multiply, chunks, rows, diagonal, p, q, dots)
    pool.prepare(kernels.descend, chunks, 1.0, diagonal, (x, r, p, q), pairs)
    pool.prepare(kernels.turn, chunks, 1.0, diagonal, r, p)
    steps.begin()
    if start is None:
        rz, bb = (steps.summed(float(one @ r)) for one in (p[:m], r))
    else:
        rz, bb = start.numbers["rz"], start.numbers["bb"]

    def state() -> RunState:
        return RunState(steps.done, np.stack([x, r, p[:m]], 1), numbers={"rz": rz, "bb": bb})

    for _ in range(first, most if bb > 0 else 0):
        steps.exchange(p)
        with steps.timed("computing"):
            pool.run(kernels.multiply, chunks, rows, diagonal, p, q, dots)
        alpha = rz / steps.summed(float(dots.sum()))
        with steps.timed("computing"):
            pool.run(kernels.descend, chunks, alpha, diagonal, (x, r, p, q), pairs)
        found = np.array(steps.gathered(pairs.sum(axis=0))).sum(axis=0)
        following, rr = found.tolist()
        done = rr <= tolerance**2 * bb
        if not done:
            with steps.timed("computing"):
                pool.run(kernels.turn, chunks, following / rz, diagonal, r, p)
        rz = following
        steps.now.edges = rows.ends.size
        steps.end(local.n_ghosts)
        if done or (keep is not None and not keep(steps.done, state, steps)):
            break
    return x


def _jacobi(
    system: _System,
    local: LocalGraph,
    pool: ThreadPool,
    steps: StepRecorder,
    asked: _Asked,
) -> FloatArray:
    """Run sweeps of Jacobi's method.

    Ends when the 2-norm of the change of x is at most `tolerance` times that of x.
    """
    rows, diagonal, b, chunks = system
    most, tolerance, (start, keep) = asked
    m = local.n_owned
    x, following = np.zeros(local.n_local), np.zeros(local.n_local)
    if start is not None:
        x[:m] = start.values
    dots = np.zeros(chunks.size - 1)
    pool.prepare(kernels.relax, chunks, rows, diagonal, b, x, following, dots)
    steps.begin()

    def state() -> RunState:
        return RunState(steps.done, x[:m])

    for _ in range(asked.stretch.first, most):
        steps.exchange(x)
        with steps.timed("computing"):
            pool.run(kernels.relax, chunks, rows, diagonal, b, x, following, dots)
            size = float(following[:m] @ following[:m])
        change, norm = np.array(steps.gathered((float(dots.sum()), size))).sum(axis=0).tolist()
        x, following = following, x
        steps.now.edges = rows.ends.size
        steps.end(local.n_ghosts)
        if change <= tolerance**2 * norm or (
            keep is not None and not keep(steps.done, state, steps)
        ):
            break
    return x[:m]


conjugate_gradients = _solver(_conjugate_gradients)
jacobi = _solver(_jacobi)


def _bytes_of_cg(n_owned: int, n_local: int, n_arcs: int, _: bool) -> int:
    """Return the bytes of x, r, q and p, of sums per piece, and of the system."""
    pieces = piece_count(n_owned, n_arcs)
    return 8 * (3 * n_owned + n_local + 3 * pieces) + _bytes_of_system(n_owned, pieces)


def _bytes_of_jacobi(n_owned: int, n_local: int, n_arcs: int, _: bool) -> int:
    """Return the bytes of x before and after a sweep, of sums per piece, and of the system."""
    pieces = piece_count(n_owned, n_arcs)
    return 16 * n_local + 8 * pieces + _bytes_of_system(n_owned, pieces)


def _bytes_of_system(n_owned: int, pieces: int) -> int:
    """Return the bytes of the diagonal, of b, and of the starts of pieces."""
    return 8 * (2 * n_owned + pieces + 1)


GIVEN = {"shift": SHIFT, "tolerance": TOLERANCE}
CG = Solver("cg", conjugate_gradients, _bytes_of_cg, GIVEN, moves=True)
JACOBI = Solver("jacobi", jacobi, _bytes_of_jacobi, GIVEN, moves=True)


def verify(
    graph: Graph | DirectedGraph, x: npt.NDArray[Any], shift: float, tolerance: float = 1e-4
) -> bool:
    """Return whether SciPy's (L + shift I) x is b, up to `tolerance` times b in the 2-norm.

    x (n,): by vertex number.
    """
    pattern, diagonal, b = _scipy_system(graph, shift)
    return bool(np.linalg.norm(diagonal * x - pattern @ x - b) <= tolerance * np.linalg.norm(b))


def verify_sweeps(
    graph: Graph | DirectedGraph, x: npt.NDArray[Any], sweeps: int, shift: float
) -> bool:
    """Return whether SciPy gets the same x by this number of sweeps, up to rounding."""
    pattern, diagonal, b = _scipy_system(graph, shift)
    expected = np.zeros(b.size)
    for _ in range(sweeps):
        expected = (b + pattern @ expected) / diagonal
    return bool(np.linalg.norm(x - expected) <= 1e-10 * np.linalg.norm(expected))


def _scipy_system(graph: Graph | DirectedGraph, shift: float) -> tuple[Any, FloatArray, FloatArray]:
    """Return the weights as a SciPy matrix, the diagonal of L + shift I, and b."""
    pattern = matrix_of(graph, weighted=True)
    b = right_side(np.arange(pattern.shape[0]))
    return pattern, np.asarray(pattern.sum(axis=1)) + shift, b
