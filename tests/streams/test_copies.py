"""Copies of filters: all data done once, all bytes sent; the search finds what helps."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.graphs.stream_graph import StreamGraph
from evener.streams.copies import FilterCopies, with_copies


def graph_of(vectors=(1, 12, 12, 1), stateful=None):
    n = len(vectors)
    return StreamGraph(
        tuple("abcdefgh"[:n]), np.full(n, 1e6), vectors, np.arange(n - 1), np.arange(1, n),
        np.full(n - 1, 24.0), stateful=stateful,
    )  # fmt: skip


def copies_of(*ranges):
    of, low, high = zip(*ranges, strict=True)
    return FilterCopies(np.array(of), np.array(low, float), np.array(high, float))


def test_one_copy_of_each_filter_is_the_graph():
    graph = graph_of()
    same = with_copies(graph, FilterCopies.single(graph))
    assert same.names == graph.names
    for name in ("scalar", "vector", "tails", "heads", "nbytes"):
        assert np.array_equal(getattr(same, name), getattr(graph, name))


def test_bytes_go_between_copies_that_have_the_same_data():
    copies = copies_of((0, 0, 1), (1, 0, 4), (1, 4, 12), (2, 0, 6), (2, 6, 12), (3, 0, 1))
    made = with_copies(graph_of(), copies)
    assert made.names == ("a", "b 1/2", "b 2/2", "c 1/2", "c 2/2", "d")
    assert made.vector.tolist() == [1, 4, 8, 6, 6, 1]
    sent = {
        (made.names[t], made.names[h]): nbytes
        for t, h, nbytes in zip(made.tails, made.heads, made.nbytes, strict=True)
    }
    assert sent == pytest.approx({
        ("a", "b 1/2"): 8.0, ("a", "b 2/2"): 16.0, ("b 1/2", "c 1/2"): 8.0,
        ("b 2/2", "c 1/2"): 4.0, ("b 2/2", "c 2/2"): 12.0, ("c 1/2", "d"): 12.0,
        ("c 2/2", "d"): 12.0,
    })  # fmt: skip


def test_random_copies_have_all_data_and_all_bytes():
    rng = np.random.default_rng(3)
    graph = graph_of((1, 9, 30, 8, 2, 1))
    copies = FilterCopies.single(graph)
    for _ in range(8):
        i = int(rng.choice(np.flatnonzero(copies.high - copies.low >= 2)))
        copies = copies.divided(i, float(rng.integers(copies.low[i] + 1, copies.high[i])))
        made = with_copies(graph, copies)
        assert np.bincount(copies.of, made.vector).tolist() == graph.vector.tolist()
        assert made.nbytes.sum() == pytest.approx(graph.nbytes.sum())
        part = rng.integers(0, 2, made.n)
        merged, processors = copies.merged(part)
        assert len(set(zip(merged.of.tolist(), processors.tolist(), strict=True))) == merged.of.size
        again = with_copies(graph, merged)
        assert np.bincount(merged.of, again.vector).tolist() == graph.vector.tolist()
        for p in (0, 1):
            for of, chosen, whole in ((copies.of, part, made), (merged.of, processors, again)):
                work = np.bincount(of[chosen == p], whole.vector[chosen == p], graph.n)
                if whole is made:
                    before = work
            assert work.tolist() == before.tolist()


def test_copies_that_cannot_be():
    with pytest.raises(InputError, match="filter 'b' is stateful, and has copies"):
        with_copies(
            graph_of((1, 1), np.array([False, True])),
            copies_of((0, 0, 1), (1, 0, 0.5), (1, 0.5, 1)),
        )
    with pytest.raises(InputError, match="a copy of filter 'a' is idle"):
        with_copies(graph_of((3,)), copies_of((0, 0, 0.5), (0, 0.5, 3)))


def test_copies_keep_needs_and_tokens():
    graph = StreamGraph(
        ("a", "b"), [1, 1], [4, 4], [0, 1], [1, 0], [8, 8], tokens=[0, 2], needs={"ram": [1, 2]}
    )
    made = with_copies(graph, copies_of((0, 0, 2), (0, 2, 4), (1, 0, 4)))
    assert made.needs["ram"].tolist() == [1, 1, 2]
    assert made.tokens.tolist() == [0, 0, 2, 2]
