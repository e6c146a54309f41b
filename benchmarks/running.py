"""Runs on two ranks of one core: against two threads, by plans for unequal cores, as predicted.

    python benchmarks/running.py [--parts ranks,planned,halos] [--rounds 9] [--runs 12]

ranks     two ranks of MPI beside one process with two threads: PageRank, BFS, components, paths;
          parts of equal work, a vertex counted as so many arcs as the application needs
planned   a machine made unequal, by a rival process that never rests on the second core or by a
          device that computes each message three times: the plan beside equal blocks and METIS's at
          the same sizes (the better of its two methods, mapped as ours); predicted seconds of
          computing beside those of each device, and of a superstep (the expected maximum of
          devices whose times vary as their samples do) beside those of each superstep
halos     halos.py beside this script

All ways of a part take turns in the same processes; ratios are medians over turns, with intervals
by bootstrap where a verdict depends on them. One JSON line a case goes to results/running.jsonl;
the table has what was asked beside what was reached. 8 minutes on two quiet cores.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from records import answer, markdown, parser, read, words
from wall_clock.figures import median_interval, paired
from wall_clock.launching import quiet, rivals, run_ranks

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "running.jsonl"
APPS = ["pagerank", "bfs", "wcc", "sssp"]
PARTS = ["ranks", "planned", "halos"]
LONG = 20e-3  # seconds of a superstep from which on predictions are judged
RANKS, EQUAL, MEDIAN, P90, HALO = 1.10, 0.75, 0.08, 0.18, 1.15  # asked, at most
TIMEOUT = 400.0
TIMES = ("computing", "packing", "waiting", "unpacking")
# Case: rivals of the second core, how often each device computes a message, seconds asked.
CASES = {
    "quiet": (0, (1, 3), 30e-3),
    "1 rival": (1, (1, 1), 40e-3),
}


def main():
    made = parser(__doc__, RESULTS)
    made.add_argument("--parts", type=words, default=PARTS)
    made.add_argument("--scale", type=int, default=18, help="2^scale vertices of a graph")
    made.add_argument("--rounds", type=int, default=9, help="turns of ranks")
    made.add_argument("--runs", type=int, default=12, help="runs of planned")
    made.when_small(scale=8, rounds=1, runs=1, parts=["ranks", "planned"])
    answer(made.parse_args(), measured, table)


def measured(args):
    graphs = [("triangles", args.scale), ("rmat", args.scale)][: 1 if args.small else 2]
    job = {"rounds": args.rounds, "graphs": graphs, "apps": APPS}
    if "ranks" in args.parts:
        yield from _records("ranks", "ranks_and_threads", job)
    if "planned" in args.parts:
        yield from _planned(args)
    if "halos" in args.parts:
        yield from _halos()


def _records(part, measure, job):
    """Lines of what the ranks measured."""
    load = quiet()
    for record in run_ranks(2, "engine_ranks", {"case": part, "measure": measure, **job}, TIMEOUT):
        yield {"part": part, "load_before": load, **record}


def _planned(args):
    chosen = ["1 rival"] if args.small else list(CASES)
    for name in chosen:
        count, slower, seconds = CASES[name]
        job = {
            "case": name, "graph": ("triangles", min(args.scale, 16)), "slower": slower,
            "seconds": seconds / 20 if args.small else seconds, "runs": args.runs,
        }  # fmt: skip
        with rivals(count):
            yield from _records("planned", "planned", job)


def _halos():
    """Lines of halos.py, which writes to a temporary file."""
    with tempfile.TemporaryDirectory() as folder:
        path, load = Path(folder) / "lines.jsonl", quiet()
        command = [sys.executable, str(HERE / "halos.py"), "-o", str(path), "--rounds", "20"]
        subprocess.run(command, stdout=subprocess.DEVNULL, timeout=TIMEOUT, check=False)
        for line in read(path):
            yield {"part": "halos", "load_before": load, **line}


def table(lines):
    """What was asked, and what was reached."""
    rows = [("part", "case", "what", "asked", "reached", "")]
    makers = {
        "ranks": _ranks_rows, "planned": _planned_rows,
        "halos": _halo_rows,
    }  # fmt: skip
    for line in lines:
        rows += [(line["part"], *row) for row in makers[line["part"]](line)]
    return markdown(rows)


def _ranks_rows(line):
    pairs = np.array(line["pairs"])
    found = paired(pairs[:, 0], pairs[:, 1])
    ranks, threads = 1e3 * np.median(pairs, axis=0)
    what = f"two ranks ({ranks:.1f} ms) / two threads ({threads:.1f} ms), "
    spent = {name: sum(line["breakdown"][name]) for name in TIMES}
    share = spent["waiting"] / sum(spent.values())
    what += f"{line['supersteps']} supersteps, {share:.0%} of ranks' time waiting"
    yield (f"{line['graph']} {line['app']}", what, f"{RANKS:.2f}", _text(found),
           _said(found["ratio"] <= RANKS))  # fmt: skip


def _planned_rows(line):
    runs = line["measured"]
    null = paired(runs["again"], runs["planned"])
    equal, metis = (paired(runs["planned"], runs[name]) for name in ("equal", "metis"))
    case = f"{line['case']}, {1e3 * np.median(runs['equal']):.0f} ms equal"
    yield case, "planned / equal", f"{EQUAL}", _text(equal), _said(equal["ratio"] <= EQUAL)
    most = max(null["high"], 1 / null["low"])
    yield (case, "planned / METIS", f"null pair, {most:.3f}", _text(metis),
           _said(metis["ratio"] <= most))  # fmt: skip
    yield case, "null pair", "shown", _text(null), ""
    for what, signed in line["errors"].items():
        off = np.abs(signed)
        middle, p90 = median_interval(off)[0], float(np.quantile(off, 0.9))
        is_judged = line["case"] == "quiet" and np.median(runs["planned"]) >= LONG
        verdict = _said(middle <= MEDIAN and p90 <= P90) if is_judged else "shown"
        text = f"{middle:.1%}, {p90:.1%}, bias {np.median(signed):+.1%}"
        yield (
            case,
            f"predicted, each {what}: median, p90",
            f"{MEDIAN:.0%}, {P90:.0%}",
            text,
            verdict,
        )


def _halo_rows(line):
    what = f"Halo.exchange / plain mpi4py, {line['bytes']:,} B"
    case = f"{line['graph']} {line['columns']} x {line['dtype']}"
    yield case, what, f"{HALO}", f"{line['ratio']:.3f}", _said(line["ratio"] <= HALO)


def _text(found):
    return f"{found['ratio']:.3f} ({found['low']:.3f} to {found['high']:.3f})"


def _said(reached):
    return "reached" if reached else "MISSED"


if __name__ == "__main__":
    main()
