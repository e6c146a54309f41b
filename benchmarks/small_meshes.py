"""CPU time and cut of whole plans below 100,000 vertices, beside METIS called directly.

    [EVENER_DATA=FOLDER] python benchmarks/small_meshes.py [--only TEXT,...] [--machines k4,k24]
    python benchmarks/small_meshes.py --table      # what the result file says

Every mesh, matrix and graph of FOLDER with 1,000 to 100,000 vertices, and generated ones, which
need no folder. Machines of unequal devices: 4 (speeds 4, 2, 1, 1), 24 (4 of speed 8), 96 (8 of
speed 16); tolerance 3 %, one seed. `ev.plan` is timed as a whole, in this process, kernels loaded
(checks, blocks, repair, certificate); METIS is the call of pymetis alone, on arrays that are ready,
k-way and by recursive bisection, with the same targets and tolerance. CPU seconds are those of all
threads, medians of the repetitions, in turn. One JSON line for each tool, file and machine.
"""

import os
import statistics
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pymetis
from records import answer, geometric_mean, markdown, parser, words

import evener as ev
from evener import io
from evener.errors import EvenerError
from evener.graphs.generating.delaunay import delaunay, graded_delaunay, tetrahedron_dual
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import rgg
from evener.machine_code.clock import cpu_seconds
from evener.plans import metrics
from evener.plans.partition import Partition

RESULTS = Path(__file__).parent / "results" / "small_meshes.jsonl"
FOLDERS = ("graphs", "matrices", "meshes")
LEAST, MOST = 1_000, 100_000  # vertices
MACHINES = {
    "k4": np.array([4.0, 2.0, 1.0, 1.0]),
    "k24": np.r_[np.full(4, 8.0), np.ones(20)],
    "k96": np.r_[np.full(8, 16.0), np.ones(88)],
}
EPSILON = 0.03
METIS = ("metis", "metis-recursive")
PRESETS = ("default", "fast", "strong")
REPEATS = {"strong": 1}  # of the others, as --repeats says
SIZES = (1_000, 5_000, 10_000, 20_000, 50_000, 100_000)
GENERATED = {
    "delaunay, 2,000": lambda: delaunay(2_000, seed=1),
    "delaunay, 8,000": lambda: delaunay(8_000, seed=2),
    "delaunay, 30,000": lambda: delaunay(30_000, seed=3),
    "graded delaunay, 15,000": lambda: graded_delaunay(15_000, seed=4),
    "grid, 120 x 90": lambda: grid([120, 90]),
    "grid, 24 x 24 x 24": lambda: grid([24, 24, 24]),
    "tetrahedra, 9,000 points": lambda: tetrahedron_dual(9_000, seed=5),
    "rgg in space, 12,000": lambda: rgg(12_000, dim=3, seed=6),
    "delaunay, 8,000, no coordinates": lambda: delaunay(8_000, seed=7).with_(coords=None),
}


def main():
    answer(arguments(), measured, table)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--only", default="", help="inputs whose names have one of these in them")
    made.add_argument("--machines", default=",".join(MACHINES))
    made.add_argument("--presets", default=",".join(PRESETS))
    made.add_argument("--repeats", type=int, default=3)
    made.add_argument("--seed", type=int, default=1)
    made.when_small(only="delaunay", machines="k4", repeats=1)
    return made.parse_args()


def measured(args):
    presets = words(args.presets)
    for preset in presets:  # imports and kernels of all kinds
        ev.plan(delaunay(3_000, seed=1), 4, preset=preset)
        ev.plan(delaunay(1_200, seed=1).with_(coords=None), 24, preset=preset)
    for name, graph in inputs(args.only.split(",")):
        for machine in words(args.machines):
            yield from runs(name, graph, machine, presets, args)


def inputs(only):
    """Names and graphs: those of the folder, each once, then the generated ones."""
    folder, seen = os.environ.get("EVENER_DATA"), set()
    for path in files(Path(folder)) if folder else ():
        name = path.relative_to(folder).as_posix()
        if not any(text in name for text in only):
            continue
        try:
            graph = io.read(path).graph
        except EvenerError:
            continue  # coordinates, half a mesh, rectangular, an archive
        if LEAST <= graph.n < MOST and (graph.n, graph.m) not in seen:
            seen.add((graph.n, graph.m))
            yield name, graph
    for name, make in GENERATED.items():
        if any(text in name for text in only):
            yield name, make()


def files(folder):
    for path in (p for name in FOLDERS for p in sorted((folder / name).iterdir())):
        if ".xyz" not in path.suffixes:
            yield path


def runs(name, graph, machine, presets, args):
    """Yield a line for each tool; they take turns, so that all meet the same other work."""
    speeds = MACHINES[machine]
    calls = {tool: metis_ready(tool, graph, speeds, args.seed) for tool in METIS}
    for preset in presets:
        calls[f"evener:{preset}"] = plan_ready(preset, graph, speeds, args.seed)
    seconds, blocks = defaultdict(list), {}
    for turn in range(args.repeats):
        for tool, call in calls.items():
            if turn < REPEATS.get(tool.removeprefix("evener:"), args.repeats):
                began = cpu_seconds()
                blocks[tool] = call()
                seconds[tool].append(cpu_seconds() - began)
    for tool in calls:
        yield {
            "file": name, "n": graph.n, "m": graph.m, "machine": machine, "tool": tool,
            "cpu_s": round(statistics.median(seconds[tool]), 6),
            **judged(graph, np.asarray(blocks[tool]), speeds),
        }  # fmt: skip


def metis_ready(tool, graph, speeds, seed):
    """Return a call that makes METIS's blocks (n,), on arrays that it takes as they are."""
    index = np.dtype(pymetis.zero_copy_dtype())
    lists = pymetis.CSRAdjacency(graph.xadj.astype(index), graph.adjncy.astype(index))
    vertices = None if graph.is_unit else graph.weights().astype(index)
    edges = None if graph.adjwgt is None else np.asarray(graph.adjwgt).astype(index)
    shares = (speeds / speeds.sum()).tolist()
    options = pymetis.Options(ufactor=round(1000 * EPSILON), seed=seed)

    def call():
        return pymetis.part_graph(
            speeds.size, lists, vweights=vertices, eweights=edges, tpwgts=shares,
            recursive=tool == "metis-recursive", options=options,
        ).vertex_part  # fmt: skip

    return call


def plan_ready(preset, graph, speeds, seed):
    """Return a call that makes a whole plan and returns its blocks (n,)."""
    devices = speeds.tolist()
    return lambda: ev.plan(graph, devices, preset=preset, seed=seed).partition.part


def judged(graph, part, speeds):
    """Return the cut, whether both limits are kept, and how far the heaviest block is off."""
    partition = Partition(part, speeds.size)
    targets = graph.total_weight * speeds / speeds.sum()
    ratio = metrics.block_weights(graph, partition) / targets
    room = np.maximum(EPSILON, 1 / targets)  # a vertex, where blocks are that small
    return {
        "cut": float(metrics.edge_cut(metrics.quotient(graph, partition))),
        "holds": bool((np.abs(ratio - 1) <= room + 1e-9).all()),
        "worst": round(float(ratio.max()), 4),
    }


def table(lines):
    """One row a preset and kind of input: CPU and cut to METIS's two ways, limits kept."""
    rows = [
        ("preset", "inputs", "CPU to METIS k-way", "to the faster METIS", "cut to METIS k-way",
         "to the better METIS", "limits kept", "METIS's (k-way)", "cases"),
    ]  # fmt: skip
    cases = by_case(lines)
    presets = [tool for tool in dict.fromkeys(x["tool"] for x in lines) if tool not in METIS]
    for tool in presets:
        rows.append(row(tool, "all", cases))
        for machine in dict.fromkeys(machine for _, machine in cases):
            own = {key: case for key, case in cases.items() if key[1] == machine}
            rows.append(row(tool, f"{machine[1:]} devices", own))
        for low, high in pairwise(SIZES):
            own = {key: case for key, case in cases.items() if low <= case["metis"]["n"] < high}
            if own:
                rows.append(row(tool, f"{low:,} to {high:,} vertices", own))
    return markdown(rows)


def by_case(lines):
    """Lines by file and machine, then by tool."""
    cases = defaultdict(dict)
    for line in lines:
        cases[line["file"], line["machine"]][line["tool"]] = line
    return cases


def row(tool, inputs_named, cases):
    ratios = []
    for case in cases.values():
        own, kway, other = (case[name] for name in (tool, *METIS))
        ratios.append(
            [
                own["cpu_s"] / kway["cpu_s"],
                own["cpu_s"] / min(kway["cpu_s"], other["cpu_s"]),
                max(own["cut"], 1) / max(kway["cut"], 1),
                max(own["cut"], 1) / max(min(kway["cut"], other["cut"]), 1),
            ]
        )
    means = [geometric_mean(column) for column in zip(*ratios, strict=True)]
    kept = [np.mean([case[name]["holds"] for case in cases.values()]) for name in (tool, "metis")]
    return (
        tool.removeprefix("evener:"), inputs_named, *(f"{mean:.2f}" for mean in means[:2]),
        *(f"{mean:.3f}" for mean in means[2:]), *(f"{share:.0%}" for share in kept), len(cases),
    )  # fmt: skip


if __name__ == "__main__":
    main()
