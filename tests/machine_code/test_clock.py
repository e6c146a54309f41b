"""CPU time counts work, and neither compiling kernels nor loading them."""

import threading
import time

import numba
import numpy as np
import pytest

from evener.machine_code.clock import Preparing, _listening, cpu_seconds
from evener.partitioning import tools
from evener.partitioning.requests import Request
from tests.assertions import path


def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_what_is_within_is_counted_once_and_what_is_without_is_not():
    preparing = Preparing()
    preparing.end()  # of what began before anyone listened
    work(0.01)
    assert preparing.seconds == 0
    began = time.thread_time()
    for _ in range(2):
        preparing.begin()
    work(0.02)
    preparing.end()
    assert preparing.seconds == 0
    preparing.end()
    assert 0.02 <= preparing.seconds <= time.thread_time() - began


def test_threads_count_by_themselves():
    preparing = Preparing()
    preparing.begin()
    other = threading.Thread(target=lambda: (preparing.begin(), work(0.02), preparing.end()))
    other.start()
    other.join()
    assert 0.02 <= preparing.seconds < 0.04
    preparing.end()


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_compiling_is_not_counted():
    kernel = numba.njit(lambda x: x * x + 1)
    prepared, began = _listening().seconds, (time.process_time(), cpu_seconds())
    assert kernel(3) == 10
    compiling = _listening().seconds - prepared
    assert compiling > 0
    process, counted = time.process_time() - began[0], cpu_seconds() - began[1]
    assert counted <= process - compiling + 1e-3
    kernel(4)
    assert _listening().seconds - prepared == compiling


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_a_tool_does_not_cost_what_its_kernels_take_to_compile():
    graph = path(6)

    def divide(*_, **__):
        return numba.njit(lambda part: part * 0)(np.ones(graph.n, np.int32))

    began = time.process_time()
    outcome = tools._timed(divide, graph, Request(np.array([3.0, 3.0])))
    assert outcome.part.tolist() == [0] * 6
    # Nearly all that the process did was to compile.
    assert outcome.cpu_seconds < 0.3 * (time.process_time() - began)
