"""Streaming methods beside the rules of their papers, written plainly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.graphs.edge_list import EdgeList
from evener.plans.partition import Contract
from evener.splitting.placing_kernels import count_held, hold_ends, place_by_hash, place_by_score
from evener.splitting.streaming import RULES, empty_blocks, hash_table, in_order
from tests.examples import with_examples
from tests.graphs.test_edge_list import edge_lists


def test_runs_of_the_order_are_as_long_as_targets():
    edges = EdgeList(7, [0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6])
    targets = np.array([1.0, 2.0, 3.0])
    found = in_order(edges, Contract(targets, targets, targets), "default", 7)
    assert found.partition.part.tolist() == [0, 1, 1, 2, 2, 2]


def blocks_for(n, targets, cap=1e9):
    targets = np.asarray(targets, float)
    return empty_blocks(n, Contract(targets, targets * 0, targets * cap))


def by_the_paper(edges, order, targets, caps, by_degree, balance):
    """Score every block for every edge."""
    k, blocks, seen = len(targets), [set() for _ in targets], [0] * edges.n
    loads, part = [0.0] * k, [0] * edges.m
    for e in order:
        u, v = int(edges.tails[e]), int(edges.heads[e])
        seen[u] += 1
        seen[v] += 1
        full = [loads[b] / targets[b] for b in range(k)]
        scores = []
        for b in range(k):
            theta = seen[u] / (seen[u] + seen[v])
            gain = (u in blocks[b]) * (1 + (1 - theta) * by_degree)
            gain += (v in blocks[b]) * (1 + theta * by_degree)
            gain += balance * (max(full) - full[b]) / (1e-3 + max(full) - min(full))
            scores.append(gain if loads[b] + 1 <= caps[b] else -np.inf)
        best = scores.index(max(scores))
        if scores[best] == -np.inf:
            best = full.index(min(full))
        blocks[best] |= {u, v}
        loads[best] += 1
        part[e] = best
    return part


@pytest.mark.parametrize("name", ["greedy", "greedy-uncapped", "hdrf"])
@with_examples(20)
@given(edge_lists(), st.lists(st.integers(1, 4), min_size=1, max_size=5))
def test_edges_go_to_the_block_of_highest_score(name, edges, targets):
    edges = EdgeList(edges.n, edges.tails, edges.heads).opened()
    rule = RULES[name]
    wanted = np.array(targets) / np.sum(targets) * edges.m
    contract = Contract(wanted, wanted * 0, np.ceil(wanted))
    part = np.full(edges.m, -1, np.int32)
    blocks = empty_blocks(edges.n, contract, capped=rule.capped)
    work = np.ones(edges.m)
    place_by_score(edges.tails, edges.heads, work, rule.by_degree, rule.balance, blocks, part)
    slow = by_the_paper(edges, range(edges.m), wanted, blocks.caps, rule.by_degree, rule.balance)
    assert part.tolist() == slow


def test_an_edge_goes_where_its_end_of_lower_degree_is_hashed():
    """Of a star the leaves are hashed: each edge has a block of its own choice."""
    edges = EdgeList(201, np.zeros(200, int), np.arange(1, 201))
    part = np.empty(200, np.int32)
    table = hash_table(np.array([1.0, 3.0]))
    assert np.bincount(table).tolist() == [1024, 3072]
    blocks = blocks_for(201, [1, 3])
    place_by_hash(edges.tails, edges.heads, np.ones(200), edges.degrees, table, blocks, part)
    assert 30 < np.count_nonzero(part == 0) < 70
    turned = np.empty(200, np.int32)
    blocks = blocks_for(201, [1, 3])
    place_by_hash(edges.heads, edges.tails, np.ones(200), edges.degrees, table, blocks, turned)
    assert turned.tolist() == part.tolist()


def test_work_is_left_for_blocks_below_their_lower_limits():
    """Without limits, all edges of a path would follow each other into one block."""
    targets = np.array([4.0, 2.0, 2.0])
    contract = Contract(targets, np.array([1.0, 2.0, 2.0]), np.array([8.0, 8.0, 8.0]))
    part = np.full(8, -1, np.int32)
    blocks = empty_blocks(9, contract, m=8)
    place_by_score(np.arange(8), np.arange(1, 9), np.ones(8), False, 0.0, blocks, part)
    assert np.bincount(part, minlength=3).tolist() == [4, 2, 2]
    assert part.tolist() == [0, 0, 0, 0, 1, 1, 2, 2]


def test_bits_say_which_blocks_hold_which_vertices():
    held, vertices = np.zeros((4, 2), np.uint64), np.zeros(70, np.int64)
    hold_ends(np.array([0, 1]), np.array([1, 2]), np.array([3, 69], np.int32), held)
    assert count_held(held, vertices) == 3
    assert {b: int(vertices[b]) for b in np.flatnonzero(vertices)} == {3: 2, 69: 2}
