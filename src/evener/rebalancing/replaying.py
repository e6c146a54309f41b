"""replay: repeats the decisions of a log and reports those that differ.

Proposals are taken from the log, as making them again needs graph and plan. Whether and when data
moves, and which proposal is taken, is decided again by the same code, to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

from evener.arrays import FloatArray
from evener.errors import InputError
from evener.rebalancing.decider import Decider, Proposal, checked_times
from evener.rebalancing.decision_log import Decisions, decision_line
from evener.rebalancing.state import Line, state_of


class Replayed(NamedTuple):
    """Numbers of decisions and moves repeated, and a message for each line that differs."""

    decisions: int
    moves: int
    differences: list[str]


def replay(told: Decisions) -> Replayed:
    """Return what repeating all decisions gives. Raises InputError for an impossible line."""
    decider = Decider(told.state, told.head["rebuild"], told.head["noise_floor"])
    count = moves = 0
    differences = []
    for number, line in enumerate(told.lines, start=2):
        try:
            if "took" in line:
                decider.measured(line["took"])
                continue
            made, moved = _again(decider, line)
        except InputError as error:
            message = f"cannot be decided again: {error}"
            raise InputError(message, file=told.path, line=number) from error
        count, moves = count + 1, moves + moved
        if made != line:
            differences.append(f"line {number}: {_difference(line, made)}")
    return Replayed(count, moves, differences)


def _again(decider: Decider, line: Line) -> tuple[Line, bool]:
    if line.get("state") is not None:
        decider.change(state_of(line["state"]))
    proposals = [Proposal(**one) for one in line.get("proposals", ())]
    asked = []

    def propose(slowness: FloatArray, loads: FloatArray) -> list[Proposal]:
        asked.append((slowness, loads))
        return proposals

    times = checked_times(line["times"], decider.state.k)
    decision = decider.decide(times, propose)
    made = decision_line(decider.count, times, decision, line.get("state"))
    if "refused" in line:
        made["refused"] = line["refused"]
    if decision.move is None:
        return made, False
    if "after" in line:
        made["after"] = line["after"]
        decider.moved(proposals[decision.move], state_of(line["after"]))
    return made, True


def _difference(line: Line, made: Line) -> str:
    then, now = line["decided"], made["decided"]
    for key in {**then, **now}:
        if then.get(key) != now.get(key):
            return f"{key} {then.get(key)} then, {now.get(key)} now"
    return "another iteration, or other proposals asked for"
