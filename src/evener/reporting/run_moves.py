"""Moves of vertices between devices during a run, as its page shows them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.running.program_run import ProgramRun
from evener.wording import duration, plural

AROUND = 30  # supersteps before and after a move, of which medians are shown


class RunMoveRow(NamedTuple):
    """A row of a move, as text: after which superstep, of how many vertices, in what time.

    before, then: a superstep's seconds as measured; saving: their difference, and as predicted.
    """

    after: str
    vertices: str
    seconds: str
    before: str
    then: str
    saving: str
    predicted: str


def move_rows(run: ProgramRun) -> list[RunMoveRow]:
    """Return a row for each move."""
    seconds = np.array([sum(took for _, _, took in step.spans) for step in run.steps[0]])
    starts = [move.step - run.first for move in run.moves]
    rows = []
    for move, at, end in zip(run.moves, starts, [*starts[1:], seconds.size], strict=False):
        before = float(np.median(seconds[max(at - AROUND, 0) : at]))
        then = float(np.median(seconds[at : min(at + AROUND, end)]))
        saved = before - then
        rows.append(
            RunMoveRow(
                f"{move.step:,}", f"{move.vertices:,}", duration(move.seconds), duration(before),
                duration(then), f"{'-' if saved < 0 else ''}{duration(abs(saved))}",
                duration(move.saving),
            )
        )  # fmt: skip
    return rows


def move_spans(run: ProgramRun, left: float, across: float) -> list[tuple[float, float, str]]:
    """Return x, width and text of each move in a drawing of `across` units a second from `left`."""
    found = []
    for move in run.moves:
        vertices, took = plural(move.vertices, "vertex", "vertices"), duration(move.seconds)
        width = max(round(across * move.seconds, 1), 1.0)
        text = f"{vertices} changed device in {took}"
        found.append((round(left + across * move.began, 1), width, text))
    return found
