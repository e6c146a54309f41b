"""Predicted seconds per iteration of plans made for seconds, beside METIS at the same sizes.

    python benchmarks/seconds.py [--meshes A,B] [--presets fast,default,strong,slices] [--limit S]
    python benchmarks/seconds.py --table      # what the result file says

Seven meshes x three machines, two of them also with cliffs, x three kernels. "gpu4": four nodes of
a GPU and a CPU; "topo1": eight nodes of a fast device and eleven slow ones; "mix22": two old nodes
behind a slow network and two new ones, of eight cores each; "f": devices are faster within their
caches and much slower beyond their memories. Kernels: "light" computes 20 times as much as "spmv"
for what it sends, "spmm8" works on eight vectors.

METIS gets all that the plan gets: targets of least time under speed curves and memory, both its
methods, its blocks enforced and mapped; the better of both counts. A tolerance of 3 % and the
plan's seed. Its share of communication is that of the device which is done last. Each run is one
JSON line: `ratio` of the predicted makespan to METIS's; `old`: to METIS k-way with constant speeds
as targets, which knows of no curve, as in results before; `cpu`: process time of all Evener does,
METIS's included, to METIS k-way's call; `fastest`: the fastest plan found, over METIS's time: the
plan takes up to 1 % longer where it sends less (--alike), `less_sent` and `less_cut` being what it
sends and cuts of the fastest's. Preset "slices": `default` on the graph in slices, which are in
memory; one process divides all of the seven meshes but delaunay20 as a whole, so rgg3d20 is
measured besides. What is in the result file is not measured again. Real meshes come from the folder
EVENER_DATA, and are left out without it.
"""

import sys
import time
from collections import defaultdict
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from records import answer_more, append, geometric_mean, known, markdown, parser, words
from seconds_cases import (
    IN_SLICES,
    INSTANCE_SEED,
    KERNELS,
    MACHINES,
    MESHES,
    instance,
    machine,
)

import evener as ev
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.planning.makespan.baselines import METIS_TOOLS, enforced_and_mapped, metis_blocks
from evener.planning.makespan.search import solve_seconds
from evener.planning.plan_slices import plan_slices
from evener.planning.steps import terms_of
from evener.plans import metrics
from evener.plans.partition import Partition
from evener.plans.workload import WEIGHTS
from evener.sizing.bounds import lower_bound
from evener.sliced.rows import InMemoryGraph

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "seconds.jsonl"
SEED = 7
REGIMES = (("light", 0.15), ("medium", 0.45), ("heavy", 1.01))


def main():
    answer_more(arguments(), measure, table)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--meshes", type=words, default=list(MESHES))
    made.add_argument("--machines", type=words, default=list(MACHINES))
    made.add_argument("--kernels", type=words, default=list(KERNELS))
    made.add_argument("--presets", type=words, default=["fast", "default"], help="or slices")
    made.add_argument("--variants", type=words, default=["plain"], help="names in VARIANTS")
    made.add_argument("--limit", type=float, default=1e9, help="seconds after which to stop")
    made.add_argument("--instance-seed", type=int, default=INSTANCE_SEED)
    made.add_argument("--seed", type=int, default=SEED)
    made.when_small(meshes=["delaunay18"], machines=["gpu4", "mix22"], kernels=["spmv"])
    return made.parse_args()


# What is other than usual: times every latency, overlap, shared links; what the plan is made for.
VARIANTS = {
    "plain": {},
    "contention": {"shared": True},
    "overlap": {"overlap": True},
    "alpha/4": {"alpha": 0.25},
    "alpha/16": {"alpha": 0.0625},
    "planned with alpha/2": {"planned": {"alpha": 0.5}},
    "planned with alpha x 2": {"planned": {"alpha": 2.0}},
    "planned with speeds 10 % off": {"planned": {"wrong_speeds": 0.1}},
}


def measure(args):
    done = {key_of(line) for line in known(args.output)}
    began, warm = time.monotonic(), False
    for mesh in args.meshes:
        for cell in product(args.machines, args.kernels, args.variants):
            todo = [p for p in args.presets if (mesh, *cell, p) not in done]
            if not todo or time.monotonic() - began > args.limit:
                continue
            graph = instance(mesh, args.instance_seed, small=args.small)
            if graph is None:
                print(f"left out: {mesh}, which needs the folder EVENER_DATA", file=sys.stderr)
                break
            if not warm:
                load_kernels([] if args.small else args.presets)
                warm = True
            for line in runs(mesh, graph, *cell, todo, args.seed):
                append(args.output, line)


def load_kernels(presets):
    """Compile, or load, before anything is timed, in 2-D and in 3-D, with and without places."""
    from evener.graphs.generating.delaunay import delaunay
    from evener.graphs.generating.random_graphs import rgg

    for graph in (delaunay(20_000, seed=5), rgg(8_000, dim=3, seed=5)):
        for one in (graph, graph.with_(coords=None)):
            for preset in presets:
                list(runs("", one, "topo1", "light", "plain", [preset], 1))


def key_of(line):
    return tuple(line[key] for key in ("mesh", "machine", "kernel", "variant", "preset"))


def runs(mesh, graph, name, kernel, variant, presets, seed):
    """METIS, then every preset, judged by the true machine."""
    chosen = VARIANTS[variant]
    work = replace(
        WEIGHTS, bytes_per_value=KERNELS[kernel][2], overlap=chosen.get("overlap", False)
    )
    known = {"alpha": chosen.get("alpha", 1), "shared": chosen.get("shared")}
    true = machine(name, graph, kernel, **known)
    believed = chosen.get("planned", known)

    def predicted(part):
        return metrics.predicted_seconds(graph, Partition(part, true.k), true, work)

    planned = machine(name, graph, kernel, **believed)
    speeds = partition_with("metis", graph, Request(planned.speeds, 0.03, seed, time_limit=None))
    old = predicted(speeds.part)
    options = ev.PlanOptions(objective="seconds", seed=seed, threads=1, workload=work)
    rivals = {tool: rival(graph, planned, options, tool) for tool in METIS_TOOLS}
    tool, base = min(
        ((tool, predicted(part)) for tool, part in rivals.items()), key=lambda one: one[1].makespan
    )
    sent, cut = exchanged(graph, Partition(rivals[tool], true.k))
    last = base.bottleneck
    share = float(base.communicate[last] / base.seconds[last])
    for preset in presets:
        planned = machine(name, graph, kernel, **believed)  # that nothing is known of yet
        part, stages, cpu_s = found_by(preset, graph, planned, options)
        made = predicted(part)
        fastest = min(stages, key=lambda one: one.seconds)
        own = stages[-1]
        yield {
            "mesh": mesh, "n": graph.n, "machine": name, "kernel": kernel, "variant": variant,
            "preset": preset, "share": round(share, 4),
            "ratio": round(made.makespan / base.makespan, 5),
            "old": round(made.makespan / old.makespan, 5),
            "rival": tool, "metis_s": base.makespan,
            "metis": {name: round(predicted(part).makespan / base.makespan, 4)
                      for name, part in rivals.items()},
            "cpu": round(cpu_s / max(speeds.cpu_seconds, 1e-3), 2),
            "metis_cpu_s": round(speeds.cpu_seconds, 3),
            "bound": round(lower_bound(graph, true, work).seconds / base.makespan, 4),
            "fastest": round(fastest.seconds / base.makespan, 5),
            "less_sent": over(own.total_volume, fastest.total_volume),
            "less_cut": over(own.edge_cut, fastest.edge_cut),
            "to_metis_sent": over(own.total_volume, sent),
            "to_metis_cut": over(own.edge_cut, cut),
            "devices": np.unique(part).size, "best": own.name,
        }  # fmt: skip


def found_by(preset, graph, platform, options):
    """Blocks, stages and CPU seconds of a preset, or of a graph in slices."""
    if preset == "slices":
        plan = plan_slices(InMemoryGraph(graph), platform, options).plan
        return plan.partition.part, plan.stages, plan.cpu_seconds
    found = solve_seconds(graph, platform, replace(options, preset=preset))
    return found.part, found.stages, found.cpu_seconds


def rival(graph, platform, options, tool):
    """METIS's blocks at the sizes of least time, enforced and mapped, as the search has them."""
    terms = terms_of(graph, platform, options)
    blocks = metis_blocks(graph, terms, options, tool).part
    return enforced_and_mapped(graph, blocks, terms, options)


def exchanged(graph, partition):
    """Values sent and edges cut by all blocks together."""
    between = metrics.quotient(graph, partition)
    return int(between.sent.sum()), metrics.edge_cut(between)


def over(ours, theirs):
    return round(ours / theirs, 4) if theirs else None


def regime(line):
    return next(name for name, most in REGIMES if line["share"] < most)


# Goals of light, medium and heavy cells, of the worst one, and of the CPU time.
GOALS = {
    ("fast", "constant"): ("0.95", "0.83", "0.72", "1.00", "2.5"),
    ("default", "constant"): ("0.94", "0.82", "0.42", "1.00", "8"),
    ("strong", "constant"): ("0.93", "0.80", "0.38", "1.00", "20"),
    ("default", "with cliffs"): ("0.26", "0.23", "0.20", "1.00", "8"),
}


def table(lines):
    """Geometric means by preset, cliffs and what is other than usual; a column a regime."""
    rows = [("preset", "speeds", "what else", *(name for name, _ in REGIMES), "worst", "CPU",
             "cells")]  # fmt: skip
    groups = defaultdict(list)
    for line in lines:
        if line["mesh"] not in MESHES:
            continue
        cliffs = "with cliffs" if line["machine"].endswith("f") else "constant"
        groups[line["preset"], cliffs, line["variant"]].append(line)
    for (preset, cliffs, variant), own in groups.items():
        what = "" if variant == "plain" else variant
        rows.append((f"`{preset}`", cliffs, what, *figures(own)))
        rows.append(("", "", "*old*", *by_regime(own, "old"), "", "", ""))
        if variant == "plain" and (preset, cliffs) in GOALS:
            rows.append(("", "", "*goal*", *GOALS[preset, cliffs], ""))
        if variant == "plain":
            rows.append(("", "", "*nothing exchanged*", *by_regime(own, "bound"), "", "", ""))
            rows.append(("", "", "*of plans alike*", alike(own), "", "", "", "", ""))
        if variant == "plain" and cliffs != "constant":
            machines = defaultdict(list)
            for line in own:
                machines[line["machine"]].append(line)
            rows += [("", "", f"of these, {name}", *figures(of)) for name, of in machines.items()]
    return markdown(rows)


def in_slices(lines):
    """A row a regime: plans in slices over those in memory, in seconds and CPU time.

    Meshes that one process divides as a whole first, then those divided slice by slice.
    """
    cells = defaultdict(dict)
    for line in lines:
        if line["variant"] == "plain" and line["preset"] in ("default", "slices"):
            cells[line["mesh"], line["machine"], line["kernel"]][line["preset"]] = line
    rows = [("divided", "communication", "cells", "seconds / memory's", "worst",
             "CPU s / memory's", "most")]  # fmt: skip
    for sliced, (name, _) in product((False, True), REGIMES):
        both = [one for (mesh, *_), one in cells.items() if len(one) == 2
                and (mesh in IN_SLICES) == sliced and regime(one["default"]) == name]  # fmt: skip
        if not both:
            continue
        ratios = [[one["slices"][key] / one["default"][key] for one in both]
                  for key in ("ratio", "cpu")]  # fmt: skip
        shown = [text for of in ratios for text in (mean(of).split()[0], f"{max(of):.3f}")]
        rows.append(("slice by slice" if sliced else "whole", name, len(both), *shown))
    return markdown(rows)


def alike(lines):
    """What the tolerance costs in time and saves in values sent, where another was taken."""
    other = [line for line in lines if line["ratio"] > line["fastest"] and line["less_sent"]]
    if not other:
        return f"none in {len(lines)}"
    time = geometric_mean(line["ratio"] / line["fastest"] for line in other)
    sent, cut = (
        mean([line[key] for line in other]).split()[0] for key in ("less_sent", "less_cut")
    )
    return f"{len(other)} of {len(lines)}: time x {time:.4f}, values x {sent}, cut x {cut}"


def figures(lines):
    """Means of light, medium and heavy cells, the worst cell, the mean of CPU times, the number."""
    worst = max(line["ratio"] for line in lines)
    cpu = mean([line["cpu"] for line in lines])
    return *by_regime(lines, "ratio"), f"{worst:.2f}", cpu, len(lines)


def by_regime(lines, key):
    """Geometric means of light, medium and heavy cells."""
    return [mean([line[key] for line in lines if regime(line) == name]) for name, _ in REGIMES]


def mean(values):
    return f"{geometric_mean(values):.3f} ({len(values)})" if values else ""


if __name__ == "__main__":
    main()
