"""Messages that share ports and links: by hand, and as a slow simulation has them."""

import numpy as np
import pytest

from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.plans.recount import recounted_blocks, recounted_seconds
from evener.plans.recount.recount_kernels import run_messages
from evener.plans.workload import Workload
from evener.platforms.device import Level, Link
from evener.platforms.platform import Device, Platform
from tests.examples import seeds
from tests.slow_exchange import Message, Shared, ends_of

VALUE = Workload("one byte a value", bytes_per_value=1.0)


def run(messages, posted):
    """Ends by the kernel: as tests.slow_exchange.ends_of has them, of messages without alpha."""
    numbers = {}
    rows = []
    for i, m in enumerate(messages):
        for resource, beta in [(m.p, m.beta), (m.q, m.beta), *((s, s.beta) for s in m.shared)]:
            if beta > 0:
                rows.append((numbers.setdefault(resource, len(numbers)), i, beta))
    rows.sort()
    resource, user, beta = (np.array(one) for one in zip(*rows, strict=True))
    p, q = (np.array([getattr(m, end) for m in messages]) for end in "pq")
    begin = np.maximum(np.array(posted)[p], np.array(posted)[q])
    ends = np.array(posted)
    run_messages(
        p,
        q,
        np.array([m.size for m in messages]),
        begin,
        np.searchsorted(np.sort(user), np.arange(len(messages) + 1)),
        resource[np.argsort(user, kind="stable")],
        np.searchsorted(resource, np.arange(len(numbers) + 1)),
        user,
        beta,
        ends,
    )
    return ends


@pytest.mark.parametrize("seed", seeds(30))
def test_the_slow_simulation_agrees(seed):
    draw = np.random.default_rng([6, seed])
    k = int(draw.integers(2, 10))
    links = [Shared((i,), float(draw.choice([0, 1e-9, 1e-3, 0.5, 1]))) for i in range(4)]
    messages = []
    for p in range(k):
        for q in range(p + 1, k):
            if draw.random() < 0.7 or (p, q) == (0, 1):
                size = float(draw.choice([0, 8, 8, 16, draw.random() * 100]))
                passed = tuple(s for s in links if draw.random() < 0.3)
                beta = float(draw.choice([0, 1, 1, 1e-6, draw.random()]))
                beta = beta if (p, q) != (0, 1) else 1.0
                messages.append(Message(p, q, size, 0.0, beta, passed, (0, 2)))
    posted = draw.choice([0.0, 1.0, 1.0, 30.0], k).tolist()
    np.testing.assert_allclose(run(messages, posted), ends_of(messages, posted), rtol=1e-11)


def test_a_port_is_shared_byte_by_byte():
    # 10 and 30 bytes, 1 s each: the first has half the port until 20 s, the second ends at 40 s.
    messages = [Message(0, 1, 10.0, 0.0, 1.0, (), ()), Message(0, 2, 30.0, 0.0, 1.0, (), ())]
    assert run(messages, [0.0, 0.0, 0.0]).tolist() == [40.0, 20.0, 40.0]


def test_what_a_full_link_leaves_goes_to_others():
    # The link lets 1/4 byte a second through, the ports' other message gets the remaining 3/4.
    slow = Shared(("x",), 4.0)
    messages = [Message(0, 1, 10.0, 0.0, 1.0, (slow,), ()), Message(0, 2, 30.0, 0.0, 1.0, (), ())]
    assert run(messages, [0.0, 0.0, 0.0]).tolist() == [40.0, 40.0, 40.0]


def test_a_share_next_to_a_full_port_is_not_lost_to_rounding():
    # What the wide message leaves of the port is less than a number's last digit.
    thin = Message(0, 2, 1.0, 0.0, 1e-20, (), ())
    messages = [Message(0, 1, 1.0, 0.0, 1.0, (), ()), thin]
    assert run(messages, [0.0, 0.0, 0.0]).tolist() == pytest.approx([1.0, 1.0, 1.0])


def star(levels, speeds=(1.0, 1.0, 1.0, 1.0), **fields):
    graph = Graph.from_edges(4, [0, 0, 0], [1, 2, 3])
    blocks = recounted_blocks(graph, Partition(np.arange(4), 4), np.ones((4, 1)))
    devices = tuple(Device(f"d{b}", speed, **fields) for b, speed in enumerate(speeds))
    return recounted_seconds(blocks, Platform(devices, levels), VALUE)


def test_fixed_seconds_come_before_messages_are_posted():
    free = star((Level("net", Link(0.5, 1.0)),))
    later = star((Level("net", Link(0.5, 1.0)),), fixed_seconds=7.0)
    assert free.communicate.tolist() == [7.5, 2.5, 2.5, 2.5]
    assert free.delay.tolist() == later.delay.tolist() == [0.0, 5.0, 5.0, 5.0]
    assert later.fixed.tolist() == [7.0] * 4


def test_contention_is_at_most_until_the_busiest_link_is_through():
    shared = star((Level("net", Link(0.5, 1.0), shared=True),))
    # d0's link carries 6 bytes; the others would need 2.5 s and wait for it until 6 s, which is
    # contention; d0 posts three messages, and so begins 1 s later than they would: delay.
    assert shared.communicate.tolist() == [7.5, 6.0, 6.0, 6.0]
    assert shared.contention.tolist() == [0.0, 3.5, 3.5, 3.5]
    assert shared.delay.tolist() == [0.0, 1.5, 1.5, 1.5]


def test_without_links_nobody_waits():
    assert star((), speeds=(1.0, 0.1, 1.0, 1.0)).delay.tolist() == [0.0] * 4
    # Links that cost nothing: partners wait all the same.
    free = star((Level("net"),), speeds=(1.0, 0.1, 1.0, 1.0))
    assert free.delay.tolist() == [9.0, 0.0, 0.0, 0.0]


def test_seconds_beyond_all_numbers_are_those_of_the_device_at_fault():
    slow = star((Level("net", Link(0.0, 1e308)),))
    assert np.isinf(slow.communicate).tolist() == [True, True, True, True]
    slow = star((Level("net", Link(0.0, 1.0)),), speeds=(1.0, 5e-324, 1.0, 1.0))
    assert np.isinf(slow.compute).tolist() == [False, True, False, False]
    assert np.isfinite(slow.communicate[[0, 2, 3]]).all()
