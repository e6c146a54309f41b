"""How fast files are read and validated: METIS by itself, Matrix Market beside SciPy's reader.

    python benchmarks/reading.py [--edges 10_000_000] [--runs 3]

Prints, and appends to results/reading.jsonl, one JSON line a reader: CPU seconds, median of runs
taken in turn. `metis` is a grid with scrambled columns; `delaunay-like` has six neighbours a vertex.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse

from evener.filing import read, write_graph
from evener.graphs import Graph

RESULTS = Path(__file__).parent / "results" / "reading.jsonl"


def triangulated_grid(edges: int) -> Graph:
    """A grid whose squares are halved: about six neighbours a vertex, as in a Delaunay graph."""
    side = round((edges / 3) ** 0.5)
    number = np.arange(side * side).reshape(side, side)
    pairs = [
        (number[:, :-1], number[:, 1:]),
        (number[:-1], number[1:]),
        (number[:-1, :-1], number[1:, 1:]),
    ]
    u = np.concatenate([a.ravel() for a, _ in pairs])
    v = np.concatenate([b.ravel() for _, b in pairs])
    return Graph.from_edges(side * side, u, v)


def to_graph(path: Path) -> Graph:
    """What a person does without this package: SciPy's reader, then the pattern of A + A^T."""
    matrix = scipy.io.mmread(path).tocsr()
    pattern = (matrix + matrix.T).tocsr()
    pattern.setdiag(0)
    pattern.eliminate_zeros()
    return Graph(pattern.indptr, pattern.indices)


def measure(readers: dict[str, Callable[[], object]], runs: int) -> dict[str, dict[str, float]]:
    """Median CPU and wall seconds of each, the runs interleaved; the first, which compiles, not."""
    cpu: dict[str, list[float]] = {name: [] for name in readers}
    wall: dict[str, list[float]] = {name: [] for name in readers}
    for run in range(runs + 1):
        for name, reader in readers.items():
            start, began = time.process_time(), time.perf_counter()
            reader()
            if run:
                cpu[name].append(time.process_time() - start)
                wall[name].append(time.perf_counter() - began)
    return {
        name: {
            "cpu_s": round(statistics.median(cpu[name]), 3),
            "wall_s": round(statistics.median(wall[name]), 3),
        }
        for name in readers
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    graph = triangulated_grid(args.edges)
    real = graph.with_(adjwgt=np.ones(2 * graph.m))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        metis, pattern, values = folder / "g.graph", folder / "p.mtx", folder / "r.mtx"
        start = time.process_time()
        write_graph(metis, graph)
        written = round(time.process_time() - start, 3)
        write_graph(pattern, graph)
        write_graph(values, real)
        readers: dict[str, Callable[[], object]] = {
            "metis": lambda: read(metis),
            "matrixmarket pattern": lambda: read(pattern),
            "scipy mmread pattern": lambda: scipy.io.mmread(pattern),
            "scipy mmread pattern, to graph": lambda: to_graph(pattern),
            "matrixmarket real": lambda: read(values),
            "scipy mmread real": lambda: scipy.io.mmread(values),
        }
        times = measure(readers, args.runs)
        sizes = {"metis": metis, "real": values, "pattern": pattern}
        bytes_of = {key: path.stat().st_size for key, path in sizes.items()}
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a") as file:
        for reader, seconds in times.items():
            kind = next(key for key in ("metis", "real", "pattern") if key in reader)
            record = {"reader": reader, "n": graph.n, "m": graph.m, "bytes": bytes_of[kind]}
            line = json.dumps(record | seconds)
            print(line)
            file.write(line + "\n")
        line = json.dumps({"writer": "metis", "n": graph.n, "m": graph.m, "cpu_s": written})
        print(line)
        file.write(line + "\n")


if __name__ == "__main__":
    main()
