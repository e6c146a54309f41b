"""Misses of a cache and sectors that warps touch: cases counted by hand, and slow counts."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.graphs.edge_list import EdgeList
from evener.plans.edge_partition import EdgePartition
from evener.running.locality.staging import StagedBlocks
from papers.spac.memory import (
    Cache,
    cached_product,
    gathered,
    of_threads,
    plain_interactions,
    plain_product,
    product_by_path,
    product_by_rows,
    product_by_runs,
    reads_through_cache,
    staged_interactions,
    staged_product,
    streamed,
)
from tests.examples import with_examples
from tests.running.engine.parts import random_graph, whole
from tests.running.locality.staged_cases import blocks_of, matrix


def slow_misses(lines, sets, ways):
    """Return the misses of lists, one a set, the last used line at the end."""
    held, misses = [[] for _ in range(sets)], 0
    for line in lines:
        own = held[line % sets]
        misses += line not in own
        if line in own:
            own.remove(line)
        own.append(line)
        del own[:-ways]
    return misses


@given(st.lists(st.integers(0, 12)), st.sampled_from([1, 2, 4]), st.sampled_from([1, 2, 3]))
@with_examples(60)
def test_misses_are_those_of_lists(lines, sets, ways):
    assert Cache(64 * sets * ways, 64, ways).misses(lines) == slow_misses(lines, sets, ways)


def test_misses_by_hand():
    two = Cache(128, 64, 2)
    assert two.misses([0, 1, 0, 2, 0, 1]) == 4  # 2 evicts 1, 1 comes again
    assert two.misses([]) == 0
    assert Cache(128, 64, 1).misses([0, 2, 0, 2]) == 4  # all in one set


def test_a_large_cache_fetches_each_line_of_a_product_once():
    part = whole(random_graph(100, 400, 1))
    found = Cache().misses_of_product(part)
    assert found.x == np.unique(part.out.ends // 8).size
    m = part.out.ends.size
    streams = sum(-(-size // 64) for size in (4 * 101, 4 * m, 8 * m, 8 * 100))
    assert found.other == streams


def test_a_cache_of_one_line_misses_every_change_of_array():
    part = whole(random_graph(20, 60, 1))
    found = Cache(64, 64, 1).misses_of_product(part)
    assert found.x == part.out.ends.size
    assert found.other == 2 * part.out.ends.size + 2 * 20


def test_a_large_cache_fetches_each_line_of_a_blocked_product_once():
    _, _, blocks = blocks_of(matrix(), 3)
    found = Cache().misses_of_blocks(blocks)
    assert found.x == np.unique(blocks.inputs.vertices // 8).size
    sums, m = 8 * blocks.outputs.vertices.size, blocks.edges.size
    room = 8 * blocks.inputs.counts.max()
    used = np.unique(blocks.outputs.vertices // 8).size
    sizes = 4 * blocks.inputs.vertices.size, room, 4 * m, 8 * m, sums, sums
    assert found.other == used + sum(-(-size // 64) for size in sizes)


def test_sizes_without_whole_sets_are_refused():
    with pytest.raises(InputError, match="no whole sets"):
        Cache(100, 64, 2)


def test_sectors_by_hand():
    whole = np.array([0, 32])
    assert gathered(np.arange(32), whole, 4) == 4  # 128 bytes
    assert gathered(np.arange(32), whole, 8) == 8
    assert gathered(np.zeros(32, int), whole, 8) == 1  # all threads at one address
    assert gathered(np.arange(32) * 4, whole, 8) == 32  # each a sector of its own
    assert gathered(np.zeros(33, int), np.array([0, 33]), 8) == 2  # two warps
    assert gathered(np.zeros(32, int), np.array([0, 16, 32]), 8) == 2  # two blocks
    assert streamed(np.array([0, 3, 6]), 8) == 1 + 2  # 24 bytes; 24 to 48, across a boundary
    assert of_threads(5, 2).tolist() == [0, 2, 4, 5]
    assert of_threads(4, 2).tolist() == [0, 2, 4]


def test_sectors_are_those_of_sets():
    rng = np.random.default_rng(1)
    places, starts = rng.integers(0, 300, 500), np.array([0, 100, 101, 400, 500])
    expected = 0
    for a, b in pairwise(starts):
        for first in range(a, b, 32):
            expected += len({8 * p // 32 for p in places[first : min(first + 32, b)]})
    assert gathered(places, starts, 8) == expected


def column_of(rows):
    """Return a matrix of one column, all of whose rows have an entry."""
    return EdgeList(rows + 1, np.arange(rows), np.full(rows, rows))


def test_products_by_hand():
    edges = column_of(64)
    plain = plain_product(edges, 64, 64)
    assert plain.gathered == 2  # x, once a warp
    assert plain.reads == 16 + 8 + 9 + 2  # values, columns, 65 offsets, x
    assert plain.writes == 16
    blocks = StagedBlocks.of_matrix(edges, EdgePartition.of(np.zeros(64, int), 1), 64)
    staged = staged_product(blocks)
    assert staged.gathered == 1  # x, once
    assert staged.reads == 16 + 2 * 4 + 1 + 8 + 1  # values, local numbers, staged numbers, x
    assert staged.writes == 16


def test_products_by_rows_by_hand():
    column = column_of(64)
    assert product_by_rows(column, 64, 64) == plain_product(column, 64, 64)
    assert product_by_runs(column, 64, 64) == (16 + 8 + 8 + 2, 16, 2)  # rows' numbers, no offsets
    assert product_by_path(column, 64, 64) == (16 + 8 + 9 + 2 + 2 * 7, 16, 2)  # two searches
    row = EdgeList(65, np.zeros(64, int), np.arange(1, 65))
    # One thread reads all: of values, columns and x a sector for each entry.
    assert product_by_rows(row, 1, 32) == (3 * 64 + 1, 1, 64)
    assert product_by_runs(row, 1, 32) == (16 + 8 + 8 + 16, 2, 16)  # written once 32 entries
    assert product_by_path(row, 1, 32) == (16 + 8 + 1 + 16 + 2, 1, 16)
    # Two tiles of 224 items: 200 entries and an end, 23 entries; 177 entries and an end.
    two = EdgeList(402, np.repeat([0, 1], [200, 200]), 2 + np.arange(400))
    assert product_by_path(two, 2, 32).writes == 1 + 1
    assert product_by_runs(two, 2, 32).writes == 13  # both rows in one sector


def test_products_by_rows_by_sets():
    edges = EdgeList.of_matrix(matrix(70, 60, 900, seed=3))
    groups = {}
    for e, row in enumerate(edges.tails):
        turn = e - np.searchsorted(edges.tails, row)
        groups.setdefault((row // 32, turn), []).append(edges.heads[e] - 70)
    x = sum(len({8 * c // 32 for c in columns}) for columns in groups.values())
    assert product_by_rows(edges, 70, 64).gathered == x


def test_y_staged_and_x_through_a_cache():
    edges = column_of(64)
    blocks = StagedBlocks.of_matrix(edges, EdgePartition.of(np.zeros(64, int), 1), 64)
    found = cached_product(blocks, Cache(32, 32, 1))
    assert found == (16 + 4 + 8 + 8 + 1, 16, 1)  # values, local numbers, columns, rows, x


def test_interactions_by_hand():
    star = EdgeList(33, np.zeros(32, int), np.arange(1, 33))
    plain = plain_interactions(star, np.arange(32), 32, values=4)
    ends = 1 + 9  # vertex 0; vertices 1 to 32, in 8 sectors and one begun
    assert plain.gathered == plain.writes == 4 * ends
    assert plain.reads == 4 + 2 * 4 + 8 + 4 * ends
    blocks = StagedBlocks.of_interactions(star, EdgePartition.of(np.zeros(32, int), 1))
    staged = staged_interactions(blocks, values=4)
    assert staged.gathered == 4 * (8 + 1)  # 33 vertices in two warps
    assert staged.reads == 5 + 8 + 4 + staged.gathered


def test_x_through_a_cache():
    """Two blocks that take turns: a cache of one sector keeps what a warp of one block read."""
    columns = np.repeat([0, 8], 64)
    edges = EdgeList(128 + 9, np.arange(128), 128 + columns)
    blocks = StagedBlocks.of_matrix(edges, EdgePartition.of(np.arange(128) // 64, 2), 128)
    assert reads_through_cache(blocks, Cache(32, 32, 1)) == 4
    assert reads_through_cache(blocks, Cache(32, 32, 1), resident=1) == 2
    assert reads_through_cache(blocks, Cache(64, 32, 2)) == 2
    assert staged_product(blocks).gathered == 2
