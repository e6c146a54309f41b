"""Slices of work: all of it once, in any number of threads, and errors are not lost."""

from itertools import pairwise

import pytest

from evener.threads import MOST_SLICES, SLICE, in_rounds, in_slices, slice_ends, slices_for


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_slice_is_worked_on_once(threads):
    done = []
    in_slices(done.append, 7, threads)
    assert sorted(done) == list(range(7))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_rounds_wait_for_each_other(threads):
    done = []
    in_rounds(lambda turn, i: done.append((turn, i)), 4, 3, threads)
    assert [turn for turn, _ in done] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert len(set(done)) == 12


@pytest.mark.parametrize("threads", [1, 3])
def test_errors_come_through(threads):
    def work(i):
        if i == 2:
            raise ZeroDivisionError("slice 2")

    with pytest.raises(ZeroDivisionError, match="slice 2"):
        in_slices(work, 4, threads)


@pytest.mark.parametrize("n", [0, 1, SLICE, 3 * SLICE + 5, 10**9])
def test_slices_cover_all_items(n):
    slices = slices_for(n)
    assert 1 <= slices <= MOST_SLICES
    ends = slice_ends(n, slices)
    assert (ends[0], ends[-1]) == (0, n)
    assert all(a <= b for a, b in pairwise(ends))
