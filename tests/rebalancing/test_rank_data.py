"""A Rebalancer of rows on ranks: the moves that one process makes, for any number of ranks."""

import numpy as np
import pytest

import evener as ev
from evener.errors import EvenerError, InfeasibleError, InputError, UsageError
from evener.graphs.generating.delaunay import triangle_mesh
from evener.plans import metrics
from evener.plans.partition import Contract, Partition
from evener.rebalancing.decision_log import read_decisions, replay
from evener.running.comm import run_threads
from evener.running.swaps import Stopped
from evener.sliced.blocks import SlicedOptions, sliced_blocks
from tests.sliced.rank_rows import ranges_of, rows_of

LINKS = (ev.Level("net", ev.Link(1e-6, 1e-9)),)
SPEEDS = np.array([1e6, 2e6, 1e6, 2e6, 1e6])
K = SPEEDS.size
PLATFORM = ev.Platform(tuple(ev.Device(f"d{i}", s) for i, s in enumerate(SPEEDS)), LINKS)
SLOW = np.array([1.0, 2.5, 1.0, 1.0, 1.0])


@pytest.fixture(scope="module")
def whole():
    return triangle_mesh(1500, 2).nodal_graph()


class Program:
    """A program on a rank: its rows, by their numbers, and the work of all vertices."""

    def __init__(self, comm, whole, mine=None, platform=PLATFORM, options=None, **words):
        if mine is None:
            bounds = ranges_of(whole.n, comm.size)
            mine = np.arange(bounds[comm.rank], bounds[comm.rank + 1])
        self.comm, self.whole, self.mine, self.platform = comm, whole, mine, platform
        self.work = np.asarray(whole.weights(), np.float64)
        graph = ev.DistributedGraph.from_local(comm, **rows_of(whole, mine), numbers=mine)
        self.plan = ev.plan(graph, platform, **(options or {"objective": "cut"}))
        self.rebalancer = ev.Rebalancer(self.plan, graph, **words)
        self.numbers, self.own = None, self.plan.part

    def blocks(self):
        """The device of every vertex of the graph."""
        told = self.comm.allgather((self.mine, self.own))
        part = np.full(self.whole.n, -1, np.int32)
        for mine, own in told:
            part[mine] = own
        assert part.min() >= 0
        return part

    def times(self, factors):
        loads = np.bincount(self.blocks(), self.work, self.platform.k)
        return loads / self.platform.speeds * factors

    def take_rows_of_own_devices(self):
        """Rows go to the ranks that have their devices: device b is on rank b % ranks."""
        part, rng = self.blocks(), np.random.default_rng(self.comm.rank)
        self.mine = rng.permutation(np.flatnonzero(part % self.comm.size == self.comm.rank))
        self.numbers, self.own = self.mine, part[self.mine]

    def observe(self, factors, work=None, **words):
        if work is not None:
            self.work, work = work, work[self.mine]
        numbers, self.numbers = self.numbers, None
        move = self.rebalancer.observe(self.times(factors), work, numbers=numbers, **words)
        self.own = self.own if move is None else move.part
        assert np.array_equal(self.own, self.rebalancer.partition.part)
        if move is None:
            return None
        self.rebalancer.moved(1e-3)
        return (move.kind, move.vertices, move.n_bytes, move.saving, move.cost, self.blocks())


def played(whole, ranks, play, **words):
    """What `play(program)` returns, the same on all ranks."""
    found = run_threads(ranks, lambda comm: play(Program(comm, whole, **words)))
    for one in found[1:]:
        same(one, found[0])
    return found[0]


def same(moves, others):
    assert [i for i, _ in moves] == [i for i, _ in others]
    for (_, one), (_, other) in zip(moves, others, strict=True):
        assert one[:5] == other[:5]
        assert np.array_equal(one[5], other[5])


def slowed_then_not(program, steps=14):
    """Moves while a device is slow, then another; rows follow their devices after each."""
    moves = []
    for i in range(2 * steps):
        move = program.observe(SLOW if i < steps else SLOW[::-1])
        if move is not None:
            moves.append((i, move))
            if program.comm.size > 1:
                program.take_rows_of_own_devices()
    return moves


def test_the_same_moves_for_any_number_of_ranks_also_once_rows_lie_elsewhere(whole):
    expected = played(whole, 1, slowed_then_not)
    assert len(expected) == 2
    for ranks in (2, 3, 4):
        same(played(whole, ranks, slowed_then_not), expected)


def test_moves_are_as_good_as_those_in_memory(whole):
    """The same loads within 3 %, for hardly more bytes; figures of a move are those counted."""
    (when, (_, vertices, n_bytes, saving, _, part)) = played(whole, 2, slowed_then_not)[0]
    plan = ev.plan(whole, PLATFORM, objective="cut", tool="evener")
    rebalancer, move = ev.Rebalancer(plan, whole), None
    while move is None:
        loads = metrics.block_weights(whole, rebalancer.partition)
        move = rebalancer.observe(loads / SPEEDS * SLOW)
    assert rebalancer.observations == when + 1
    times = [(np.bincount(one, minlength=K) / SPEEDS * SLOW).max() for one in (part, move.part)]
    assert times[0] < 1.03 * times[1]
    assert n_bytes < 1.2 * move.n_bytes
    assert saving == pytest.approx(move.saving, rel=0.05)
    first = run_threads(1, lambda comm: Program(comm, whole).plan.part)[0]
    away = first != part
    assert vertices == away.sum()
    assert n_bytes == whole.vertex_bytes()[away].sum()


def test_work_that_moves_across_the_mesh_in_the_present_order_of_rows(whole):
    def front(program):
        moves, x = [], whole.coords[:, 0]
        for i in range(30):
            centre = 0.2 if i < 15 else 0.7
            work = np.where(np.abs(x / x.max() - centre) < 0.1, 8.0, 1.0)
            given = work if i in (0, 15) else None
            move = program.observe(np.ones(K), given)
            if move is not None:
                moves.append((i, move))
                program.take_rows_of_own_devices()
        ideal = program.work.sum() / SPEEDS.sum()
        assert program.times(np.ones(K)).max() < 1.1 * ideal
        return moves

    expected = played(whole, 1, front)
    assert len(expected) >= 2
    for ranks in (2, 3):
        same(played(whole, ranks, front), expected)


def shuffled(whole, *, coords):
    order = np.random.default_rng(5).permutation(whole.n)
    new = np.empty(whole.n, np.int64)
    new[order] = np.arange(whole.n)
    u = np.repeat(np.arange(whole.n), whole.degrees)
    points = whole.coords[order] if coords else None
    return type(whole).from_edges(whole.n, new[u], new[whole.adjncy], coords=points)


@pytest.mark.slow
@pytest.mark.parametrize("coords", [True, False], ids=["along a curve", "clusters across slices"])
def test_vertices_numbered_at_random(whole, coords):
    graph = shuffled(whole, coords=coords)
    expected = played(graph, 1, slowed_then_not)
    assert len(expected) == 2
    loads = np.bincount(expected[0][1][5], minlength=K)
    assert (loads / SPEEDS * SLOW).max() < 1.05 * graph.n / (SPEEDS / SLOW).sum()
    same(played(graph, 3, slowed_then_not), expected)


def test_blocks_stay_within_memory(whole):
    caps = 1.25 * whole.total_bytes * SPEEDS / SPEEDS.sum()
    devices = tuple(
        ev.Device(f"d{i}", s, memory=float(cap))
        for i, (s, cap) in enumerate(zip(SPEEDS, caps, strict=True))
    )
    platform = ev.Platform(devices, LINKS)
    moves = played(whole, 2, slowed_then_not, platform=platform)
    assert moves
    for _, move in moves:
        held = metrics.block_bytes(whole, Partition(move[5], K))
        assert (held <= caps).all()


@pytest.mark.slow
def test_a_workload_weighs_vertices_until_work_is_given(whole):
    workload = ev.Workload("rows", bytes_per_vertex=8, bytes_per_edge=12, bytes_per_value=8)
    weighed = workload.weighted(whole)

    def play(program):
        program.work = np.asarray(weighed.weights())
        moves = slowed_then_not(program)
        even = np.where(program.blocks() == 0, 3.0, 1.0)
        return moves + [
            (i, move)
            for i in range(12)
            if (move := program.observe(np.ones(K), even if i == 0 else None)) is not None
        ]

    expected = played(whole, 1, play, options={"workload": workload, "objective": "cut"})
    assert len(expected) == 3
    same(played(whole, 2, play, options={"workload": workload, "objective": "cut"}), expected)


@pytest.mark.slow
def test_rank_0_alone_writes_the_log_and_its_decisions_can_be_repeated(whole, tmp_path):
    def play(program):
        with program.rebalancer as rebalancer:
            moves = slowed_then_not(program)
            assert rebalancer.observations == 28
            assert rebalancer.moves == len(moves) == 2
            assert rebalancer.rebuild_seconds <= 1e-3
            assert rebalancer.last.proposals == ()
            assert rebalancer.silent == []
        return moves

    words = {"replan": ev.replan, "log": tmp_path / "d.jsonl"}
    same(played(whole, 3, play, **words), played(whole, 1, play, **words))
    told = read_decisions(tmp_path / "d.jsonl")
    assert told.names == PLATFORM.names
    assert replay(told) == (28, 2, [])
    kinds = {one["kind"] for line in told.lines for one in line.get("proposals", ())}
    assert kinds == {"diffused", "refined", "replanned", "matched"}


def test_each_rank_tells_the_times_of_its_own_devices(whole):
    def play(program):
        comm, moves = program.comm, []
        for i in range(10):
            times = program.times(SLOW).tolist()
            own = [t if b % comm.size == comm.rank else None for b, t in enumerate(times)]
            move = program.rebalancer.observe(own, seconds=max(times) + comm.rank)
            if move is not None:
                program.own = move.part
                moves.append((i, (move.kind, move.vertices, *[0] * 3, program.blocks())))
                program.rebalancer.moved(1e-3 * comm.rank)
                assert program.rebalancer.rebuild_seconds <= 1e-3 * max(comm.size - 1, 0)
        return moves

    same(played(whole, 3, play), played(whole, 1, play))


@pytest.mark.slow
def test_what_replan_cannot_make_is_refused_and_the_program_goes_on(whole, tmp_path):
    """Where rank 0 alone finds out, too, as it does where clusters have no place."""
    limits = Contract(np.full(3, 500.0), np.full(3, 900.0), np.full(3, 1500.0))

    def replan(old, graph, platform, workload):
        return sliced_blocks(graph, limits, SlicedOptions())

    def play(program):
        with program.rebalancer:
            return slowed_then_not(program)

    words = {"replan": replan, "log": tmp_path / "d.jsonl"}
    same(played(whole, 2, play, **words), played(whole, 1, slowed_then_not))
    told = read_decisions(tmp_path / "d.jsonl")
    reasons = [one for line in told.lines for one in line.get("refused", ())]
    assert reasons
    assert all(one.startswith("replanned: the blocks need") for one in reasons)
    assert replay(told).differences == []


def test_an_error_of_one_rank_is_no_refusal(whole):
    """The others wait for that rank: where it went on, they would wait for ever."""

    def replan(old, graph, platform, workload):
        if graph.comm.rank == 1:
            raise InfeasibleError("on purpose")
        return graph.comm.bcast(np.zeros(graph.n_own, np.int32))

    def work(comm):
        with pytest.raises((InfeasibleError, Stopped)):
            slowed_then_not(Program(comm, whole, replan=replan))
        raise InputError("as was to be")

    with pytest.raises(InputError, match="as was to be"):
        run_threads(2, work, timeout=20)


@pytest.mark.slow
def test_a_plan_that_does_not_fit_is_refused_on_all_ranks_alike(whole, tmp_path):
    """Memory that holds the present blocks, but not what vertices of little work take."""
    caps = (1.1 * whole.total_bytes * SPEEDS / SPEEDS.sum()).tolist()
    devices = tuple(
        ev.Device(f"d{i}", s, memory=cap)
        for i, (s, cap) in enumerate(zip(SPEEDS, caps, strict=True))
    )

    def play(program):
        moves = []
        with program.rebalancer:
            work = np.where(program.blocks() == 0, 40.0, 1.0)
            for i in range(20):
                move = program.observe(np.ones(K), work if i == 0 else None)
                moves += [] if move is None else [(i, move)]
        return moves

    words = {"platform": ev.Platform(devices, LINKS), "replan": ev.replan}
    expected = played(whole, 1, play, **words)
    same(played(whole, 3, play, log=tmp_path / "d.jsonl", **words), expected)
    lines = read_decisions(tmp_path / "d.jsonl").lines
    assert any(line.get("refused") for line in lines)


def test_ranks_without_rows_and_one_device(whole):
    expected = played(whole, 1, slowed_then_not)

    def work(comm):
        mine = np.arange(whole.n) if comm.rank == 1 else np.arange(0)
        return slowed_then_not(Program(comm, whole, mine))

    for found in run_threads(3, work):
        same(found, expected)

    def alone(comm):
        bounds = ranges_of(whole.n, comm.size)
        mine = range(bounds[comm.rank], bounds[comm.rank + 1])
        graph = ev.DistributedGraph.from_local(comm, **rows_of(whole, mine))
        plan = ev.plan(graph, 1)
        rebalancer = ev.Rebalancer(plan, graph, replan=ev.replan)
        assert [rebalancer.observe([1.0 + i]) for i in range(10)] == [None] * 10
        assert rebalancer.observe([1.0], np.full(plan.part.size, 3.0)) is None

    run_threads(2, alone)


@pytest.mark.slow
def test_more_ranks_than_slices(whole):
    same(played(whole, 66, slowed_then_not), played(whole, 1, slowed_then_not))


def refused(whole, call, match, kind=InputError):
    """On all ranks; the Rebalancer goes on as if it had not been called."""

    def work(comm):
        program = Program(comm, whole)
        with pytest.raises(kind, match=match):
            call(program)
        assert program.rebalancer.observations == 0
        assert program.observe(np.ones(K), program.work) is None

    run_threads(2, work)


def on_one(program, good, bad):
    """`bad` at rank 1, `good` at rank 0."""
    return bad if program.comm.rank == 1 else good


ONES = np.ones(K)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda p: p.rebalancer.observe(ONES[:3]), "3 times for 5 devices"),
        (lambda p: p.rebalancer.observe(on_one(p, ONES, -ONES)), "rank 1: the time of device 0"),
        (
            lambda p: p.rebalancer.observe(on_one(p, ONES, 2 * ONES)),
            "d0 took 2 s on rank 1, but 1 s on rank 0",
        ),
        (
            lambda p: p.rebalancer.observe(ONES, on_one(p, np.ones(p.mine.size), np.ones(7))),
            "rank 1: there are 7 weights for 750",
        ),
        (
            lambda p: p.rebalancer.observe(ONES, on_one(p, np.ones(p.mine.size), None)),
            "rank 0 passes work, but rank 1 does not",
        ),
        (
            lambda p: p.rebalancer.observe(
                ONES, np.where(np.arange(p.mine.size) == 3, on_one(p, 1.0, -1.0), 1.0)
            ),
            "rank 1: work must not be negative",
        ),
        (
            lambda p: p.rebalancer.observe(ONES, np.full(p.mine.size, on_one(p, 1.0, np.nan))),
            "rank 1: work",
        ),
        (lambda p: p.rebalancer.observe(ONES, np.zeros(p.mine.size)), "one vertex must have work"),
        (lambda p: p.rebalancer.observe(ONES, np.ones((p.mine.size, 2))), "work"),
        (lambda p: p.rebalancer.observe(ONES, iterations=on_one(p, 1, 2)), "rank 1 passes"),
        (lambda p: p.rebalancer.observe(ONES, left=on_one(p, 1, -1)), "iterations left"),
        (
            lambda p: p.rebalancer.observe(ONES, numbers=on_one(p, p.mine, p.mine[:-1])),
            "vertex 1499 is on no rank",
        ),
        (
            lambda p: p.rebalancer.observe(ONES, numbers=np.zeros(p.mine.size, int)),
            "vertex 0 is on rank 0 and rank 0",
        ),
        (
            lambda p: p.rebalancer.observe(ONES, numbers=p.mine + 1),
            "rank 1: row 749 is for vertex 1500",
        ),
        (
            lambda p: p.rebalancer.observe(ONES, numbers=on_one(p, p.mine, None)),
            "rank 0 passes numbers, but rank 1 does not",
        ),
        (lambda p: p.rebalancer.moved(1.0), "called without a move"),
    ],
)  # fmt: skip
def test_what_is_wrong_on_one_rank_is_said_on_all(whole, call, match):
    refused(whole, call, match)


def test_a_plan_that_is_not_of_the_graph(whole):
    other = triangle_mesh(1500, 3).nodal_graph()

    def work(comm):
        one, two = Program(comm, whole), Program(comm, other)
        bounds = np.array([0, 700, whole.n])
        mine = np.arange(bounds[comm.rank], bounds[comm.rank + 1])
        dealt = ev.DistributedGraph.from_local(comm, **rows_of(whole, mine))
        turned = type(whole).from_edges(
            whole.n,
            whole.n - 1 - np.repeat(np.arange(whole.n), whole.degrees),
            whole.n - 1 - whole.adjncy,
        )
        again = ev.DistributedGraph.from_local(comm, **rows_of(turned, one.mine))
        with pytest.raises(InputError, match=r"rank 0: the plan has 750 .* but the graph has 700"):
            ev.Rebalancer(one.plan, dealt)
        with pytest.raises(InputError, match="the plan is for another graph"):
            ev.Rebalancer(one.plan, again)
        with pytest.raises(InputError, match=r"edges"):
            ev.Rebalancer(one.plan, two.rebalancer._data._held)
        with pytest.raises(UsageError, match="a RankPlan does not belong to a Graph"):
            ev.Rebalancer(one.plan, whole)
        with pytest.raises(InputError, match="rebuild seconds"):
            ev.Rebalancer(one.plan, one.rebalancer._data._held, rebuild_seconds=-1.0)
        with pytest.raises(EvenerError, match="cannot be written"):
            ev.Rebalancer(one.plan, one.rebalancer._data._held, log="/no/such/folder/log")

    run_threads(2, work)
    plan = ev.plan(whole, PLATFORM)
    with pytest.raises(UsageError, match="numbers are only for rows"):
        ev.Rebalancer(plan, whole).observe(ONES, numbers=np.arange(whole.n))
