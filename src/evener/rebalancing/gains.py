"""RealizedGains: learns from measured gains of moves how much to trust the next predicted gain.

A prediction can be too optimistic after every move. For example, if another program gets a core for
whole time slices, a device waits for the core once per superstep, however little it has to compute.
So after each move the seconds of an iteration are compared with those before it. The fraction of
the predicted gain that was realized is learnt (`trust`), and later predicted gains are multiplied
by it, so that it takes longer until the next move pays. Trust also falls a little if noise hides
the gain of a move. If a move gained less than predicted, the measured seconds of an iteration with
the old and with the new loads are stored, and used later instead of predictions for such loads.
Everything learnt is discarded when speeds, or the seconds of an iteration, leave the range in which
it was learnt.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray

# Chosen with the drifts of benchmarks/rebalancing_drifts.py, seeds 11 to 16, of 12 devices.
SETTLING = 1  # number of observations after a move that are ignored, as caches are cold
FEWEST_AFTER, MOST_AFTER = 6, 30  # numbers of observations after a move by which it is judged
MOST_BEFORE = 30  # largest number of observations before a move, since the imbalance began
# Standard errors, as fractions of the predicted gain: a move is judged as soon as the error is at
# most the first, or after MOST_AFTER observations if it is at most the second. Otherwise the move
# cannot be judged.
SURE_ENOUGH, UNSURE = 0.1, 0.25
NEWEST_GAIN = 0.5  # weight of the newest move in the trust
# A move that realized less than this fraction of its gain fell short. The gain of other moves
# counts as fully realized while trust is 1: gains are predicted for the slowest of many devices,
# and a device may be the slowest only by chance.
DOUBTFUL = 0.25
# Trust is multiplied by this if a move cannot be judged, because noise hides its gain or the next
# move came too soon. Chosen among 0.6, 0.8 and 1.
KEPT_UNJUDGED = 0.8
SLOWER = 1.15  # if a device became slower by this factor after a move, the move is not judged
CLEAR = 1.25  # if a slowness or an iteration's seconds change by this factor, forget all
RECENT = 10  # an iteration's seconds are the median over this many observations
MEDIAN = 1.253  # for normal numbers, (standard error of the median) / (that of the mean)
ALIKE = 0.1  # loads count as equal if they differ by at most this (relative) on each device


class MoveGain(NamedTuple):
    """The gain of a move: seconds saved per iteration, as predicted and as realized.

    move: number of the move, from 0. share: (realized + one standard error) / predicted, clipped to
    [0, 1]; None if times scatter too much, or if a device became slower meanwhile although it did
    not get less work. trust: the trust after this move.
    """

    move: int
    predicted: float
    realized: float
    share: float | None
    trust: float


class _Measured(NamedTuple):
    """Measured seconds of an iteration with loads (k,)."""

    loads: FloatArray
    seconds: float


class _Moved(NamedTuple):
    """A move that has not been judged yet.

    number: of the move, from 0. predicted: gain [s per iteration]. is_measured: whether the seconds
    with the new loads were already known from measurements. old, new (k,): loads. before, error
    [s]: median seconds of an iteration between the begin of the imbalance and the move, and its
    standard error. slowness (k,): at the time of the move.
    """

    number: int
    predicted: float
    is_measured: bool
    old: FloatArray
    new: FloatArray
    before: float
    error: float
    slowness: FloatArray

    def is_disturbed(self, slowness: FloatArray) -> bool:
        """Return whether a device that did not get less work has become slower since the move.

        slowness (k,): the slowness now.
        """
        return bool((slowness > SLOWER * self.slowness)[self.new >= self.old].any())


class RealizedGains:
    """Learns from each move which fraction of its predicted gain is realized.

    Attributes: `trust`, the fraction of a predicted gain to expect; `latest`, the MoveGain of the
    last move that was judged, or None; `judged`, the number of judged moves.
    """

    def __init__(self) -> None:
        self.trust, self.judged = 1.0, 0
        self.latest: MoveGain | None = None
        self._seconds: deque[float] = deque(maxlen=max(MOST_BEFORE, MOST_AFTER))  # since the move
        self._count = 0  # observations since the move
        self._moves = 0
        self._moved: _Moved | None = None
        self._known: list[_Measured] = []
        # Range of the slowness (k,) and, as the last entry, of the seconds, in which it learnt.
        self._low: FloatArray | None = None
        self._high: FloatArray | None = None

    def see(self, seconds: float, slowness: FloatArray) -> None:
        """Record the seconds of an iteration, NaN if unknown, and the recent mean slowness (k,)."""
        self._count += 1
        if np.isfinite(seconds) and (self._moved is None or self._count > SETTLING):
            self._seconds.append(seconds)
        if self._moved is not None:
            self._judge(self._moved, slowness)
        elif self._low is not None and self._count >= RECENT and self._is_outside(slowness):
            self._forget()

    def believed(self, saving: float, old: FloatArray, new: FloatArray) -> float:
        """Return the gain [s] to expect from a move with the predicted gain `saving` [s].

        old, new (k,): loads before and after the move. If an iteration was measured with loads like
        `new`, its seconds are used instead of the prediction.
        """
        state = self._state_like(old, new)
        if state is None or not self._seconds:
            return self.trust * saving
        return self._typical() - state.seconds

    def moved(
        self, saving: float, loads: tuple[FloatArray, FloatArray], lasted: int, slowness: FloatArray
    ) -> None:
        """Record a move with the predicted gain `saving` [s per iteration].

        loads: those before and after the move, (k,) each. lasted: number of observations since the
        imbalance began. slowness (k,): the recent mean.
        """
        if self._moved is not None:
            self._judge(self._moved, slowness, is_last=True)
        before = [*self._seconds][-max(lasted, 1) :]
        self._moved = None
        if before and saving > 0:
            level, error = float(np.median(before)), scatter(self._seconds) / len(before) ** 0.5
            measured = self._state_like(*loads) is not None
            self._moved = _Moved(
                self._moves, saving, measured, *loads, level, MEDIAN * error, slowness
            )
        self._moves += 1
        self._seconds.clear()
        self._count = 0

    def _judge(self, move: _Moved, slowness: FloatArray, *, is_last: bool = False) -> None:
        """Judge the gain of a move, once enough observations are known.

        is_last: the next move is about to begin, so judge with the observations there are.
        """
        after = [*self._seconds]
        if len(after) < FEWEST_AFTER:
            if is_last and after:
                self._doubt(move, slowness)
            return
        realized = move.before - float(np.median(after))
        error = float(np.hypot(move.error, MEDIAN * scatter(after) / len(after) ** 0.5))
        waits = error > SURE_ENOUGH * move.predicted and len(after) < MOST_AFTER
        if waits and not is_last:
            return
        self._moved, self.judged, share = None, self.judged + 1, None
        if not move.is_disturbed(slowness):
            if error <= UNSURE * move.predicted:
                share = float(np.clip((realized + error) / move.predicted, 0.0, 1.0))
                self._learn(move, share, slowness)
            else:
                self._doubt(move, slowness)
        self.latest = MoveGain(move.number, move.predicted, realized, share, self.trust)

    def _learn(self, move: _Moved, share: float, slowness: FloatArray) -> None:
        """Update the trust from the share of a move's gain that was realized."""
        if share < DOUBTFUL:
            self.trust *= 1 + NEWEST_GAIN * (share - 1)
            self._keep(move, slowness)
        elif self.trust < 1 and not move.is_measured:
            self.trust += NEWEST_GAIN * (share - self.trust)

    def _doubt(self, move: _Moved, slowness: FloatArray) -> None:
        """Reduce trust a little, as noise hides a move's gain; a change of speeds restores it."""
        self.trust *= KEPT_UNJUDGED
        self._widen(move, slowness)

    def _keep(self, move: _Moved, slowness: FloatArray) -> None:
        """Store the measured seconds with the loads before and after a move."""
        after = float(np.median(self._seconds))
        for loads, seconds in ((move.old, move.before), (move.new, after)):
            self._known = [one for one in self._known if not _alike(one.loads, loads)]
            self._known.append(_Measured(loads, seconds))
        self._widen(move, slowness)

    def _widen(self, move: _Moved, slowness: FloatArray) -> None:
        """Extend the range in which trust was learnt to include a move's slowness and seconds."""
        after = float(np.median(self._seconds))
        rows = [np.append(move.slowness, move.before), np.append(slowness, after)]
        self._low = np.min([*rows, *([] if self._low is None else [self._low])], axis=0)
        self._high = np.max([*rows, *([] if self._high is None else [self._high])], axis=0)

    def _is_outside(self, slowness: FloatArray) -> bool:
        """Return whether the slowness, or an iteration's seconds, are clearly outside the range."""
        assert self._low is not None
        assert self._high is not None
        now = np.append(slowness, self._typical() if self._seconds else np.nan)
        return bool((now > CLEAR * self._high).any() or (CLEAR * now < self._low).any())

    def _forget(self) -> None:
        self.trust, self._known, self._low, self._high = 1.0, [], None, None

    def _typical(self) -> float:
        return float(np.median([*self._seconds][-RECENT:]))

    def _state_like(self, old: FloatArray, new: FloatArray) -> _Measured | None:
        """Return the measurement with loads like `new`, or None.

        Also returns None if `new` is like `old`.
        """
        if _alike(old, new):
            return None
        return next((one for one in self._known if _alike(one.loads, new)), None)


def scatter(values: Sequence[float]) -> float:
    """Return the standard deviation of values, estimated from the differences of neighbours.

    Thus a single step in the values does not count as noise.
    """
    if len(values) < 2:
        return 0.0
    # Of two normal numbers the median |difference| is 0.954 standard deviations.
    return float(np.median(np.abs(np.diff(values)))) / 0.954


def _alike(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> bool:
    return bool((np.abs(one - other) <= ALIKE * np.maximum(one, other)).all())
