"""How well iterations are predicted, on two real cores made unequal: predicted against measured.

    python benchmarks/truth.py [--short] [--runs 20] [--fresh] [--only CASE] [-o FILE]

Two ranks of MPI, each bound to a core, multiply a sparse matrix and exchange their halo. The
second core is made slower by repeating its kernel, or by rivals. Each of 20 runs is made in four
turns. Just before each turn both ranks are sampled together, on stretches of rows as heavy as their
blocks; predicted_seconds and the spread of the samples so far give the expected iteration (expected
maximum). Each turn is measured twice (null pair): the machine changes within a second. Iterations
that are short, and four ranks on the two cores, are reported, not judged. Equal blocks and the plan
count alike. Cases that FILE holds are not run again; about 8 minutes.
"""

from pathlib import Path
from typing import NamedTuple

from records import markdown
from wall_clock.figures import errors
from wall_clock.keeping import arguments, run_cases
from wall_clock.launching import quiet, rivals, run_ranks

RESULTS = Path(__file__).parent / "results" / "truth.jsonl"
MEDIAN, P90 = 0.08, 0.18  # goals of iterations of 20 ms and more
VERTICES = 2**17


class TruthCase(NamedTuple):
    """Repeats of the kernel by rank, rivals of the second core, seconds of balanced iterations.

    window [s]: of the samples of a run, and of its iterations, all turns together. Rivals take
    their core for milliseconds at a time: iterations, and what they are predicted from, are to
    last many of those.
    """

    repeats: list[int]
    rivals: int
    seconds: float
    window: float


CASES = {
    "kernel x 4": TruthCase([1, 4], 0, 25e-3, 0.5),
    "kernel x 16": TruthCase([1, 16], 0, 25e-3, 0.5),
    "1 rival": TruthCase([1, 1], 1, 50e-3, 0.8),
    "3 rivals": TruthCase([1, 1], 3, 50e-3, 0.8),
    "kernel x 4, short": TruthCase([1, 4], 0, 3e-3, 0.15),
    "1 rival, short": TruthCase([1, 1], 1, 3e-3, 0.3),
    "four ranks, kernel x 4": TruthCase([1, 4, 1, 4], 0, 25e-3, 0.25),
}
JUDGED = tuple(CASES)[:4]


def main():
    args = arguments(__doc__, RESULTS, CASES).parse_args()
    run_cases(args, list(CASES), args.only or list(CASES), run_case, row)


def run_case(case, runs):
    """Measure one case, with the load of the machine before it."""
    own, load = CASES[case], quiet()
    job = {
        "case": case,
        "vertices": VERTICES,
        "repeats": own.repeats,
        "seconds": own.seconds,
        "window": own.window,
        "runs": runs,
        "partitions": ["equal", "planned"],
        "sample": True,
        "rest": 3e-5 if len(own.repeats) > 2 else 0.0,  # who shares a core does not wait awake
    }
    with rivals(own.rivals):
        record = run_ranks(len(own.repeats), "two_ranks", job)
    measured = [run["measured"] for run in record["runs"]]
    found = {
        name: errors([run[key] for run in record["runs"]], measured)
        for name, key in (("errors", "predicted"), ("by_means", "means"), ("null", "again"))
    }
    return {**found, **record, "judged": case in JUDGED, "load_before": load}


def row(line):
    """One line for people: the goals beside what was reached."""
    runs, own, null = line["runs"], line["errors"], line["null"]
    measured = [1e3 * run["measured"] for run in runs]
    shortest, longest = min(measured), max(measured)
    reached = "reached" if own["median"] <= MEDIAN and own["p90"] <= P90 else "MISSED"
    asked = f"goals {MEDIAN:.0%}, {P90:.0%}: {reached}" if line["judged"] else "reported only"
    return (
        f"{line['case']:24s} {len(runs):3d} runs of {shortest:.1f}-{longest:.1f} ms: error median "
        f"{own['median']:.1%} ({own['low']:.1%} to {own['high']:.1%}), p90 {own['p90']:.1%} "
        f"({asked}); bias {own['bias']:+.1%}; null pair {null['median']:.1%}, {null['p90']:.1%}; "
        f"products {'right' if line['verified'] else 'WRONG'}; load before {line['load_before']}"
    )


def table(lines):
    """Errors of predicted iterations on two real cores, beside the goals."""
    rows = [("second core", "iterations", "runs", "error: median (95 %), p90", "goal",
             "by means only", "null pair", "machine's load before")]  # fmt: skip
    for line in lines:
        seconds = [1e3 * run["measured"] for run in line["runs"]]
        rows.append(
            (
                line["case"],
                f"{min(seconds):.0f} to {max(seconds):.0f} ms",
                len(seconds),
                spread_cell(line["errors"]),
                "8%, 18%" if line["judged"] else "reported only",
                *(spread_cell(line[key]) for key in ("by_means", "null")),
                line["load_before"],
            )
        )
    return markdown(rows)


def spread_cell(own):
    return f"{own['median']:.1%} ({own['low']:.1%} to {own['high']:.1%}), {own['p90']:.1%}"


if __name__ == "__main__":
    main()
