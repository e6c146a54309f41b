"""Ranks that ask for different plans are told so, all of them, and none waits."""

import numpy as np
import pytest

import evener as ev
from evener.errors import InputError, UsageError
from evener.graphs.generating.grid import grid
from evener.running.comm import run_threads
from evener.sliced.distributed import DistributedGraph
from tests.sliced.rank_rows import ranges_of, rows_of

WHOLE = grid([12, 12])


def plans(of_rank, ranks=3):
    """What `ev.plan` returns or raises on each rank, with the arguments of_rank(rank)."""
    bounds = ranges_of(WHOLE.n, ranks)

    def work(comm):
        mine = range(bounds[comm.rank], bounds[comm.rank + 1])
        graph = DistributedGraph.from_local(comm, **rows_of(WHOLE, mine))
        platform, options = of_rank(comm.rank)
        try:
            return ev.plan(graph, platform, **options)
        except (InputError, UsageError) as error:
            return error

    return run_threads(ranks, work)


@pytest.mark.parametrize(
    ("of_rank", "words"),
    [
        (lambda rank: (4 + (rank == 1), {}), "rank 1 passes another machine than rank 0"),
        (lambda rank: ([1, 1, rank + 1], {}), "rank 1 passes another machine"),
        (lambda rank: (3, {"seed": 7 + (rank == 2)}), "rank 2 passes seed=8, rank 0 seed=7"),
        (lambda rank: (3, {"objective": ["cut", "seconds"][rank % 2]}), "rank 1 passes objective="),
        (lambda rank: (3, {"epsilon": [0.03, 2.0][rank % 2]}), "rank 1: epsilon"),
        (lambda rank: ("gone.toml" if rank == 1 else 3, {}), "gone.toml"),
    ],
)
def test_different_arguments_are_refused_on_all_ranks(of_rank, words):
    found = plans(of_rank)
    assert len({type(one) for one in found}) == 1
    assert all(words in str(one) for one in found), found


def test_the_same_arguments_made_apart_are_the_same():
    def machine(rank):
        speed = np.float64(2 + 0 * rank)
        first = ev.Device("a", speed, capabilities={"mips": 1e4}, memory=2.0**30)
        return ev.Platform((first, ev.Device("b", 3.0))), {"workload": "spmv"}

    assert all(isinstance(one, ev.RankPlan) for one in plans(machine))
