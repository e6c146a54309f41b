"""The page of `evener tune`."""

import re

import numpy as np
import pytest

from evener.reporting.tuning import MAX_RANKS, MAX_ROWS, TuningRound, write_tuning


def a_round(k, slow, steps=30):
    """Ranks of equal blocks, of which the last computes `slow` times as long."""
    computing = np.full((steps, k), 0.001)
    computing[:, -1] *= slow
    waiting = (computing.max(axis=1, keepdims=True) - computing) / 2
    seconds = computing.max(axis=1)
    names = [f"dev{rank}" for rank in range(k)]
    return TuningRound(
        names, np.full(k, 100.0), seconds, computing, waiting, waiting, (slow, 1.0, 2.0), ["a < b"]
    )


@pytest.mark.parametrize("k", [2, 100])
def test_rounds_are_drawn(tmp_path, k):
    file = tmp_path / "t.html"
    write_tuning(file, [a_round(k, 4), a_round(k, 2)], "It is faster", "solver <x>", "each Barrier")
    page = file.read_text()
    assert "It is faster" in page
    assert "solver &lt;x&gt;" in page
    assert "A &lt; b." in page
    assert "The plan that was given: 4.00" in page
    assert "New plan 1: 2.00" in page
    assert "2.00 times as fast" in page
    bars = re.findall(r'<li title="(dev\d+): 100 units; computing', page)
    assert len(bars) == 2 * min(k, MAX_RANKS)
    assert f"dev{k - 1}" in bars  # which computes longest
    assert page.count('<path class="bars"') == 2 * (1 + min(k, MAX_ROWS))
    assert ("of 100." in page) == (k > MAX_RANKS)


def test_the_same_rounds_give_the_same_page(tmp_path):
    pages = []
    for name in ("a", "b"):
        write_tuning(tmp_path / name, [a_round(3, 2)], "v", "p", "s")
        pages.append((tmp_path / name).read_bytes())
    assert pages[0] == pages[1]
