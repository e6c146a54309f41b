"""The best cut that other tools find in ten times the CPU time of ours at `strong`.

    python benchmarks/patience.py [--families ...] [--topologies t1_f8,t2_f16]

Instances and machines are those of partitioners.py. Ours runs once; every other tool runs at its
most thorough, seed after seed, until ten times that CPU time is spent, and its least cut
counts, however uneven its blocks are. Each tool is one JSON line: `cut`, `ratio` of
our cut to it, `runs`, `cpu_s` of all of them, `times`: that over ours, `smallest` and `worst`
block over target of that best run.
"""

import argparse
import importlib.util
import json
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "patience.jsonl"
OURS, TIMES, MOST_RUNS = "evener:strong", 10, 40
RIVALS = ("metis:strong", "metis-recursive", "scotch:strong", "kaminpar:strong", "mtkahypar:strong")


def main():
    args = arguments()
    bench = partitioners()
    with args.output.open("w") as file:
        for family in args.families:
            graph = bench.instance(family)
            for topology in args.topologies:
                for line in contest(bench, graph, topology):
                    text = json.dumps({"family": family, "topology": topology} | line)
                    file.write(text + "\n")
                    file.flush()
                    print(text, flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", type=words, default=list(partitioners().FAMILIES))
    parser.add_argument("--topologies", type=words, default=["t1_f8"])
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    return parser.parse_args()


def words(text):
    return text.split(",")


def partitioners():
    """The benchmark of partitioners, whose instances and tools these are."""
    spec = importlib.util.spec_from_file_location("partitioners", HERE / "partitioners.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def contest(bench, graph, topology):
    """Ours once, then every other tool for ten times as long."""
    bench.one_run(bench.piece(graph, bench.SMALL_VERTICES), topology, OURS, 1)  # loads kernels
    ours = bench.one_run(graph, topology, OURS, 1)
    yield {"tool": OURS, "runs": 1, "times": 1.0} | figures(ours, ours["cut"], ours["cpu_s"])
    for label in RIVALS:
        if not bench.installed(label):
            continue
        spent, runs = 0.0, []
        while spent < TIMES * ours["cpu_s"] and len(runs) < MOST_RUNS:
            runs.append(bench.one_run(graph, topology, label, len(runs) + 1))
            spent += runs[-1]["cpu_s"]
        best = min(runs, key=lambda run: run["cut"])
        line = {"tool": label, "runs": len(runs), "times": round(spent / ours["cpu_s"], 1)}
        yield line | figures(best, ours["cut"], spent)


def figures(best, cut, spent):
    line = {"cut": best["cut"], "ratio": round(cut / best["cut"], 4), "cpu_s": round(spent, 2)}
    return line | {key: best[key] for key in ("smallest", "worst", "version")}


if __name__ == "__main__":
    main()
