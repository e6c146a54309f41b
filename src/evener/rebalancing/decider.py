"""Decider: decides after each iteration, from its times, whether to move data.

It knows loads, times and limits of the devices (LoadState), but not the data: the caller proposes
moves, with predicted seconds. All its inputs are written to the decision log, so decisions can be
repeated from the log without the data (`replay` in decision_log.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import InputError
from evener.rebalancing.gains import MoveGain, RealizedGains
from evener.rebalancing.regret import ENOUGH, NOISE_FLOOR, Price, Regret, RegretVerdict
from evener.sizing.equal_finish import together

Line = dict[str, Any]


@dataclass(frozen=True, eq=False)
class LoadState:
    """Loads and times of k devices; all arrays are (k,), in the order of the devices.

    loads [units]. compute [s]: computing time of these loads, by the models. other [s]:
    communication and fixed costs. idle_rates [units/s]: the speeds assumed for devices without
    load. high [units]: the largest loads that memory and high_units allow. per_unit [s/unit]: time
    to move one unit to or from the device.
    """

    loads: FloatArray
    compute: FloatArray
    other: FloatArray
    idle_rates: FloatArray
    high: FloatArray
    per_unit: FloatArray

    def __post_init__(self) -> None:
        for field in fields(self):
            values = [np.inf if x is None else x for x in getattr(self, field.name)]
            object.__setattr__(self, field.name, np.asarray(values, np.float64))

    @property
    def k(self) -> int:
        """Number of devices."""
        return int(self.loads.size)

    def slowness(self, times: FloatArray) -> FloatArray:
        """Return times (k,) [s] / compute; NaN for devices without load."""
        busy = (self.loads > 0) & (self.compute > 0)
        return np.asarray(np.where(busy, times / np.where(busy, self.compute, 1.0), np.nan))

    def rates(self, slowness: FloatArray) -> FloatArray:
        """Return the speeds (k,) [units/s] of the devices at this slowness (k,)."""
        busy = (self.loads > 0) & (self.compute > 0)
        rates = np.where(busy, self.loads / np.where(busy, self.compute, 1.0), self.idle_rates)
        return np.asarray(rates / slowness)

    def as_line(self) -> Line:
        """Return the state as a dictionary for JSON: lists of numbers, None for infinity."""
        return {name: plain(values) for name, values in vars(self).items()}


def plain(values: npt.ArrayLike) -> list[float | None]:
    """Return the values as a list for JSON, with None for values that are not finite."""
    return [x if np.isfinite(x) else None for x in np.asarray(values, np.float64).tolist()]


def state_of(line: Mapping[str, Any]) -> LoadState:
    """Return the LoadState from the output of `as_line`. Raises InputError if it is invalid."""
    try:
        state = LoadState(**line)
    except (OverflowError, TypeError, ValueError) as error:
        raise InputError(
            f"a state must be a table of {len(fields(LoadState))} lists: {error}"
        ) from error
    if (
        state.loads.ndim != 1
        or len({getattr(state, field.name).shape for field in fields(LoadState)}) != 1
        or state.k == 0
    ):
        raise InputError("the lists of a state differ in length, or are empty")
    return state


MAX_TIME = 1e30  # [s]; longer times count as missing
NEWEST = 0.5  # weight of the newest move in the learnt rebuild seconds


@dataclass(frozen=True)
class Proposal:
    """A possible move of data.

    kind: how it was found. seconds [s]: predicted time of an iteration after it. transfer [s]: time
    to transfer the data. moved [units]: weight that changes device. data: a digest of the new
    partition.
    """

    kind: str
    seconds: float
    transfer: float
    moved: float
    data: str = ""


@dataclass(frozen=True, eq=False)
class Decision:
    """A decision after an iteration.

    move: index of the chosen proposal, or None. now [s]: predicted time of an iteration without a
    move. saving [s per iteration]: predicted saving of a move. regret, cost [s]: see regret.py.
    slowness (k,): the slowness on which the decision is based. silent (k,): number of iterations
    since the last time of each device. believed: fraction of the saving that is expected, given
    what earlier moves gained. gain: gain of the last move, if it was judged since the previous
    decision.
    """

    move: int | None
    proposals: tuple[Proposal, ...]
    now: float
    saving: float
    regret: float
    cost: float
    slowness: FloatArray
    silent: npt.NDArray[np.int64]
    believed: float = 1.0
    gain: MoveGain | None = None


class IterationSpan(NamedTuple):
    """The iterations that an observation covers.

    iterations: number of iterations of which the times are the mean. left: number of iterations
    that remain, inf if unknown. seconds [s]: wall time of one iteration, including waiting; inf:
    use the longest of the devices' times.
    """

    iterations: float = 1.0
    left: float = np.inf
    seconds: float = np.inf

    def pays(self, saving: float, cost: float) -> bool:
        """Return whether a saving [s per iteration] exceeds a cost [s] before the run ends."""
        return not np.isfinite(self.left) or saving * self.left > cost


ONE_ITERATION = IterationSpan()

# Function of slowness (k,) and target loads (k,) [units] that returns the possible moves.
Propose = Callable[[FloatArray, FloatArray], Sequence[Proposal]]


class Decider:
    """Decides after each iteration by the rule of regret.py.

    rebuild [s]: assumed time of a move in addition to the transfer of data, until it is measured.
    noise_floor: see Regret. learns: whether the measured gains of moves influence later decisions,
    see gains.py. Attributes: `rebuild`, the learnt value [s]; `state`; `noise_floor`; `count`,
    number of observations so far.
    """

    def __init__(
        self,
        state: LoadState,
        rebuild: float,
        noise_floor: float = NOISE_FLOOR,
        *,
        learns: bool = True,
    ) -> None:
        if not (np.isfinite(rebuild) and rebuild >= 0):
            raise InputError(f"the rebuild seconds must be finite and not negative, not {rebuild}")
        if not 0 <= noise_floor < 1:
            raise InputError(f"the noise floor must lie in [0, 1), not {noise_floor}")
        self.state, self.rebuild, self.noise_floor = state, float(rebuild), noise_floor
        self._gains = RealizedGains() if learns else None
        self._regret = Regret(state.k, noise_floor, self._gains)
        self._was_measured = False
        self._reach = 1.0  # (seconds of the best proposal) / (seconds with ideal loads)
        self._scale = 1.0  # (its transfer seconds) / (transfer seconds estimated for ideal loads)
        self._taken: Proposal | None = None
        self._saving = 0.0  # saving per iteration predicted for the latest decision [s]
        self._told = 0  # number of judged moves whose gains are already in a decision

    @property
    def count(self) -> int:
        """Number of observations so far."""
        return self._regret.watch.count

    def decide(
        self, times: FloatArray, propose: Propose, span: IterationSpan = ONE_ITERATION
    ) -> Decision:
        """Record the times (k,) [s] of an iteration, NaN for a missing time; return the decision.

        propose: called only if the regret has reached the estimated cost and, if the number of
        remaining iterations is known, their total saving exceeds the cost.
        """
        verdict = self._regret.judge(
            self.state.slowness(times), self._estimate, span.iterations, _seconds(times, span)
        )
        price, proposals, move = verdict.price, tuple[Proposal, ...](), None
        if verdict.moves and span.pays(verdict.believed * verdict.saving, price.cost):
            loads, _ = self._aim(verdict.slowness)
            proposals = tuple(propose(verdict.slowness, loads))
            move = self._best(proposals, verdict, span)
            if move is None:
                self._correct(proposals, price, verdict.slowness)
        cost = price.cost if move is None else self._cost(proposals[move])
        saving = verdict.saving if move is None else price.now - proposals[move].seconds
        self._saving = saving
        silent = self._regret.watch.missing
        return Decision(
            move, proposals, price.now, saving, verdict.regret, cost, verdict.slowness, silent,
            verdict.believed, self._judged(),
        )  # fmt: skip

    def _judged(self) -> MoveGain | None:
        """Return the gain of the last move if it was judged since the last decision, else None."""
        gains = self._gains
        if gains is None or gains.judged == self._told:
            return None
        self._told = gains.judged
        return gains.latest

    def change(self, state: LoadState) -> None:
        """Replace the state, because vertex weights have changed."""
        self.state = state

    def moved(self, proposal: Proposal, state: LoadState) -> None:
        """Record that a proposal was carried out; `state` is the state after it."""
        loads = self.state.loads, state.loads
        self.state, self._taken = state, proposal
        self._reach = self._scale = 1.0
        self._regret.moved(self._saving, loads)

    def measured(self, seconds: float) -> None:
        """Learn `rebuild` from the total seconds that the last move took.

        Raises InputError if there was no move, and for an invalid time.
        """
        if self._taken is None:
            raise InputError("moved() was called without a move")
        if not (np.isfinite(seconds) and seconds >= 0):
            raise InputError(
                f"the seconds of a move must be finite and not negative, not {seconds}"
            )
        excess = max(seconds - self._taken.transfer, 0.0)
        weight = NEWEST if self._was_measured else 1.0
        self.rebuild += weight * (excess - self.rebuild)
        self._was_measured = True

    def _estimate(self, slowness: FloatArray) -> Price:
        state = self.state
        loads, seconds = self._aim(slowness)
        now = float((state.compute * slowness + state.other).max())
        transfer = float((np.abs(loads - state.loads) * state.per_unit).max())
        cost = transfer * self._scale + self.rebuild
        return Price(now, seconds * self._reach, cost, (state.loads, loads))

    def _aim(self, slowness: FloatArray) -> tuple[FloatArray, float]:
        state = self.state
        return together(
            float(state.loads.sum()), state.rates(slowness), start=state.other,
            low=np.zeros(state.k), high=state.high,
        )  # fmt: skip

    def _cost(self, proposal: Proposal) -> float:
        return proposal.transfer + self.rebuild

    def _best(
        self, proposals: Sequence[Proposal], verdict: RegretVerdict, span: IterationSpan
    ) -> int | None:
        """Return the index of the proposal with the largest gain, or None if none pays.

        A move pays if the time lost so far has nearly reached its cost (ENOUGH), even if its gain,
        which is uncertain, is negative. The gain assumes that the imbalance will last as long as it
        has lasted so far, or to the end of the run if that is earlier.
        """
        lasted, floor = min(self._regret.lasted, span.left), self.noise_floor
        best, most = None, -np.inf
        for i, one in enumerate(proposals):
            predicted, cost = verdict.price.now - one.seconds, self._cost(one)
            saving = verdict.believed * predicted
            gain = saving * lasted - cost
            worthy = predicted > floor * one.seconds and span.pays(saving, cost)
            if worthy and verdict.regret >= ENOUGH * cost and gain > most:
                best, most = i, gain
        return best

    def _correct(self, proposals: Sequence[Proposal], price: Price, slowness: FloatArray) -> None:
        """Scale later estimates, until data moves, to match the proposals: none was chosen."""
        loads, seconds = self._aim(slowness)
        if not proposals:  # nothing better than the present state was found
            self._reach = max(price.now / seconds, 1.0)
            return
        one = min(proposals, key=lambda p: p.seconds)
        self._reach = max(one.seconds / seconds, 1.0)
        thought = float((np.abs(loads - self.state.loads) * self.state.per_unit).max())
        if thought > 0:
            self._scale = max(one.transfer / thought, 1.0)


def _seconds(times: FloatArray, span: IterationSpan) -> float:
    """Return the seconds of an iteration: span.seconds, else the longest time, else NaN."""
    if np.isfinite(span.seconds):
        return span.seconds
    known = times[np.isfinite(times)]
    return float(known.max()) if known.size else np.nan


def checked_times(times: Sequence[float | None] | FloatArray, k: int) -> FloatArray:
    """Return the times (k,) [s], with NaN for None, infinity and times above MAX_TIME.

    Raises InputError for a wrong number of times, for negative times, and for values that are not
    numbers.
    """
    try:
        given = np.array([np.nan if x is None else float(x) for x in times])
    except (OverflowError, TypeError, ValueError) as error:
        raise InputError(f"times must be numbers [s], or None: {error}") from error
    if given.shape != (k,):
        raise InputError(f"there are {given.size} times for {k} devices")
    if (given < 0).any():
        raise InputError(f"the time of device {int(np.argmax(given < 0))} is negative")
    return np.where(given < MAX_TIME, given, np.nan)
