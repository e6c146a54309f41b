"""Peak memory and seconds from a graph's file to the parts of all devices, read whole or in pieces.

    python benchmarks/distributing_files.py [--edges 20_000_000] [--devices 8] [--formats graph,npz]

A triangulated grid in stripes of equal arcs and an R-MAT graph in runs of equal arcs. Ways: `whole`
reads the file and distributes; `rank` is what a rank does that needs the file whole: reads it and
makes its own parts; `ranks` are four ranks of MPI that read it together; `files` and `out-of-core`
write the parts to a folder, from memory and without the graph in it. Each way is a process of its
own: the largest of its ranks' peaks (VmHWM, less that after imports), the wall seconds of the
slowest, the CPU seconds of all. A line of JSON each to results/distributing_files.jsonl.
"""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from distributing import SEED, stripes
from reading import triangulated_grid
from records import answer, markdown, parser, words

import evener as ev
from evener.graphs.generating.random_graphs import rmat
from evener.io.streaming import open_stream
from evener.plans.partition import Partition
from evener.running.comm import run_threads
from evener.running.distributing import distribute, local_graph
from evener.running.out_of_core import distribute_file
from evener.running.slicing import read_parts

RESULTS = Path(__file__).parent / "results" / "distributing_files.jsonl"
RANKS = 4
WAYS = ("whole", "rank", "ranks", "files", "out-of-core")
BESIDE = Path(sys.executable).parent / "mpiexec"
MPIEXEC = str(BESIDE) if BESIDE.exists() else shutil.which("mpiexec")


GRAPHS = {
    "grid": triangulated_grid,
    "R-MAT": lambda edges: rmat(max(round(np.log2(edges / 16)), 4), SEED),
}


def measured(args):
    """Yield a line for each graph, format and way."""
    for name in args.graphs:
        graph = GRAPHS[name](args.edges)
        partition = stripes(graph, np.ones(args.devices))
        with TemporaryDirectory(dir=args.folder) as folder:
            part = Path(folder) / "part.npy"
            np.save(part, partition.part)
            for suffix in args.formats:
                file = Path(folder) / f"g.{suffix}"
                ev.write_graph(file, graph)
                size = round(file.stat().st_size / 1e6, 1)
                facts = {"graph": name, "n": graph.n, "m": graph.m, "k": args.devices}
                facts |= {"format": suffix, "file_mb": size}
                for way in args.ways:
                    rounds = [child(way, file, part, args.devices) for _ in range(args.runs)]
                    yield (
                        facts
                        | {"way": way}
                        | dict(
                            zip(
                                ("s", "cpu_s", "peak_mb"),
                                np.min(rounds, axis=0).tolist(),
                                strict=True,
                            )
                        )
                    )


def child(way, file, part, k):
    """Wall seconds, CPU seconds and peak memory [MB] of a way, in processes of its own."""
    start = [MPIEXEC, "-n", str(RANKS)] if way == "ranks" else []
    command = [*start, sys.executable, __file__, "--child", way, str(file), str(part), str(k)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def work_of(way, file, partition, comm):
    """What a child does once."""
    parts = file.parent / "parts"
    if way == "whole":
        return distribute(ev.read(file).graph, partition)
    if way == "rank":
        own = range(-(-partition.k // RANKS))
        graph = ev.read(file).graph
        return [local_graph(graph, partition, device) for device in own]
    if way == "ranks":
        return read_parts(open_stream(file, partition.n, {}), partition, comm)
    if way == "files":
        whole = distribute(ev.read(file).graph, partition)
        return ev.write_distributed(parts, whole, force=parts.exists())
    stream = open_stream(file, partition.n, {})
    return distribute_file(parts, stream, partition, force=parts.exists())


def be_child(way, file, part, k):
    """Measure once, and print what `child` reads."""
    file, comm = Path(file), None
    if way == "ranks":
        from evener.running.mpi_comm import MpiComm

        comm = MpiComm()
    load_code(way, file)
    partition = Partition(np.load(part), int(k))
    if comm is not None:
        comm.barrier()
    before, began, spent = peak(), time.perf_counter(), time.process_time()
    kept = work_of(way, file, partition, comm)
    found = time.perf_counter() - began, time.process_time() - spent, peak() - before
    del kept
    every = [found] if comm is None else comm.allgather(found)
    if comm is None or comm.rank == 0:
        seconds, cpu, peaks = zip(*every, strict=True)
        print(json.dumps([round(max(seconds), 3), round(sum(cpu), 3), round(max(peaks), 1)]))


def load_code(way, file):
    """Load compiled code by a small graph of the same format."""
    with TemporaryDirectory() as folder:
        small = Path(folder) / f"small{file.suffix}"
        graph = triangulated_grid(200)
        ev.write_graph(small, graph)
        partition = stripes(graph, np.ones(RANKS))
        run_threads(1, lambda comm: work_of(way, small, partition, comm))


def peak():
    """Peak memory of this process so far [MB].

    Not ru_maxrss, which begins at that of the process that started this one.
    """
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6


def table(lines):
    """A row for each graph, format and way; ratios are to the whole graph in memory."""
    rows = [("graph", "edges", "file", "way", "peak memory", "to `whole`", "wall", "CPU")]
    for line in lines:
        same = [one for one in lines if all(one[x] == line[x] for x in ("graph", "format"))]
        whole = sum(one["peak_mb"] for one in same if one["way"] == "whole")
        ratio = f"{line['peak_mb'] / whole:.2f}" if whole else ""
        file = f"{line['file_mb']:,.0f} MB `.{line['format']}`"
        spent = [f"{line[key]:.2f} s" for key in ("s", "cpu_s")]
        held = f"{line['peak_mb']:,.0f} MB"
        rows.append((line["graph"], f"{line['m']:,}", file, line["way"], held, ratio, *spent))
    return markdown(rows)


def main():
    if sys.argv[1:2] == ["--child"]:
        be_child(*sys.argv[2:])
        return
    made = parser(__doc__, RESULTS)
    made.add_argument("--edges", type=int, default=20_000_000)
    made.add_argument("--devices", type=int, default=8)
    made.add_argument("--runs", type=int, default=3)
    made.add_argument("--formats", type=words, default=["graph", "npz"])
    made.add_argument("--folder", help="where files are written (default: for temporary files)")
    made.add_argument("--graphs", type=words, default=list(GRAPHS))
    made.add_argument("--ways", type=words, default=list(WAYS))
    small = {"formats": ["graph"], "graphs": ["grid"], "ways": ["ranks", "out-of-core"]}
    made.when_small(edges=10_000, runs=1, **small)
    answer(made.parse_args(), measured, table)


if __name__ == "__main__":
    main()
