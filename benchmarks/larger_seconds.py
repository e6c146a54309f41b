"""Predicted seconds of plans in slices beside plans of the same graph in memory, and METIS.

    python benchmarks/larger_seconds.py [--meshes A,B] [--machines A,B] [--methods memory,slices]
    python benchmarks/larger_seconds.py --table     # what the result file says

Meshes are named by kind, size and seed: delaunay18-31 (2^18 points), delaunay3d16-31 (tetrahedra),
grid3d64 (64 x 64 x 64), tgrid512 (512 x 512, triangulated). Machines and kernels: seconds_cases.py.

memory: the plan with the whole graph in memory. slices: the same graph in 64 slices, which gives
the blocks of the file and of MPI ranks. metis: the better of both its methods at the sizes of least
time, its blocks enforced and mapped. file-M: the command's way, from a binary file, with
`--memory` of M MiB, in a process of its own, whose most memory counts. Each method is one
JSON line: predicted seconds of an iteration, the share of it that the slowest device exchanges, CPU
seconds. Lines that the result file has are not measured again.
"""

import json
import pickle
import subprocess
import sys
from collections import defaultdict
from dataclasses import replace
from functools import cache, lru_cache
from itertools import product
from pathlib import Path

import numpy as np
from larger_files import write_csr
from records import answer_more, append, known, markdown, parser, words
from seconds import METIS_TOOLS, REGIMES
from seconds_cases import KERNELS, machine

import evener as ev
from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.grid import grid
from evener.machine_code.clock import cpu_seconds
from evener.planning.makespan.baselines import enforced_and_mapped, metis_blocks
from evener.planning.makespan.search import solve_seconds
from evener.planning.plan_slices import plan_slices
from evener.planning.steps import terms_of
from evener.plans import metrics
from evener.plans.partition import Partition
from evener.plans.workload import WEIGHTS
from evener.sliced.whole import InMemoryGraph

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "larger_seconds.jsonl"
DATA = HERE / "data" / "larger"
CELL = ("mesh", "machine", "kernel")
MESHES = ("delaunay18-31", "delaunay18-41", "delaunay20-31", "delaunay3d17-31", "grid3d64",
          "tgrid512")  # fmt: skip
MACHINES = ("quad", "gpu4", "nodes12", "mix22")
METHODS = ("memory", "metis", "slices")
SEED = 7


def main():
    answer_more(arguments(), measure, table)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--meshes", type=words, default=list(MESHES))
    made.add_argument("--machines", type=words, default=list(MACHINES))
    made.add_argument("--kernels", type=words, default=list(KERNELS))
    made.add_argument("--methods", type=words, default=list(METHODS))
    made.add_argument("--data", type=Path, default=DATA, help="where files of graphs are kept")
    made.when_small(meshes=["delaunay13-1"], machines=["gpu4"], kernels=["spmv"],
                    data=DATA / "small", methods=[*METHODS, "file-400"])  # fmt: skip
    return made.parse_args()


def measure(args):
    """Add a line for each measurement that the file does not have."""
    have = {(*(line[key] for key in CELL), line["method"]) for line in known(args.output)}
    for cell in product(args.meshes, args.machines, args.kernels):
        for method in args.methods:
            if (*cell, method) not in have:
                figures = found_by(method, *cell, args.data)
                own = dict(zip(CELL, cell, strict=True)) | {"method": method}
                print(json.dumps(append(args.output, own | figures)), flush=True)


@lru_cache(maxsize=1)
def mesh_of(name):
    """The graph of this name."""
    kind, _, seed = name.partition("-")
    for start, make in KINDS.items():
        if kind.startswith(start):
            return make(int(kind.removeprefix(start)), int(seed or 0))
    raise SystemExit(f"there is no mesh {name!r}")


KINDS = {
    "delaunay3d": lambda power, seed: delaunay(1 << power, seed, 3),
    "delaunay": lambda power, seed: delaunay(1 << power, seed),
    "grid3d": lambda side, _: grid([side, side, side]),
    "tgrid": lambda side, _: triangulated(side),
}


def triangulated(side):
    """A grid whose squares have one diagonal each."""
    row, column = np.divmod(np.arange(side * side), side)
    ends = [(row + down, column + right) for down, right in ((0, 1), (1, 0), (1, 1))]
    inside = [(r < side) & (c < side) for r, c in ends]
    u = np.concatenate([np.flatnonzero(one) for one in inside])
    v = np.concatenate([(r * side + c)[one] for (r, c), one in zip(ends, inside, strict=True)])
    points = np.column_stack([column, row]).astype(np.float64)
    return ev.Graph.from_edges(side * side, u, v, coords=points)


def options_of(kernel):
    work = replace(WEIGHTS, bytes_per_value=KERNELS[kernel][2])
    return ev.PlanOptions(objective="seconds", seed=SEED, threads=1, workload=work)


def found_by(method, mesh, name, kernel, data):
    """What a method finds; its kernels are loaded first, on a small graph."""
    graph, options = mesh_of(mesh), options_of(kernel)
    platform = machine(name, graph, kernel)
    about = {"n": graph.n, "k": platform.k}
    if method.startswith("file-"):
        return about | from_file(file_of(mesh, data), platform, kernel, int(method[5:]))
    warm(method, graph.coords.shape[1])
    part, cpu, chosen = WAYS[method](graph, platform, options)
    prediction = metrics.predicted_seconds(
        graph, Partition(part, platform.k), platform, options.workload
    )
    return about | figures(prediction, cpu) | {"chosen": chosen}


def file_of(mesh, data):
    path = data / f"{mesh}.ecsr"
    if not path.exists():
        data.mkdir(parents=True, exist_ok=True)
        write_csr(path, mesh_of(mesh), with_coords=False)
    return path


def figures(prediction, cpu):
    last = prediction.bottleneck
    share = float(prediction.communicate[last] / prediction.seconds[last])
    return {"seconds": prediction.makespan, "share": round(share, 4), "cpu_s": round(cpu, 2)}


@cache
def warm(method, dim):
    graph = delaunay(6000, 5, dim)
    WAYS[method](graph, machine("gpu4", graph, "spmv"), options_of("spmv"))


def in_memory(graph, platform, options):
    found = solve_seconds(graph, platform, options)
    return found.part, found.cpu_seconds, found.best.name


def in_slices(graph, platform, options):
    began = cpu_seconds()
    made = plan_slices(InMemoryGraph(graph), platform, options).plan
    return made.partition.part, cpu_seconds() - began, made.stages[-1].name if made.stages else ""


def by_metis(graph, platform, options):
    """The better of both methods, and the CPU seconds of both."""
    terms, found, cpu = terms_of(graph, platform, options), {}, 0.0
    for tool in METIS_TOOLS:
        made = metis_blocks(graph, terms, options, tool)
        began = cpu_seconds()
        part = enforced_and_mapped(graph, made.part, terms, options)
        cpu += made.cpu_seconds + cpu_seconds() - began
        seconds = metrics.predicted_seconds(
            graph, Partition(part, platform.k), platform, options.workload
        ).makespan
        found[tool] = seconds, part
    best = min(found, key=lambda tool: found[tool][0])
    return found[best][1], cpu, best


WAYS = {"memory": in_memory, "slices": in_slices, "metis": by_metis}


def from_file(path, platform, kernel, bound):
    """The plan that a new process makes of a file within a bound on its memory [MiB]."""
    task = path, platform, options_of(kernel), bound << 20
    done = subprocess.run([sys.executable, str(HERE / "larger_seconds_child.py")],
                          input=pickle.dumps(task), stdout=subprocess.PIPE, check=True)  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1]) | {"bound_MB": bound}


# Asked of slices: seconds to those in memory, by the share of communication in memory.
ASKED = {"light": "1.03", "medium": "1.05", "heavy": "1.10"}


def table(lines):
    found = {(*(line[key] for key in CELL), line["method"]): line for line in lines}
    cells = list(dict.fromkeys(key[:3] for key in found if key[3] == "slices"))
    return "\n\n".join([summary(found, cells), each(found, cells), files(found)])


def regime(line):
    return next(name for name, most in REGIMES if line["share"] < most)


def summary(found, cells):
    """Means and worst of all cells by regime; CPU seconds of all together."""
    rows = [("communication", "asked of every cell", "mean", "worst", "cells", "above",
             "METIS: mean", "CPU s / memory's")]  # fmt: skip
    groups = defaultdict(list)
    for cell in cells:
        if (*cell, "memory") in found:
            groups[regime(found[*cell, "memory"])].append(cell)
    for name, asked in ASKED.items():
        own = groups[name]
        if own:
            ratios = [ratio(found, cell, "slices") for cell in own]
            metis = [ratio(found, cell, "metis") for cell in own if (*cell, "metis") in found]
            cpu = sum(found[*cell, "slices"]["cpu_s"] for cell in own)
            base = sum(found[*cell, "memory"]["cpu_s"] for cell in own)
            above = sum(one > float(asked) for one in ratios)
            rows.append((name, asked, mean(ratios), f"{max(ratios):.3f}", len(own), above,
                         mean(metis), f"{cpu / base:.2f}"))  # fmt: skip
    return markdown(rows)


def each(found, cells):
    rows = [("mesh", "machine", "devices", "kernel", "communication", "seconds / memory's",
             "METIS: / memory's", "CPU s", "memory: CPU s", "METIS: CPU s")]  # fmt: skip
    for cell in cells:
        own, base = found[*cell, "slices"], found.get((*cell, "memory"))
        metis = found.get((*cell, "metis"))
        if base is not None:
            rows.append((*cell[:2], own["k"], cell[2], f"{base['share']:.2f}",
                         f"{ratio(found, cell, 'slices'):.3f}",
                         f"{ratio(found, cell, 'metis'):.3f}" if metis else "-", own["cpu_s"],
                         base["cpu_s"], metis["cpu_s"] if metis else "-"))  # fmt: skip
    return markdown(rows)


def files(found):
    rows = [("mesh", "machine", "kernel", "--memory, MiB", "most memory, MiB", "seconds / memory's",
             "CPU s")]  # fmt: skip
    for (*cell, method), line in found.items():
        if method.startswith("file-"):
            rows.append((*cell, line["bound_MB"], line["peak_MB"],
                         f"{ratio(found, cell, method):.3f}", line["cpu_s"]))  # fmt: skip
    return markdown(rows)


def ratio(found, cell, method):
    """Seconds to those of the plan in memory."""
    return found[*cell, method]["seconds"] / found[*cell, "memory"]["seconds"]


def mean(values):
    return f"{np.exp(np.mean(np.log(values))):.3f}" if values else "-"


if __name__ == "__main__":
    main()
