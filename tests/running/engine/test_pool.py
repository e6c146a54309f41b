"""The threads of a device: all run, errors come back, cores are theirs while they work."""

import os
import threading

import pytest

from evener.errors import InputError
from evener.running.engine import ThreadPool


def test_every_thread_runs_once():
    seen = []
    with ThreadPool(3) as pool:
        for _ in range(5):
            pool.run(lambda thread, threads, word: seen.append((thread, threads, word)), "a")
    assert sorted(seen) == sorted([(t, 3, "a") for t in range(3)] * 5)


@pytest.mark.parametrize("failing", [0, 1])
def test_what_a_thread_raises_comes_back(failing):
    def work(thread, threads):
        if thread == failing:
            raise KeyError(thread)

    with ThreadPool(2) as pool:
        for _ in range(2):
            with pytest.raises(KeyError):
                pool.run(work)
        pool.run(lambda thread, threads: None)


def test_threads_are_bound_while_they_work():
    allowed = os.sched_getaffinity(0)
    core = min(allowed)
    seen = []
    with ThreadPool(1, [core]) as pool:
        pool.run(lambda thread, threads: seen.append(os.sched_getaffinity(0)))
    assert seen == [{core}]
    assert os.sched_getaffinity(0) == allowed


def test_all_threads_stay_bound_in_a_block():
    allowed = sorted(os.sched_getaffinity(0))
    cores, seen = allowed[:2], []
    with ThreadPool(len(cores), cores) as pool:
        with pool.bound():
            for _ in range(2):
                pool.run(lambda thread, _: seen.append((thread, os.sched_getaffinity(0))))
                assert os.sched_getaffinity(0) == {cores[0]}
        assert sorted(os.sched_getaffinity(0)) == allowed
        with pytest.raises(KeyError), pool.bound():
            raise KeyError
        assert sorted(os.sched_getaffinity(0)) == allowed
    assert len(seen) == 2 * len(cores)
    assert all(found == {cores[thread]} for thread, found in seen)


def test_wrong_counts_and_cores_are_refused():
    for threads, cores in ((0, None), (2, [0]), (2, [0, 0]), (1, [10**6])):
        with pytest.raises(InputError):
            ThreadPool(threads, cores)


def test_a_closed_pool_has_no_threads_left():
    before = threading.active_count()
    pool = ThreadPool(3)
    pool.close()
    deadline = threading.Event()
    for _ in range(100):
        if threading.active_count() <= before:
            break
        deadline.wait(0.01)
    assert threading.active_count() <= before
