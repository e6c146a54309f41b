"""Whether a line of the file of decisions holds what one can: nothing else is decided again."""

from __future__ import annotations

import math
from typing import Any

from evener.errors import InputError
from evener.rebalancing.states import Line, state_of

LEAST, MOST = 1e-100, 1e100  # of any number but zero: products of some are numbers still
_STATES = ("loads", "compute", "other", "idle_rates", "per_unit")  # finite; room need not be


def is_number(value: Any) -> bool:
    """Whether it is a number that can be reckoned with."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value == 0 or abs(value) <= MOST


def is_amount(value: Any) -> bool:
    """Whether it is a number that can be reckoned with, not below zero."""
    return is_number(value) and (value == 0 or value >= LEAST)


def is_head(line: Line) -> bool:
    """Whether it is what all begins with: names, a state, what moving takes, the noise floor."""
    names, floor = line.get("names"), line.get("noise_floor", 1.0)
    state = line.get("state")
    if not (isinstance(names, list) and is_state(state, len(names))):
        return False
    return is_amount(line.get("rebuild")) and is_amount(floor) and float(floor) < 1


def is_state(state: Any, k: int) -> bool:
    """Whether it is a state of k devices that have something to do."""
    try:
        if not isinstance(state, dict) or state_of(state).loads.shape != (k,):
            return False
    except InputError:
        return False
    known = all(is_amount(x) for key in _STATES for x in state[key])
    room = all(x is None or is_amount(x) for x in state["high"])
    return known and room and sum(state["loads"]) > 0 and all(state["idle_rates"])


def is_decision(line: Line, k: int) -> bool:
    """Whether it is what k devices told in an iteration, and what was decided."""
    times, decided = line.get("times"), line.get("decided")
    if not (isinstance(times, list) and len(times) == k and isinstance(decided, dict)):
        return False
    if not all(t is None or is_amount(t) for t in times):
        return False
    if not all(is_state(line[key], k) for key in ("state", "after") if line.get(key) is not None):
        return False
    if not all(is_number(decided.get(key)) for key in ("now", "saving", "regret", "cost")):
        return False
    proposals = line.get("proposals", [])
    if not (isinstance(proposals, list) and all(_is_proposal(one) for one in proposals)):
        return False
    return _is_whole(line.get("iteration"), math.inf) and _is_choice(decided, len(proposals))


def _is_choice(decided: Line, count: int) -> bool:
    if not {"choice", "move"} <= decided.keys():
        return False
    choice, move = decided["choice"], decided["move"]
    if choice is None or move is None:
        return choice is None and move is None
    return isinstance(move, str) and _is_whole(choice, count)


def _is_proposal(one: Any) -> bool:
    if not (isinstance(one, dict) and one.keys() == _PROPOSAL):
        return False
    texts = all(isinstance(one[key], str) for key in ("kind", "data"))
    return texts and all(is_amount(one[key]) for key in ("seconds", "transfer", "moved"))


_PROPOSAL = {"kind", "seconds", "transfer", "moved", "data"}


def _is_whole(value: Any, below: float) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < below
