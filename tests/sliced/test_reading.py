"""Graphs that tell how much of them has been read."""

import numpy as np

from evener.graphs.generating.grid import grid
from evener.sliced.reading import WatchedGraph
from evener.sliced.rows import InMemoryGraph


def test_passes_and_bytes_are_told_and_nothing_is_changed():
    told = []
    whole = InMemoryGraph(grid([20, 20]))
    graph = WatchedGraph(whole, lambda step, fraction: told.append((step, fraction)))
    for name in ("first", "second"):
        graph.step(name)
        for i in graph.own_slices:
            for one, other in zip(graph.rows(i), whole.rows(i), strict=True):
                assert np.array_equal(one, other)
            assert np.array_equal(graph.points(i), whole.points(i))
    graph.tell("done", 1.0)
    size = sum(array.nbytes for i in range(64) for array in whole.rows(i)[1:])
    assert told[64][0] == f"first: pass 1, {size / 1024:.3g} KiB read"
    assert told[-2][0].startswith("second: pass 2, ")
    fractions = [fraction for _, fraction in told]
    assert fractions == sorted(fractions)
