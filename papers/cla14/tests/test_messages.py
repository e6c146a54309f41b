"""Messages of a product over rectangles, counted by hand."""

import numpy as np
import pytest

from evener.plans.tiling import Tiling
from papers.cla14.messages import ELEMENT, LATENCY, sent_seconds


def test_messages_by_hand():
    """Two columns: of A each sends its part to the other; of B two ranks need one round."""
    tiling = Tiling((4, 4), *np.array([[0, 0, 1], [0, 2, 2], [4, 1, 3], [2, 2, 2]]))
    block = 16 * 16 * ELEMENT / 1e9
    across = 2 * (4 * block + 2 * LATENCY) + 2 * (3 * block + LATENCY)
    down = 4 * (2 * block + LATENCY)
    assert sent_seconds(tiling, 1e9, 16) == pytest.approx(across + down)
    assert sent_seconds(tiling.transposed(), 1e9, 16) == pytest.approx(across + down)


def test_one_node_sends_nothing():
    assert sent_seconds(Tiling((4, 4), *np.array([[0], [0], [4], [4]])), 1e9, 16) == 0.0
