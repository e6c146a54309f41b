"""The decision log: JSON lines; the first is the initial state, the others are decisions.

`Recorder` writes a log while it decides; `read_decisions` reads and checks a log; `replay` repeats
the decisions of a log and reports those that differ. `replay` takes proposals from the log, as
computing them again would need graph and plan. With the same code it decides again whether data
moves and which proposal is chosen; all numbers must be equal to the last bit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, NamedTuple

from evener.arrays import FloatArray
from evener.errors import EvenerError, InputError
from evener.files.opening import is_stdin, open_input, read_bytes
from evener.files.writing import refusal
from evener.io.json_text import loads
from evener.rebalancing.decider import (
    ONE_ITERATION,
    Decider,
    Decision,
    IterationSpan,
    Line,
    LoadState,
    Proposal,
    Propose,
    checked_times,
    plain,
    state_of,
)

VERSION = 1
_BEGIN = b'{"decisions": '
# Limits of nonzero numbers in a log: products of a few such numbers are finite and above zero.
LEAST, MOST = 1e-100, 1e100
# The entries of a state that must be finite; `high` may be infinite.
_FINITE = ("loads", "compute", "other", "idle_rates", "per_unit")
_PROPOSAL = {"kind", "seconds", "transfer", "moved", "data"}


class Recorder:
    """A Decider whose decisions are written to a log; Rebalancer and RowRebalancer use it.

    log: path of the file, or None. names: device names; more: further entries of the first line.
    Attributes: `decider`; `last`, the latest Decision; `moves`, the number of moves so far. Raises
    InputError if the log cannot be written.
    """

    def __init__(
        self, decider: Decider, log: str | Path | None, names: Sequence[str], more: Line
    ) -> None:
        self.decider, self.moves = decider, 0
        self.last: Decision | None = None
        self._line: Line = {}
        head = {"names": list(names), "state": decider.state.as_line(), "rebuild": decider.rebuild,
                "noise_floor": decider.noise_floor, "learns": True, **more}  # fmt: skip
        self._log = LogWriter(log, head)

    def decide(
        self,
        times: FloatArray,
        propose: Propose,
        changed: LoadState | None = None,
        refused: Sequence[str] = (),
        span: IterationSpan = ONE_ITERATION,
    ) -> Decision:
        """Return Decider.decide(times, propose, span) and log it.

        If the decision is a move, the caller must call `carry_out` next. changed: the state from
        this iteration on, if weights changed. refused: reasons why some proposals failed; `propose`
        may append to it. span: the iterations that the times cover.
        """
        if changed is not None:
            self.decider.change(changed)
        decision = self.last = self.decider.decide(times, propose, span)
        new_state = None if changed is None else changed.as_line()
        self._line = decision_line(self.decider.count, times, decision, new_state) | _span_line(
            span
        )
        if refused:
            self._line["refused"] = list(refused)
        if decision.move is None:
            self._log.add(self._line)
        return decision

    @property
    def rebuild_seconds(self) -> float:
        """Learnt seconds that a move takes in addition to the transfer of its bytes."""
        return self.decider.rebuild

    @property
    def observations(self) -> int:
        """Number of decisions so far."""
        return self.decider.count

    def carry_out(self, state: LoadState) -> None:
        """Record that the move decided last was carried out; `state` is the state after it."""
        assert self.last is not None
        assert self.last.move is not None
        self.decider.moved(self.last.proposals[self.last.move], state)
        self.moves += 1
        self._log.add(self._line | {"after": state.as_line()})

    def moved(self, seconds: float) -> None:
        """Record the total seconds that the last move took."""
        self.decider.measured(float(seconds))
        self._log.add({"took": float(seconds)})

    def close(self) -> None:
        """Close the log."""
        self._log.close()


def _span_line(span: IterationSpan) -> Line:
    """Return the fields of a span that differ from those of ONE_ITERATION."""
    return {
        name: value
        for (name, value), usual in zip(span._asdict().items(), ONE_ITERATION, strict=True)
        if value != usual
    }


def decision_line(
    number: int, times: FloatArray, decision: Decision, state: Line | None = None
) -> Line:
    """Return the log line of a decision, including its inputs: times, state and proposals."""
    line: Line = {"iteration": number, "times": plain(times)}
    if state is not None:
        line["state"] = state
    if decision.proposals:
        line["proposals"] = [asdict(one) for one in decision.proposals]
    line["decided"] = {
        "move": None if decision.move is None else decision.proposals[decision.move].kind,
        "choice": decision.move,
        "now": decision.now,
        "saving": decision.saving,
        "regret": decision.regret,
        "cost": decision.cost,
    }
    if decision.believed != 1:
        line["decided"]["believed"] = decision.believed
    if decision.gain is not None:
        line["gained"] = decision.gain._asdict()
    return line


class LogWriter:
    """Writes the lines of a log, without buffering, so a killed program loses at most the last one.

    Raises InputError if the file cannot be written.
    """

    def __init__(self, path: str | Path | None, head: Mapping[str, Any]) -> None:
        self._path, self._file = path, None
        if path is not None:
            self._file = self._opened(Path(path))
            self.add({"decisions": VERSION, **head})

    def add(self, line: Line) -> None:
        """Write one line."""
        if self._file is None:
            return
        try:
            self._file.write(json.dumps(line, allow_nan=False) + "\n")
            self._file.flush()
        except OSError as error:
            raise self._failed(error) from error

    def close(self) -> None:
        """Close the file; lines added later are ignored."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self, path: Path) -> IO[str]:
        try:
            return path.open("w", encoding="utf-8")
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> EvenerError:
        return refusal(error, self._path)


class Decisions(NamedTuple):
    """The contents of a decision log: first line, initial state, and all further lines.

    cut: whether the last line was incomplete and was ignored. path: path of the file.
    """

    head: Line
    state: LoadState
    lines: list[Line]
    cut: bool = False
    path: str = ""

    @property
    def names(self) -> list[str]:
        """The devices' names."""
        return [str(name) for name in self.head["names"]]


def is_decisions(path: str | Path) -> bool:
    """Return whether a file begins like a decision log."""
    try:
        if is_stdin(path):
            return read_bytes(path).startswith(_BEGIN)
        with open_input(path) as file:
            return file.read(len(_BEGIN)) == _BEGIN
    except (InputError, OSError):
        return False


def read_decisions(path: str | Path) -> Decisions:
    """Return the contents of a decision log, without an incomplete last line.

    Raises InputError, with the line number, if the file is not a decision log.
    """
    *whole, rest = read_bytes(path).split(b"\n")
    rows = [_line(row, path, i) for i, row in enumerate(whole, start=1)]
    if not rows or rows[0].get("decisions") != VERSION:
        raise InputError(
            f"is not a decision log of version {VERSION}",
            file=path,
            hint="Rebalancer(..., log=FILE) writes one.",
        )
    head, lines = rows[0], rows[1:]
    if not is_head(head):
        raise InputError("the first line of a decision log is invalid", file=path, line=1)
    k = len(head["names"])
    for number, line in enumerate(lines, start=2):
        if not (is_amount(line["took"]) if "took" in line else is_decision(line, k)):
            message = "is neither a decision nor the time of a move"
            raise InputError(message, file=path, line=number)
    return Decisions(head, state_of(head["state"]), lines, bool(rest), str(path))


def _line(row: bytes, path: str | Path, number: int) -> Line:
    try:
        line = loads(row)
    except (RecursionError, ValueError) as error:
        raise InputError(f"is not JSON: {error}", file=path, line=number) from error
    if not isinstance(line, dict):
        raise InputError("is not a JSON object", file=path, line=number)
    return line


# Checks of a line: a line that Recorder cannot have written is rejected, not replayed.


def is_number(value: Any) -> bool:
    """Return whether a value is a number of at most MOST, so that products of a few are finite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value == 0 or abs(value) <= MOST


def is_amount(value: Any) -> bool:
    """Return whether a value is zero or a number from LEAST to MOST."""
    return is_number(value) and (value == 0 or value >= LEAST)


def is_head(line: Line) -> bool:
    """Return whether a first line is valid.

    It must contain names, a state, the rebuild seconds and the noise floor. `learns`, whether gains
    of moves influence decisions, is optional: it is false in logs without it.
    """
    names, floor = line.get("names"), line.get("noise_floor", 1.0)
    if not isinstance(line.get("learns", False), bool):
        return False
    state = line.get("state")
    if not (isinstance(names, list) and is_state(state, len(names))):
        return False
    return is_amount(line.get("rebuild")) and is_amount(floor) and float(floor) < 1


def is_state(state: Any, k: int) -> bool:
    """Return whether a value is a valid state of k devices with a total load above zero."""
    try:
        if not isinstance(state, dict) or state_of(state).loads.shape != (k,):
            return False
    except InputError:
        return False
    known = all(is_amount(x) for key in _FINITE for x in state[key])
    room = all(x is None or is_amount(x) for x in state["high"])
    return known and room and sum(state["loads"]) > 0 and all(state["idle_rates"])


def is_decision(line: Line, k: int) -> bool:
    """Return whether a line contains the times of k devices and a valid decision."""
    times, decided = line.get("times"), line.get("decided")
    if not (isinstance(times, list) and len(times) == k and isinstance(decided, dict)):
        return False
    if not all(t is None or is_amount(t) for t in times):
        return False
    if not all(is_state(line[key], k) for key in ("state", "after") if line.get(key) is not None):
        return False
    if not all(is_number(decided.get(key)) for key in ("now", "saving", "regret", "cost")):
        return False
    if not all(is_amount(line[key]) for key in IterationSpan._fields if key in line):
        return False
    proposals = line.get("proposals", [])
    if not (isinstance(proposals, list) and all(_is_proposal(one) for one in proposals)):
        return False
    return _is_whole(line.get("iteration"), MOST) and _is_choice(decided, len(proposals))


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


def _is_whole(value: Any, below: float) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < below


class Replayed(NamedTuple):
    """How many decisions and moves were repeated, and a message for each line that differs."""

    decisions: int
    moves: int
    differences: list[str]


def replay(told: Decisions) -> Replayed:
    """Repeat all decisions of a log and return how they differ from it.

    Raises InputError for a line that cannot be repeated.
    """
    learns = told.head.get("learns", False)
    decider = Decider(told.state, told.head["rebuild"], told.head["noise_floor"], learns=learns)
    count = moves = 0
    differences = []
    for number, line in enumerate(told.lines, start=2):
        try:
            if "took" in line:
                decider.measured(line["took"])
                continue
            made, moved = _again(decider, line)
        except InputError as error:
            message = f"cannot be repeated: {error}"
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
    span = IterationSpan(
        **{name: float(line[name]) for name in IterationSpan._fields if name in line}
    )
    decision = decider.decide(times, propose, span)
    made = decision_line(decider.count, times, decision, line.get("state")) | _span_line(span)
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
            return f"{key} was {then.get(key)}, now {now.get(key)}"
    return "the number of the iteration, or whether proposals were requested, differs"
