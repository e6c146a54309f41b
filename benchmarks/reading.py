"""How fast files are read and validated: METIS by itself, Matrix Market beside SciPy's reader.

    python benchmarks/reading.py [--edges 10_000_000] [--runs 3]

Prints, and writes to results/reading.jsonl, one JSON line a reader: CPU and wall seconds, medians
of runs taken in turn, and the ratio to SciPy doing the same. `entries`: the file's entries in
arrays, as SciPy's reader gives them (values are looked at, but not kept); otherwise a Graph of the
pattern of A + A^T, validated. The METIS file has --edges edges, the matrices as many entries.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse
from records import Arguments, markdown, write

from evener.graphs.generating.grid import grid
from evener.graphs.graph import Graph
from evener.io import read, write_graph
from evener.io.graphs import matrixmarket
from evener.io.sources import Source
from evener.io.text import table_text

RESULTS = Path(__file__).parent / "results" / "reading.jsonl"


def triangulated_grid(edges: int) -> Graph:
    """A grid whose squares are halved: about six neighbours a vertex, as in a Delaunay graph."""
    side = round((edges / 3) ** 0.5)
    return grid((side, side), triangulated=True).with_(coords=None)


def write_general(path: Path, graph: Graph, value: bytes = b"") -> None:
    """Write both triangles, so that SciPy's reader and Evener's have the same entries to read."""
    u = np.repeat(np.arange(graph.n), graph.degrees)
    body = table_text(np.column_stack((u, graph.adjncy.astype(np.int64))) + 1, " ")
    if value:
        body = body.replace(b"\n", b" " + value + b"\n")
    field = "real" if value else "pattern"
    head = f"%%MatrixMarket matrix coordinate {field} general\n{graph.n} {graph.n} {u.size}\n"
    path.write_bytes(head.encode() + body)


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


def parsed(path: Path) -> object:
    """What SciPy's reader does and no more: the rows and columns of all entries, in arrays."""
    source = Source(path, path.name, path.read_bytes(), sha256="not taken")
    return matrixmarket.entries(source)


def readers_of(
    metis: Path, pattern: Path, values: Path
) -> dict[str, tuple[Path, Callable[[], object], str | None]]:
    """Name: (file, what is timed, the reader it is compared with)."""
    return {
        "metis": (metis, lambda: read(metis), None),
        "scipy mmread pattern": (pattern, lambda: scipy.io.mmread(pattern), None),
        "matrixmarket pattern, entries": (pattern, lambda: parsed(pattern), "scipy mmread pattern"),
        "scipy mmread pattern, to graph": (pattern, lambda: to_graph(pattern), None),
        "matrixmarket pattern": (pattern, lambda: read(pattern), "scipy mmread pattern, to graph"),
        "scipy mmread real": (values, lambda: scipy.io.mmread(values), None),
        "matrixmarket real, entries": (values, lambda: parsed(values), "scipy mmread real"),
        "scipy mmread real, to graph": (values, lambda: to_graph(values), None),
        "matrixmarket real": (values, lambda: read(values), "scipy mmread real, to graph"),
    }


def main() -> None:
    made = Arguments(__doc__, RESULTS)
    made.add_argument("--edges", type=int, default=10_000_000)
    made.add_argument("--runs", type=int, default=3)
    made.when_small(edges=10_000, runs=1)
    args = made.parse_args()
    graph, half = triangulated_grid(args.edges), triangulated_grid(args.edges // 2)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        metis, pattern, values = folder / "g.graph", folder / "p.mtx", folder / "r.mtx"
        start = time.process_time()
        write_graph(metis, graph)
        written = round(time.process_time() - start, 3)
        write_general(pattern, half)
        write_general(values, half, b"-1.4142135623730951")
        readers = readers_of(metis, pattern, values)
        times = measure({name: timed for name, (_, timed, _) in readers.items()}, args.runs)
        sizes = {name: path.stat().st_size for name, (path, _, _) in readers.items()}
    records: list[dict[str, object]] = []
    for reader, (path, _, peer) in readers.items():
        held = graph if path == metis else half
        record = {"reader": reader, "n": held.n, "m": held.m, "bytes": sizes[reader]}
        record |= times[reader]
        if peer is not None:
            ratio = {key: round(times[reader][key] / times[peer][key], 2) for key in times[peer]}
            record |= {"beside": peer, "cpu_ratio": ratio["cpu_s"], "wall_ratio": ratio["wall_s"]}
        records.append(record)
    records.append({"writer": "metis", "n": graph.n, "m": graph.m, "cpu_s": written})
    print(table(write(args.output, records)))


def table(lines):
    """A row a reader, beside its peer."""
    rows = [("reader or writer", "edges", "CPU s", "beside", "CPU ratio")]
    for line in lines:
        what = line.get("reader") or f"{line['writer']}, written"
        ratio = f"{line['cpu_ratio']:.2f}" if "cpu_ratio" in line else ""
        beside = line.get("beside", "")
        rows.append((what, f"{line['m']:,}", f"{line['cpu_s']:.2f}", beside, ratio))
    return markdown(rows)


if __name__ == "__main__":
    main()
