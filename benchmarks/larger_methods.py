"""One measurement of `larger.py` in a process of its own: blocks, CPU seconds, peak memory.

Peaks are the most memory that was ever resident (VmHWM), beyond what it was when kernels were
loaded and a small graph had been divided.
"""

import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from instances import speeds

from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import rmat
from evener.io.csr.csr_file import CsrFile
from evener.io.read import read
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.planning.plan_file import peak_bytes
from evener.plans.partition import Contract
from evener.sliced.blocks import SlicedOptions, sliced_blocks
from evener.sliced.files import FileGraph
from evener.sliced.rows import InMemoryGraph
from evener.sliced.tools import curve_blocks, one_pass_blocks
from evener.sliced.uneven import uneven_blocks

EPSILON = 0.03
HERE = Path(__file__).parent


def contract_of(targets, n):
    """topo: 96 blocks, 12 of them 16 times as large as the others; equal: 64. 3 % both ways."""
    shares = {"topo": speeds(96, "t1", 12), "equal": np.ones(64)}[targets]
    wanted = shares / shares.sum() * n
    return Contract(wanted, np.ceil((1 - EPSILON) * wanted), np.floor((1 + EPSILON) * wanted))


def in_memory(path, targets, with_coords=True, tool="evener"):
    """The package's partitioner, or METIS, on the whole graph; reading is counted apart."""
    warm_in_memory(tool, with_coords)
    base, began = peak_bytes(), time.process_time()
    graph = read(path).graph
    graph = graph if with_coords else graph.with_(coords=None)
    reading = time.process_time() - began
    limits = contract_of(targets, graph.n)
    began = time.process_time()
    found = partition_with(tool, graph, request_of(limits))
    seconds = found.cpu_seconds if tool != "evener" else time.process_time() - began
    peak = peak_bytes()
    del graph
    return figures(path, found.part, limits, seconds, (base, peak)) | {"read_s": round(reading, 2)}


def request_of(limits):
    return Request(limits.targets, EPSILON, low=limits.low, high=limits.high)


def warm_in_memory(tool, with_coords):
    small = grid([60, 60]) if with_coords else rmat(10, 7)
    partition_with(tool, small, request_of(contract_of("equal", small.n)))


def in_slices(path, targets, way="clusters", options=None):
    """The graph read from its file slice by slice; reading is counted."""
    divide = WAYS[way]
    for small in (grid([60, 60]), grid([60, 60]).with_(coords=None)):
        limits = Contract(np.full(12, 300.0), np.full(12, 250.0), np.full(12, 350.0))
        if small.coords is not None or way != "curve":
            divide(InMemoryGraph(small), limits, **(options or {}))
    base, began, wall = peak_bytes(), time.process_time(), time.monotonic()
    with FileGraph.at(path) as graph:
        limits = contract_of(targets, graph.n)
        part = divide(graph, limits, **(options or {}))
    seconds, wall, peak = time.process_time() - began, time.monotonic() - wall, peak_bytes()
    return figures(path, part, limits, seconds, (base, peak)) | {"wall_s": round(wall, 2)}


def by_clusters(graph, limits, **options):
    return sliced_blocks(graph, limits, SlicedOptions(**options)).part


# Ways to divide a graph in slices.
WAYS = {
    "clusters": by_clusters, "uneven": uneven_blocks, "curve": curve_blocks,
    "one pass": one_pass_blocks,
}  # fmt: skip


def figures(path, part, limits, seconds, memory):
    base, peak = memory
    load = np.bincount(part, minlength=limits.k)
    off = load / limits.targets
    return {
        "cut": cut_of(path, part), "least": round(float(off.min()), 4),
        "most": round(float(off.max()), 4), "cpu_s": round(seconds, 2),
        "kept": bool(((load >= limits.low) & (load <= limits.high)).all()),
        "peak_MB": round(peak / 2**20), "beyond_MB": round((peak - base) / 2**20),
    }  # fmt: skip


def cut_of(path, part):
    """Edges between blocks, counted slice by slice."""
    with FileGraph.at(path) as graph:
        return sum(cut_ends(graph.rows(i), part) for i in graph.own_slices) // 2


def cut_ends(rows, part):
    own = part[rows.first : rows.first + rows.xadj.size - 1]
    return int((np.repeat(own, np.diff(rows.xadj)) != part[rows.adjncy]).sum())


def heistream(path, targets, python, setting):
    """HeiStream with a batch, a buffer and passes; the graph in memory, reading not counted."""
    with CsrFile(path) as file:
        layout = file.layout
    limits = contract_of(targets, layout.n)
    sections = layout.sections
    with tempfile.TemporaryDirectory() as folder:
        blocks = Path(folder) / "blocks.npy"
        numbers = (sections["xadj"].offset, sections["adjncy"].offset, layout.n, layout.arcs,
                   limits.k, *setting)  # fmt: skip
        command = [str(python), str(HERE / "larger_heistream.py"), str(path), *map(str, numbers)]
        done = subprocess.run([*command, "-o", str(blocks)], capture_output=True, text=True,
                              check=True)  # fmt: skip
        seconds = json.loads(done.stdout.splitlines()[-1])["cpu_s"]
        found = figures(path, np.load(blocks), limits, seconds, (0, 0))
    return {name: value for name, value in found.items() if not name.endswith("MB")}
