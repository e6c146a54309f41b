"""Misses of a cache against a slow one, and against cases counted by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.running.locality.caches import Cache
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
