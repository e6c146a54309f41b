"""The engine against the GAP benchmark suite (C++, OpenMP): seconds of each application, ratios.

    python benchmarks/engine.py --gapbs FOLDER [--scales 16,17,18] [--threads 1,2] [--apps ...]

FOLDER: the suite's source, after `make`, which also makes the graphs: Kronecker graphs as of
Graph500, 16 edges a vertex. Both sides run the same graph and source, in turns; each allocates its
arrays within the time that is measured, and each thread has a core. Wall time: the least of all
trials. CPU time, of one thread, for busy machines: of ours the least; of the suite, which does not
print it, that of many trials without that of one, divided. Writes a JSON line per graph,
application and count of threads to results/engine.jsonl and prints their table; without the suite
a line that says so.
"""

import os
import re
import resource
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
from records import answer, markdown, parser, words

from evener.running.apps import bfs, pagerank, sssp, wcc
from evener.running.distributing import LocalArcs, LocalGraph
from evener.running.engine import Engine, ThreadPool

RESULTS = Path(__file__).parent / "results" / "engine.jsonl"
GRAPHS = Path(__file__).parent / "data" / "engine"
DEGREE, DELTA, ITERATIONS = 16, 8, 10
TRIALS, ROUNDS = 5, 3
NO_BOUND = 1 << 40
# Application: our program, the suite's, whether arcs have weights, and whether there is a source.
APPS = {
    "pagerank": (pagerank.PROGRAM, "pr", False, False),
    "bfs": (bfs.PROGRAM, "bfs", False, True),
    "wcc": (wcc.PROGRAM, "cc", False, False),
    "sssp": (sssp.PROGRAM, "sssp", True, True),
}


def main():
    made = parser(__doc__, RESULTS)
    made.add_argument("--gapbs", type=Path, help="folder of the GAP benchmark suite, made")
    made.add_argument("--scales", type=words, default=["16", "17", "18"])
    made.add_argument("--threads", type=words, default=["1", "2"])
    made.add_argument("--apps", type=words, default=list(APPS))
    made.when_small(scales=["10"], threads=["1"])
    answer(made.parse_args(), measured, table)


def measured(args):
    missing = missing_of(args.gapbs)
    if missing:
        yield {"skipped": missing}
        return
    for scale in args.scales:
        for threads in map(int, args.threads):
            cores = sorted(os.sched_getaffinity(0))[:threads]
            with ThreadPool(threads, cores) as pool:
                for app in args.apps:
                    yield compared(app, scale, pool, args.gapbs)


def missing_of(folder):
    """Say why nothing can be measured; nothing if it can."""
    if folder is None:
        return "--gapbs is not given: the folder of the GAP benchmark suite, made"
    programs = ["converter", *(row[1] for row in APPS.values())]
    missing = [name for name in programs if shutil.which(folder / name) is None]
    return f"{folder} has no {', '.join(missing)}: run `make` there" if missing else ""


def graph_file(scale, weighted, folder):
    """Return the suite's file of a graph, which it makes unless it is there."""
    path = GRAPHS / f"kron{scale}.{'wsg' if weighted else 'sg'}"
    if not path.exists():
        GRAPHS.mkdir(parents=True, exist_ok=True)
        more = ["-w"] if weighted else []
        words_ = [folder / "converter", "-g", scale, "-k", str(DEGREE), *more, "-b", path]
        subprocess.run(words_, check=True, capture_output=True)
    return path


def read(path):
    """Return a file of the suite, of an undirected graph, as the part of one device."""
    with path.open("rb") as file:
        assert file.read(1) == b"\0"
        m, n = (int(number) for number in np.fromfile(file, np.int64, 2))
        offsets = np.fromfile(file, np.int64, n + 1)
        entries = np.fromfile(file, np.uint32)
    ends, weights = entries, None
    if path.suffix == ".wsg":
        ends, weights = (np.ascontiguousarray(part) for part in entries.reshape(-1, 2).T)
        weights = weights.view(np.int32)
    assert m in (ends.size, ends.size // 2)
    arcs = LocalArcs(offsets.astype(np.uint32), ends, weights)
    return LocalGraph(
        rank=0, k=1, n_global=n, n_owned=n, n_interior=n, numbers=np.arange(n),
        ghost_starts=np.zeros(2, np.int64), degrees=np.diff(offsets), out=arcs, into=arcs,
    )  # fmt: skip


def compared(app, scale, pool, folder):
    program, name, weighted, from_source = APPS[app]
    path = graph_file(scale, weighted, folder)
    part = read(path)
    source = int(np.random.default_rng(7).choice(np.flatnonzero(part.degrees)))
    parameters = {"source": source} if from_source else {}
    most = ITERATIONS if app == "pagerank" else NO_BOUND
    options = ["-f", path, *(["-r", str(source)] if from_source else [])]
    options += {"pagerank": ["-i", str(ITERATIONS), "-t", "0"], "sssp": ["-d", str(DELTA)]}.get(
        app, []
    )
    Engine(program, part, pool, parameters).compile()
    theirs, ours = [], []
    for _ in range(ROUNDS):
        theirs.append(suite_seconds([folder / name, *options], pool.threads))
        for _ in range(TRIALS):
            wall, cpu = time.perf_counter(), time.process_time()
            engine = Engine(program, part, pool, parameters)
            engine.advance(most)
            ours.append((time.perf_counter() - wall, time.process_time() - cpu))
    wall, cpu = np.min(ours, axis=0) * 1e3
    suite_wall, suite_cpu = np.min(theirs, axis=0) * 1e3
    return {
        "graph": f"kron{scale}", "app": app, "threads": pool.threads,
        "gapbs_wall_ms": round(suite_wall, 3), "gapbs_cpu_ms": round(suite_cpu, 3),
        "engine_wall_ms": round(wall, 3), "engine_cpu_ms": round(cpu, 3),
        "wall_ratio": round(wall / suite_wall, 3),
        "cpu_ratio": round(cpu / suite_cpu, 3) if pool.threads == 1 else None,
        "supersteps": engine.supersteps, "arcs_examined": engine.edges,
        "arcs": int(part.out.ends.size),
    }  # fmt: skip


def suite_seconds(command, threads):
    """Return the least wall time of a trial, and the CPU time of one."""
    walls, cpus = zip(*(_trials(command, threads, n) for n in (1, TRIALS + 1)), strict=True)
    return min(walls), (cpus[1] - cpus[0]) / TRIALS


def _trials(command, threads, trials):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    settings = os.environ | {"OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "true"}
    words_ = [*command, "-n", str(trials)]
    found = subprocess.run(words_, env=settings, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return min(float(x) for x in re.findall(r"Trial Time:\s+([\d.]+)", found.stdout)), cpu


def table(lines):
    if "skipped" in lines[0]:
        return f"Skipped: {lines[0]['skipped']}."
    head = ["graph", "app", "threads", "GAPBS (ms)", "engine (ms)", "ratio", "of CPU times",
            "arcs examined"]  # fmt: skip
    rows = [
        [line["graph"], line["app"], line["threads"], f"{line['gapbs_wall_ms']:.2f}",
         f"{line['engine_wall_ms']:.2f}", f"{line['wall_ratio']:.2f}", line["cpu_ratio"] or "",
         f"{line['arcs_examined'] / line['arcs']:.2f} m"]
        for line in lines
    ]  # fmt: skip
    return markdown([head, *rows])


if __name__ == "__main__":
    main()
