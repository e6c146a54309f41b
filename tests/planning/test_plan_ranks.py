"""Plans on ranks: the same blocks for any number of them, each rank with those of its vertices."""

import numpy as np
import pytest

import evener as ev
from evener.errors import InfeasibleError, InputError, UsageError
from evener.graphs.generating.delaunay import triangle_mesh
from evener.graphs.generating.grid import grid
from evener.io.accept import as_platform
from evener.planning.options import PlanOptions
from evener.planning.plan_slices import plan_slices
from evener.running.comm import run_threads
from evener.sliced.distributed import DistributedGraph
from evener.sliced.rows import InMemoryGraph
from tests.sliced.rank_rows import ranges_of, rows_of

SPEEDS = [4.0, 1.0, 1.0, 2.0, 1.0]


@pytest.fixture(scope="module")
def whole():
    return triangle_mesh(3000, 2).nodal_graph()


def on_ranks(whole, ranks, **changes):
    bounds = ranges_of(whole.n, ranks)

    def work(comm):
        given = rows_of(whole, range(bounds[comm.rank], bounds[comm.rank + 1]))
        graph = ev.DistributedGraph.from_local(comm, **given | changes)
        return ev.plan(graph, SPEEDS)

    return run_threads(ranks, work)


def test_the_same_blocks_for_any_number_of_ranks(whole):
    (alone,) = on_ranks(whole, 1)
    assert alone.plan.certificate.all_hold
    judged = ev.evaluate(whole, alone.plan.partition, SPEEDS)
    assert alone.evaluation.edge_cut == judged.edge_cut
    assert alone.verdict() == alone.plan.verdict()
    in_memory = ev.plan(whole, SPEEDS, tool="evener")
    assert judged.edge_cut < 1.3 * in_memory.evaluation.edge_cut  # 1.02 on large ones
    for ranks in (2, 3, 4, 8):
        found = on_ranks(whole, ranks)
        assert (np.concatenate([one.part for one in found]) == alone.part).all()
        assert (found[0].plan.partition.part == alone.part).all()
        assert [one.plan is None for one in found] == [False] + [True] * (ranks - 1)
        for one in found:
            assert one.certificate.all_hold
            assert one.evaluation.edge_cut == judged.edge_cut
            assert (one.certificate.weights == judged.certificate.weights).all()
            assert one.prediction.makespan == judged.prediction.makespan
            assert one.sent > 0
            assert "RankPlan(" in repr(one)


def test_blocks_of_vertices_at_random_ranks_are_brought_back(whole):
    found = []
    for ranks in (1, 3):
        held = np.random.default_rng(ranks).permutation(whole.n)

        def work(comm, held=held, ranks=ranks):
            mine = held[comm.rank :: ranks]
            shuffled = rows_of(whole, mine)
            graph = ev.DistributedGraph.from_local(comm, **shuffled, numbers=mine)
            return mine, ev.plan(graph, SPEEDS)

        plans = run_threads(ranks, work)
        blocks = plans[0][1].plan.partition.part
        for mine, one in plans:
            assert (blocks[mine] == one.part).all()
        found.append(blocks)
    assert (found[0] == found[1]).all()


def test_slices_of_which_each_has_vertices_from_everywhere(whole):
    order = np.random.default_rng(5).permutation(whole.n)
    new = np.empty(whole.n, np.int64)
    new[order] = np.arange(whole.n)
    u = np.repeat(np.arange(whole.n), whole.degrees)
    shuffled = type(whole).from_edges(
        whole.n, new[u], new[whole.adjncy], coords=whole.coords[order]
    )
    plans = on_ranks(shuffled, 3)
    part = plans[0].plan.partition.part
    assert (np.concatenate([one.part for one in plans]) == part).all()
    assert ev.evaluate(shuffled, part, SPEEDS).edge_cut == plans[0].evaluation.edge_cut
    assert (on_ranks(shuffled, 2)[0].plan.partition.part == part).all()
    alone = plan_slices(InMemoryGraph(shuffled), as_platform(SPEEDS), PlanOptions())
    assert (alone.blocks == part).all()  # those of a file, too


@pytest.mark.slow
def test_more_ranks_than_slices(whole):
    (alone,) = on_ranks(whole, 1)
    found = on_ranks(whole, 70)
    assert (np.concatenate([one.part for one in found]) == alone.part).all()


def test_all_rows_at_one_rank(whole):
    def work(comm):
        mine = range(whole.n) if comm.rank == 1 else range(0)
        return ev.plan(ev.DistributedGraph.from_local(comm, **rows_of(whole, mine)), SPEEDS)

    found = run_threads(3, work)
    assert [one.part.size for one in found] == [0, whole.n, 0]
    assert (found[1].part == on_ranks(whole, 1)[0].part).all()


def test_ranks_that_read_a_file(whole, tmp_path):
    ev.write_graph(tmp_path / "x.ecsr", whole)
    found = run_threads(2, lambda comm: ev.plan(str(tmp_path / "x.ecsr"), SPEEDS, comm=comm))
    (alone,) = on_ranks(whole, 1)
    assert (found[0].plan.partition.part == alone.part).all()
    ev.write_plan(tmp_path / "x.plan", found[0].plan)
    again = ev.read_plan(tmp_path / "x.plan")
    assert (again.partition.part == alone.part).all()


def test_what_cannot_be_done_is_said_on_all_ranks(whole):
    def in_memory(comm):
        with pytest.raises(UsageError, match="DistributedGraph or a file name"):
            ev.plan(whole, 3, comm=comm)

    def too_many(comm):
        mine = range(3) if comm.rank == 0 else range(3, 5)
        line = type(whole).from_edges(5, np.arange(4), np.arange(1, 5))
        graph = ev.DistributedGraph.from_local(comm, **rows_of(line, mine))
        with pytest.raises(InfeasibleError, match="6 devices but only 5 vertices"):
            ev.plan(graph, 6)
        assert ev.plan(graph, 2, epsilon=0.5).certificate.all_hold

    run_threads(2, in_memory)
    run_threads(2, too_many)


def test_no_vertices_at_all():
    def work(comm):
        graph = ev.DistributedGraph.from_local(comm, [0], [])
        with pytest.raises(InputError, match="no vertices"):
            ev.plan(graph, SPEEDS)
        return True

    assert run_threads(2, work) == [True, True]


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
        (lambda rank: (4 + (rank == 1), {}), "rank 1 and rank 0 pass different machines"),
        (lambda rank: ([1, 1, rank + 1], {}), "rank 1 and rank 0 pass different machines"),
        (lambda rank: (3, {"seed": 7 + (rank == 2)}), "rank 2 passes seed=8, but rank 0 passes"),
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
