"""Periods of stream graphs: Evener's search beside METIS, HMAP and greedy placement.

    EVENER_DATA=FOLDER python benchmarks/streams.py [--cells 12] [--machines 64,256,1024,4096]

Cells are random graphs on random meshes with the paper's parameters, which
evener.streams.generating has, drawn by their number, in both settings: A, ceil, CPUs of few lanes;
B, equation (1) to the letter. Seeds are other ones than those that constants were chosen on. real:
the stream graphs and workflows of the folder EVENER_DATA on random machines of 16, 64 and 256
processors. tiny: 8 to 12 filters on 3 or 4 processors, beside the shortest period of all. Every
method gets the same machine, graph and reading; METIS and HMAP the shares of both capabilities, and
once more (metis-work, hmap-work) the seconds of filters on the mean processor as one weight. CPU
seconds are of all processes, routes between processors excluded, which `routes_s` tells. Where
filters are fewer than processors, METIS makes no blocks; the cell counts for the others. growth:
seconds of HMAP by processors and by edges. large: the largest graph on the largest machine, a
process for each method, whose memory is told.

Cells that the result file has are not measured again: a run that was ended goes on.
"""

import math
import os
import resource
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from records import (
    alone,
    answer_more,
    append,
    geometric_mean,
    known,
    markdown,
    parser,
    words,
    write,
)

from evener.errors import EvenerError
from evener.io.dataflow.reading import read_stream_graph
from evener.planning.plan_file import peak_bytes
from evener.planning.split import cpu_seconds_of_all
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
SEED = 6000
LARGEST = max(SIZES)
METHODS = ("ours", "metis", "metis-recursive", "hmap", "greedy")
# METIS and HMAP with two weights of filters, as in the paper, and with their work as a single one.
BETTER = {"metis": "metis-work", "hmap": "hmap-work"}
REAL_MACHINES = (16, 64, 256)
# Ratios of an edge's seconds to a filter's: from which communication counts, up to which not
DEAR, CHEAP = 0.1, 0.001
MANY, MIDDLE = 4096, 1024  # processors of the largest machine; of the one for graphs of all sizes
GROWTH = [(64 << i, LARGEST) for i in range(7)] + [(MIDDLE, n) for n in (1024, 4096, 8192)]


def main():
    answer_more(arguments(), measure, table)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--cells", type=int, default=12, help="of each machine and setting")
    made.add_argument("--machines", type=words, default=["64", "256", "1024", "4096"])
    made.add_argument("--most", type=int, default=LARGEST, help="filters of a graph")
    made.add_argument("--tiny", type=int, default=36, help="cells beside the shortest period")
    made.add_argument("--kinds", type=words, default=["tiny", "random", "real", "growth", "large"])
    made.add_argument("--methods", type=words, default=[*METHODS, *BETTER.values()])
    made.add_argument("--seed", type=int, default=SEED, help="of which all others are made")
    made.add_argument("--again", type=words, default=[], help="these anew, and the bound")
    made.when_small(cells=1, machines=["16"], most=128, tiny=1, kinds=["tiny", "random"])
    return made.parse_args()


def measure(args):
    """Add a line for each cell that the file does not have; measure some methods again."""
    have = {tuple(line[key] for key in KEYS): line for line in known(args.output)}
    for about, make in cells(args):
        line = have.get(tuple(about[key] for key in KEYS))
        if line is None:
            append(args.output, about | measured(about, make, args.methods))
        elif args.again and about["kind"] in COMPARED:
            line |= periods(*make(), [name for name in args.again if name != "bound"])
            write(args.output, have.values())


KEYS = ("kind", "setting", "k", "name", "seed")
COMPARED = ("tiny", "random", "real")


def measured(about, make, methods):
    if about["kind"] == "tiny":
        return periods(*make(), [*methods, "exact"])
    if about["kind"] == "growth":
        return periods(*make(), ["hmap", "metis"])
    if about["kind"] == "large":
        return alone(in_own_process, about)
    return periods(*make(), methods)


def in_own_process(about):
    make = maker(about["k"], about["setting"], about["seed"], GraphParameters(about["n"]))
    line = periods(*make(), [about["name"]])
    others = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    return line | {"gib": round(peak_bytes() / 2**30 + others, 3)}


def cells(args):
    """What a cell is, and a function that makes its graph, machine and reading."""
    kinds = {"tiny": tiny_cells, "random": random_cells, "real": real_cells,
             "growth": growth_cells, "large": large_cells}  # fmt: skip
    for kind in args.kinds:
        yield from kinds[kind](args)


def tiny_cells(args):
    for number in range(args.tiny):
        k, given = 3 + number % 2, drawn(args, number, 8 + number % 5)
        for setting in "AB":
            yield cell("tiny", setting, k, number, args.seed, given)


def random_cells(args):
    for number in range(args.cells):
        given = drawn(args, number)
        for k in map(int, args.machines):
            for setting in "AB":
                yield cell("random", setting, k, number, args.seed, given)


def real_cells(args):
    for path in sorted(Path(os.environ["EVENER_DATA"], "dags").iterdir()):
        if "tar" in path.name:
            continue
        for k in REAL_MACHINES:
            for setting in "AB":
                about = {"kind": "real", "setting": setting, "k": k, "name": path.name}
                yield about | {"seed": args.seed}, real_maker(path, k, setting, args.seed)


def real_maker(path, k, setting, seed):
    def make():
        machine = random_machine(k, setting, seed)
        return read_stream_graph(path).graph, machine, READINGS[setting]

    return make


def growth_cells(args):
    for k, n in GROWTH:
        yield cell("growth", "A", k, 0, args.seed, GraphParameters(n), name=str(n))


def large_cells(args):
    for method in ("hmap", "ours"):
        yield cell("large", "A", MANY, 0, args.seed, GraphParameters(LARGEST), name=method)


def drawn(args, number, n=None):
    rng = np.random.default_rng([args.seed, number])
    sizes = [size for size in SIZES if size <= args.most]
    size, degree, ratio, shape, share, spread = (
        rng.choice(values) for values in (sizes, DEGREES, RATIOS, SHAPES, SHARES, SPREADS)
    )
    if n is not None:
        size, degree, shape = n, 2, 1.0
    return GraphParameters(
        int(size), int(degree), float(ratio), float(shape), float(share), float(spread)
    )


def cell(kind, setting, k, number, seed, given, name=None):
    about = {"kind": kind, "setting": setting, "k": k, "name": name or str(number), "seed": seed}
    about |= {"n": given.n, "ratio": given.ratio, "shape": given.shape, "share": given.share}
    return about, maker(k, setting, seed + number, given)


def maker(k, setting, seed, given):
    def make():
        machine, reading = random_machine(k, setting, seed), READINGS[setting]
        return random_stream_graph(given, machine, seed, reading), machine, reading

    return make


def periods(graph, machine, reading, methods):
    problem = StreamProblem.of(graph, machine, reading)
    began = cpu_seconds_of_all()
    _ = problem.machine
    line = {"n": graph.n, "m": graph.m, "routes_s": round(cpu_seconds_of_all() - began, 4)}
    line["bound"] = bounds_of(problem, strong=True).best
    for name in methods:
        began, own = cpu_seconds_of_all(), time.process_time()
        try:
            period = placed_by(name, problem, MethodOptions()).period
        except EvenerError as error:
            line[name] = None
            line[f"{name}_failed"] = error.message
            continue
        line[name] = period
        line[f"{name}_s"] = round(cpu_seconds_of_all() - began, 4)
        if name == "ours":
            line["beside_s"] = round(time.process_time() - own, 4)
    return line


def table(lines):
    return "\n\n".join([ratios(lines), seconds(lines), growth(lines), large(lines)])


def ratios(lines):
    """Geometric means of periods, by the kind of cell and the setting."""
    others = [name for name in METHODS if name != "ours"]
    rows = [("cells", "of them", *(f"{name} / ours" for name in others),
             *(f"{name}, better of both / ours" for name in BETTER), "hmap / metis-recursive",
             "ours / bound", "ours / optimum", "worst", "one beats ours")]  # fmt: skip
    for name, group in groups_of(lines).items():
        means = [ratio(group, other, "ours") for other in others]
        best = [line["ours"] / line["exact"] for line in group if line.get("exact")]
        both = [ratio([better(line, pair) for line in group if line.get(pair[1])], "better", "ours")
                for pair in BETTER.items()]  # fmt: skip
        rivals = [*others, *BETTER.values()]
        beaten = sum(min(line[one] for one in rivals if line.get(one)) < line["ours"] * (1 - 1e-9)
                     for line in group)  # fmt: skip
        rows.append((name, len(group), *means, *both, ratio(group, "hmap", "metis-recursive"),
                     ratio(group, "ours", "bound"), mean(best), shown(max(best, default=None)),
                     beaten))  # fmt: skip
    return markdown(rows)


def better(line, pair):
    """The line with the shorter period of METIS, or of HMAP, by two weights and by one."""
    return line | {"better": min(line[name] for name in pair if line.get(name))}


def groups_of(lines):
    """Lines with a period of ours, by kind and setting; also by CCR, and by processors."""
    groups = defaultdict(list)
    for line in (line for line in lines if line["kind"] in COMPARED):
        parts = [(0, "")]
        if line["kind"] == "random" and line["ratio"] >= DEAR:
            parts.append((1, f", CCR {DEAR} and more"))
        if line["kind"] == "random" and line["ratio"] <= CHEAP:
            parts.append((1, f", CCR {CHEAP} and less"))
        if line["kind"] != "tiny":
            parts.append((line["k"], f", {line['k']:,} processors"))
        for order, part in parts:
            name = f"{line['kind']}, {line['setting']}{part}"
            groups[line["kind"] != "random", line["kind"], line["setting"], order, name].append(
                line
            )
    return {key[-1]: groups[key] for key in sorted(groups)}


def ratio(group, above, below):
    """Geometric mean of one figure over another, of the lines that have both."""
    return mean([line[above] / line[below] for line in group if line.get(above) and line[below]])


def seconds(lines):
    """Medians of CPU seconds, by processors."""
    groups = defaultdict(list)
    for line in lines:
        if line["kind"] == "random":
            groups[line["k"]].append(line)
    rows = [("processors", "routes", *METHODS, "ours without METIS and HMAP beside")]
    for k, group in sorted(groups.items()):
        taken = [[line[f"{name}_s"] for line in group if f"{name}_s" in line] for name in METHODS]
        taken.append([line["beside_s"] for line in group if "beside_s" in line])
        routes = float(np.median([line["routes_s"] for line in group]))
        rows.append(
            (k, f"{routes:.2f}", *(f"{np.median(one):.2f}" if one else "-" for one in taken))
        )
    return markdown(rows)


def growth(lines):
    """CPU seconds of HMAP beside what the paper claims: log2 of the processors, times edges."""
    rows = [("processors", "filters", "edges", "routes, CPU s", "HMAP, CPU s",
             "METIS k-way, CPU s", "HMAP: us / (log2(processors) x edges)")]  # fmt: skip
    for line in (line for line in lines if line["kind"] == "growth"):
        claimed = math.log2(line["k"]) * line["m"]
        sizes = (f"{line[key]:,}" for key in ("k", "n", "m"))
        taken = (line[key] for key in ("routes_s", "hmap_s", "metis_s"))
        rows.append((*sizes, *taken, f"{1e6 * line['hmap_s'] / claimed:.2f}"))
    return markdown(rows)


def large(lines):
    """Seconds and memory of methods on the largest graph and machine."""
    rows = [("processors", "filters", "method", "routes, CPU s", "CPU s", "period, ms",
             "bound, ms", "memory, GiB")]  # fmt: skip
    for line in (line for line in lines if line["kind"] == "large"):
        name = line["name"]
        rows.append((f"{line['k']:,}", f"{line['n']:,}", name, line["routes_s"], line[f"{name}_s"],
                     shown(1e3 * line[name]), shown(1e3 * line["bound"]), line["gib"]))  # fmt: skip
    return markdown(rows)


def mean(values):
    """Geometric mean, as text."""
    return shown(geometric_mean(values) if values else None)


def shown(value):
    return "-" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    main()
