"""Rows of arrays move between ranks, and only what moves is copied."""

import errno
import os

import numpy as np
import pytest

from evener.running.comm import ThreadComm, run_threads
from evener.running.sharing import in_common, run_around
from evener.running.spreading import HeldRows, starts_of
from tests.examples import seeds


@pytest.mark.parametrize("seed", seeds(12))
def test_held_rows_are_where_the_sizes_say_after_any_moves(seed):
    rng = np.random.default_rng(seed)
    p, n = int(rng.integers(1, 7)), 23
    computers = rng.integers(0, 2, p).tolist()  # some ranks in a row share memory
    whole = rng.random((n, 3)) if seed % 3 else rng.integers(0, 99, n)
    sizes = [rng.multinomial(n, np.full(p, 1 / p)) for _ in range(6)]

    def work(comm):
        first = int(starts_of(sizes[0])[comm.rank])
        own = whole[first : first + sizes[0][comm.rank]]
        held = HeldRows(comm, own, sizes[0], ready=seed % 2 == 0)
        for new in sizes[1:]:
            held.move(new)
            a, b = starts_of(new)[comm.rank : comm.rank + 2]
            assert (held.first, held.end) == (a, b)
            assert np.array_equal(held.rows, whole[a:b])
        held.free()
        return len(held.rows)

    assert run_threads(p, work, computers=computers) == [0] * p


def test_between_ranks_of_one_computer_nothing_is_copied():
    def work(comm):
        held = HeldRows(comm, np.full((4, 2), comm.rank), [4, 4, 4], ready=True)
        last = held.rows[-1:]
        held.move([3, 5, 4])
        return np.shares_memory(last, held.rows), np.shares_memory(last, held._buffer)

    # The last row of the first rank is the second's now, at the same place.
    assert run_threads(3, work)[0] == (False, True)


def test_runs_of_ranks_on_one_computer():
    computers = [7, 7, 3, 7, 3, 3]
    found = [run_around(rank, computers) for rank in range(6)]
    assert found == [(0, 2), (0, 2), (2, 3), (3, 4), (4, 6), (4, 6)]


def test_without_room_to_share_rows_are_copied():
    class Full(ThreadComm):
        def memory(self, n_bytes):
            return None

    rows = np.arange(12.0)

    def work(comm):
        full = Full(comm.rank, comm.size, comm._shared)
        held = HeldRows(full, rows[4 * comm.rank : 4 * comm.rank + 4], [4, 4, 4], ready=True)
        held.move([1, 9, 2])
        held.move([6, 0, 6])
        return held.rows.tolist()

    assert run_threads(3, work) == [[0, 1, 2, 3, 4, 5], [], [6, 7, 8, 9, 10, 11]]


def test_no_memory_is_shared_where_there_is_no_room_for_it(monkeypatch):
    """Rows in a file without room would end the process when they are written."""

    def refuse(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    told = []
    monkeypatch.setattr("evener.running.sharing.take_room", refuse)
    with pytest.warns(UserWarning, match="has no room .No space left on device.. They will be"):
        memory = in_common(100, 0, range(2), lambda *both: told.append(both))
    assert memory is None
    (sent, _), _ = told
    assert not sent[1].any()
