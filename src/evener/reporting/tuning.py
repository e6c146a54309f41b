"""The page of `evener tune`: what each rank did in a step, round after round, and step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray
from evener.files.writing import write_text
from evener.reporting.bars import name_width, place
from evener.reporting.html import render
from evener.reporting.run_supersteps import StepValues, SuperstepChart, step_chart
from evener.reporting.runs import Bar
from evener.wording import duration, percent, units

MAX_RANKS = 32  # with a bar; of more, half of them compute longest and half wait longest
MAX_ROWS = 8  # ranks whose steps are drawn, chosen likewise
ACTIVITIES = ("computing", "communicating", "waiting")
MEANINGS = {
    "computing": "computing, outside MPI",
    "communicating": "in messages between two ranks, waiting included",
    "waiting": "in collective calls, waiting included",
}


class TuningRound(NamedTuple):
    """A plan and the measurements of the program on its blocks.

    names, units (k,): of the devices and their blocks. seconds (s,): of each step. computing,
    exchanging, collective (s, k): seconds of each rank in each step. gain: the speedup that blocks
    sized by the measured speeds would give, with its confidence interval. reasons: sentences on
    what limits the gain.
    """

    names: Sequence[str]
    units: FloatArray
    seconds: FloatArray
    computing: FloatArray
    exchanging: FloatArray
    collective: FloatArray
    gain: tuple[float, float, float]
    reasons: Sequence[str]


@dataclass(frozen=True)
class RoundSection:
    """A round on the page: its heading, sentences, a bar for each rank, and a chart by step."""

    title: str
    sentences: list[str]
    bars: list[Bar]
    shown: int
    chart: SuperstepChart


def write_tuning(
    path: str | Path, rounds: Sequence[TuningRound], verdict: str, program: str, step: str
) -> None:
    """Write the page; verdict: the result as a sentence, step: what a step of the program is."""
    longest = max(float(_parts(one).sum(axis=0).max()) for one in rounds)
    names = rounds[0].names
    write_text(path, render(
        "tune.html.j2",
        program=program,
        verdict=verdict,
        step=step,
        figures=_figures(rounds[0], min(rounds, key=_seconds)),
        activities=[(name, MEANINGS[name]) for name in ACTIVITIES],
        rounds=[_section(i, one, longest) for i, one in enumerate(rounds)],
        name_width=name_width(names),
        k=len(names),
    ))  # fmt: skip


def _seconds(one: TuningRound) -> float:
    return float(one.seconds.mean())


def _figures(first: TuningRound, best: TuningRound) -> list[tuple[str, str, str]]:
    """Return name, value and meaning of the figures below the heading."""
    before, after = _seconds(first), _seconds(best)
    slowest = int(first.computing.mean(axis=0).argmax())
    speeds = best.units / np.maximum(best.computing.mean(axis=0), 1e-300)
    used = speeds[best.units > 0]
    return [
        ("a step took", duration(before), "with the plan that was given"),
        ("in the fastest round", duration(after), f"{before / after:.2f} times as fast"),
        ("computes longest", first.names[slowest], "with the plan that was given"),
        ("fastest / slowest", f"{used.max() / used.min():.2f}", "speeds, in the fastest round"),
    ]


def _parts(one: TuningRound) -> FloatArray:
    """Return (3, k) mean seconds of the ACTIVITIES of each rank in a step."""
    return np.array([
        part.mean(axis=0) for part in (one.computing, one.exchanging, one.collective)
    ])  # fmt: skip


def _section(number: int, one: TuningRound, longest: float) -> RoundSection:
    parts = _parts(one)
    gain, low, high = one.gain
    faster = f"Blocks sized by speed would be {gain:.2f} times as fast ({low:.2f} to {high:.2f})."
    sentences = [faster, *(f"{reason[0].upper()}{reason[1:]}." for reason in one.reasons)]
    shown = _chosen(parts[0], MAX_RANKS)
    title = "The plan that was given" if number == 0 else f"New plan {number}"
    return RoundSection(
        f"{title}: {duration(_seconds(one))} a step",
        sentences,
        [_bar(one.names[rank], one.units[rank], parts[:, rank], longest) for rank in shown],
        len(shown),
        _chart(one, _chosen(parts[0], MAX_ROWS)),
    )


def _chosen(computing: FloatArray, most: int) -> list[int]:
    """Return at most `most` ranks, in order: those that compute longest, and shortest."""
    if computing.size <= most:
        return list(range(computing.size))
    order = np.argsort(computing, kind="stable")
    return sorted([*order[: most // 2].tolist(), *order[-(most - most // 2) :].tolist()])


def _bar(name: str, load: float, parts: FloatArray, longest: float) -> Bar:
    spent: Mapping[str, float] = dict(zip(ACTIVITIES, parts.tolist(), strict=True))
    total = float(parts.sum())
    split = ", ".join(f"{MEANINGS[key]}: {duration(value)}" for key, value in spent.items())
    return Bar(
        name,
        [(key, place(100 * value / longest)) for key, value in spent.items()],
        duration(spent["computing"]),
        percent(1 - spent["computing"] / total) if total > 0 else "",
        f"{units(round(load))} units; {split}",
    )


def _chart(one: TuningRound, ranks: Sequence[int]) -> SuperstepChart:
    """Return the seconds of each step, and of the computing of some ranks, on one scale."""
    most = float(np.percentile(one.seconds, 95)) * 1.5
    most = min(most, float(one.seconds.max()))
    of_ranks = [
        StepValues(one.names[rank], one.computing[:, rank], most, "computing") for rank in ranks
    ]
    return step_chart([StepValues("step", one.seconds, most, duration(most)), *of_ranks])
