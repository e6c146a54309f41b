"""RealizedGains: measured against predicted gains of moves; how far to believe the next prediction.

A prediction can be too optimistic after every move. For example, if another program gets a core for
whole time slices, a device waits for the core once per superstep, however little it has to compute.
So after each move the seconds of an iteration are compared with those before. The share of the
predicted gain that was realized is learnt (`trust`), and later gains are believed by that share
alone, so that the wait before the next move grows; a little also where noise hides what a move
gained. What iterations took on the loads that such a move left, and on those it led to, is kept:
measured seconds are believed before predicted ones. All of it is forgotten when speeds, or the
seconds of an iteration, leave the range in which it was learnt.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray

# Chosen with the drifts of benchmarks/rebalancing_drifts.py, seeds 11 to 16, of 12 devices.
SETTLING = 1  # observations after a move that do not count: caches are cold
FEWEST_AFTER, MOST_AFTER = 6, 30  # observations by which a move is judged
MOST_BEFORE = 30  # of those before it, since the imbalance began
# Of the predicted gain: a move is judged as soon as the standard error is below the first, or by
# MOST_AFTER observations, where it is below the second; else the move cannot be judged.
SURE_ENOUGH, UNSURE = 0.1, 0.25
NEWEST_GAIN = 0.5  # weight of the newest move in the share that is learnt
# A move that realized less of its gain fell short. Of the others the whole gain counts as realized:
# it is predicted for the slowest of many devices at the time, of which many are only so by chance.
DOUBTFUL = 0.25
# Share of the trust that is kept where a move cannot be judged: noise hides what it gained, or the
# next move came too soon. Of 0.6, 0.8 and 1.
KEPT_UNJUDGED = 0.8
SLOWER = 1.15  # change of a device after a move that tells against judging it
CLEAR = 1.25  # change of a device, or of an iteration, by which what was learnt is forgotten
RECENT = 10  # observations of which an iteration's seconds are the median
MEDIAN = 1.253  # standard error of a median of normal numbers / that of their mean
ALIKE = 0.1  # loads that differ by less on each device, relative, count as the same


class MoveGain(NamedTuple):
    """What a move gained: seconds of an iteration predicted and realized.

    move: how many were before it. share: realized / predicted, in [0, 1], with one standard error
    to the move's credit; None where times scatter too much to tell, or another device has become
    slower meanwhile. trust: the share that is learnt with it.
    """

    move: int
    predicted: float
    realized: float
    share: float | None
    trust: float


class _Measured(NamedTuple):
    """Seconds that an iteration took with loads (k,)."""

    loads: FloatArray
    seconds: float


class _Moved(NamedTuple):
    """A move that is yet to be judged: its number, gain predicted [s], loads (k,).

    before, error [s]: median of an iteration before it, since the imbalance began, and its
    standard error. slowness (k,): then.
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
        """Whether a device that got no less to do has become slower (k,) meanwhile."""
        return bool((slowness > SLOWER * self.slowness)[self.new >= self.old].any())


class RealizedGains:
    """Learns from each move how far predicted gains come true.

    Attributes: `trust`, the share of a predicted gain to be believed; `latest`, of the last move
    that was judged, None before any; `judged`, how many were.
    """

    def __init__(self) -> None:
        self.trust, self.judged = 1.0, 0
        self.latest: MoveGain | None = None
        self._seconds: deque[float] = deque(maxlen=max(MOST_BEFORE, MOST_AFTER))  # since the move
        self._count = 0  # observations since the move
        self._moves = 0
        self._moved: _Moved | None = None
        self._known: list[_Measured] = []
        self._low: FloatArray | None = None  # slowness (k,), then seconds, of what is known
        self._high: FloatArray | None = None

    def see(self, seconds: float, slowness: FloatArray) -> None:
        """Take in what an iteration took [s], NaN where unknown, and mean slowness (k,) of late."""
        self._count += 1
        if np.isfinite(seconds) and (self._moved is None or self._count > SETTLING):
            self._seconds.append(seconds)
        if self._moved is not None:
            self._judge(self._moved, slowness)
        elif self._low is not None and self._count >= RECENT and self._is_outside(slowness):
            self._forget()

    def believed(self, saving: float, old: FloatArray, new: FloatArray) -> float:
        """Return the gain to be expected of a predicted one [s], by moving loads old to new (k,).

        What was measured with such loads counts more than predictions.
        """
        state = self._state_like(old, new)
        if state is None or not self._seconds:
            return self.trust * saving
        return self._typical() - state.seconds

    def moved(
        self, saving: float, loads: tuple[FloatArray, FloatArray], lasted: int, slowness: FloatArray
    ) -> None:
        """Note a move from loads to others (k,) that is predicted to gain [s an iteration].

        lasted: observations since the imbalance began; slowness (k,): of late.
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
        """Compare what was gained, once enough is known, or at the last."""
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
        """Learn the share of a move's gain that was realized."""
        if share < DOUBTFUL:
            self.trust *= 1 + NEWEST_GAIN * (share - 1)
            self._keep(move, slowness)
        elif self.trust < 1 and not move.is_measured:
            self.trust += NEWEST_GAIN * (share - self.trust)

    def _doubt(self, move: _Moved, slowness: FloatArray) -> None:
        """Trust a little less, until speeds change: noise hides what a move gained."""
        self.trust *= KEPT_UNJUDGED
        self._widen(move, slowness)

    def _keep(self, move: _Moved, slowness: FloatArray) -> None:
        """Remember what was measured on both sides of a move."""
        after = float(np.median(self._seconds))
        for loads, seconds in ((move.old, move.before), (move.new, after)):
            self._known = [one for one in self._known if not _alike(one.loads, loads)]
            self._known.append(_Measured(loads, seconds))
        self._widen(move, slowness)

    def _widen(self, move: _Moved, slowness: FloatArray) -> None:
        """Let the range in which something was learnt take in speeds and seconds of a move."""
        after = float(np.median(self._seconds))
        rows = [np.append(move.slowness, move.before), np.append(slowness, after)]
        self._low = np.min([*rows, *([] if self._low is None else [self._low])], axis=0)
        self._high = np.max([*rows, *([] if self._high is None else [self._high])], axis=0)

    def _is_outside(self, slowness: FloatArray) -> bool:
        """Whether speeds, or the seconds of an iteration, are clearly none of those known."""
        assert self._low is not None
        assert self._high is not None
        now = np.append(slowness, self._typical() if self._seconds else np.nan)
        return bool((now > CLEAR * self._high).any() or (CLEAR * now < self._low).any())

    def _forget(self) -> None:
        self.trust, self._known, self._low, self._high = 1.0, [], None, None

    def _typical(self) -> float:
        return float(np.median([*self._seconds][-RECENT:]))

    def _state_like(self, old: FloatArray, new: FloatArray) -> _Measured | None:
        """Return what was measured with loads like `new`; None where these are like `old`."""
        if _alike(old, new):
            return None
        return next((one for one in self._known if _alike(one.loads, new)), None)


def scatter(values: Sequence[float]) -> float:
    """Return the standard deviation of values, by differences in turn: a step is not noise."""
    if len(values) < 2:
        return 0.0
    # Of two normal numbers the median |difference| is 0.954 standard deviations.
    return float(np.median(np.abs(np.diff(values)))) / 0.954


def _alike(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> bool:
    return bool((np.abs(one - other) <= ALIKE * np.maximum(one, other)).all())
