"""Halos on threads: every type and shape, against what the global arrays say."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evener as ev
from evener.errors import InputError, UsageError
from evener.graphs.generating.grid import grid
from evener.plans.partition import Partition
from evener.running.comm import run_threads
from evener.running.distributing import distribute
from evener.running.halos import Halo, HaloBuffers, HaloTimes, check_operation
from tests.running.halo_cases import OPS, TYPES, exchanged, reduced, values_of

GIVES, TAKES = slice(0, 2), np.array([3, 2])  # by each of two ranks, to and from the other


@st.composite
def cases(draw):
    n, k = draw(st.integers(0, 16)), draw(st.sampled_from([1, 2, 5]))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    make = ev.DirectedGraph.from_arcs if draw(st.booleans()) else ev.Graph.from_edges
    graph = make(n, *rng.integers(0, max(n, 1), (2, draw(st.integers(0, 3 * n)))))
    return distribute(graph, Partition(rng.integers(0, k, n), k), want="both", threads=1)


@given(cases(), st.sampled_from(TYPES), st.sampled_from([(), (3,)]))
def test_ghosts_get_the_values_of_their_owners(parts, dtype, tail):
    n = parts[0].n_global
    whole = values_of(n, dtype, tail)

    def work(comm):
        return exchanged(comm, parts[comm.rank], whole)

    assert all(run_threads(len(parts), work))


@given(cases(), st.sampled_from(OPS), st.sampled_from([(), (2,)]))
def test_owners_get_the_values_of_their_ghosts(parts, op_and_type, tail):
    def work(comm):
        return reduced(comm, parts, *op_and_type, tail)

    assert all(run_threads(len(parts), work))


def path():
    """0 - 1 - 2 - 3 in blocks {0, 2} and {1, 3}: all of one block is needed by the other."""
    graph = ev.Graph.from_edges(4, [0, 1, 2], [1, 2, 3])
    return distribute(graph, Partition([0, 1, 0, 1], 2))


def test_a_path_by_hand():
    def work(comm):
        local = path()[comm.rank]
        halo = Halo.of(comm, local)
        x = 10.0 * np.concatenate([local.owned, local.ghosts])
        x[2:] = -1
        halo.exchange(x)
        y = np.ones(4)
        halo.reduce(y)
        return local.ghosts.tolist(), x.tolist(), y.tolist(), halo.neighbours, halo.times.sent

    first, second = run_threads(2, work)
    assert first == ([1, 3], [0, 20, 10, 30], [2, 2, 1, 1], [1], 32)
    assert second == ([0, 2], [10, 30, 0, 20], [2, 2, 1, 1], [0], 32)


def test_work_goes_on_between_start_and_finish():
    def work(comm):
        local = path()[comm.rank]
        halo = Halo.of(comm, local)
        x = np.array([*local.owned, 0, 0], np.int32)
        halo.start_exchange(x)
        x[:2] = 99  # the values have been packed
        halo.finish()
        x[:2] = local.owned + 100
        halo.exchange(x)
        return x[2:].tolist(), local.ghosts.tolist()

    for found, ghosts in run_threads(2, work):
        assert found == [ghost + 100 for ghost in ghosts]


def test_own_values_are_computed_between_start_and_finish_of_a_reduction():
    def work(comm):
        local = path()[comm.rank]
        halo = Halo.of(comm, local)
        x = np.array([0, 0, *(10 * (local.ghosts + 1))])
        halo.start_reduce(x)
        x[2:] = -1  # the ghosts' values have been packed
        x[:2] = local.owned
        halo.finish()
        return x.tolist()

    assert run_threads(2, work) == [[10, 32, -1, -1], [21, 43, -1, -1]]


def test_many_arrays_by_turns():
    """More of them than receive their ghosts in place, some of them gone meanwhile."""

    def work(comm):
        local = path()[comm.rank]
        halo, fine = Halo.of(comm, local), True
        kept = [np.zeros(4, dtype) for dtype in ("f8", "f8", "i4", "f4", "f8", "i4", "f8")]
        for turn in range(40):
            x = kept[turn * turn % 7] if turn % 5 else np.zeros((4, 2))
            x[:2] = (local.owned + turn).reshape(-1, *[1] * (x.ndim - 1))
            halo.exchange(x)
            fine &= (x[2:].T - local.ghosts == turn).all()
        return fine

    assert run_threads(2, work) == [True, True]


def test_an_array_that_gets_another_shape():
    def work(comm):
        local = path()[comm.rank]
        halo, x = Halo.of(comm, local), np.zeros((4, 1))
        for _ in range(3):
            halo.exchange(x)
        x.shape = (4,)
        x[:2] = local.owned
        halo.exchange(x)
        return x[2:].tolist() == local.ghosts.tolist()

    assert run_threads(2, work) == [True, True]


@pytest.mark.parametrize("columns", [0, 1])
def test_few_columns(columns):
    def work(comm):
        local = path()[comm.rank]
        halo, x = Halo.of(comm, local), np.ones((4, columns))
        for _ in range(3):
            halo.exchange(x)
        y = np.array([*local.owned, 0, 0])
        halo.exchange(y)
        return y[2:].tolist() == local.ghosts.tolist()

    assert run_threads(2, work) == [True, True]


def test_numbers_in_any_order():
    """As in a program that numbers its vertices by itself; rank 1 sends nothing back."""

    def work(comm):
        sends = {1: [2, 0]} if comm.rank == 0 else {}
        receives = {} if comm.rank == 0 else {0: [2, 1]}
        halo = Halo(comm, 3 if comm.rank == 0 else 1, sends, receives)
        x = np.array([5.0, 6.0, 7.0]) if comm.rank == 0 else np.zeros(3)
        for _ in range(3):
            halo.exchange(x)
        y = np.arange(3.0) + 1
        halo.reduce(y, "max")
        return x.tolist(), y.tolist()

    assert run_threads(2, work) == [([5, 6, 7], [2, 2, 3]), ([0, 5, 7], [1, 2, 3])]


@pytest.mark.parametrize("tail", [(), (4,)])
def test_nothing_is_allocated_after_the_first_exchange(tail):
    """Python's own small objects aside: the arrays are of 80,000 bytes and more."""
    graph = grid([2, 10_000])
    parts = distribute(graph, Partition(np.arange(20_000) // 10_000, 2))
    assert parts[0].ghosts.size == 10_000

    def work(comm):
        halo = Halo.of(comm, parts[comm.rank])
        x = np.zeros((parts[comm.rank].n_local, *tail))
        peaks = []
        for turn in range(6):
            comm.barrier()
            if turn == 2 and comm.rank == 0:
                tracemalloc.start()
            comm.barrier()
            halo.exchange(x)
            halo.reduce(x, "max")
        comm.barrier()
        if comm.rank == 0:
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        return halo.nbytes, peaks

    (held, (peak,)), _ = run_threads(2, work)
    assert peak < 20_000
    assert held > 80_000


def test_what_does_not_fit_is_refused_on_all_ranks():
    def refused(size, *lists):
        def work(comm):
            with pytest.raises(InputError) as error:
                Halo(comm, *lists[comm.rank])
            return error.value.message

        return set(run_threads(size, work))

    nothing = (2, {}, {})
    assert refused(2, (2, {1: [0]}, {}), nothing) == {
        (
            "rank 0 sends 1 values to rank 1, which expects 0; it expects 0 values from that rank, "
            "which sends 0"
        )
    }
    assert refused(2, nothing, (2, {}, {0: (2, 5)})).pop().startswith("rank 0 sends 0 values")
    assert refused(2, (2, {1: [2]}, {}), nothing) == {
        "the vertices sent to rank 1 are not all among the 2 own vertices"
    }
    assert refused(2, (2, {1: [1, 1]}, {}), nothing) == {
        "the value of a vertex is sent to rank 1 twice"
    }
    assert refused(2, (2, {}, {1: [3]}), nothing) == {
        "ghosts must be numbered from n_owned on, and each must be received once"
    }
    assert refused(2, (2, {2: [0]}, {}), nothing) == {"rank 0 of 2 cannot exchange with rank 2"}
    assert refused(2, (2, {1: [0.5]}, {}), nothing).pop().endswith("whole numbers, not float64")


def test_arrays_that_do_not_fit_are_refused():
    def work(comm):
        local = path()[0]
        halo = Halo(comm, 4, {}, {})
        with pytest.raises(
            InputError, match="part of device 0 of 2 does not belong to rank 0 of 1"
        ):
            Halo.of(comm, local)
        for wrong in (np.zeros(3), np.zeros((4, 1, 1)), np.float64(1)):
            with pytest.raises(InputError, match="an array of shape"):
                halo.exchange(wrong)
        fixed = np.zeros(4)
        fixed.flags.writeable = False
        for wrong in (np.zeros((4, 2), order="F"), np.zeros(4, object), fixed):
            with pytest.raises(InputError, match="C-contiguous, and contain no objects"):
                halo.exchange(wrong)
        with pytest.raises(InputError, match="bitwise_or is not defined for float64"):
            halo.reduce(np.zeros(4), "or")
        with pytest.raises(UsageError, match="mean"):
            halo.reduce(np.zeros(4), "mean")
        with pytest.raises(UsageError, match="no exchange has been started"):
            halo.finish()
        halo.start_exchange(np.zeros(4))
        for again in (halo.start_exchange, halo.reduce, halo.start_reduce):
            with pytest.raises(UsageError, match="not finished"):
                again(np.zeros(4))
        halo.finish()
        return True

    assert run_threads(1, work) == [True]


def test_values_in_any_order_and_in_place():
    """A range is received in the array itself, numbers through a buffer."""

    def work(comm):
        other, times, x = 1 - comm.rank, HaloTimes(), np.arange(4.0) + 10 * comm.rank
        found = []
        for takes, kind in ((TAKES, "exchange"), (slice(2, 4), "bound")):
            made = HaloBuffers(comm, {other: GIVES}, {other: takes}, x, kind)
            made.start(x, times)
            made.finish(0.0, times)
            found.append((len(made.unpacked), made.nbytes))
            made.unpack(x, times)
            found.append(x[2:].tolist())
        return found, times.sent

    first, second = run_threads(2, work)
    assert first == ([(1, 32), [11, 10], (0, 16), [10, 11]], 32)
    assert second == ([(1, 32), [1, 0], (0, 16), [0, 1]], 32)


def test_own_values_come_first_where_they_are_combined():
    def work(comm):
        x, other = np.array([8.0, 4, 2, 1]), 1 - comm.rank
        made = HaloBuffers(comm, {other: TAKES}, {other: GIVES}, x, "reduce")
        made.start(x, HaloTimes())
        made.finish(0.0, HaloTimes())
        made.combine(x, np.subtract, HaloTimes())
        return x.tolist()

    assert run_threads(2, work) == [[8 - 1, 4 - 2, 2, 1]] * 2


def test_an_operation_that_a_type_does_not_have():
    check_operation(np.bitwise_or, np.zeros(2, np.int32))
    with pytest.raises(InputError, match="bitwise_or is not defined for float32"):
        check_operation(np.bitwise_or, np.zeros(2, np.float32))
