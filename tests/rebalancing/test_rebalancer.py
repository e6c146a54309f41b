"""A Rebalancer moves what pays, keeps data in place, survives bad input, and can be replayed."""

import json

import numpy as np
import pytest

import evener as ev
from evener.errors import InputError, UsageError
from evener.graphs.generating.grid import grid
from evener.plans import metrics
from evener.plans.partition import Partition
from evener.platforms.models.fitting import Constant
from evener.rebalancing.decision_log import is_decisions, read_decisions, replay
from evener.rebalancing.proposals import matched, messages, slowed, transfer_seconds

GRAPH = grid((40, 40))
LINKS = (ev.Level("net", ev.Link(1e-6, 1e-9)),)
PLATFORM = ev.Platform(tuple(ev.Device(f"d{i}", 1e6 * (1 + i % 2)) for i in range(4)), LINKS)
# Compact blocks: slabs in a line, which plans for seconds may be, pass much more on.
PLAN = ev.plan(GRAPH, PLATFORM, ev.PlanOptions(objective="cut", threads=1))


def times_of(rebalancer, factors, graph=GRAPH):
    loads = metrics.block_weights(graph, rebalancer.partition)
    return loads / PLATFORM.speeds * factors


def played(rebalancer, factors, steps=40):
    """Moves in so many iterations on devices so many times slower, and when."""
    moves = []
    for i in range(steps):
        move = rebalancer.observe(times_of(rebalancer, factors))
        if move is not None:
            moves.append((i, move))
            rebalancer.moved(1e-3)
    return moves


@pytest.mark.parametrize("replan", [None, ev.replan], ids=["borders only", "anew, too"])
def test_a_slow_device_gives_and_the_rest_stays_where_it_is(replan, tmp_path):
    log = tmp_path / "decisions.jsonl"
    with ev.Rebalancer(PLAN, GRAPH, replan=replan, log=log) as rebalancer:
        assert played(rebalancer, np.ones(4)) == []
        factors = np.array([1.0, 2.5, 1.0, 1.0])
        ((when, move),) = played(rebalancer, factors)
        assert when < 10
        before = times_of(ev.Rebalancer(PLAN, GRAPH), factors).max()
        after = times_of(rebalancer, factors).max()
        assert after < 0.62 * before
        assert move.saving == pytest.approx(before - after, rel=0.1)
        assert move.vertices == np.count_nonzero(move.part != PLAN.partition.part) < GRAPH.n / 3
        assert rebalancer.rebuild_seconds < 1e-3
        assert len(played(rebalancer, np.ones(4))) == 1  # and back again
    told = read_decisions(log)
    assert is_decisions(log)
    assert told.names == PLATFORM.names
    kinds = {one["kind"] for line in told.lines for one in line.get("proposals", ())}
    assert kinds == {"diffused", "refined"} | ({"replanned", "matched"} if replan else set())
    assert replay(told) == (120, 2, [])


def test_decisions_told_wrongly_are_found_out(tmp_path):
    log = tmp_path / "d.jsonl"
    with ev.Rebalancer(PLAN, GRAPH, log=log) as rebalancer:
        played(rebalancer, np.array([1.0, 2.5, 1.0, 1.0]), 12)
    lines = log.read_text().splitlines()
    row = json.loads(lines[3])
    row["times"][0] *= 1 + 1e-15 * 4
    log.write_text("\n".join([*lines[:3], json.dumps(row), *lines[4:], "{cut o"]))
    told = read_decisions(log)
    assert told.cut
    assert replay(told).differences
    state = json.dumps({"state": {"loads": [1]}})[1:-1]
    for broken in ("", "[]\n", '{"decisions": 9}\n', '{"decisions": 1}\n', lines[0] + "\n{}\n",
                   lines[0].replace("loads", "lads") + "\n", lines[0] + "\nx\n",
                   "\n".join([lines[0], lines[1].replace('"times": [', '"times": [-')]) + "\n",
                   "\n".join([lines[0], lines[1][:-1] + ", " + state + "}\n"])):  # fmt: skip
        log.write_text(broken)
        with pytest.raises(InputError):
            read_decisions(log)
    with pytest.raises(InputError, match="cannot be read"):
        read_decisions(tmp_path / "none")
    with pytest.raises(InputError, match="cannot be written"):
        ev.Rebalancer(PLAN, GRAPH, log=tmp_path / "no" / "folder")


def test_a_mesh_that_grows_in_one_place_is_spread_anew():
    rebalancer = ev.Rebalancer(PLAN, GRAPH)
    work = np.where(PLAN.partition.part == 0, 4.0, 1.0)
    graph = GRAPH.with_(vwgt=work)
    moves = []
    for i in range(12):
        given = work if i == 3 else None
        times = times_of(rebalancer, np.ones(4), graph if i >= 3 else GRAPH)
        move = rebalancer.observe(times, given)
        if move is not None:
            moves.append(i)
    assert moves
    assert moves[0] < 8
    loads = metrics.block_weights(graph, rebalancer.partition)
    assert (loads / PLATFORM.speeds).max() < 1.08 * work.sum() / PLATFORM.speeds.sum()


def test_a_device_that_tells_nothing_is_as_it_was():
    rebalancer = ev.Rebalancer(PLAN, GRAPH)
    for gap in (None, np.nan, np.inf):
        times = times_of(rebalancer, np.ones(4)).tolist()
        assert rebalancer.observe([times[0], gap, *times[2:]]) is None
        assert rebalancer.silent == ["d1"]
    assert rebalancer.last.silent.tolist() == [0, 3, 0, 0]
    assert rebalancer.observe([None] * 4) is None


def test_what_is_no_time_or_weight_is_refused():
    rebalancer = ev.Rebalancer(PLAN, GRAPH)
    good = np.ones(4)
    for times in (np.ones(3), [-1.0, 1, 1, 1], ["x", 1, 1, 1], np.ones((4, 2)), 3.0):
        with pytest.raises(InputError):
            rebalancer.observe(times)
    for work in (np.ones(3), np.full(GRAPH.n, -1.0), np.zeros(GRAPH.n), np.full(GRAPH.n, np.nan)):
        with pytest.raises(InputError):
            rebalancer.observe(good, work)
    for seconds in (1.0, -1.0, np.nan):
        with pytest.raises(InputError):
            rebalancer.moved(seconds)
    with pytest.raises(InputError):
        ev.Rebalancer(PLAN, grid((5, 5)))
    with pytest.raises(InputError):
        ev.Rebalancer(PLAN, GRAPH, rebuild_seconds=-1)
    with pytest.raises(UsageError):
        ev.Rebalancer(PLAN, GRAPH.with_(vwgt=np.ones((GRAPH.n, 2))))


def test_one_device_never_moves_and_a_thousand_are_decided_on():
    one = ev.Platform.flat([1.0])
    rebalancer = ev.Rebalancer(ev.plan(GRAPH, one), GRAPH, replan=ev.replan)
    for i in range(40):
        assert rebalancer.observe([1.0 + i]) is None
    platform = ev.Platform.flat([1.0] * 1000)
    graph = grid((100, 100))
    plan = ev.plan(graph, platform, ev.PlanOptions(tool="rcb", threads=1))
    rebalancer = ev.Rebalancer(plan, graph)
    times = metrics.block_weights(graph, plan.partition)
    times[7] *= 5
    moves = [rebalancer.observe(times if i == 0 else None or times) for i in range(6)]
    assert any(move is not None for move in moves)
    assert metrics.block_sizes(rebalancer.partition).min() > 0


def test_bytes_go_over_their_links_one_after_the_other():
    old, new = np.array([0, 0, 0, 1, 2]), np.array([1, 1, 2, 0, 2])
    source, target, n_bytes = messages(old, new, np.array([1.0, 2, 4, 8, 16]), 3)
    assert (source.tolist(), target.tolist(), n_bytes.tolist()) == ([0, 0, 1], [1, 2, 0], [3, 4, 8])
    platform = ev.Platform(
        tuple(ev.Device(f"d{i}", 1.0) for i in range(3)), (ev.Level("net", ev.Link(0.5, 2.0)),)
    )
    # Device 0 sends 3 and 4 bytes and receives 8, in three messages.
    assert transfer_seconds(platform, source, target, n_bytes) == pytest.approx(3 * 0.5 + 2 * 15)
    assert transfer_seconds(platform, source[:0], target[:0], n_bytes[:0]) == 0


def test_blocks_go_where_their_data_is_if_the_device_is_as_fast():
    part = PLAN.partition.part
    renamed = Partition(np.array([2, 3, 0, 1], np.int32)[part], 4)
    assert np.array_equal(matched(GRAPH, PLAN.partition, renamed, PLATFORM).part, part)
    swapped = Partition(np.array([1, 0, 3, 2], np.int32)[part], 4)  # slow blocks on fast devices
    found = matched(GRAPH, PLAN.partition, swapped, PLATFORM)
    assert (
        metrics.compute_seconds(metrics.block_weights(GRAPH, found), PLATFORM).max()
        <= 1.02 * metrics.compute_seconds(metrics.block_weights(GRAPH, swapped), PLATFORM).max()
    )


def test_slowed_devices_take_longer_at_every_load():
    curve = ev.DeviceSpeeds("d0", (ev.Sample(10, 1.0), ev.Sample(20, 4.0)))
    platform = ev.Platform((ev.Device("d0", 5.0, curve=curve), ev.Device("d1", 2.0)))
    slow = slowed(platform, np.array([3.0, 0.5]))
    assert slow.devices[0].model.time(15.0) == pytest.approx(3 * platform.devices[0].model.time(15))
    assert slow.devices[1].model == Constant(4.0)


def test_means_of_iterations_and_the_number_left_are_in_the_log(tmp_path):
    """A mean over 20 iterations counts 20 times; no move that does not pay by the end; replayed."""
    factors, log = np.array([1.0, 2.5, 1.0, 1.0]), tmp_path / "d.jsonl"
    moved = {}
    for iterations, left in ((1, None), (20, None), (20, 0.5), (20, 1e6)):
        with ev.Rebalancer(PLAN, GRAPH, log=log, rebuild_seconds=0.05) as rebalancer:
            found = [
                rebalancer.observe(times_of(rebalancer, factors), iterations=iterations, left=left)
                for _ in range(200)
            ]
        moved[iterations, left] = [i for i, move in enumerate(found) if move is not None]
        told = read_decisions(log)
        assert replay(told) == (200, len(moved[iterations, left]), [])
        assert told.lines[0].get("iterations", 1) == iterations
        assert told.lines[0].get("left") == left
    assert moved[20, None][0] < moved[1, None][0]
    assert moved[20, None] == moved[20, 1e6]
    assert moved[20, 0.5] == []
    for wrong in ({"iterations": 0}, {"iterations": np.nan}, {"left": -1}):
        with pytest.raises(InputError, match="iterations"):
            rebalancer.observe(np.ones(4), **wrong)
