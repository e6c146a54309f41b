"""Geometric blocks: exact boundaries on every tree, against slow recursions in NumPy."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evener.errors import InfeasibleError, InputError
from evener.graphs.hilbert import hilbert_order
from evener.partitioning.initial.geometric import GEOMETRIC, hilbert_blocks, rcb_blocks, rib_blocks
from tests.examples import with_examples

METHODS = list(GEOMETRIC.values())


def nearest(prefix, goal):
    """Position whose cumulative weight is nearest to the goal, reached first from below."""
    if goal <= 0:
        return 0
    at = next((i for i, total in enumerate(prefix) if total >= goal), len(prefix) - 1)
    if at > 0 and goal - prefix[at - 1] <= prefix[at] - goal:
        at -= 1
    return at


def longest_side(points, weights):
    side = np.argmax(points.max(axis=0) - points.min(axis=0))
    return points[:, side]


def inertial_axis(points, weights):
    if weights.sum() == 0:
        weights = np.ones(len(points))
    centred = points - np.average(points, axis=0, weights=weights)
    axis = np.linalg.eigh(centred.T @ (weights[:, None] * centred))[1][:, -1]
    return points @ (axis * np.sign(axis[np.argmax(np.abs(axis))]))


def slow_bisection(points, weights, targets, key_of):
    """Recursive, sorted, in the obvious way."""
    weights = np.ones(len(points)) if weights is None else np.asarray(weights, float)
    targets = np.asarray(targets, float)
    shares = np.concatenate([[0.0], np.cumsum(targets / targets.max())])
    ideal = shares * (weights.sum() / shares[-1])
    part = np.full(len(points), -1)

    def recurse(vertices, low, high, done):
        if high - low == 1 or vertices.size == 0:
            part[vertices] = low
            return
        half = (ideal[low] + ideal[high]) / 2
        middle = min(range(low + 1, high), key=lambda b: abs(ideal[b] - half))
        order = np.lexsort((vertices, key_of(points[vertices], weights[vertices])))
        vertices = vertices[order]
        prefix = np.concatenate([[0.0], np.cumsum(weights[vertices])])
        at = nearest(prefix, ideal[middle] - done)
        recurse(np.sort(vertices[:at]), low, middle, done)
        recurse(np.sort(vertices[at:]), middle, high, done + prefix[at])

    recurse(np.arange(len(points)), 0, targets.size, 0.0)
    return part


def slow_curve(points, weights, targets):
    order = hilbert_order(points)
    weights = np.ones(len(points)) if weights is None else np.asarray(weights, float)
    prefix = np.concatenate([[0.0], np.cumsum(weights[order])])
    ideal = np.cumsum(targets) * (prefix[-1] / np.sum(targets))
    cuts = [nearest(prefix, goal) for goal in ideal[:-1]]
    part = np.empty(len(points), int)
    for b, piece in enumerate(np.split(order, cuts)):
        part[piece] = b
    return part


def instance(n, d, seed, weighted):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 9, n) if weighted else None
    return rng.random((n, d)), weights, rng.integers(1, 17, 11).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("d", [2, 3])
def test_match_the_slow_twins(d, weighted):
    points, weights, targets = instance(5000, d, 77747, weighted)
    for method, slow in [
        (hilbert_blocks, slow_curve),
        (rcb_blocks, lambda *given: slow_bisection(*given, longest_side)),
        (rib_blocks, lambda *given: slow_bisection(*given, inertial_axis)),
    ]:
        expected = slow(points, weights, targets)
        assert np.array_equal(method(points, weights, targets), expected)


def test_clustered_keys_match_the_slow_twin():
    # Coordinates over 400 binary orders: histograms alone would take one round per ten of them.
    rng = np.random.default_rng(33391)
    points = np.column_stack([2.0 ** -rng.integers(0, 400, 9000), np.zeros(9000)])
    targets = [1.0, 5.0, 2.0]
    expected = slow_bisection(points, None, targets, longest_side)
    assert np.array_equal(rcb_blocks(points, None, targets), expected)


def test_a_row_by_hand():
    # Weights 1 2 3 4 along a row; targets 3 and 7: the boundary after the second vertex.
    row = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    for method in (rcb_blocks, rib_blocks):
        assert method(row, [1, 2, 3, 4], [3.0, 7.0]).tolist() == [0, 0, 1, 1]
        # Targets 1 : 1 ask for 5: nearest are 6 (three vertices) and, off by 2, 3 (two).
        assert method(row, [1, 2, 3, 4], [1.0, 1.0]).tolist() == [0, 0, 0, 1]
        # Equal places are split by number.
        assert method(row * 0, None, [1.0, 3.0]).tolist() == [0, 1, 1, 1]


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(2, 2**32)))
    n, d = draw(st.integers(1, 300)), draw(st.integers(2, 3))
    k = draw(st.one_of(st.integers(1, 12), st.just(n)))
    shape = draw(st.sampled_from(["random", "lattice", "line", "point", "graded", "huge"]))
    points = {
        "random": lambda: rng.random((n, d)),
        "lattice": lambda: rng.integers(0, 4, (n, d)).astype(float),
        "line": lambda: np.outer(rng.random(n), rng.standard_normal(d)),
        "point": lambda: np.full((n, d), 0.3),
        "graded": lambda: rng.random((n, d)) ** 40,
        "huge": lambda: rng.standard_normal((n, d)) * draw(st.sampled_from([1e-308, 1e307])),
    }[shape]()
    kind = draw(st.sampled_from(["none", "ones", "whole", "zeros", "real", "one heavy", "nothing"]))
    weights = {
        "none": lambda: None,
        "ones": lambda: np.ones(n, np.int64),
        "whole": lambda: rng.integers(1, 50, n),
        "zeros": lambda: rng.integers(0, 2, n),
        "real": lambda: rng.random(n),
        "one heavy": lambda: np.r_[n * 10, np.ones(n - 1, np.int64)],
        "nothing": lambda: np.zeros(n),
    }[kind]()
    targets = rng.random(k) ** draw(st.sampled_from([0, 1, 6]))
    if k > 1 and draw(st.booleans()):
        targets[rng.integers(k)] = 0.0
    if targets.sum() == 0:
        targets[0] = 1.0
    return points, weights, targets


@pytest.mark.slow
@with_examples(150)
@given(problems())
def test_no_block_is_a_heaviest_vertex_off(problem):
    points, weights, targets = problem
    counted = np.ones(len(points)) if weights is None or not np.any(weights) else weights
    total = float(np.sum(counted))
    for method in METHODS:
        part = method(points, weights, targets)
        assert part.dtype == np.int32
        assert part.min() >= 0
        assert part.max() < targets.size
        got = np.bincount(part, weights=counted, minlength=targets.size)
        ideal = targets * (total / targets.sum())
        assert np.abs(got - ideal).max() <= np.max(counted) + 1e-9 * total
        # Neither do boundaries drift: half a heaviest vertex, wherever they are.
        drift = np.abs(np.cumsum(got) - np.cumsum(ideal)).max()
        assert drift <= np.max(counted) / 2 + 1e-9 * total
        assert np.array_equal(part, method(points, weights, targets))


@given(st.integers(1, 80), st.integers(0, 60), st.integers(2, 2**32))
@example(40, 0, 7)
def test_targets_of_one_and_more_leave_no_block_empty(k, surplus, seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, (k + surplus, 2)).astype(float)
    extra = rng.dirichlet(np.ones(k)) * surplus
    for method in METHODS:
        for targets in (1.0 + extra, (1.0 + extra) * 0.1):
            assert np.bincount(method(points, None, targets), minlength=k).min() >= 1


def test_targets_are_rescaled():
    points, weights, targets = instance(700, 2, 15511, weighted=True)
    for method in METHODS:
        expected = method(points, weights, targets * (weights.sum() / targets.sum()))
        assert np.array_equal(method(points, weights, targets * 2**-9), expected)


def test_blocks_are_compact():
    # 16 blocks of a square: far fewer pairs of near points are cut than by blocks at random.
    points = np.random.default_rng(60013).random((4096, 2))
    for method in METHODS:
        part = method(points, None, np.ones(16))
        for b in range(16):
            side = points[part == b].max(axis=0) - points[part == b].min(axis=0)
            assert side.max() < 0.75


def test_inputs_stay_as_they_are():
    points, weights, targets = instance(300, 3, 90001, weighted=True)
    weights = weights.astype(float)
    copies = points.copy(), weights.copy(), targets.copy()
    for method in METHODS:
        method(points, weights, targets)
        method(np.asfortranarray(points), weights, targets)
    for array, copy in zip((points, weights, targets), copies, strict=True):
        assert np.array_equal(array, copy)


@pytest.mark.parametrize("method", METHODS)
def test_no_points_and_one_point(method):
    assert method(np.empty((0, 2)), None, [1.0, 2.0]).tolist() == []
    assert method([[1.0, 2.0]], [3.0], [1.0]).tolist() == [0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("points", "weights", "targets", "error", "message"),
    [
        ([[0.0]], None, [1.0], InputError, "2 or 3 columns"),
        ([[0.0, np.inf]], None, [1.0], InputError, "must be finite"),
        ([[0.0, 0.0]], [1.0, 2.0], [1.0], InputError, "2 entries for 1 points"),
        ([[0.0, 0.0]], [-1.0], [1.0], InputError, "entry 0 is"),
        ([[0.0, 0.0]], None, [1.0, -1.0], InputError, "targets must not be negative"),
        ([[0.0, 0.0]], None, [0.0, 0.0], InfeasibleError, "no target is above zero"),
        ([[0.0, 0.0]], None, [], InfeasibleError, "no target"),
    ],
)
def test_refuses(method, points, weights, targets, error, message):
    with pytest.raises(error, match=message):
        method(points, weights, targets)
