"""Where rows go: to the ranks of their slices, and results back."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.running.comm import run_threads
from evener.sliced.dealing import Dealing, bounds_of


def test_ranks_have_slices_that_follow_each_other():
    assert bounds_of(3, 64).tolist() == [0, 21, 42, 64]
    assert bounds_of(2, 3).tolist() == [0, 1, 3]


def test_ranges_that_are_those_of_slices_stay_where_they_are():
    values = np.arange(32)

    def work(comm):
        dealing = Dealing.of_ranges(comm, 32 * comm.rank, 32, 64)
        assert dealing.there(values) is values
        assert dealing.back(values) is values

    run_threads(2, work)


def test_rows_of_numbers_and_back():
    numbers = [np.array([3, 0]), np.array([2, 1])]

    def work(comm):
        own = numbers[comm.rank]
        dealing = Dealing.of_numbers(comm, own, 4)
        there = dealing.there(own * 1.5)
        assert dealing.holder_of(1) == [1, 0][comm.rank]  # of the vertices 1 and 3
        return there.tolist(), dealing.back(there).tolist()

    assert run_threads(2, work) == [([0, 1.5], [4.5, 0]), ([3, 4.5], [3, 1.5])]


@pytest.mark.parametrize(
    ("second", "words"),
    [([1, 0], "vertex 0 is on rank 0 and rank 1"), ([1, 1], "vertex 2 is on no rank")],
)
def test_vertices_of_two_ranks_or_none(second, words):
    def work(comm):
        numbers = np.array([[0, 3], second][comm.rank])
        dealing = Dealing.of_numbers(comm, numbers, 4)
        try:
            dealing.check(2, 2 * comm.rank)
        except InputError as error:
            return str(error)
        return ""

    assert words in "".join(run_threads(2, work))
