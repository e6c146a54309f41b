"""How fast files of any size become binary CSR and are read, and in how much memory.

    python benchmarks/converting.py [--edges 10_000_000] [--runs 3] [--memory 256]

Prints, and writes to results/converting.jsonl, one JSON line a way: CPU seconds, median of runs,
and the peak of resident memory beyond that of the process before, each way in a process of its own
that has its kernels. The text files are those of a triangulated grid of --edges edges, by rows;
the edge list and the matrix have its edges in random order. R-MAT and random geometric graphs have
about as many edges, drawn from seed 7. `text alone`: METIS's lists are read into arrays, of which
nothing is kept. --memory [MiB]: what conversion is told. `--child` is for the script itself.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from records import answer, markdown, parser

from evener.graphs.generating.grid import grid
from evener.io import write_graph
from evener.io.converting import lists_kernels
from evener.io.converting.blocks import TextBlocks
from evener.io.converting.convert import convert_to_csr
from evener.io.converting.generated import Working, grid_to_csr, rgg_to_csr, rmat_to_csr
from evener.io.csr.csr_file import CsrFile
from evener.io.graphs.metis import header_of
from evener.io.text import table_text
from evener.planning.plan_file import peak_bytes

RESULTS = Path(__file__).parent / "results" / "converting.jsonl"
WAYS = {
    "metis": "METIS",
    "text": "METIS, text alone",
    "edges": "edge list",
    "matrix": "Matrix Market",
    "grid": "grid 2-D, triangulated, generated",
    "cube": "grid 3-D, generated",
    "rgg": "random geometric graph, generated",
    "rmat": "R-MAT, generated",
    "first": "rows of the grid, read a first time",
    "rows": "the same, read again",
}


def inputs(folder: Path, edges: int) -> None:
    """Write a grid of so many edges as text, and as binary CSR."""
    side = round(math.sqrt(edges / 3))
    graph = grid((side, side), triangulated=True).with_(coords=None)
    write_graph(folder / "g.graph", graph)
    write_graph(folder / "g.ecsr", graph)
    u = np.repeat(np.arange(graph.n), graph.degrees)
    pairs = np.stack([u, graph.adjncy], axis=1)[u > graph.adjncy].astype(np.int64)
    np.random.default_rng(1).shuffle(pairs)
    (folder / "g.csv").write_bytes(table_text(pairs, " "))
    head = f"%%MatrixMarket matrix coordinate pattern symmetric\n{graph.n} {graph.n} {len(pairs)}\n"
    (folder / "g.mtx").write_bytes(head.encode() + table_text(pairs + 1, " "))


def read_text(path: Path) -> int:
    """Read a METIS file's lists into arrays, block by block; return how many edges."""
    blocks = TextBlocks(path)
    head = header_of(blocks.head())
    xadj, adjncy = np.empty(2**19 + 1, np.int64), np.empty(2**22 + 1, np.int32)
    where, row, arcs = np.zeros(4, np.int64), 0, 0
    for block in blocks.blocks(head.body):
        at = 0
        while at < block.text.size:
            part = xadj[: min(2**19, head.n - row) + 1]
            code = lists_kernels.read_plain(block.text, at, head.n, row, part, adjncy, where)
            assert code == lists_kernels.READ
            count, at = int(where[0]), int(where[1])
            row, arcs = row + count, arcs + int(part[count])
    return arcs // 2


def read_rows(file: CsrFile) -> int:
    """Read all rows of a binary CSR file; return how many edges."""
    file.check()
    return file.arcs // 2


def read_first(path: Path) -> int:
    """Read them for the first time, when it is seen that they are symmetric."""
    with CsrFile(path) as file:
        return read_rows(file)


def way(name: str, folder: Path, edges: int, memory: int) -> Callable[[], int]:
    """Return what is timed; it returns how many edges there are."""
    out, work = folder / "out.ecsr", Working(memory)
    side, cube = round(math.sqrt(edges / 3)), round((edges / 3) ** (1 / 3))
    scale = max(1, round(math.log2(edges / 16)))
    named = {"metis": "g.graph", "edges": "g.csv", "matrix": "g.mtx"}
    if name in named:
        return lambda: convert_to_csr(folder / named[name], out, memory=memory).m
    ways: dict[str, Callable[[], int]] = {
        "text": lambda: read_text(folder / "g.graph"),
        "grid": lambda: grid_to_csr(out, (side, side), triangulated=True, work=work)[1],
        "cube": lambda: grid_to_csr(out, (cube, cube, cube), work=work)[1],
        "rgg": lambda: rgg_to_csr(out, edges // 6, 7, work=work)[1],
        "rmat": lambda: rmat_to_csr(out, scale, 7, work=work)[1],
        "first": lambda: read_first(folder / "g.ecsr"),
    }
    if name == "rows":
        known = CsrFile(folder / "g.ecsr")
        known.check()
        return lambda: read_rows(known)
    return ways[name]


def child(name: str, folder: Path, edges: int, memory: int, runs: int) -> dict[str, object]:
    """Time one way in this process, after a try on little input."""
    with tempfile.TemporaryDirectory(dir=folder) as small:
        inputs(Path(small), 200)
        way(name, Path(small), 200, memory)()
    before, timed, cpu, m = peak_bytes(), way(name, folder, edges, memory), [], 0
    for _ in range(runs):
        start = time.process_time()
        m = timed()
        cpu.append(time.process_time() - start)
    return {
        "way": name,
        "edges": m,
        "cpu_s": round(statistics.median(cpu), 3),
        "peak_mb": round((peak_bytes() - before) / 1e6),
        "memory_mib": memory >> 20,
    }


def measured(args):
    """Yield a line a way."""
    with tempfile.TemporaryDirectory() as name:
        inputs(Path(name), args.edges)
        for one in WAYS:
            words = ["--edges", str(args.edges), "--runs", str(args.runs)]
            words += ["--memory", str(args.memory), "--child", one, name]
            done = subprocess.run(
                [sys.executable, __file__, *words], check=True, capture_output=True, text=True
            )
            yield json.loads(done.stdout)


def table(lines):
    """A row a way."""
    rows = [("way", "edges", "CPU s", "million edges/s", "peak MB beyond imports")]
    for line in lines:
        rate = line["edges"] / 1e6 / max(line["cpu_s"], 1e-3)
        rows.append(
            (
                WAYS[line["way"]],
                f"{line['edges']:,}",
                f"{line['cpu_s']:.2f}",
                f"{rate:.0f}" if rate >= 10 else f"{rate:.1f}",
                line["peak_mb"],
            )
        )
    return markdown(rows)


def main():
    made = parser(__doc__, RESULTS)
    made.add_argument("--edges", type=int, default=10_000_000)
    made.add_argument("--runs", type=int, default=3)
    made.add_argument("--memory", type=int, default=256, help="MiB")
    made.add_argument("--child", nargs=2, metavar=("WAY", "FOLDER"), help="for the script itself")
    made.when_small(edges=3000, runs=1)
    args = made.parse_args()
    if args.child is None:
        answer(args, measured, table)
        return
    name, folder = args.child
    found = child(name, Path(folder), args.edges, args.memory << 20, args.runs)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
