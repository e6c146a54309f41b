"""Predicted against measured seconds of an iteration, on the computer this runs on.

Two devices: a core, and another core that a memory-bound rival uses, too. Their models are measured
as by `evener measure`, their sizes computed as by `evener sizes`. Each trial then times both
devices at once, predicts an iteration from these times, and measures iterations twice. These two
measurements are the null pair: no prediction can be expected to be closer than they are.

From the trials follow the errors of predictions, and the differences of repeated measurements.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import NotFoundError
from evener.measuring.outcomes import Gap, Point, Precision
from evener.measuring.together import Bench
from evener.measuring.workers import KernelJob, Worker
from evener.platforms.models.fitting import SpeedModel, fit_model
from evener.platforms.models.samples import Sample
from evener.sizing.solving import solve_sizes
from papers.findings import Criterion, Finding, Panel, PaperResult, Plot, Row
from papers.here_pair import DevicePair, Times, rivalled_pair, two_cores
from papers.intervals import Interval

Progress = Callable[[str, float], None]

# At 20 ms and more: a shared core is given out in slices of some ms, so that the time of a shorter
# iteration depends on how many slices fall into it.
ITERATIONS = (0.025, 0.05, 0.1)  # seconds that the models are to predict
WINDOW = 0.8  # seconds of each measurement of a trial
FEWEST_STEPS = 8  # iterations measured at least
# No outliers are left out: times that the rival makes long belong to the device.
POINT = Precision(precision=0.05, seconds=3.0, shortest=0.02, least=0.4, outliers=0.0)
MODELLING = 0.1  # of all progress: the part of measuring models
SEED = 5


@dataclass(frozen=True)
class Program:
    """A kernel, how many executions make an iteration, and the loads [units] of its models."""

    kernel: str
    executions: int
    loads: tuple[int, ...]


PROGRAMS = (
    Program("spmv", 10, (40_000, 80_000, 160_000, 320_000, 640_000, 1_280_000)),
    Program("gemm", 2, (100, 200, 400, 800, 1_600, 3_200)),
)


@dataclass(frozen=True)
class PredictedCase:
    """A program at one size n = sum of sizes, those of both devices [units].

    model_s: seconds of an iteration by the models.
    """

    program: str
    executions: int
    n: int
    sizes: tuple[int, int]
    model_s: float


@dataclass(frozen=True)
class PredictionTrial:
    """One prediction of the seconds of an iteration, and the measurements it is compared with.

    n: first_units + second_units, sizes of the devices. steps: iterations measured. model_s: by
    models measured at the beginning. means_s: larger mean of the times taken just before;
    predicted_s: the same times, mean of the larger of two, one of each device. measured_s, again_s:
    in step, twice. first_share, second_share: of its core that a device had, the least of the three
    measurements; the second has a rival. load: tasks that wanted a core, by the system's count.
    """

    program: str
    n: int
    first_units: int
    second_units: int
    trial: int
    steps: int
    model_s: float
    means_s: float
    predicted_s: float
    measured_s: float
    again_s: float
    first_share: float
    second_share: float
    load: float


def predicted_and_measured(
    trials: int = 20,
    tell: Progress = lambda *_: None,
    *,
    programs: Sequence[Program] = PROGRAMS,
    iterations: Sequence[float] = ITERATIONS,
    window: float = WINDOW,
    point: Precision = POINT,
) -> list[PredictionTrial]:
    """Return `trials` trials of each case, with the cases in another random order in each round.

    Raises UsageError on a computer of one core, NotFoundError where nothing could be measured,
    ToolError where a device's process fails.
    """
    cpus = two_cores()
    rng = np.random.default_rng(SEED)
    found = []
    with rivalled_pair(cpus) as pair:
        cases = []
        for i, program in enumerate(programs):
            tell(f"models of {program.kernel}", MODELLING * i / len(programs))
            models = measured_models(program, cpus, point)
            cases += cases_of(program, models, iterations)
        for trial in range(trials):
            for turn, which in enumerate(rng.permutation(len(cases))):
                done = (trial + turn / len(cases)) / trials
                case = cases[int(which)]
                tell(f"{case.program} of {case.n:,}", MODELLING + (1 - MODELLING) * done)
                found.append(one_trial(pair, case, trial, window))
    return found


def measured_models(program: Program, cpus: Sequence[int], point: Precision) -> list[SpeedModel]:
    """Return a model of each device, seconds of an iteration over units, measured together."""
    workers = [Worker(f"cpu{cpu}", KernelJob(program.kernel, cpus=(cpu,))) for cpu in cpus]
    samples: list[list[Sample]] = [[] for _ in cpus]
    gaps: list[str] = []
    with Bench(workers, point) as bench:
        for load in program.loads:
            for own, outcome in zip(samples, bench.measure([load] * len(cpus)), strict=True):
                if isinstance(outcome, Point):
                    own.append(_of_iteration(outcome.sample, program.executions))
                elif isinstance(outcome, Gap):
                    gaps.append(outcome.message)
    if not all(samples):
        raise NotFoundError(f"no load of {program.kernel} could be measured: {gaps[0]}")
    return [fit_model(own) for own in samples]


def _of_iteration(sample: Sample, executions: int) -> Sample:
    return Sample(
        sample.load,
        executions * sample.seconds,
        executions * sample.half_width,
        sample.repetitions,
        sample.status,
    )


def cases_of(
    program: Program, models: Sequence[SpeedModel], iterations: Sequence[float]
) -> list[PredictedCase]:
    """Return a case for each of `iterations` [s], sized so that the models take that long.

    Both devices end together, by the models.
    """
    cases = []
    for seconds in iterations:
        n = max(sum(int(model.max_load(seconds)) for model in models), len(models))
        found = solve_sizes(models, n, low=1)
        first, second = found.sizes.tolist()
        cases.append(
            PredictedCase(program.kernel, program.executions, n, (first, second), found.makespan)
        )
    return cases


def one_trial(pair: DevicePair, case: PredictedCase, trial: int, window: float) -> PredictionTrial:
    """Time both devices at once, predict an iteration, and measure it twice."""
    pair.prepare(case.program, case.sizes, case.executions)
    before = pair.beside(window)
    predicted = larger_of_two(before[0].times, before[1].times)
    steps = max(round(window / predicted), FEWEST_STEPS)
    runs = [pair.in_step(steps), pair.in_step(steps)]
    shares = [min(own.share for own in device) for device in zip(before, *runs, strict=True)]
    measured, again = (_per_step(run) for run in runs)
    return PredictionTrial(
        case.program,
        case.n,
        *case.sizes,
        trial,
        steps,
        case.model_s,
        max(float(np.mean(device.times)) for device in before),
        predicted,
        measured,
        again,
        shares[0],
        shares[1],
        os.getloadavg()[0],
    )


def _per_step(run: Sequence[Times]) -> float:
    """Return the mean seconds of an iteration of the later device."""
    return max(float(np.mean(device.times)) for device in run)


def larger_of_two(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Return the mean of the larger of two times, over all pairs of a time of each device [s].

    An iteration ends with the later device, which is not always the same: the mean of the larger
    times is above the larger of the mean times.
    """
    return float(np.maximum.outer(np.asarray(first), np.asarray(second)).mean())


DRAWS = 2000  # of the bootstrap
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
    findings = [
        _finding(name, own[name]).beside_counter(
            "predictions twice as long",
            _finding(name, [replace(one, predicted_s=2 * one.predicted_s) for one in own[name]]),
        )
        for name in programs
    ]
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
    error = Interval(*(float(row[f"predicted_{key}"]) for key in ("median", "low", "high")))
    seen = (
        f"median error {error:.1%}, nine tenths within {row['predicted_p90']:.1%}; null pair "
        f"{row['null_median']:.1%} and {row['null_p90']:.1%}; others took "
        f"{1 - float(row['first_share']):.0%} of the first core, in the median"
    )
    return Finding(
        f"{program} on this computer",
        "",
        "",
        f"{len(trials)} iterations predicted from times taken just before, then measured",
        seen,
        [Criterion(f"median error below {GOOD:.0%}", error.below(GOOD), own=True)],
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
