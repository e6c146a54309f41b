"""Arcs that are dealt to devices, and sums by which lists that are not symmetric are found."""

import numpy as np

from evener.io.graphs.streams import ArcPiece, ArcStream, Tally
from evener.plans.partition import Partition
from evener.running.slices import Dealer, Slice, count_of, facts_of


def dealer_of(n, k, part, **fields):
    return Dealer(ArcStream(None, n, **fields), Partition(np.array(part), k), "both")


def arcs_of(dealt, d):
    one = dealt.of(d, d + 1)
    return list(zip(one.own.tolist(), one.other.tolist(), one.weights.tolist(), strict=True))


def test_each_arc_goes_to_the_owners_of_its_ends_in_the_files_order():
    dealer = dealer_of(4, 3, [0, 2, 2, 0], directed=True, weighted=True)
    piece = ArcPiece(np.array([3, 1, 2, 0]), np.array([1, 2, 2, 1]), np.array([5, 6, 7, 8]))
    dealt, _ = dealer.deal(piece, Tally())
    assert [arcs_of(dealt["out"], d) for d in range(3)] == [[(3, 1, 5), (0, 1, 8)], [], [(1, 2, 6)]]
    assert arcs_of(dealt["into"], 2) == [(1, 3, 5), (2, 1, 6), (1, 0, 8)]


def test_pairs_that_stand_for_both_directions():
    dealer = dealer_of(3, 2, [0, 1, 0], directed=False, both=True, weighted=True, turned=-1.0)
    piece = ArcPiece(np.array([0, 2]), np.array([1, 0]), np.array([5.0, 6.0]))
    dealt, _ = dealer.deal(piece, Tally())
    assert arcs_of(dealt["out"], 0) == [(0, 1, 5.0), (2, 0, 6.0), (0, 2, -6.0)]
    assert arcs_of(dealt["out"], 1) == [(1, 0, -5.0)]


def test_a_piece_with_numbers_out_of_range_is_not_dealt():
    dealer = dealer_of(3, 2, [0, 1, 0], directed=False, both=True)
    piece = ArcPiece(np.array([0]), np.array([9]), None)
    dealt, seen = dealer.deal(piece, Tally(1, low=0, high=9))
    assert dealt["out"].own.size == 0
    assert seen.high == 9


def test_sums_are_zero_just_for_symmetric_lists():
    rng = np.random.default_rng(2)
    u, v = rng.integers(0, 1000, (2, 500))
    u, v = u[u != v], v[u != v]
    weights = rng.random(u.size)
    dealer = dealer_of(1000, 1, np.zeros(1000, int), directed=False, weighted=True)

    def total(tails, heads, given):
        pieces = [ArcPiece(*(one[i : i + 100] for one in (tails, heads, given)))
                  for i in range(0, tails.size, 100)]  # fmt: skip
        return Tally.together([dealer.deal(piece, Tally())[1] for piece in pieces]).signature

    order = rng.permutation(2 * u.size)
    arcs = [np.concatenate(both)[order] for both in ((u, v), (v, u), (weights, weights))]
    assert total(*arcs) == 0
    arcs[2][7] += 1e-9
    assert total(*arcs) != 0
    assert total(u, v, weights) != 0


def test_what_a_device_knows_step_by_step():
    partition = Partition(np.array([0, 0, 1, 0]), 2)
    dealer = Dealer(ArcStream(None, 4, directed=True), partition, "out")
    piece = ArcPiece(np.array([1, 0, 2, 1]), np.array([0, 1, 3, 2]), None)
    dealt, seen = dealer.deal(piece, Tally(4))
    slices = [
        Slice.of(d, {"out": [dealt["out"].of(d, d + 1)]}, partition, "first", "out")
        for d in range(2)
    ]
    assert [one.ghosts.tolist() for one in slices] == [[2], [3]]
    degrees = [slices[0].number({1: slices[1].ghosts_of(0)})]
    degrees.append(slices[1].number({0: slices[0].ghosts_of(1)}))
    assert [{q: found.tolist() for q, found in of.items()} for of in degrees] == [
        {1: [0]},
        {0: [1]},
    ]
    counts = [count_of(one, 4, "first") for one in slices]
    assert [(one.arcs, one.isolated) for one in counts] == [(3, 0), (1, 0)]
    facts = facts_of(dealer.stream, [seen], counts)
    local = slices[0].finish(degrees[1][0], facts, 2)
    assert local.numbers.tolist() == [0, 1, 3, 2]
    assert (local.n_interior, local.n_owned) == (1, 3)
    assert local.out.ends.tolist() == [1, 0, 3]
    assert local.degrees.tolist() == [1, 2, 0, 1]
    assert {q: own.tolist() for q, own in local.sends.items()} == {1: [2]}
