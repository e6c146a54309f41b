"""Corners: social graphs, small meshes and graphs of clusters, on few and very unequal devices.

    python benchmarks/corners.py [--graphs ...] [--machines ...] [--tools ...] [--before FOLDER]
    python benchmarks/corners.py --table          # what the result file says

Every cell is a graph and a machine of `corners_cases.py`; tolerance 3 % on both sides, one thread,
three seeds, of which the median counts; `strong`, which is slow, runs with one. The contract of
whatever a tool makes is enforced first. --before: a checkout of an earlier Evener, whose `default`
runs in turn with all others ("before"). --tuning: the graphs that presets are tuned on, which are
never reported. A JSON line a
cell and tool: the medians over seeds.
"""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from corners_cases import CASES, GROUPS, MACHINES
from records import answer, markdown, parser, words

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "corners.jsonl"
# label: (tool, preset)
TOOLS = {
    "metis": ("metis", "default"),
    "metis-recursive": ("metis-recursive", "default"),
    "before": ("evener", "default"),
    "evener": ("evener", "default"),
    "evener:strong": ("evener", "strong"),
}
HEADS = dict(
    zip(TOOLS, ("METIS k-way", "METIS recursive", "before", "now", "`strong`"), strict=True)
)
SLOW = ("evener:strong",)  # one seed
WARM = {"social": "rmat13", "meshes": "coast5k", "clusters": "clusters400-small"}
MOST_ABOVE_STRONG = 1.1
FEW_EDGES = 1.0  # a cut below counts as this


def main():
    answer(arguments(), measured, table)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--graphs", type=words, default=list(CASES))
    made.add_argument("--machines", type=words, default=list(MACHINES))
    made.add_argument("--tools", type=words, default=list(TOOLS), help=", ".join(TOOLS))
    made.add_argument("--seeds", type=int, default=3)
    made.add_argument("--before", type=Path, help="a checkout of an earlier Evener")
    made.add_argument("--tuning", action="store_true", help="other graphs, never reported")
    made.when_small(graphs=["coast5k"], machines=list(MACHINES)[:1], seeds=1, before=HERE.parent)
    args = made.parse_args()
    if "before" in args.tools and args.before is None and not args.table:
        made.error("`before` needs --before FOLDER, or leave it out of --tools")
    return args


def measured(args):
    children = {
        label: child(args.before if label == "before" else HERE.parent) for label in args.tools
    }
    for group in dict.fromkeys(CASES[graph].group for graph in args.graphs):
        for label in args.tools:  # loading compiled code is nobody's work
            one_run(children[label], label, WARM[group], "k8_two60", 1, args.tuning)
    for graph in args.graphs:
        for machine in args.machines:
            runs = defaultdict(list)
            for seed in range(1, args.seeds + 1):
                for label in args.tools:
                    if not (label in SLOW and seed > 1):
                        run = one_run(children[label], label, graph, machine, seed, args.tuning)
                        runs[label].append(run)
            about = {"group": CASES[graph].group, "graph": graph, "machine": machine}
            yield from (about | {"tool": label} | medians(own) for label, own in runs.items())
    for one in children.values():
        one.stdin.close()
        one.wait()


def medians(runs):
    """The medians of the runs of a tool with several seeds, and how many there were."""
    keys = ("cut", "raw", "cpu_s")
    middle = {key: round(float(np.median([run[key] for run in runs])), 4) for key in keys}
    return {"runs": len(runs), **middle}


def child(root):
    """A process that partitions with the Evener below `root`, by the script that it came with."""
    scripts = root.resolve() / "benchmarks"
    environment = os.environ | {"PYTHONPATH": f"{root.resolve() / 'src'}:{scripts}"}
    return subprocess.Popen(
        [sys.executable, str(scripts / "corners_child.py")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip


def one_run(process, label, graph, machine, seed, tuning):
    tool, preset = TOOLS[label]
    asked = {"graph": graph, "tuning": tuning, "machine": machine, "seed": seed}
    process.stdin.write(json.dumps(asked | {"tool": tool, "preset": preset}) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def cells_of(lines):
    """(group, graph, machine): tool: its line, its cut one edge at least."""
    cells = defaultdict(dict)
    for line in lines:
        own = cells[line["group"], line["graph"], line["machine"]]
        own[line["tool"]] = line | {"cut": max(line["cut"], FEW_EDGES)}
    return cells


def ratios_of(cells, tool):
    """(cells, 3): cut to the better METIS, cut to `strong`, CPU to `before`, NaN without it."""
    return np.array([cell_ratios(own, tool) for own in cells.values()])


def cell_ratios(own, tool):
    metis = min(own["metis"]["cut"], own["metis-recursive"]["cut"])
    cut, seconds = own[tool]["cut"], own[tool]["cpu_s"]
    before = own["before"]["cpu_s"] if "before" in own else np.nan
    return (cut / metis, cut / own["evener:strong"]["cut"], seconds / before)


def tools_of(cells):
    """The tools that ran in all cells, in the order of TOOLS."""
    return [tool for tool in TOOLS if all(tool in own for own in cells.values())]


def table(lines):
    """A row a group of graphs and a tool; then every cell where `default` misses a goal."""
    cells = cells_of(lines)
    return f"{by_group(cells)}\n\nCells that miss a goal:\n\n{misses(cells)}"


def by_group(cells):
    rows = [
        ("graphs", "tool", "cells", "cut to the better METIS", "worst", "above it",
         "cut to `strong`", "worst", "more than 10 % above", "CPU to before"),
    ]  # fmt: skip
    for group in (*GROUPS, "all"):
        own = {cell: tools for cell, tools in cells.items() if group in (cell[0], "all")}
        if own:
            rows.extend(
                (group, tool, len(own), *summary(ratios_of(own, tool)))
                for tool in tools_of(own)
                if not tool.startswith("metis")
            )
    return markdown(rows)


def misses(cells):
    tools = tools_of(cells)
    rows = [("graph", "machine", *(HEADS[tool] for tool in tools))]
    for (_, graph, machine), own in cells.items():
        to_metis, to_strong, _ = cell_ratios(own, "evener")
        if to_metis > 1 or to_strong > MOST_ABOVE_STRONG:
            rows.append((graph, machine, *(f"{own[tool]['cut']:,.0f}" for tool in tools)))
    return markdown(rows)


def summary(ratios):
    mean, worst = np.exp(np.log(ratios).mean(axis=0)), ratios.max(axis=0)
    above = (ratios > (1.0, MOST_ABOVE_STRONG, np.inf)).sum(axis=0)
    return (
        f"{mean[0]:.3f}", f"{worst[0]:.3f}", above[0],
        f"{mean[1]:.3f}", f"{worst[1]:.3f}", above[1],
        "" if np.isnan(mean[2]) else f"{mean[2]:.2f}",
    )  # fmt: skip


if __name__ == "__main__":
    main()
