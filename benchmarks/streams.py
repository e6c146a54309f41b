"""Periods of stream graphs: Evener's search beside METIS, HMAP and greedy placement.

    EVENER_DATA=FOLDER python benchmarks/streams.py [--cells 40] [--machines 64,256,1024,4096]

Cells are random graphs on random meshes with the paper's parameters, which
evener.streams.generating has, drawn by their number, in both settings: A, ceil, CPUs of few lanes;
B, equation (1) to the letter. Seeds are other ones than those that constants were chosen on. real:
the stream graphs and workflows of the folder EVENER_DATA on random machines of 16 and 64
processors. tiny: 8 to 12 filters on 3 or 4 processors, beside the shortest period of all. Every
method gets the same machine, graph and reading; METIS and HMAP the shares of both capabilities. CPU
seconds are of all processes, routes between processors excluded, which `routes_s` tells. Where
filters are fewer than processors, METIS k-way makes no blocks; the cell counts for the others.
"""

import math
import os
from collections import defaultdict
from pathlib import Path

import numpy as np
from records import answer_more, append, known, markdown, parser, words

from evener.errors import EvenerError
from evener.io.dataflow.reading import read_stream_graph
from evener.streams.bounds import bounds_of
from evener.streams.generating import (
    DEGREES,
    RATIOS,
    READINGS,
    SHAPES,
    SHARES,
    SIZES,
    SPREADS,
    GraphParameters,
    random_machine,
    random_stream_graph,
)
from evener.streams.methods import MethodOptions, placed_by
from evener.streams.period import StreamProblem

RESULTS = Path(__file__).parent / "results" / "streams.jsonl"
FIRST_SEED = 1000
LARGEST = max(SIZES)
METHODS = ("ours", "metis", "metis-recursive", "hmap", "hmap-up", "greedy")
REAL_MACHINES = (16, 64)
DEAR = 0.1  # ratio of an edge's seconds to a filter's from which communication counts


def main():
    answer_more(arguments(), measure, table)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--cells", type=int, default=20, help="of each machine and setting")
    made.add_argument("--machines", type=words, default=["64", "256", "1024", "4096"])
    made.add_argument("--most", type=int, default=LARGEST, help="filters of a graph")
    made.add_argument("--tiny", type=int, default=36, help="cells beside the shortest period")
    made.add_argument("--real", type=int, default=1, help="whether files of EVENER_DATA count")
    made.add_argument("--methods", type=words, default=list(METHODS))
    made.when_small(cells=1, machines=["16"], most=128, tiny=1, real=0)
    return made.parse_args()


def measure(args):
    """Add a line for each cell that the file does not have."""
    have = {(line["kind"], line["setting"], line["k"], line["name"]) for line in known(args.output)}
    for about, make in cells(args):
        if (about["kind"], about["setting"], about["k"], about["name"]) not in have:
            methods = [*args.methods, "exact"] if about["kind"] == "tiny" else args.methods
            append(args.output, about | periods(*make(), methods))


def cells(args):
    """What a cell is, and a function that makes its graph, machine and reading."""
    for setting in "AB":
        for number in range(args.tiny):
            k, n = 3 + number % 2, 8 + number % 5
            given = drawn(number, n)
            yield about_cell("tiny", setting, k, number, given), maker(k, setting, number, given)
        for k in map(int, args.machines):
            for number in range(args.cells):
                given = drawn(number, None, args.most)
                yield (
                    about_cell("random", setting, k, number, given),
                    maker(k, setting, number, given),
                )
        if args.real:
            for path in sorted(Path(os.environ["EVENER_DATA"], "dags").iterdir()):
                if "tar" in path.name:
                    continue
                for k in REAL_MACHINES:
                    about = {"kind": "real", "setting": setting, "k": k, "name": path.name}
                    yield (
                        about,
                        lambda path=path, k=k, setting=setting: (
                            read_stream_graph(path).graph,
                            random_machine(k, setting, FIRST_SEED),
                            READINGS[setting],
                        ),
                    )


def drawn(number, n, most=LARGEST):
    rng = np.random.default_rng([FIRST_SEED, number])
    sizes = [size for size in SIZES if size <= most]
    size, degree, ratio, shape, share, spread = (
        rng.choice(values) for values in (sizes, DEGREES, RATIOS, SHAPES, SHARES, SPREADS)
    )
    if n is not None:
        size, degree, shape = n, 2, 1.0
    return GraphParameters(
        int(size), int(degree), float(ratio), float(shape), float(share), float(spread)
    )


def about_cell(kind, setting, k, number, given):
    about = {"kind": kind, "setting": setting, "k": k, "name": str(number), "n": given.n}
    return about | {"ratio": given.ratio, "shape": given.shape, "share": given.share}


def maker(k, setting, number, given):
    def make():
        machine = random_machine(k, setting, FIRST_SEED + number)
        reading = READINGS[setting]
        seed = FIRST_SEED + number
        return random_stream_graph(given, machine, seed, reading), machine, reading

    return make


def periods(graph, machine, reading, methods):
    problem = StreamProblem.of(graph, machine, reading)
    began = cpu_seconds()
    _ = problem.machine
    line = {"n": graph.n, "m": graph.m, "routes_s": round(cpu_seconds() - began, 4)}
    line["bound"] = bounds_of(problem).best
    for name in methods:
        began = cpu_seconds()
        try:
            period = placed_by(name, problem, MethodOptions()).period
        except EvenerError as error:
            line[name] = None
            line[f"{name}_failed"] = error.message
            continue
        line[name] = period
        line[f"{name}_s"] = round(cpu_seconds() - began, 4)
    return line


def cpu_seconds():
    return sum(os.times()[:4])


def table(lines):
    return "\n\n".join([ratios(lines), seconds(lines)])


def ratios(lines):
    """Geometric means of periods, by the kind of cell and the setting."""
    groups = defaultdict(list)
    for line in lines:
        name = f"{line['kind']}, {line['setting']}"
        groups[name].append(line)
        if line["kind"] == "random":
            dear = "0.1 and more" if line["ratio"] >= DEAR else "less than 0.1"
            groups[f"{name}, CCR {dear}"].append(line)
    others = [name for name in METHODS if name != "ours"]
    rows = [("cells", "of them", *(f"{name} / ours" for name in others), "ours / bound",
             "ours / optimum", "worst")]  # fmt: skip
    for name, group in groups.items():
        means = [mean([line[other] / line["ours"] for line in group if line.get(other)])
                 for other in others]  # fmt: skip
        bound = mean([line["ours"] / line["bound"] for line in group if line["bound"] > 0])
        best = [line["ours"] / line["exact"] for line in group if line.get("exact")]
        rows.append((name, len(group), *means, bound, mean(best), shown(max(best, default=None))))
    return markdown(rows)


def seconds(lines):
    """Medians of CPU seconds, by processors."""
    groups = defaultdict(list)
    for line in lines:
        if line["kind"] == "random":
            groups[line["k"]].append(line)
    rows = [("processors", "routes", *METHODS)]
    for k, group in sorted(groups.items()):
        taken = [[line[f"{name}_s"] for line in group if f"{name}_s" in line] for name in METHODS]
        routes = float(np.median([line["routes_s"] for line in group]))
        rows.append(
            (k, f"{routes:.2f}", *(f"{np.median(one):.2f}" if one else "-" for one in taken))
        )
    return markdown(rows)


def mean(values):
    """Geometric mean, as text."""
    return shown(math.exp(np.mean(np.log(values))) if values else None)


def shown(value):
    return "-" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    main()
