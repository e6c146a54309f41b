"""Our partitioner beside METIS k-way on real meshes, matrices and graphs, coordinates or not.

    EVENER_DATA=FOLDER python benchmarks/real_inputs.py [--only TEXT,...] [--machines t1_k96,...]
    python benchmarks/real_inputs.py --table      # what the result file says

Every file of FOLDER's graphs, matrices and meshes that `evener.filing.read` reads and that has
more than 4,000 vertices. Machines of 96 and 16 devices: 8 and 2 of speed 16, the rest of speed 1
(t1), or half of the rest of speed 2 (t2); tolerance 3 %, one seed. The tools run in turn, in one
process. Each run is one JSON line in results/real_inputs.jsonl: ratios to METIS of cut, largest
volume and CPU seconds; the worst and the smallest block over target.
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np

from evener import metrics
from evener.errors import EvenerError
from evener.filing import read
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.partitions import Partition

RESULTS = Path(__file__).parent / "results" / "real_inputs.jsonl"
FOLDERS = ("graphs", "matrices", "meshes")
MACHINES = ("t1_k96", "t1_k16", "t2_k96", "t2_k16")
LEAST_VERTICES = 4000
RATIOS = ("cut", "max_volume", "cpu_s")


def main():
    args = arguments()
    if not args.table:
        with args.output.open("w") as file:
            for line in measured(Path(os.environ["EVENER_DATA"]), args):
                file.write(json.dumps(line) + "\n")
                file.flush()
    print(table([json.loads(line) for line in args.output.read_text().splitlines()]))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="files whose names have one of these in them")
    parser.add_argument("--folders", default=",".join(FOLDERS))
    parser.add_argument("--machines", default=",".join(MACHINES))
    parser.add_argument(
        "--tools", default="evener", help="beside METIS; without coordinates: evener"
    )
    parser.add_argument("--table", action="store_true", help="only print what was measured")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    return parser.parse_args()


def measured(folder, args):
    seen = set()
    for path in inputs(folder, args):
        try:
            graph = read(path).graph
        except EvenerError:
            continue  # coordinates, half a mesh, rectangular, an archive
        key = (graph.n, graph.m, graph.coords is None)
        if graph.n <= LEAST_VERTICES or key in seen:
            continue
        seen.add(key)
        for machine in args.machines.split(","):
            yield from runs(path.relative_to(folder).as_posix(), graph, machine, args.tools)


def inputs(folder, args):
    for path in (p for name in args.folders.split(",") for p in sorted((folder / name).iterdir())):
        coordinates = ".xyz" in path.suffixes
        if not coordinates and any(text in path.name for text in args.only.split(",")):
            yield path


def runs(name, graph, machine, tools):
    metis = one_run("metis", graph, machine)
    for tool in tools.split(","):
        both = tool == "evener" and graph.coords is not None
        for kept in (True, False) if both else (graph.coords is not None,):
            ours = one_run(tool, graph if kept else graph.with_(coords=None), machine)
            ratios = {r: round(ours[r] / max(metis[r], 1e-3), 3) for r in RATIOS}
            yield {
                "file": name, "n": graph.n, "m": graph.m, "machine": machine, "tool": tool,
                "coordinates": kept, **ratios, "worst": ours["worst"],
                "smallest": ours["smallest"], "metis_worst": metis["worst"],
            }  # fmt: skip


def one_run(tool, graph, machine):
    speed = speeds(machine)
    targets = graph.total_weight * speed / speed.sum()
    result = partition_with(tool, graph, Request(targets, 0.03, 1))
    partition = Partition(result.part, speed.size)
    between = metrics.quotient(graph, partition)
    fullness = metrics.block_weights(graph, partition) / targets
    return {
        "cut": float(metrics.edge_cut(between)),
        "max_volume": float(metrics.comm_volumes(between).max()),
        "cpu_s": result.cpu_seconds,
        "worst": round(float(fullness.max()), 4),
        "smallest": round(float(fullness.min()), 4),
    }


def speeds(machine):
    """(k,) speeds of a machine such as t2_k16."""
    kind, devices = machine.split("_k")
    speed = np.ones(int(devices))
    fast = max(2, speed.size // 12)
    speed[:fast] = 16.0
    if kind == "t2":
        speed[fast : fast + (speed.size - fast) // 2] = 2.0
    return speed


def table(lines):
    """One row a tool, with coordinates and without: geometric means, and how many cut less."""
    rows = [("tool", "coordinates", "runs", "cut", "max volume", "CPU", "cut below 1", "worst cut")]
    rows.append(tuple("---" for _ in rows[0]))
    for tool, kept in sorted({(line["tool"], line["coordinates"]) for line in lines}):
        own = [line for line in lines if (line["tool"], line["coordinates"]) == (tool, kept)]
        ratios = np.array([[max(line[r], 1e-3) for r in RATIOS] for line in own])
        means = np.exp(np.log(ratios).mean(axis=0))
        rows.append(
            (
                tool, "yes" if kept else "no", str(len(own)), *(f"{mean:.3f}" for mean in means),
                f"{(ratios[:, 0] < 1).mean():.0%}", f"{ratios[:, 0].max():.2f}",
            )
        )  # fmt: skip
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


if __name__ == "__main__":
    main()
