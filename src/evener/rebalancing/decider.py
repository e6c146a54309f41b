"""Decider: from the times of an iteration, whether to stay or to carry out one of the proposals.

It knows loads, times and limits of the devices (LoadState), but no data: the caller proposes what
could be moved, with predicted seconds. All its inputs go into the decision log, so that the log
alone suffices to repeat decisions (`replay` in decision_log.py).
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
    """Loads and times of k devices; arrays (k,) in the devices' order.

    loads [units]; compute [s]: of these loads, by the models; other [s]: communication and fixed
    costs; idle_rates [units/s]: speeds of devices without load; high [units]: most that memory
    allows; per_unit [s/unit]: time to move one unit to or from the device.
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
        """Return (k,) times [s] / compute; NaN where a device has no load."""
        busy = (self.loads > 0) & (self.compute > 0)
        return np.asarray(np.where(busy, times / np.where(busy, self.compute, 1.0), np.nan))

    def rates(self, slowness: FloatArray) -> FloatArray:
        """Return (k,) speeds at a slowness (k,) [units/s]."""
        busy = (self.loads > 0) & (self.compute > 0)
        rates = np.where(busy, self.loads / np.where(busy, self.compute, 1.0), self.idle_rates)
        return np.asarray(rates / slowness)

    def as_line(self) -> Line:
        """Return the state for JSON: lists of numbers, None for infinity."""
        return {name: plain(values) for name, values in vars(self).items()}


def plain(values: npt.ArrayLike) -> list[float | None]:
    """Return numbers for JSON, None for those that are not finite."""
    return [x if np.isfinite(x) else None for x in np.asarray(values, np.float64).tolist()]


def state_of(line: Mapping[str, Any]) -> LoadState:
    """Return the LoadState that `as_line` wrote. Raises InputError for anything else."""
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


MAX_TIME = 1e30  # seconds; longer times count as not given
NEWEST = 0.5  # weight of the newest move in the learnt seconds


@dataclass(frozen=True)
class Proposal:
    """A possible move: seconds of an iteration after it, and of transferring the data.

    kind: how it was found. moved [units]: weight that changes device. data: a digest of the new
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

    move: index of the proposal taken, or None. now [s]: an iteration without a move; saving [s per
    iteration]: predicted for a move; regret, cost [s]: see regret.py. slowness (k,): on which it is
    based. silent (k,): iterations since each device last gave a time. believed: share of the saving
    that is expected, after what earlier moves gained. gain: of the last move, where it has been
    judged since the decision before.
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
    """Of how many iterations the times are the mean, and how many are left; inf: unknown.

    seconds: what one of them took as a whole, waiting included; inf: the longest of the times.
    """

    iterations: float = 1.0
    left: float = np.inf
    seconds: float = np.inf

    def pays(self, saving: float, cost: float) -> bool:
        """Return whether a saving [s per iteration] exceeds a cost [s] before the end."""
        return not np.isfinite(self.left) or saving * self.left > cost


ONE_ITERATION = IterationSpan()

# From slowness (k,) and the loads (k,) [units] to aim at, returns the possible moves.
Propose = Callable[[FloatArray, FloatArray], Sequence[Proposal]]


class Decider:
    """Decides after each iteration by the rule of regret.py.

    rebuild [s]: what a move takes besides transferring data, until it is measured. noise_floor: see
    Regret. learns: whether what moves gained counts, see gains.py. Attributes: `rebuild`, as
    learnt; `state`; `noise_floor`; `count`, iterations so far.
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
        self._reach = 1.0  # seconds of the best proposal / those of ideal loads
        self._scale = 1.0  # its transfer seconds / those estimated for ideal loads
        self._taken: Proposal | None = None
        self._saving = 0.0  # of an iteration, predicted for the move decided on
        self._told = 0  # moves judged whose gains are in a decision

    @property
    def count(self) -> int:
        """Iterations observed."""
        return self._regret.watch.count

    def decide(
        self, times: FloatArray, propose: Propose, span: IterationSpan = ONE_ITERATION
    ) -> Decision:
        """Take in times (k,) [s], NaN where a device gave none, and return the decision.

        propose: called only when the regret has reached the estimated cost, and the saving will
        have by the end, where that is known.
        """
        verdict = self._regret.judge(
            self.state.slowness(times), self._estimate, span.iterations, _seconds(times, span)
        )
        price, proposals, move = verdict.price, tuple[Proposal, ...](), None
        if verdict.moves and span.pays(verdict.believed * verdict.saving, price.cost):
            loads, _ = self._aim(verdict.slowness)
            proposals = tuple(propose(verdict.slowness, loads))
            move = self._best(proposals, verdict, span)
            self._correct(proposals, price, verdict.slowness, move)
        cost = price.cost if move is None else self._cost(proposals[move])
        saving = verdict.saving if move is None else price.now - proposals[move].seconds
        self._saving = saving
        silent = self._regret.watch.missing
        return Decision(
            move, proposals, price.now, saving, verdict.regret, cost, verdict.slowness, silent,
            verdict.believed, self._judged(),
        )  # fmt: skip

    def _judged(self) -> MoveGain | None:
        """Return what the last move gained, if that has become known since the last decision."""
        gains = self._gains
        if gains is None or gains.judged == self._told:
            return None
        self._told = gains.judged
        return gains.latest

    def change(self, state: LoadState) -> None:
        """Replace the state, as weights have changed."""
        self.state = state

    def moved(self, proposal: Proposal, state: LoadState) -> None:
        """Note that a proposal was carried out, and the state after it."""
        loads = self.state.loads, state.loads
        self.state, self._taken = state, proposal
        self._reach = self._scale = 1.0
        self._regret.moved(self._saving, loads)

    def measured(self, seconds: float) -> None:
        """Learn from the seconds that the last move took as a whole.

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

        RealizedGains assume that the imbalance lasts as long again as it has lasted, or to the end.
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

    def _correct(
        self,
        proposals: Sequence[Proposal],
        price: Price,
        slowness: FloatArray,
        move: int | None,
    ) -> None:
        """If no proposal was taken, scale later estimates to the proposals, until data moves."""
        if move is not None:
            return
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
    """Return what an iteration took [s], NaN where no device gave a time."""
    if np.isfinite(span.seconds):
        return span.seconds
    known = times[np.isfinite(times)]
    return float(known.max()) if known.size else np.nan


def checked_times(times: Sequence[float | None] | FloatArray, k: int) -> FloatArray:
    """Return (k,) times [s], with NaN for None, infinity and times above MAX_TIME.

    Raises InputError for a wrong number of times, negative ones, and values that are no numbers.
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
