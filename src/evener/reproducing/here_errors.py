"""Computes the errors of predictions, and the differences of repeated measurements, from trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from evener.arrays import FloatArray
from evener.reproducing.findings import Criterion, Finding, Panel, PaperResult, Plot, Row
from evener.reproducing.here import PredictionTrial

DRAWS = 2000  # of the bootstrap
SEED = 5
GOOD = 0.1  # median relative error up to which a prediction counts as good
LEAST_SHOWN = 0.1  # error [%] that smaller ones are drawn as: the axis is logarithmic
# Least shares of their cores that the devices have in a trial that counts as undisturbed: nearly
# all of it for the first, nearly half of it for the second, which has a rival.
UNDISTURBED = (0.9, 0.45)

# What is compared with PredictionTrial.measured_s: its attribute, and its label in pictures.
COMPARED = {
    "predicted": ("predicted_s", "predicted just before"),
    "means": ("means_s", "by means only"),
    "model": ("model_s", "by models of the beginning"),
    "null": ("again_s", "measured again (null pair)"),
}


def found_here(trials: Sequence[PredictionTrial]) -> PaperResult:
    """Return a finding and a panel for each program, and tables of errors and of all trials."""
    programs = list(dict.fromkeys(trial.program for trial in trials))
    own = {name: [trial for trial in trials if trial.program == name] for name in programs}
    findings = [_finding(name, own[name]) for name in programs]
    panels = [_panel(name, own[name]) for name in programs]
    tables: dict[str, Sequence[Row]] = {
        "errors": error_rows(trials),
        "trials": [asdict(trial) for trial in trials],
    }
    return PaperResult(findings, [Plot("here-errors", panels)], tables)


def error_rows(trials: Sequence[PredictionTrial]) -> list[Row]:
    """Return the errors of each program and size, of all its sizes, and of undisturbed trials."""
    rows = []
    for name in dict.fromkeys(trial.program for trial in trials):
        own = [trial for trial in trials if trial.program == name]
        rows += [
            _errors(name, f"{n:,}", [t for t in own if t.n == n])
            for n in sorted({t.n for t in own})
        ]
        rows.append(_errors(name, "all", own))
        if quiet := undisturbed(own):
            rows.append(_errors(name, "all, undisturbed", quiet))
    return rows


def undisturbed(trials: Sequence[PredictionTrial]) -> list[PredictionTrial]:
    """Return the trials during which both devices had their UNDISTURBED shares of their cores.

    Shares are of CPU time, so that trials are not chosen by the seconds that were to be predicted.
    """
    first, second = UNDISTURBED
    return [t for t in trials if t.first_share >= first and t.second_share >= second]


def relative(trials: Sequence[PredictionTrial], key: str) -> FloatArray:
    """Return (trials,) the errors of `key` of COMPARED, relative to the measured seconds."""
    values = np.array([getattr(trial, COMPARED[key][0]) for trial in trials])
    return np.asarray(values / np.array([trial.measured_s for trial in trials]) - 1)


def spread(errors: FloatArray) -> dict[str, float]:
    """Return the absolute errors' median, its 95 % interval by bootstrap, and 90 % quantile."""
    size = np.abs(errors)
    drawn = np.random.default_rng(SEED).choice(size, (DRAWS, size.size))
    low, high = np.quantile(np.median(drawn, axis=1), [0.025, 0.975])
    return {
        "median": float(np.median(size)),
        "low": float(low),
        "high": float(high),
        "p90": float(np.quantile(size, 0.9)),
    }


def _errors(program: str, units: str, trials: Sequence[PredictionTrial]) -> Row:
    row: dict[str, float | int | str] = {
        "program": program,
        "units": units,
        "trials": len(trials),
        "measured_s": float(np.median([trial.measured_s for trial in trials])),
        "bias": float(np.median(relative(trials, "predicted"))),
        "first_share": float(np.median([trial.first_share for trial in trials])),
        "second_share": float(np.median([trial.second_share for trial in trials])),
        "load": float(np.median([trial.load for trial in trials])),
    }
    for key in COMPARED:
        row |= {f"{key}_{what}": value for what, value in spread(relative(trials, key)).items()}
    return row


def _finding(program: str, trials: Sequence[PredictionTrial]) -> Finding:
    row = _errors(program, "all", trials)
    seen = (
        f"median error {row['predicted_median']:.1%} ({row['predicted_low']:.1%} to "
        f"{row['predicted_high']:.1%}), nine tenths within {row['predicted_p90']:.1%}; null pair "
        f"{row['null_median']:.1%} and {row['null_p90']:.1%}; others took "
        f"{1 - float(row['first_share']):.0%} of the first core, in the median"
    )
    return Finding(
        f"{program} on this computer",
        "",
        "",
        f"{len(trials)} iterations predicted from times taken just before, then measured",
        seen,
        [
            Criterion(
                f"median error {GOOD:.0%} at most", float(row["predicted_median"]) <= GOOD, own=True
            )
        ],
        beside=True,
    )


def _panel(program: str, trials: Sequence[PredictionTrial]) -> Panel:
    lines = {
        label: np.sort(100 * np.abs(relative(trials, key))).clip(LEAST_SHOWN).tolist()
        for key, (_, label) in COMPARED.items()
        if key != "means"
    }
    x = (100 * (np.arange(len(trials)) + 1) / len(trials)).tolist()
    # Logarithmic: a trial disturbed by other processes may be off by hundreds of percent.
    return Panel(program, "trials with that error or less [%]", "error [%]", x, lines, log_y=True)
