"""Evener's partitioner beside METIS k-way and others on real meshes, matrices and graphs.

    EVENER_DATA=FOLDER python benchmarks/real_inputs.py [--only TEXT,...] [--machines t1_k96,...]
    python benchmarks/real_inputs.py --table      # what the result file says

Every file of FOLDER's graphs, matrices and meshes that `evener.io.read` reads and that has
more than 4,000 vertices. Machines of 96, 24 and 16 devices: 8 or 2 of speed 16, the rest of speed 1
(t1), or half of the rest of speed 2 (t2); by default 96 and 24 of t1, 16 of t2; tolerance 3 %, one
seed. The tools run in turn, in one process; Evener also without coordinates. Each run is one JSON
line in results/real_inputs.jsonl: ratios to METIS k-way, as it comes, of cut, largest volume and
CPU seconds; the worst and the smallest block over target; whether both limits are kept, and the
cut once `enforce` has seen to it.
"""

import math
import os
from collections import defaultdict
from pathlib import Path

import numpy as np
from instances import speeds
from records import answer, geometric_mean, markdown, parser

from evener import io
from evener.errors import EvenerError
from evener.partitioning.enforce import enforce
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.plans import metrics
from evener.plans.partition import Partition

RESULTS = Path(__file__).parent / "results" / "real_inputs.jsonl"
FOLDERS = ("graphs", "matrices", "meshes")
MACHINES = ("t1_k96", "t1_k24", "t2_k16")
TOOLS = ("metis-recursive", "scotch", "kaminpar", "mtkahypar", "evener")
LARGEST = {"mtkahypar": 100_000}  # vertices: it takes 17 times METIS's seconds
LEAST_VERTICES = 4000
CLOSE = 1.01  # of the best tool's cut
RATIOS = ("cut", "max_volume", "cpu_s")


def main():
    answer(arguments(), measured, table)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--only", default="", help="files whose names have one of these in them")
    made.add_argument("--folders", default=",".join(FOLDERS))
    made.add_argument("--machines", default=",".join(MACHINES))
    made.add_argument("--tools", default=",".join(TOOLS), help="beside METIS")
    made.when_small(only="3elt", machines="t2_k16")
    return made.parse_args()


def measured(args):
    folder = Path(os.environ["EVENER_DATA"])
    seen = set()
    for path in inputs(folder, args):
        try:
            graph = io.read(path).graph
        except EvenerError:
            continue  # coordinates, half a mesh, rectangular, an archive
        key = (graph.n, graph.m)
        if graph.n <= LEAST_VERTICES or key in seen:
            continue
        seen.add(key)
        for machine in args.machines.split(","):
            tools = [
                tool for tool in args.tools.split(",") if graph.n <= LARGEST.get(tool, graph.n)
            ]
            yield from runs(path.relative_to(folder).as_posix(), graph, machine, tools)


def inputs(folder, args):
    for path in (p for name in args.folders.split(",") for p in sorted((folder / name).iterdir())):
        coordinates = ".xyz" in path.suffixes
        if not coordinates and any(text in path.name for text in args.only.split(",")):
            yield path


def runs(name, graph, machine, tools):
    metis = one_run("metis", graph, machine)
    for tool in ("metis", *tools):
        both = tool == "evener" and graph.coords is not None
        for kept in (True, False) if both else (False,):
            found = metis
            if tool != "metis":
                found = one_run(tool, graph if kept else graph.with_(coords=None), machine)
            ratios = {r: round(found[r] / max(metis[r], 1e-3), 3) for r in RATIOS}
            yield {
                "file": name, "n": graph.n, "m": graph.m, "machine": machine, "tool": tool,
                "coordinates": kept, **ratios, "worst": found["worst"],
                "smallest": found["smallest"], "holds": found["holds"],
                "cut_holding": round(found["cut_holding"] / max(metis["cut"], 1e-3), 3),
                "cuts": found["cut"],
            }  # fmt: skip


def one_run(tool, graph, machine):
    kind, k = machine.split("_k")
    speed = speeds(int(k), kind, max(2, int(k) // 12))
    targets = graph.total_weight * speed / speed.sum()
    request = Request(targets, 0.03, 1)
    result, contract = partition_with(tool, graph, request), request.contract(graph)
    partition = Partition(result.part, speed.size)
    between = metrics.quotient(graph, partition)
    weight = metrics.block_weights(graph, partition)
    holding = within_limits(graph, partition, contract)
    return {
        "cut": float(metrics.edge_cut(between)),
        "max_volume": float(metrics.comm_volumes(between).max()),
        "cpu_s": result.cpu_seconds,
        "worst": round(float((weight / targets).max()), 4),
        "smallest": round(float((weight / targets).min()), 4),
        "holds": holding is partition,
        "cut_holding": (
            math.inf if holding is None else metrics.edge_cut(metrics.quotient(graph, holding))
        ),
    }


def within_limits(graph, partition, contract):
    """The partition, repaired if a block violates a limit; None if that fails."""
    weight = metrics.block_weights(graph, partition)
    if ((weight >= contract.low) & (weight <= contract.high)).all():
        return partition
    try:
        return enforce(graph, partition, contract).partition
    except EvenerError:
        return None


def table(lines):
    """One row a tool, with coordinates and without: geometric means, and how often it is best."""
    rows = [
        ("tool", "coordinates", "runs", "cut", "max volume", "CPU", "less cut than METIS",
         "limits kept", "within 1 % of the best cut", "most above the best"),
    ]  # fmt: skip
    best = best_cuts(lines)
    for tool, kept in sorted({(line["tool"], line["coordinates"]) for line in lines}):
        own = [line for line in lines if (line["tool"], line["coordinates"]) == (tool, kept)]
        ratios = np.array([[max(line[r], 1e-3) for r in RATIOS] for line in own])
        means = [geometric_mean(column) for column in ratios.T]
        above = np.array([beside(line, best) for line in own])
        rows.append(
            (
                tool, "yes" if kept else "no", len(own), *(f"{mean:.3f}" for mean in means),
                "" if tool == "metis" else f"{(ratios[:, 0] < 1).mean():.0%}",
                f"{np.mean([line['holds'] for line in own]):.0%}",
                f"{(above <= CLOSE).mean():.0%}", f"{above.max():.2f}",
            )
        )  # fmt: skip
    return markdown(rows)


def by_file(lines):
    """One row a file: cuts over machines, to METIS's and, at most, to the best other tool's."""
    best, files = best_cuts(lines), defaultdict(list)
    for line in lines:
        files[line["file"]].append(line)
    rows = [
        ("file", "vertices", "edges", "without coordinates: cut", "to the best, at most", "CPU",
         "with: cut", "to the best, at most", "CPU"),
    ]  # fmt: skip
    for name, own in files.items():
        row = [name, f"{own[0]['n']:,}", f"{own[0]['m']:,}"]
        for kept in (False, True):
            ours = [x for x in own if x["tool"] == "evener" and x["coordinates"] == kept]
            row += cells(ours, best) if ours else ["", "", ""]
        rows.append(row)
    return markdown(rows)


def cells(ours, best):
    """Cuts by machine, in the order of MACHINES; most above the best tool, and which; CPU."""
    most = max(ours, key=lambda line: beside(line, best))
    cpu = geometric_mean(max(line["cpu_s"], 1e-3) for line in ours)
    which = best[most["file"], most["machine"]][1]
    cuts = " ".join(f"{line['cut']:.2f}" for line in ours)
    return [cuts, f"{beside(most, best):.2f} {which}", f"{cpu:.1f}"]


def best_cuts(lines):
    """(edges cut, tool) of the best other tool, within its limits, for each file and machine."""
    best = {}
    for line in lines:
        key, found = (line["file"], line["machine"]), (line["cut_holding"], line["tool"])
        if line["tool"] != "evener":
            best[key] = min(best.get(key, found), found)
    return best


def beside(line, best):
    """The cut over that of the best other tool."""
    return line["cut_holding"] / max(best[line["file"], line["machine"]][0], 1e-3)


if __name__ == "__main__":
    main()
