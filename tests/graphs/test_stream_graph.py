"""StreamGraph: what it takes, and what it refuses."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.graphs.stream_graph import MOST_NEEDS, FilterRow, StreamGraph, topological_order

GOOD = {
    "names": ("a", "b", "c"), "scalar": [1, 2, 3], "vector": [1, 1, 4],
    "tails": [0, 1], "heads": [1, 2], "nbytes": [8, 0],
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"names": ("a", "a", "c")}, "two filters have the name 'a'"),
        ({"names": ("a", "", "c")}, "empty name"),
        ({"names": ("a", "\ud800", "c")}, "a filter's name must be valid UTF-8, unlike"),
        ({"tokens": [0, 0.5]}, "tokens of the edge from 'b' to 'c' must be whole, not 0.5"),
        ({"tokens": [0, 2.0**54]}, "tokens of the edge from 'b' to 'c' are more than 2.53"),
        ({"scalar": [1, -2, 3]}, "scalar of filter 'b' must be >= 0, not -2"),
        ({"scalar": [1, 2e100, 3]}, r"scalar of filter 'b' must be at most 1e\+100, not 2e\+100"),
        ({"nbytes": [8, 2e100]}, r"bytes of the edge from 'b' to 'c' must be at most 1e\+100, not"),
        ({"scalar": [1, np.nan, 3]}, "finite"),
        ({"scalar": [1, 2]}, "must have one entry"),
        ({"vector": [1, 0.5, 1]}, "vector of filter 'b' must be >= 1, not"),
        ({"nbytes": [8, -1]}, "bytes of the edge from 'b' to 'c'"),
        ({"nbytes": [8]}, "must have one entry"),
        ({"heads": [1, 3]}, "from 0 to 2"),
        ({"heads": [1]}, "tails but"),
        ({"heads": [0, 2]}, "joins filter 'a' to itself"),
        ({"stateful": [False, False, True]}, "'c' is stateful, but its vector is 4"),
        ({"stateful": [0, 0, 1]}, "true or false"),
        ({"tails": [0, 1, 2], "heads": [1, 2, 0], "nbytes": [1, 1, 1]}, "'a' -> 'b' -> 'c' -> 'a'"),
        ({"needs": {"ram": [1, 2]}}, "ram must have one entry for each of the 3 filters"),
    ],
)
def test_what_cannot_be_is_refused(change, said):
    with pytest.raises(InputError, match=said):
        StreamGraph(**GOOD | change)


def test_needs_of_filters_are_bounded(monkeypatch):
    """n filters with a need of its own each are n x n numbers."""
    rows = [FilterRow(f"f{i}", 1.0, needs={f"k{i}": 1.0}) for i in range(MOST_NEEDS + 1)]
    assert len(StreamGraph.of(rows, []).needs) == MOST_NEEDS + 1
    monkeypatch.setattr("evener.graphs.stream_graph.MOST_NEEDED", 1000)
    with pytest.raises(InputError, match="65 different needs of 65 filters"):
        StreamGraph.of(rows, [])
    assert len(StreamGraph.of(rows[:-1], []).needs) == MOST_NEEDS


def test_a_cycle_may_have_tokens():
    closed = {"tails": [0, 1, 2], "heads": [1, 2, 0], "nbytes": [1, 1, 1], "tokens": [0, 0, 1]}
    graph = StreamGraph(**GOOD | closed)
    assert topological_order(graph).tolist() == [0, 1, 2]
    assert "3 filters, 3 edges" in repr(graph)


def test_no_filter_at_all():
    graph = StreamGraph((), [], [], [], [], [])
    assert (graph.n, graph.m) == (0, 0)
    assert "0 filters" in repr(graph)
