"""Our partitioner beside METIS k-way on real meshes and graphs, with and without coordinates.

    EVENER_DATA=FOLDER python benchmarks/real_inputs.py FILE [FILE ...]

Files are named below FOLDER. 24 devices, 4 of speed 16, tolerance 3 %, one seed. Each run is one
JSON line in results/real_inputs.jsonl: ratios to METIS of cut, largest volume and CPU seconds.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np

from evener import metrics
from evener.filing import read
from evener.partitioning.registry import Request, partition_with
from evener.partitions import Partition

RESULTS = Path(__file__).parent / "results" / "real_inputs.jsonl"
SPEEDS = np.repeat([16.0, 1.0], [4, 20])


def main():
    folder = Path(os.environ["EVENER_DATA"])
    lines = [json.dumps(line) for name in sys.argv[1:] for line in runs(folder, name)]
    RESULTS.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


def runs(folder, name):
    graph = read(folder / name).graph
    metis = measured("metis", graph)
    for kept in (True, False) if graph.coords is not None else (False,):
        ours = measured("evener", graph if kept else graph.with_(coords=None))
        ratios = [round(a / max(b, 1e-3), 3) for a, b in zip(ours, metis, strict=True)]
        yield {"file": name, "n": graph.n, "m": graph.m, "coordinates": kept,
               **dict(zip(("cut", "max_volume", "cpu"), ratios, strict=True))}  # fmt: skip


def measured(tool, graph):
    targets = graph.n * SPEEDS / SPEEDS.sum()
    partition_with(tool, graph, Request(targets, 0.03, 1))  # loads compiled code
    result = partition_with(tool, graph, Request(targets, 0.03, 1))
    between = metrics.quotient(graph, Partition(result.part, SPEEDS.size))
    return metrics.edge_cut(between), metrics.comm_volumes(between).max(), result.cpu_seconds


if __name__ == "__main__":
    main()
