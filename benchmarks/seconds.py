"""Predicted seconds per iteration of plans made for seconds, beside METIS with speeds as targets.

    python benchmarks/seconds.py [--meshes A,B] [--presets fast,default,strong] [--limit S]
    python benchmarks/seconds.py --table      # what the result file says

Seven meshes x three machines, two of them also with cliffs, x three kernels. "gpu4": four nodes of
a GPU and a CPU; "topo1": eight nodes of a fast device and eleven slow ones; "mix22": two old nodes
behind a slow network and two new ones, of eight cores each; "f": devices are faster within their
caches and much slower beyond their memories. Kernels: "light" computes 20 times as much as "spmv"
for what it sends, "spmm8" works on eight vectors. METIS k-way gets the constant speeds as
targets, a tolerance of 3 % and the plan's seed; its share of communication is that of the device
which is done last. Each run is one JSON line: `ratio` of the predicted makespan to METIS's, `cpu`
to METIS's call (process time of all our own work, METIS's included). What is in the result file is
not measured again. Real meshes come from the folder EVENER_DATA, and are left out without it.
"""

import argparse
import json
import os
import sys
import time
from collections import defaultdict
from dataclasses import replace
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np

import evener as ev
from evener import metrics
from evener.filing import read
from evener.generating.families import benchmark_family
from evener.graphs import Graph
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.partitions import Partition
from evener.platforms import Connection, Device, Link, Platform
from evener.samples import DeviceSpeeds, Sample
from evener.solving.loop import solve_seconds
from evener.workloads import WEIGHTS

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "seconds.jsonl"
INSTANCE_SEED, SEED = 2026, 7
GENERATED = ("delaunay18", "rgg3d18", "graded19", "delaunay20")
REAL = {
    "wedge": "graphs/cvrc_wedge120k.graph",
    "heatexch": "graphs/heatexch_inner.graph",
    "fe_body": "graphs/fe_body.graph",
}
MESHES = ("delaunay18", "fe_body", "rgg3d18", "wedge", "graded19", "heatexch", "delaunay20")
MACHINES = ("gpu4", "topo1", "mix22", "gpu4f", "topo1f")
KERNELS = {"light": (20.0, 1, 8.0), "spmv": (1.0, 1, 8.0), "spmm8": (1.0, 8, 64.0)}
OUT_OF_MEMORY = 8.0  # times slower
REGIMES = (("light", 0.15), ("medium", 0.45), ("heavy", 1.01))


@lru_cache(maxsize=2)
def instance(name, seed=INSTANCE_SEED):
    """The mesh of this name, or None where its file is absent."""
    if name not in REAL:
        graph = benchmark_family(name, seed)
        return Graph(graph.xadj, graph.adjncy, coords=graph.coords)
    folder = os.environ.get("EVENER_DATA")
    path = folder and Path(folder, REAL[name] + ".zst")
    return read(path).graph if path and path.exists() else None


def machine(name, graph, kernel, *, alpha=1.0, wrong_speeds=0.0, shared=False, seed=99):
    """The platform, its speeds in vertices of `graph` per second for the kernel.

    alpha: times every latency. wrong_speeds: relative error of every speed (standard deviation).
    shared: nodes have one link to the others for all their devices.
    """
    times, vectors, _ = KERNELS[kernel]
    stored = 12 * (graph.adjncy.size / graph.n + 1) + 4 + 16 * vectors  # bytes of a vertex
    devices, connections = BUILDERS[name.removesuffix("f")]()
    off = np.exp(np.random.default_rng(seed).normal(0, wrong_speeds, len(devices)))
    made, curves = [], {}
    for (label, bandwidth, launch, cache, room), error in zip(devices, off, strict=True):
        speed = error * bandwidth / (times * stored)
        curve = None
        if name.endswith("f") and (cache or room):
            held = cache and cache[1] / stored
            kind = label.rstrip("0123456789.")  # devices alike share a curve
            if kind not in curves or wrong_speeds:
                own = cache and (cache[0], held), room and room * graph.n
                curves[kind] = cliff(kind, speed, *own, graph.n)
            curve = curves[kind]
        made.append(Device(label, speed, curve=curve, fixed_seconds=launch))
    links = [
        Connection(ends, Link(a * alpha, 1 / width), shared=bool(shared) and between_nodes(ends))
        for ends, a, width in connections
    ]
    return Platform(tuple(made), connections=tuple(links), name=name)


def between_nodes(ends):
    return all(end == "switch" or end.startswith("node") for end in ends)


def cliff(label, speed, cache, room, n):
    """Samples of a device faster within its cache, slower beyond its memory, exact at each."""
    loads = np.geomspace(16, 2 * n, 80)
    if cache:
        loads = np.union1d(loads, cache[1] * np.linspace(1, 1.5, 17))
    if room:
        loads = np.union1d(loads, room * np.geomspace(1, 8, 49))
    seconds = loads / speed
    if cache:
        slower = np.clip((loads - cache[1]) / (0.5 * cache[1]), 0, 1)
        seconds *= 1 / cache[0] + (1 - 1 / cache[0]) * slower
    if room:
        seconds += np.maximum(loads - room, 0) * (OUT_OF_MEMORY - 1) / speed
    pairs = zip(loads.tolist(), seconds.tolist(), strict=True)
    return DeviceSpeeds(label, tuple(Sample(load, time) for load, time in pairs))


def gpu4():
    """Four nodes of a GPU and a CPU."""
    devices, links = [], []
    for node in range(4):
        devices.append((f"gpu{node}", 2e12, 10e-6, (2.5, 40e6), 0.22))
        devices.append((f"cpu{node}", 1e11, 2e-6, (3.0, 48e6), None))
        links.append(host(f"gpu{node}", node, 8.25e-6, 12e9))
        links.append(host(f"cpu{node}", node, 0.25e-6, 20e9))
        links.append(((f"node{node}", "switch"), 0.5e-6, 10e9))
    return devices, links


def topo1():
    """Eight nodes of a fast device and eleven slow ones."""
    devices, links = [], []
    for node in range(8):
        devices.append((f"fast{node}", 80e9, 10e-6, None, 13.8 / 216))
        links.append(host(f"fast{node}", node, 4.25e-6, 10e9))
        for core in range(11):
            devices.append((f"slow{node}.{core}", 5e9, 0.5e-6, (3.0, 1.5e6), None))
            links.append(host(f"slow{node}.{core}", node, 0.25e-6, 10e9))
        links.append(((f"node{node}", "switch"), 0.5e-6, 4e9))
    return devices, links


def mix22():
    """Two old nodes behind a slow network, two new ones; eight cores each."""
    devices, links = [], []
    for node in range(4):
        for core in range(8):
            devices.append((f"core{node}.{core}", 4e9 if node < 2 else 12e9, 0.5e-6, None, None))
            links.append(host(f"core{node}.{core}", node, 0.25e-6, 10e9))
        for other in range(node):
            alpha, width = (1.5e-6, 4e9) if other >= 2 else (12e-6, 0.6e9)
            ends = (f"node{other}", f"node{node}")
            links.append((ends, alpha - 0.5e-6, width))
    return devices, links


def host(device, node, alpha, width):
    """A device's link to its node, its bus included."""
    return (device, f"node{node}"), alpha, width


BUILDERS = {"gpu4": gpu4, "topo1": topo1, "mix22": mix22}


def main():
    args = arguments()
    if not args.table:
        measure(args)
    print(table([json.loads(line) for line in args.output.read_text().splitlines()]))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--meshes", type=words, default=list(MESHES))
    parser.add_argument("--machines", type=words, default=list(MACHINES))
    parser.add_argument("--kernels", type=words, default=list(KERNELS))
    parser.add_argument("--presets", type=words, default=["fast", "default"])
    parser.add_argument("--variants", type=words, default=["plain"], help=", ".join(VARIANTS))
    parser.add_argument("--limit", type=float, default=1e9, help="seconds after which to stop")
    parser.add_argument("--instance-seed", type=int, default=INSTANCE_SEED)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--table", action="store_true", help="only print what was measured")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    return parser.parse_args()


def words(text):
    return text.split(",")


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
    args.output.parent.mkdir(exist_ok=True)
    done = set()
    if args.output.exists():
        done = {key_of(json.loads(line)) for line in args.output.read_text().splitlines()}
    began, warm = time.monotonic(), False
    with args.output.open("a") as file:
        for mesh in args.meshes:
            for cell in product(args.machines, args.kernels, args.variants):
                todo = [p for p in args.presets if (mesh, *cell, p) not in done]
                if not todo or time.monotonic() - began > args.limit:
                    continue
                graph = instance(mesh, args.instance_seed)
                if graph is None:
                    print(f"left out: {mesh}, which needs the folder EVENER_DATA", file=sys.stderr)
                    break
                if not warm:
                    load_kernels(args.presets)
                    warm = True
                for line in runs(mesh, graph, *cell, todo, args.seed):
                    file.write(json.dumps(line) + "\n")
                    file.flush()


def load_kernels(presets):
    """Compile, or load, before anything is timed, in 2-D and in 3-D, with and without places."""
    from evener.generating.delaunay import delaunay
    from evener.generating.rgg import rgg

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
    true = machine(name, graph, kernel, alpha=chosen.get("alpha", 1), shared=chosen.get("shared"))
    planned = machine(name, graph, kernel, **chosen["planned"]) if "planned" in chosen else true
    metis = partition_with("metis", graph, Request(planned.speeds, 0.03, seed, time_limit=None))
    base = metrics.predicted_seconds(graph, Partition(metis.part, true.k), true, work)
    last = base.bottleneck
    share = float(base.communicate[last] / base.seconds[last])
    for preset in presets:
        options = ev.PlanOptions(
            preset=preset, objective="seconds", seed=seed, threads=1, workload=work
        )
        found = solve_seconds(graph, planned, options)
        made = metrics.predicted_seconds(graph, Partition(found.part, true.k), true, work)
        yield {
            "mesh": mesh, "n": graph.n, "machine": name, "kernel": kernel, "variant": variant,
            "preset": preset, "share": round(share, 4),
            "ratio": round(made.makespan / base.makespan, 5),
            "cpu": round(found.cpu_seconds / max(metis.cpu_seconds, 1e-3), 2),
            "metis_s": base.makespan, "bound": round(base.bound / base.makespan, 4),
            "metis_cpu_s": round(metis.cpu_seconds, 3), "devices": int(found.best.used.sum()),
            "best": found.best.name,
            "steps": [[one.name, round(one.seconds / base.makespan, 4)] for one in found.stages],
        }  # fmt: skip


def regime(line):
    return next(name for name, most in REGIMES if line["share"] < most)


def table(lines):
    """Geometric means by preset, cliffs and what is other than usual; a column a regime."""
    rows = [("preset", "speeds", "what else", *(name for name, _ in REGIMES), "worst", "CPU",
             "cells")]  # fmt: skip
    groups = defaultdict(list)
    for line in lines:
        cliffs = "with cliffs" if line["machine"].endswith("f") else "constant"
        groups[line["preset"], cliffs, line["variant"]].append(line)
    for (preset, cliffs, variant), own in groups.items():
        cells = [
            mean([line["ratio"] for line in own if regime(line) == name]) for name, _ in REGIMES
        ]
        worst = max(line["ratio"] for line in own)
        cpu = mean([line["cpu"] for line in own])
        what = "" if variant == "plain" else variant
        rows.append((f"`{preset}`", cliffs, what, *cells, f"{worst:.2f}", cpu, len(own)))
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def mean(values):
    return f"{np.exp(np.mean(np.log(values))):.3f} ({len(values)})" if values else ""


if __name__ == "__main__":
    main()
