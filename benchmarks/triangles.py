"""Triangles against the GAP benchmark suite, which relabels by degree where that pays.

    python benchmarks/triangles.py [--gapbs FOLDER] [--graphs kron18,...] [--threads 1,2]

FOLDER: the suite's source after `make`. Both count the triangles of the same graph in turns,
`--rounds` times; each makes its order and lists within the seconds, ours also counts them for each
vertex. Wall seconds: medians of all rounds. CPU seconds, for busy machines: of ours medians; of the
suite, which prints none, those of TRIALS further trials in one process. Without a folder ours
alone. Graphs: as of engine_graphs.py. Writes a JSON line per graph and count of threads to
results/triangles.jsonl, and prints their table.
"""

import os
import re
import resource
import subprocess
import time
from pathlib import Path

import numpy as np
from engine_graphs import made, part_of
from records import answer, markdown, parser, words

from evener.running.apps import triangles
from evener.running.comm import run_threads
from evener.running.engine import ThreadPool

RESULTS = Path(__file__).parent / "results" / "triangles.jsonl"
GRAPHS = Path(__file__).parent / "data" / "engine"
TRIALS = 2


def main():
    made_ = parser(__doc__, RESULTS)
    made_.add_argument("--gapbs", type=Path, help="folder of the GAP benchmark suite, made")
    made_.add_argument(
        "--graphs", type=words, default=["kron18", "kron20", "urand20", "delaunay20"]
    )
    made_.add_argument("--threads", type=words, default=["1", "2"])
    made_.add_argument("--data", type=Path, default=GRAPHS, help="folder of the graphs")
    made_.add_argument("--rounds", type=int, default=3)
    made_.when_small(graphs=["rmat10"], threads=["1"], rounds=1)
    answer(made_.parse_args(), measured, table)


def measured(args):
    for graph in args.graphs:
        path = made(graph, args.data, args.gapbs)[0]
        part = part_of(path)
        for threads in map(int, args.threads):
            cores = sorted(os.sched_getaffinity(0))[:threads]
            with ThreadPool(threads, cores) as pool:
                yield {"graph": graph, **compared(part, path, pool, args)}


def compared(part, path, pool, args):
    ours, theirs, counts = [], [], set()
    counted(part, pool)  # compiles
    for _ in range(args.rounds):
        *seconds, found = counted(part, pool)
        ours.append(seconds)
        counts.add(found)
        if args.gapbs is not None:
            *seconds, found = of_suite(args.gapbs / "tc", path, pool.threads)
            theirs.append(seconds)
            counts.add(found)
    assert len(counts) == 1, counts
    wall, cpu = np.median(ours, axis=0)
    line = {
        "threads": pool.threads, "vertices": part.n_global, "arcs": int(part.out.ends.size),
        "triangles": counts.pop(), "ours_s": round(wall, 4), "ours_cpu_s": round(cpu, 4),
    }  # fmt: skip
    if theirs:
        suite_wall, suite_cpu = np.median(theirs, axis=0)
        line |= {
            "gapbs_s": round(suite_wall, 4), "gapbs_cpu_s": round(suite_cpu, 4),
            "ratio": round(wall / suite_wall, 3), "cpu_ratio": round(cpu / suite_cpu, 3),
        }  # fmt: skip
    return line


def counted(part, pool):
    """Return wall and CPU seconds of a count, and the triangles of the graph."""
    began = time.perf_counter(), time.process_time()
    found = run_threads(1, lambda comm: triangles.count(comm, part, pool))[0]
    seconds = time.perf_counter() - began[0], time.process_time() - began[1]
    return *seconds, triangles.total(found.values)


def of_suite(program, path, threads):
    """Return the median of the suite's wall seconds, its CPU seconds, and its triangles."""
    (_, cpu_of_one, _), (walls, cpu, found) = (trials(program, path, threads, n)
                                              for n in (1, TRIALS + 1))  # fmt: skip
    return float(np.median(walls)), (cpu - cpu_of_one) / TRIALS, found


def trials(program, path, threads, count):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    settings = os.environ | {
        "OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "true", "GOMP_SPINCOUNT": "10000",
    }  # fmt: skip
    words_ = [program, "-f", path, "-n", str(count), "-a"]
    said = subprocess.run(words_, env=settings, capture_output=True, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    walls = [float(found) for found in re.findall(r"Trial Time:\s+([\d.]+)", said)]
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return walls, cpu, int(re.findall(r"(\d+) triangles", said)[0])


def table(lines):
    head = ["graph", "threads", "triangles", "GAPBS (s)", "ours (s)", "ratio", "of CPU times"]
    rows = [
        [line["graph"], line["threads"], f"{line['triangles']:,}", line.get("gapbs_s", ""),
         line["ours_s"], line.get("ratio", ""), line.get("cpu_ratio", "")]
        for line in lines
    ]  # fmt: skip
    return markdown([head, *rows])


if __name__ == "__main__":
    main()
