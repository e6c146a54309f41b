"""Messages that share ports and links: by hand, and as a slow simulation has them."""

import numpy as np
import pytest

from evener.plans.metrics_kernels import finish_flows
from tests.examples import seeds
from tests.slow_exchange import Message, Shared, ends_of


def run(messages, posted):
    """Ends by the kernel: as tests.slow_exchange.ends_of has them, of messages without alpha."""
    numbers, flows = {}, []
    ends = np.array(posted)
    for m in messages:
        begin = max(posted[m.p], posted[m.q])
        uses = [(m.p, m.beta), (m.q, m.beta), *((s, s.beta) for s in m.shared)]
        uses = [(numbers.setdefault(one, len(numbers)), beta) for one, beta in uses if beta > 0]
        if uses and m.size > 0:
            flows.append((m, begin, uses))
        else:
            ends[[m.p, m.q]] = np.maximum(ends[[m.p, m.q]], begin)
    if not flows:
        return ends
    done = np.empty(len(flows))
    every = [use for _, _, uses in flows for use in uses]
    finish_flows(
        np.array([begin for _, begin, _ in flows]),
        np.array([m.size for m, _, _ in flows]),
        np.cumsum([0, *(len(uses) for _, _, uses in flows)]),
        np.array([one for one, _ in every]),
        np.array([beta for _, beta in every]),
        len(numbers),
        0.0,
        done,
    )
    for (m, _, _), end in zip(flows, done, strict=True):
        ends[[m.p, m.q]] = np.maximum(ends[[m.p, m.q]], end)
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
