"""Exchanges between threads that are made once: whole buffers, and as much as these say."""

import numpy as np
import pytest

from evener.errors import ToolError
from evener.running.failures import Names
from evener.running.swaps import LENGTH, Mail, Stopped, ThreadSwap


def sized(size, used, value):
    buffer = np.full(size, value, np.uint8)
    buffer[:LENGTH].view(np.int64)[0] = used
    return buffer


def test_a_sized_swap_sends_what_its_buffers_say():
    mail = Mail(1.0, Names())
    out, into = sized(40, 40, 0), sized(40, 0, 9)
    here = ThreadSwap(0, mail, {1: out}, {}, sized=True)
    there = ThreadSwap(1, mail, {}, {0: into}, sized=True)
    for used, value in ((12, 1), (40, 2), (LENGTH, 3), (16, 4)):
        out[:], before = sized(40, used, value), into.copy()
        here.start()
        there.finish()
        here.settle()
        out[:] = 77  # copied already
        assert np.array_equal(into[:used], sized(40, used, value)[:used])
        assert np.array_equal(into[used:], before[used:])


def test_a_swap_that_is_not_sized_sends_all():
    mail = Mail(1.0, Names())
    out, into = np.arange(5.0), np.zeros(5)
    here, there = ThreadSwap(0, mail, {1: out}, {}), ThreadSwap(1, mail, {}, {0: into})
    for _ in range(3):
        here.settle()
        out += 1
        here.start()
        there.finish()
        assert np.array_equal(into, out)


def test_buffers_are_not_changed_before_all_have_copied_them():
    mail = Mail(0.01, Names())
    out = {1: np.zeros(5), 2: np.zeros(5)}
    here, there = ThreadSwap(0, mail, out, {}), ThreadSwap(1, mail, {}, {0: np.zeros(5)})
    here.start()
    there.finish()
    with pytest.raises(ToolError, match="rank 2 has not answered"):
        here.settle()
    mail.close()
    with pytest.raises(Stopped):
        here.settle()


def test_waits_end():
    mail = Mail(0.01, Names())
    waits = ThreadSwap(1, mail, {}, {0: np.zeros(5)})
    with pytest.raises(ToolError, match="rank 0 has not answered"):
        waits.finish()
    mail.close()
    with pytest.raises(Stopped):
        waits.finish()
