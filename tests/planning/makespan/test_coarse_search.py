"""Plans on a small copy of the graph: what they promise holds, and slow devices come between."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.planning.device_sets.equal_finish import Evening
from evener.planning.makespan.coarse_search import SIZE, Sketch
from evener.planning.makespan.task import Task
from evener.plans import metrics
from evener.plans.partition import Partition
from evener.plans.workload import WEIGHTS
from evener.platforms.platform import Connection, Device, Link, Platform
from tests.assertions import grid


def dear_between(fast, slow, memory=None):
    """Fast devices whose messages are dear, and slow ones whose messages are cheap."""
    devices = [Device(f"fast{i}", 4e9, memory=memory) for i in range(fast)]
    devices += [Device(f"slow{i}", 4e8) for i in range(slow)]
    links = [
        Connection((d.name, "switch"), Link(20e-6 if d.name.startswith("fast") else 1e-7, 1e-9))
        for d in devices
    ]
    return Platform(tuple(devices), connections=tuple(links))


@pytest.fixture(scope="module")
def task():
    return Task.of(delaunay(20_000, seed=4), dear_between(4, 4), WEIGHTS)


def sketch_of(task, threads=1):
    evening = Evening(task.costs, task.load, task.graph.n, task.room)
    return Sketch(task, evening, threads)


def test_a_sketch_is_small_and_promises_what_holds(task):
    sketch = sketch_of(task)
    assert sketch.level.n <= SIZE
    assert sketch.level.vwgt.sum() == task.graph.n
    found = sketch.best([np.ones(8, bool)], 3, 1)
    assert len(found) == 3
    assert np.diff([one.seconds for one in found]).min() >= 0
    real = task.judged("", sketch.whole(found[0].part))
    assert real.seconds == pytest.approx(found[0].seconds, rel=0.25)


def test_the_best_is_the_same_again_whatever_the_threads(task):
    sets = [np.arange(8) < 4, np.arange(8) >= 4, np.arange(8) == 0]
    one, other = (sketch_of(task, threads).best(sets, 4, 5)[0] for threads in (1, 2))
    assert np.array_equal(one.part, other.part)
    assert one.seconds == other.seconds


def test_slow_devices_come_between_fast_ones(task):
    sketch = sketch_of(task)
    part = sketch.whole(sketch.best([np.ones(8, bool)], 6, 2)[0].part)
    between = metrics.quotient(task.graph, Partition(part, 8))
    assert ((between.block < 4) & (between.other < 4)).sum() <= 2  # in place of four pairs


def test_loads_end_at_one_time_within_room():
    graph = grid(30, 30)
    memory = 100 * graph.total_bytes / graph.n
    task = Task.of(graph, dear_between(2, 3, memory), WEIGHTS)
    sketch = sketch_of(task)
    assert sketch.level.n == graph.n  # nothing to shrink
    used = np.array([True, True, True, True, False])
    loads = sketch.loads(used)
    assert loads.sum() == pytest.approx(graph.n)
    assert loads[4] == 0
    assert (loads[:2] <= 100 * (1 + 1e-9)).all()
    assert loads[2] == pytest.approx(loads[3])
    best = sketch.best([used, np.array([True, True, False, False, False])], 4, 1)
    assert all((one.used == used).all() for one in best)  # the other set has no room
    assert (np.bincount(best[0].part, minlength=5)[:2] <= 110).all()
