"""Plans for seconds on the wall clock, beside equal blocks and METIS at the same sizes.

    python benchmarks/measured.py --part a [--short] [--runs 20] [--fresh] [--only CASE] [-o FILE]
    python benchmarks/measured.py --part bcd ...

Part a: two ranks of MPI in real time, each bound to a core, one made slower by repeating its kernel
or by rivals. Cores drift within minutes: before each run speeds are sampled on both at once, and
METIS's and the plan's blocks are made anew from the same samples, then all are taken in three
turns.

Parts b, c and d, "emulated devices, wall clock": real kernels and real halos on two cores, then
asleep until the emulated device would be done. b: speeds with a cliff in memory or cache. c: an
added latency that no second device is worth. d: eight devices where exchange is so much of the time
that blocks of METIS with speeds take.

METIS is the better of both methods at sizes of least time by the same samples, tolerance 3 %,
enforced and mapped. Each case is 20 runs of all partitions in
random order; the plan runs twice (null pair: how far the same partition is from itself). Ratios are
medians over runs, intervals by bootstrap. Cases that FILE holds are not run again; 9 minutes for
part a, 5 for the others.
"""

from pathlib import Path

from records import markdown
from wall_clock.cases import CASES
from wall_clock.figures import paired
from wall_clock.keeping import arguments, run_cases
from wall_clock.launching import quiet, rivals, run_ranks

NEAR = 0.05  # how far part d's measured ratios may be from the predicted ones
RESULTS = Path(__file__).parent / "results" / "measured.jsonl"


def main():
    parser = arguments(__doc__, RESULTS, CASES)
    parser.add_argument("--part", choices=("a", "bcd"), default="bcd")
    parser.when_small(part="abcd")
    args = parser.parse_args()
    chosen = [name for name in args.only or CASES if CASES[name].part in args.part]
    run_cases(args, list(CASES), chosen, run_case, lambda line: "\n".join(rows(line)))


def run_case(name, runs):
    """Measure one case, with the load of the machine before it."""
    case, load = CASES[name], quiet()
    with rivals(case.rivals):
        record = run_ranks(case.ranks, case.program, {"case": name, "runs": runs, **case.job})
    runs, guesses = record["measured"], record["partitions"]
    ratios = {}
    for rival in ("equal", "metis"):
        guess = guesses["planned"]["predicted"] / guesses[rival]["predicted"]
        ratios[rival] = paired(runs["planned"], runs[rival]) | {"predicted": guess}
    null = paired(runs["again"], runs["planned"])
    found = {"ratios": ratios, "null": null, "asked": case.asked, "load_before": load}
    return {"part": case.part, **record, **found}


def rows(line):
    """Lines for people: the goals beside what was reached."""
    yield (
        f"{line['part']}  {line['case']}: {len(line['measured']['planned'])} runs; "
        f"null pair {text(line['null'])}; products {'right' if line['verified'] else 'WRONG'}; "
        f"load before {line['load_before']}"
        + (f"; late waits {max(line['late'].values()):.2%}" if "late" in line else "")
    )
    for rival, found in line["ratios"].items():
        verdict = "; ".join(["", *judged(line, rival)])
        yield f"     planned / {rival}: {text(found)}, predicted {found['predicted']:.3f}{verdict}"
    yield f"     planned uses {line['partitions']['planned']['devices']:g} devices; " + ", ".join(
        f"{name} {one['predicted'] * 1e3:.1f} ms predicted, exchange {one['comm_share']:.2f}"
        for name, one in line["partitions"].items()
        if name != "again"
    )


def judged(line, rival):
    """The goal of a ratio, and whether it was reached."""
    found, asked = line["ratios"][rival], line["asked"].get(rival)
    if asked == "null":
        most = line["null"]["high"]
        yield f"goal not above the null pair's interval: {said(found['ratio'] <= most)}"
    elif asked is not None:
        yield f"goal at most {asked}: {said(found['ratio'] <= asked)}"
    if rival == "metis" and line["part"] == "d":
        near = abs(found["ratio"] - found["predicted"]) <= NEAR
        yield f"goal within {NEAR} of the prediction: {said(near)}"


def said(reached):
    return "reached" if reached else "MISSED"


def text(found):
    return f"{found['ratio']:.3f} ({found['low']:.3f} to {found['high']:.3f})"


def table(lines):
    """Seconds of plans to those of equal blocks and METIS at the same sizes, by the clock."""
    rows = [("part", "case", "runs", "plan / equal (95 %)", "goal", "plan / METIS (95 %)",
             "goal", "predicted", "null pair (95 %)", "devices used", "late waits")]  # fmt: skip
    for line in lines:
        equal, metis = line["ratios"]["equal"], line["ratios"]["metis"]
        asked = {
            rival: {"null": "null pair"}.get(most, most) for rival, most in line["asked"].items()
        }
        rows.append(
            (
                line["part"],
                line["case"],
                len(line["measured"]["planned"]),
                text(equal),
                asked.get("equal", ""),
                text(metis),
                asked.get("metis", ""),
                f"{metis['predicted']:.3f}",
                text(line["null"]),
                f"{line['partitions']['planned']['devices']:g}",
                f"{max(line['late'].values()):.1%}" if "late" in line else "",
            )
        )
    return markdown(rows)


if __name__ == "__main__":
    main()
