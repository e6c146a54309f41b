"""Graphs on MPI ranks: cuts, CPU seconds, memory and bytes sent, beside the whole in memory.

    python benchmarks/larger_ranks.py [--parts delaunay,rmat,scotch]
    python benchmarks/larger_ranks.py --table     # what the result file says

Each rank reads a range of rows of a binary CSR file of `larger_files.py`: a Delaunay graph along a
Hilbert curve or numbered at random (slices of random vertices), or an R-MAT graph; 96 blocks, 12 of
them 16 times as large, limits 3 % both ways. For 1, 2, 4 and 8 ranks under mpiexec: the cut, CPU
seconds and peak memory of each rank, with reading and what it checks counted apart, and bytes sent
by all ranks. scotch: PT-Scotch's dgpart (Debian's ptscotch, its own mpiexec) for 64 equal blocks of
a graph of 2^20 vertices, on 4 ranks, default and quality strategies, beside ours on as many.

Ranks share two cores here, so that CPU seconds count and wall seconds do not. Lines that the result
file has are not measured again.
"""

import json
import resource
import shutil
import subprocess
import sys
import time
import zlib
from functools import partial
from pathlib import Path

import larger_files as files
import larger_methods as methods
import larger_tables as tables
import numpy as np
from larger import DATA, about, measure
from records import alone, answer_more, parser, words
from wall_clock.launching import MPIEXEC

from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import rmat
from evener.planning.plan_file import peak_bytes
from evener.running.comm import run_threads
from evener.sliced.distributed import DistributedGraph
from evener.sliced.files import FileGraph
from evener.sliced.gathering import gathered

RESULTS = Path(__file__).parent / "results" / "larger_ranks.jsonl"
KINDS = [f"{order}-{coords}" for order in ("hilbert", "random") for coords in files.COORDS]
OPEN_MPI = ("/usr/bin/mpiexec", "--allow-run-as-root", "--oversubscribe")
SCOTCH_RANKS = 4
STRATEGIES = ("default", "q")  # q: quality


def main():
    if sys.argv[1:2] == ["--rank"]:
        return be_rank(*sys.argv[2:])
    return answer_more(arguments(), partial(measure, parts=PARTS), table)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--parts", type=words, default=list(PARTS))
    made.add_argument("--methods", type=words, default=[""], help="what their names begin with")
    made.add_argument("--kinds", type=words, default=KINDS, help="of Delaunay graphs")
    made.add_argument("--delaunay", default="22-31", help="power and seed")
    made.add_argument("--scotch", default="20-41", help="power and seed")
    made.add_argument("--rmat", type=words, default=["18-51", "20-51"])
    made.add_argument("--ranks", type=words, default=["1", "2", "4", "8"])
    made.add_argument("--data", type=Path, default=DATA, help="where graphs are kept")
    made.when_small(delaunay="15-1", scotch="15-1", rmat=["12-1"], ranks=["1", "2"],
                    data=DATA / "small")  # fmt: skip
    return made.parse_args()


def delaunay_cells(args):
    kinds = [tuple(kind.split("-")) for kind in args.kinds]
    paths = files.delaunay_files(args.data, *map(int, args.delaunay.split("-")), kinds)
    for (order, coords), path in paths.items():
        cell = partial(about, "delaunay", f"delaunay{args.delaunay}", order, coords, "topo")
        yield cell("memory"), in_memory(path, "topo", coords == "coords")
        yield from on_all(args, cell, path, "clusters")


def rmat_cells(args):
    for name in args.rmat:
        path = files.rmat_file(args.data, *map(int, name.split("-")))
        cell = partial(about, "rmat", f"rmat{name}", "generated", "bare", "topo")
        yield cell("memory"), in_memory(path, "topo", False)
        yield from on_all(args, cell, path, "uneven")


def in_memory(path, targets, with_coords):
    return partial(alone, methods.in_memory, path, targets, with_coords)


def on_all(args, cell, path, way):
    for ranks in args.ranks:
        yield cell(f"ranks={ranks}"), partial(on_ranks, path, cell("")["targets"], way, ranks)


def on_ranks(path, targets, way, ranks):
    """What ranks find, each a process of its own."""
    command = [MPIEXEC, "-n", str(ranks), sys.executable, __file__, "--rank", str(path), targets]
    done = subprocess.run([*command, way], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def be_rank(path, targets, way):
    """Divide as a rank; rank 0 prints what `on_ranks` returns."""
    from mpi4py import MPI

    warm(way)
    comm = MPI.COMM_WORLD
    base, began = peak_bytes(), time.process_time()
    graph = DistributedGraph.from_file(comm, path)
    reading, read_bytes = time.process_time() - began, graph.sent
    limits = methods.contract_of(targets, graph.n)
    began = time.process_time()
    part = methods.WAYS[way](graph, limits)
    cpu, beyond = time.process_time() - began, (peak_bytes() - base) / 2**20
    found = graph.comm.allgather((reading, cpu, beyond, read_bytes, graph.sent - read_bytes))
    whole = gathered(graph.comm, graph.back(part))
    if graph.comm.rank == 0:
        print(json.dumps(told(path, limits, whole, np.array(found))))


def warm(way):
    """Load kernels, on threads that play ranks."""
    small = grid([60, 60]) if way == "clusters" else rmat(10, 7)

    def work(comm):
        first, last = (small.n * (comm.rank + i) // comm.size for i in (0, 1))
        rows, points = slice(small.xadj[first], small.xadj[last]), small.coords
        graph = DistributedGraph.from_local(
            comm, small.xadj[first : last + 1] - small.xadj[first], small.adjncy[rows],
            coords=None if points is None else points[first:last],
        )  # fmt: skip
        methods.WAYS[way](graph, methods.contract_of("equal", small.n))

    for ranks in (1, 2):
        run_threads(ranks, work)


def told(path, limits, part, found):
    reading, cpu, beyond, read_bytes, sent = found.T
    line = methods.figures(path, part, limits, 0.0, (0, 0))
    line |= {"cpu_s": [round(one, 2) for one in cpu.tolist()]}
    line |= {"read_s": [round(one, 2) for one in reading.tolist()]}
    line |= {"beyond_MB": [round(one) for one in beyond.tolist()]}
    line |= {"sent_B": round(sent.sum()), "read_sent_B": round(read_bytes.sum()), "n": part.size}
    return line | {"blocks": zlib.crc32(part.tobytes())}


def scotch_cells(args):
    power, seed = map(int, args.scotch.split("-"))
    paths = files.delaunay_files(args.data, power, seed, [("hilbert", "bare")])
    (path,) = paths.values()
    cell = partial(about, "scotch", f"delaunay{args.scotch}", "hilbert", "bare", "equal")
    yield cell("memory"), in_memory(path, "equal", False)
    yield (
        cell(f"ranks={SCOTCH_RANKS}"),
        partial(on_ranks, path, "equal", "clusters", SCOTCH_RANKS),
    )
    for strategy in STRATEGIES if shutil.which("dgpart") else ():
        yield cell(f"pt-scotch {strategy}"), partial(pt_scotch, path, "equal", strategy)


def pt_scotch(path, targets, strategy):
    """PT-Scotch's blocks; CPU seconds of all ranks, reading counted, as it is one program."""
    text, blocks = path.with_suffix(".grf"), path.with_suffix(".map")
    with FileGraph.at(path) as graph:
        limits = methods.contract_of(targets, graph.n)
        write_scotch(text, graph)
    chosen = [] if strategy == "default" else [f"-c{strategy}"]
    command = [*OPEN_MPI, "-n", str(SCOTCH_RANKS), "dgpart", str(limits.k), str(text), str(blocks),
               f"-b{methods.EPSILON}", *chosen]  # fmt: skip
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    pairs = np.loadtxt(blocks, dtype=np.int64, skiprows=1)
    part = np.empty(len(pairs), np.int32)
    part[pairs[:, 0]] = pairs[:, 1]
    text.unlink()
    blocks.unlink()
    found = methods.figures(path, part, limits, seconds, (0, 0))
    return {name: value for name, value in found.items() if not name.endswith("MB")}


def write_scotch(path, graph):
    """Scotch's text: vertices, entries; then a line of degree and neighbours for each vertex."""
    with path.open("w") as file:
        file.write(f"0\n{graph.n} {graph.arcs}\n0 000\n")
        for i in graph.own_slices:
            rows = graph.rows(i)
            for own in np.split(rows.adjncy, rows.xadj[1:-1]):
                file.write(f"{own.size} {' '.join(map(str, own.tolist()))}\n")


PARTS = {"delaunay": delaunay_cells, "rmat": rmat_cells, "scotch": scotch_cells}


def table(lines):
    return tables.of_ranks(lines)


if __name__ == "__main__":
    sys.exit(main())
