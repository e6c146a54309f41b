"""How well iterations are predicted, on two real cores made unequal: predicted against measured.

    python benchmarks/truth.py [--short] [--runs 20] [--fresh] [--only CASE] [-o FILE]

Two ranks of MPI, each bound to a core, multiply a sparse matrix and exchange their halo. The
second core is made slower by repeating its kernel, or by rivals. Just before each of 20 runs both
ranks are sampled together, on stretches of rows as heavy as their blocks; predicted_seconds and the
spread of the samples give the expected iteration (expected maximum). Each run is measured twice
(null pair). Iterations that are short, and four ranks on the two cores, are reported, not judged.
Equal blocks and the plan count alike. Cases that FILE holds are not run again; about 7 minutes.
"""

import argparse
import json
from pathlib import Path
from typing import NamedTuple

from wall_clock.figures import errors
from wall_clock.launching import quiet, rivals, run_ranks

RESULTS = Path(__file__).parent / "results" / "truth.jsonl"
MEDIAN, P90 = 0.08, 0.18  # asked of iterations of 20 ms and more
VERTICES = 2**17


class Case(NamedTuple):
    """Repeats of the kernel by rank, rivals of the second core, seconds of balanced iterations.

    window [s]: of a sample, and of a run. Rivals take their core for milliseconds at a time:
    iterations, and what they are predicted from, are to last many of those.
    """

    repeats: list[int]
    rivals: int
    seconds: float
    window: float


CASES = {
    "kernel x 4": Case([1, 4], 0, 25e-3, 0.25),
    "kernel x 16": Case([1, 16], 0, 25e-3, 0.25),
    "1 rival": Case([1, 1], 1, 50e-3, 0.8),
    "3 rivals": Case([1, 1], 3, 50e-3, 0.8),
    "kernel x 4, short": Case([1, 4], 0, 3e-3, 0.15),
    "1 rival, short": Case([1, 1], 1, 3e-3, 0.3),
    "four ranks, kernel x 4": Case([1, 4, 1, 4], 0, 25e-3, 0.25),
}
JUDGED = tuple(CASES)[:4]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="three runs a case, kept nowhere")
    parser.add_argument("--runs", type=int, default=20, help="of each case")
    parser.add_argument("--fresh", action="store_true", help="run again what FILE holds")
    parser.add_argument("--only", choices=CASES, action="append", help="this case alone")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    chosen = args.only or list(CASES)
    kept = [] if args.short or not args.output.exists() else read(args.output)
    kept = [line for line in kept if not (args.fresh and line["case"] in chosen)]
    for case in chosen:
        if any(line["case"] == case for line in kept):
            continue
        line = run_case(case, runs=3 if args.short else args.runs)
        kept.append(line)
        print(row(line), flush=True)
        if not args.short:
            kept.sort(key=lambda own: list(CASES).index(own["case"]))
            args.output.write_text("".join(json.dumps(own) + "\n" for own in kept))
    print()
    for line in kept:
        print(row(line))


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
    """One line for people: what was asked beside what was reached."""
    runs, own, null = line["runs"], line["errors"], line["null"]
    measured = [1e3 * run["measured"] for run in runs]
    shortest, longest = min(measured), max(measured)
    reached = "reached" if own["median"] <= MEDIAN and own["p90"] <= P90 else "MISSED"
    asked = f"asked {MEDIAN:.0%}, {P90:.0%}: {reached}" if line["judged"] else "reported only"
    return (
        f"{line['case']:24s} {len(runs):3d} runs of {shortest:.1f}-{longest:.1f} ms: error median "
        f"{own['median']:.1%} ({own['low']:.1%} to {own['high']:.1%}), p90 {own['p90']:.1%} "
        f"({asked}); bias {own['bias']:+.1%}; null pair {null['median']:.1%}, {null['p90']:.1%}; "
        f"products {'right' if line['verified'] else 'WRONG'}; load before {line['load_before']}"
    )


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


if __name__ == "__main__":
    main()
