"""StepRecorder: seconds, bytes and messages of each superstep."""

import time

import numpy as np
import pytest

from evener.plans.partition import Partition
from evener.running.comm import run_threads
from evener.running.distributing import distribute
from evener.running.engine.recording import StepRecorder, Superstep
from tests.running.engine.parts import random_graph


def test_what_is_timed_and_sent_belongs_to_the_superstep_under_way():
    graph = random_graph(60, 200)
    parts = distribute(graph, Partition((np.arange(60) % 2).astype(np.int32), 2))
    told = []

    def work(comm):
        steps = StepRecorder(comm, parts[comm.rank], told.append if comm.rank == 0 else None)
        x = np.arange(parts[comm.rank].n_local, dtype=np.float64)
        for step in range(3):
            with steps.timed("computing"):
                time.sleep(0.002 * step)
            for _ in range(step):
                steps.exchange(x)
            total = steps.summed(comm.rank + 1.0)
            steps.end(received=step)
        return steps, total

    for (steps, total), part in zip(run_threads(2, work), parts, strict=True):
        assert total == 3.0
        sent = sum(numbers.size for numbers in part.sends.values()) * 8
        assert [one.sent for one in steps.steps] == [0, sent, 2 * sent]
        assert steps.steps[2].sent_to == {1 - part.rank: 2 * sent}
        assert [one.received for one in steps.steps] == [0, 1, 2]
        assert steps.steps[2].computing > steps.steps[0].computing
        assert steps.now == Superstep()
    assert told == [1, 2, 3]


def test_a_failure_inside_a_timed_block_is_raised():
    with pytest.raises(ZeroDivisionError):
        run_threads(1, _failing)


def _failing(comm):
    part = distribute(random_graph(5, 6), Partition(np.zeros(5, np.int32), 1))[0]
    with StepRecorder(comm, part).timed("computing"):
        return 1 / 0
