"""Steps recognised in made-up traces, and what is computed from them."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.tuning.measured import Measured
from evener.tuning.steps import steps_of
from evener.tuning.traces import RankTrace

BARRIER, SMALL, PAIR, GATHER = 1 << 40, 4 << 40 | 8, 4 << 40 | 16, 9 << 40 | 4


def traces(patterns, computing, waiting, kept=None):
    """Return the traces of ranks that compute and wait for these seconds before each call.

    patterns: kinds of the calls of each step; computing, waiting (k,): seconds before each call.
    kept: the newest events alone.
    """
    kinds = np.array([kind for pattern in patterns for kind in pattern])
    number = np.arange(1, kinds.size + 1)
    found = []
    for rank, (own, waited) in enumerate(zip(computing, waiting, strict=True)):
        at = number * own + (number - 1) * waited
        sums = np.zeros((kinds.size, 4))
        sums[:, 1] = (number - 1) * waited
        first = 0 if kept is None else kinds.size - kept
        found.append(RankTrace(
            rank, len(computing), kinds.size, float(at[-1]), at[first:], kinds[first:],
            sums[first:], first, np.zeros((len(computing), 2), np.int64),
        ))  # fmt: skip
    return found


def nested(steps, seed=1):
    """Each step: three solves of varying length, each ended by a sum of 16 bytes."""
    rng = np.random.default_rng(seed)
    lengths = np.array([3, 40, 12]) + rng.integers(-2, 3, (steps, 3))
    return [[kind for length in step for kind in [SMALL] * max(length, 1) + [PAIR]]
            for step in lengths]  # fmt: skip


@pytest.mark.parametrize(
    ("patterns", "mark", "found"),
    [
        ([[SMALL]] * 40, "each Allreduce of 8 bytes", 39),
        ([[SMALL, SMALL, PAIR]] * 30, "each Allreduce of 16 bytes", 29),
        ([[BARRIER], *[[SMALL, SMALL, GATHER]] * 20], "each Allgather of 4 bytes", 19),
        ([[BARRIER, GATHER], [SMALL], [GATHER], *[[SMALL]] * 50], "each Allreduce of 8 bytes", 50),
        (nested(40), "every 3 calls of Allreduce of 16 bytes", 39),
    ],
)
def test_steps_are_recognised(patterns, mark, found):
    steps = steps_of(traces(patterns, [0.001, 0.003], [0.002, 0.0]))
    assert (steps.mark, steps.found) == (mark, found)
    np.testing.assert_allclose(steps.computing[:, 1], steps.seconds[:, 1])
    np.testing.assert_allclose(3 * steps.computing[:, 0], steps.seconds[:, 0])


def test_only_the_newest_events_are_known():
    whole = steps_of(traces(nested(60), [0.001, 0.003], [0.002, 0.0]))
    ranks = traces(nested(60), [0.001, 0.003], [0.002, 0.0], kept=2000)
    ranks[1] = traces(nested(60), [0.001, 0.003], [0.002, 0.0], kept=1500)[1]
    part = steps_of(ranks)
    assert part.mark == whole.mark and part.found < whole.found
    np.testing.assert_allclose(part.computing.mean(0), whole.computing.mean(0), rtol=0.05)


def test_steps_as_the_user_states_them():
    ranks = traces([[SMALL, BARRIER]] * 40, [0.001, 0.003], [0.002, 0.0])
    assert steps_of(ranks, 4).found == 9
    with pytest.raises(InputError, match="called Allreduce 40 times, too few for 8 steps of 5"):
        steps_of(ranks, 5)


def test_a_long_step_is_left_out():
    ranks = traces([[SMALL]] * 40, [0.001, 0.003], [0.002, 0.0])
    for trace in ranks:
        trace.at[30:] += 0.1
    steps = steps_of(ranks)
    assert steps.left_out == 1
    np.testing.assert_allclose(steps.seconds, 0.003)


def test_without_steps_the_time_is_divided():
    rng = np.random.default_rng(0)
    kinds = [
        [int(kind) << 40 | int(n) for kind, n in rng.integers(1, 20, (3, 2))] for _ in range(99)
    ]
    steps = steps_of(traces(kinds, [0.001, 0.003], [0.002, 0.0]))
    assert steps.mark is None
    np.testing.assert_allclose(steps.computing.sum(0) / steps.seconds.sum(0), [1 / 3, 1], rtol=0.02)


def test_a_program_that_is_too_short():
    with pytest.raises(InputError, match="too short to be measured"):
        steps_of(traces([[SMALL]], [0.1, 0.1], [0, 0]))


@pytest.mark.parametrize(
    ("computing", "waiting", "gain", "is_even", "reason"),
    [
        ([0.001, 0.003], [0.002, 0.0], 2.0, False, None),
        ([0.003, 0.003], [0.0, 0.0], 1.0, True, "computing is even"),
        ([0.001, 0.0011], [0.002, 0.0019], 1.01777, True, "all ranks spend 63%"),
    ],
)
def test_what_even_blocks_can_gain(computing, waiting, gain, is_even, reason):
    measured = Measured(
        steps_of(traces([[SMALL]] * 60, computing, waiting)), np.array([50.0, 50.0]), 0.0
    )
    assert measured.gain[0] == pytest.approx(gain, rel=1e-3)
    assert measured.is_even == is_even
    assert any(said.startswith(reason) for said in measured.reasons) if reason else True
    np.testing.assert_allclose(measured.speeds, 50 / np.array(computing))


def test_a_rank_that_costs_more_than_it_computes():
    """Without the slow rank nothing is exchanged; with three ranks, the others still exchange."""
    steps = steps_of(traces([[SMALL]] * 60, [0.001, 0.010], [0.011, 0.002]))
    measured = Measured(steps, np.array([50.0, 50.0]), 0.0)
    rank, seconds = measured.left_out
    assert (rank, seconds) == (1, pytest.approx(0.002, rel=1e-3))
    assert any(said.startswith("rank 1 is better left out") for said in measured.reasons)
    steps = steps_of(traces([[SMALL]] * 60, [0.001, 0.001, 0.010], [0.011, 0.011, 0.002]))
    assert Measured(steps, np.full(3, 50.0), 0.0).left_out is None
