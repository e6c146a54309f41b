"""Hard shapes of edges: blocks within the contract, or a reason; the same whatever the threads."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InfeasibleError, NotFoundError
from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.partitioning.requests import Request
from evener.planning.split import split
from evener.plans.edge_partition import edge_metrics
from evener.splitting import splits
from evener.splitting.methods import METHODS, NEEDS_MORE
from evener.threads import slices_for
from tests.examples import with_examples

HERE = [name for name in METHODS if name not in NEEDS_MORE]
# Those that run no tool in another process, which takes a tenth of a second.
QUICK = [name for name in HERE if not name.startswith(("spac", "wvp"))]
STAR = EdgeList(41, np.zeros(40, int), np.arange(1, 41))
LOOPS = EdgeList(6, [0, 0, 1, 2, 3, 3], [0, 0, 1, 2, 3, 3])
PARALLEL = EdgeList(9, [4] * 12, [7] * 12)  # all vertices but two are isolated
TWO_STARS = EdgeList(40, np.repeat([0, 20], 19), np.r_[1:20, 21:40])


def beside(*parts):
    """Several lists of edges as one, none with a vertex of another."""
    firsts = np.cumsum([0, *(part.n for part in parts)])
    tails, heads = (
        np.concatenate(
            [getattr(part, end) + first for part, first in zip(parts, firsts[:-1], strict=True)]
        )
        for end in ("tails", "heads")
    )
    return EdgeList(int(firsts[-1]), tails, heads)


@pytest.mark.parametrize("method", HERE)
def test_shapes_are_divided_within_the_contract(method):
    edges = beside(STAR, LOOPS, PARALLEL, TWO_STARS)
    made = split(edges, 6, method=method, preset="fast")
    assert made.holds.all()
    assert made.metrics.edges.min() >= 1
    again = edge_metrics(edges, made.partition)
    assert again.copies == made.metrics.copies
    assert again.loads.tolist() == made.metrics.loads.tolist()


def test_a_star_is_copied_to_every_block_and_loops_to_none():
    assert split(STAR, 8).metrics.copies == 7
    assert split(TWO_STARS, 2).metrics.copies == 0
    assert split(LOOPS, 3).metrics.copies == 0


@st.composite
def odd_edges(draw):
    """Edges with loops, parallel ones and isolated vertices, some of weight 0, some heavy."""
    n = draw(st.integers(1, 8))
    end = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(end, end), min_size=1, max_size=20))
    tails, heads = zip(*pairs, strict=True)
    kinds = st.sampled_from([0, 1, 1, 2, 9])
    weights = draw(st.none() | st.lists(kinds, min_size=len(pairs), max_size=len(pairs)))
    return EdgeList(n, tails, heads, weights)


@with_examples(40)
@given(odd_edges(), st.integers(1, 25), st.sampled_from(QUICK), st.booleans())
def test_any_edges_are_divided_within_the_contract_or_refused(edges, k, method, wide):
    try:
        made = split(edges, k, method=method, epsilon=0.5 if wide else 0.03, preset="fast")
    except (InfeasibleError, NotFoundError) as error:
        assert k > 1 or edges.total_weight == 0
        assert error.message
        return
    assert made.holds.all()
    assert made.partition.m == edges.m
    assert made.metrics.loads.sum() == edges.total_weight


def test_edges_that_weigh_nothing_are_refused():
    edges = EdgeList(5, [0, 1, 2, 3], [1, 2, 3, 4], [0, 0, 0, 0])
    with pytest.raises(InfeasibleError, match="all edges have weight zero"):
        split(edges, 2)


def test_an_edge_heavier_than_a_share_gets_a_block_of_its_own():
    edges = EdgeList(5, [0, 1, 2, 3], [1, 2, 3, 4], [1, 1, 1, 90])
    loads = split(edges, 2).metrics.loads
    assert sorted(loads.tolist()) == [3, 90]


@pytest.mark.slow
def test_threads_do_not_change_the_blocks(monkeypatch):
    edges, found = EdgeList.of_graph(grid((182, 182))), []
    assert slices_for(edges.m) > 1
    for threads in (1, 2):
        monkeypatch.setattr(splits, "Request", partial(Request, threads=threads))
        found.append(split(edges, [1, 2, 4]).partition.part)
    assert np.array_equal(*found)
