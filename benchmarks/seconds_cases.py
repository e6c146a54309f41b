"""The meshes, machines and kernels of seconds.py and advise.py."""

import os
from functools import lru_cache
from pathlib import Path

import numpy as np
import partitioners
from instances import benchmark_family

from evener.graphs.generating.random_graphs import rgg_of
from evener.graphs.graph import Graph
from evener.io import read
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.platforms.platform import Connection, Device, Link, Platform

INSTANCE_SEED = 2026
REAL = {
    "wedge": "graphs/cvrc_wedge120k.graph",
    "heatexch": "graphs/heatexch_inner.graph",
    "fe_body": "graphs/fe_body.graph",
}
MESHES = ("delaunay18", "fe_body", "rgg3d18", "wedge", "graded19", "heatexch", "delaunay20")
# Meshes above SlicedOptions.whole, which are divided slice by slice; the second only for that.
IN_SLICES = ("delaunay20", "rgg3d20")
MACHINES = ("gpu4", "topo1", "mix22", "gpu4f", "topo1f")
KERNELS = {"light": (20.0, 1, 8.0), "spmv": (1.0, 1, 8.0), "spmm8": (1.0, 8, 64.0)}
OUT_OF_MEMORY = 8.0  # times slower


@lru_cache(maxsize=2)
def instance(name, seed=INSTANCE_SEED, *, small=False):
    """The mesh of this name, or None where its file is absent; small: one of its kind."""
    if name not in REAL:
        if small:
            graph = partitioners.little(name)
        elif name == "rgg3d20":
            graph = rgg_of(np.random.default_rng(seed).random((1 << 20, 3)), 12.0)
        else:
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


def quad():
    """Four computers of one device each."""
    devices = [(f"node{node}.0", 40e9, 2e-6, None, None) for node in range(4)]
    links = [host(label, node, 0.5e-6, 10e9) for node, (label, *_) in enumerate(devices)]
    return devices, [*links, *(((f"node{node}", "switch"), 2e-6, 1.25e9) for node in range(4))]


def nodes12():
    """Three nodes of a fast core and three slow ones."""
    devices, links = [], []
    for node in range(3):
        for core in range(4):
            devices.append((f"core{node}.{core}", 40e9 if core == 0 else 10e9, 0.5e-6, None, None))
            links.append(host(f"core{node}.{core}", node, 0.25e-6, 10e9))
        links.append(((f"node{node}", "switch"), 1.5e-6, 1e9))
    return devices, links


def host(device, node, alpha, width):
    """A device's link to its node, its bus included."""
    return (device, f"node{node}"), alpha, width


BUILDERS = {"gpu4": gpu4, "topo1": topo1, "mix22": mix22, "quad": quad, "nodes12": nodes12}
