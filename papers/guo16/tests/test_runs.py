"""Our plan in the place of a policy: it fits the GPUs with messages counted, or is refused."""

from dataclasses import replace

import numpy as np
import pytest

from evener.errors import InfeasibleError
from papers.guo16 import runs
from papers.guo16.runs import own_blocks
from papers.guo16.setup import MESSAGES, das4, stand_ins

GRAPH = stand_ins(0.1)["G4"]


def test_blocks_fit_the_gpus_with_messages():
    platform = das4(2, GRAPH.shrink)
    made = own_blocks(GRAPH.graph, platform, 20.0, MESSAGES)
    needed = MESSAGES.of_blocks(GRAPH.graph, made.partition.part, 4)
    assert np.array_equal(made.n_bytes, needed)
    assert (needed <= platform.memories)[1::2].all()
    arcs = np.bincount(made.partition.part, weights=GRAPH.graph.degrees, minlength=4)
    assert arcs[0::2].sum() > 0.1 * arcs.sum()  # 1 / 21 would balance: memory binds


def test_a_gpu_that_holds_nothing_gets_nothing(monkeypatch):
    small = das4(1, GRAPH.shrink)
    devices = tuple(
        replace(one, memory=100.0) if one.kind == "cuda" else one for one in small.devices
    )
    platform = replace(small, devices=devices)
    made = own_blocks(GRAPH.graph, platform, 20.0, MESSAGES)
    assert (made.partition.part == 0).all()
    monkeypatch.setattr(runs, "ROUNDS", 1)
    with pytest.raises(InfeasibleError, match="no plan of 1 fits"):
        own_blocks(GRAPH.graph, platform, 20.0, MESSAGES)
