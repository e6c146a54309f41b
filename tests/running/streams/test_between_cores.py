"""What a byte between cores takes is found where filters take longer there, and nowhere else."""

import threading
import time

import numpy as np
import pytest

from evener.errors import UsageError
from evener.running.streams.apps.registry import stream_app
from evener.running.streams.between_cores import (
    bytes_between,
    calibrate_stream,
    cores_joined,
    fitted,
    parted,
)
from tests.running.streams.programs import chain

LONGER = 4e-3  # [s] of a core


def dear_where_apart():
    """Its second filter takes longer where another thread than its own made what it reads."""

    def second(x):
        until = time.thread_time() + LONGER * (x[0] != threading.get_ident() % 2**31)
        while time.thread_time() < until:
            pass
        return x[0]

    return chain(lambda _: np.full(500, threading.get_ident() % 2**31), second, shape=(500,),
                 dtype="int64")  # fmt: skip


def test_filters_that_take_longer_apart_make_bytes_dear():
    program = dear_where_apart()
    found = calibrate_stream(program, 4)
    # Both filters have 4,000 B, and one takes longer: half of that explains both best.
    assert found.per_byte * 4000 == pytest.approx(LONGER / 2, rel=0.3)
    assert found.platform.k == 2
    assert found.platform.levels[0].link.beta == found.per_byte
    assert found.graph.names == ("f0", "f1")
    assert found.seconds[1] < LONGER / 2
    assert calibrate_stream(program, 1, 1).per_byte is None
    for repeats, busy in ((0, 2), (1, 0)):
        with pytest.raises(UsageError, match="at least 1, not 0"):
            calibrate_stream(program, repeats, busy)


def test_most_bytes_pass_between_the_cores():
    graph = stream_app("jacobi", {"n": 9}).graph
    part = parted(graph)
    assert bytes_between(graph, part).tolist() == [16, 656, 656, 3 * 648, 648]
    assert not parted(chain(print).graph).any()


def test_seconds_of_a_byte_are_those_of_least_squares_and_never_negative():
    assert fitted(np.array([3.0, 1.0]), np.array([1.0, 0.0])) == 3
    assert fitted(np.array([1.0, 3.0]), np.array([1.0, 1.0])) == 2
    assert fitted(np.array([-1.0]), np.array([1.0])) == 0
    assert not cores_joined(2, 0.0).has_links
