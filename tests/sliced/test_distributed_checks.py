"""What is wrong in rows is found by a sum over all arcs, then named by its first edge."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.running.comm import run_threads
from evener.sliced.distributed import DistributedGraph


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([[2], [], [3], [0, 2]], "rank 0: vertex 0 has the neighbour 2, which does not have 0"),
        ([[], [], [3], [0, 2]], "rank 0: vertex 0 does not have the neighbour 3, which has 0"),
        ([[], [], [3], [2, 4]], "there is no such vertex among the 4"),
        ([[1], [0], [2], []], "rank 1: vertex 2 is its own neighbour"),
        ([[1, 1], [0, 0], [], []], "rank 0: vertex 0 has the neighbour 1 more than once"),
    ],
)
def test_the_first_edge_is_named(rows, words):
    def work(comm):
        own = rows[2 * comm.rank : 2 * comm.rank + 2]
        xadj = np.concatenate([[0], np.cumsum([len(row) for row in own])])
        with pytest.raises(InputError, match=words):
            DistributedGraph.from_local(comm, xadj, [v for row in own for v in row])

    run_threads(2, work)
