"""The best cut that other tools find in ten times the CPU time of Evener at `strong`.

    python benchmarks/patience.py [--families ...] [--topologies t1_f8,t2_f16] [--table]

Instances and machines are those of partitioners.py. Evener runs once; every other tool runs at its
most thorough, seed after seed, until ten times that CPU time is spent, and its least cut
counts, however uneven its blocks are. Each tool is one JSON line: `cut`, `ratio` of
Evener's cut to it, `runs`, `cpu_s` of all of them, `times`: that over Evener's, `smallest` and
`worst` block over target of that best run.
"""

from collections import defaultdict
from pathlib import Path

import partitioners as bench
from records import answer, markdown, parser, words

RESULTS = Path(__file__).parent / "results" / "patience.jsonl"
OURS, TIMES, MOST_RUNS = "evener:strong", 10, 40
RIVALS = ("metis:strong", "metis-recursive", "scotch:strong", "kaminpar:strong", "mtkahypar:strong")


def main():
    answer(arguments(), measured, table)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--families", type=words, default=list(bench.FAMILIES))
    made.add_argument("--topologies", type=words, default=["t1_f8"])
    made.add_argument("--runs", type=int, default=MOST_RUNS, help="of a tool, at most")
    made.when_small(families=["delaunay18"], runs=1)
    return made.parse_args()


def measured(args):
    for family in args.families:
        graph = bench.instance(family, args.small)
        for topology in args.topologies:
            for line in contest(graph, topology, args.runs):
                yield {"family": family, "topology": topology} | line


def contest(graph, topology, most_runs):
    """Evener once, then every other tool for ten times as long."""
    bench.one_run(bench.piece(graph, bench.SMALL_VERTICES), topology, OURS, 1)  # loads kernels
    ours = bench.one_run(graph, topology, OURS, 1)
    yield {"tool": OURS, "runs": 1, "times": 1.0} | figures(ours, ours["cut"], ours["cpu_s"])
    for label in RIVALS:
        if not bench.installed(label):
            continue
        spent, runs = 0.0, []
        while spent < TIMES * ours["cpu_s"] and len(runs) < most_runs:
            runs.append(bench.one_run(graph, topology, label, len(runs) + 1))
            spent += runs[-1]["cpu_s"]
        best = min(runs, key=lambda run: run["cut"])
        line = {"tool": label, "runs": len(runs), "times": round(spent / ours["cpu_s"], 1)}
        yield line | figures(best, ours["cut"], spent)


def figures(best, cut, spent):
    line = {"cut": best["cut"], "ratio": round(cut / best["cut"], 4), "cpu_s": round(spent, 2)}
    return line | {key: best[key] for key in ("smallest", "worst", "version")}


def table(lines):
    """A row an instance, a column a tool: Evener's cut to the best of its runs."""
    tools = list(dict.fromkeys(line["tool"] for line in lines if line["tool"] != "evener:strong"))
    cases = defaultdict(dict)
    for line in lines:
        cases[line["family"], line["topology"]][line["tool"]] = line
    rows = [("instance", "machine", "Evener's CPU s", *tools)]
    for (family, topology), own in cases.items():
        ours = own["evener:strong"]["cpu_s"]
        cells = (
            f"{own[t]['ratio']:.3f} ({own[t]['runs']} runs)" if t in own else "" for t in tools
        )
        rows.append((family, topology, f"{ours:.1f}", *cells))
    return markdown(rows)


if __name__ == "__main__":
    main()
