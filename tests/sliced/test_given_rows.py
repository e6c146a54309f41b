"""Rows as ranks pass them: types, lengths and kinds compared; see test_distributed.py too."""

import numpy as np

from evener.running.comm import run_threads
from evener.sliced.given_rows import Passed, given_rows


def test_types_and_numbers_of_rows():
    def work(comm):
        xadj = [[0, 1, 1], [0, 1]][comm.rank]
        adjncy = [[2], np.array([0], np.int64)][comm.rank]
        weights = [np.array([1, 1], np.int8), [1.0]][comm.rank]
        points = [np.zeros((2, 3), np.float32), [[1, 2, 3]]][comm.rank]
        found = given_rows(comm, Passed(xadj, adjncy, None, weights, None, points, None))
        assert (found.xadj.dtype, found.adjncy.dtype) == (np.int64, np.int32)
        assert found.vwgt.size == found.adjwgt.size == found.numbers.size == 0
        return found.n, found.first, found.rows, found.coords.tolist()

    assert run_threads(2, work) == [(3, 0, 2, [[0, 0, 0]] * 2), (3, 2, 1, [[1, 2, 3]])]


def test_an_empty_rank_says_nothing_of_weights_and_coordinates():
    def work(comm):
        if comm.rank:
            return given_rows(comm, Passed([0], [], None, None, None, None, None)).coords.shape
        given = Passed([0, 1, 2], [1, 0], None, [2, 3], [4, 4], np.ones((2, 2)), None)
        return given_rows(comm, given).coords.shape

    assert run_threads(2, work) == [(2, 2), (0, 2)]
