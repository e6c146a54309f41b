"""Issue 16, section 5, as far as one process goes: asked beside reached.

    python benchmarks/engine.py --gapbs FOLDER [--peers PYTHON,...] [--graphs ...] [--threads 1,2]
        [--apps ...] [--parts suite,peers,around,devices,start,memory] [--data FOLDER]
        [--budget SECONDS]

suite   seconds of each application by the engine, by a kernel written by hand for it, and by the
        GAP benchmark suite (C++, OpenMP; FOLDER: its source after `make`, -O3 -fopenmp): the same
        graph, sources and threads, in turns, `budget` seconds and at least three rounds each
peers   the same by graph libraries (engine_peers.py) that the Pythons of --peers have; the engine
        to the best of them. One that takes over three times the best is run once
around  a run on one device as of `evener run`, to its kernel alone, called once a superstep
devices `evener run` of a plan for two equal devices (`evener plan --k 2 --kernel pagerank`), a new
        process for each run, to the suite's best of TRIALS on two threads, in turns; `to_first`:
        to its first trial, which finds cold caches as each run of Evener does; both search from the
        same vertex; the graph is as from an edge list, without isolated vertices
start   a user's program in a new process: the first time, and the second
memory  how much a process grows by a graph and a run on it, to the bytes of the graph's CSR arrays

Results are made within what is measured; each thread has a core. Ratios are of medians over all
rounds, summed over the sources. Graphs are kept in the folder of --data. Writes a JSON line for
each to results/engine.jsonl and prints their table; what is not there is left out, with a line.
"""

import itertools
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from engine_cases import (
    APPS,
    HERE,
    NO_BOUND,
    SMALL_ARCS,
    STEPS,
    HandWritten,
    Library,
    OurEngine,
    Suite,
    asked_of_hand,
    asked_of_suite,
    found_by_us,
    suite_sources,
    timed,
)
from engine_files import arrays, written
from engine_graphs import made, part_of
from engine_peers import LIBRARIES
from records import answer, geometric_mean, markdown, parser, words

from evener.graphs.graph import Graph
from evener.io.write import write_graph
from evener.running.engine import ThreadPool
from evener.running.executing import run_on_parts

RESULTS = HERE / "results" / "engine.jsonl"
GRAPHS = HERE / "data" / "engine"
DEFAULT_GRAPHS = ["kron20", "kron22", "urand20", "delaunay22", "heatexch_outer", "BlogCatalog"]
PEER_GRAPHS = ["kron20", "urand20", "heatexch_outer", "BlogCatalog"]  # others take minutes
PARTS = ["suite", "peers", "around", "devices", "start", "memory"]
LARGE_ARCS = 50_000_000  # half of the sources
SOURCES, LEAST_ROUNDS, MOST_ROUNDS = 4, 3, 40
PEER_ROUNDS, HOPELESS = 3, 3.0  # times the best library: run once
ASKED_OF_DEVICES = {"pagerank": 1.0, "bfs": 1.3, "wcc": 1.0}
RUNS, TRIALS = 7, 5
ASKED_OF_PEERS, ASKED_AROUND, ASKED_OF_MEMORY, ASKED_START = 0.5, 1.05, 1.6, 1.0
PROGRAM = """
combine, dtype = "sum", "float32"
parameters = {{"damping": {damping}}}

def init(n):
    return 1.0 / n

def emit(value, degree):
    return value / degree if degree > 0 else 0.0

def apply(combined, n, damping):
    return (1.0 - damping) / n + damping * combined
"""


def main():
    made_ = parser(__doc__, RESULTS)
    made_.add_argument("--gapbs", type=Path, help="folder of the GAP benchmark suite, made")
    made_.add_argument("--peers", type=words, default=[sys.executable], help="Pythons to ask")
    made_.add_argument("--graphs", type=words, default=DEFAULT_GRAPHS)
    made_.add_argument("--peer-graphs", type=words, default=PEER_GRAPHS, help="for peers")
    made_.add_argument("--threads", type=words, default=["1", "2"])
    made_.add_argument("--apps", type=words, default=list(APPS))
    made_.add_argument("--parts", type=words, default=PARTS)
    made_.add_argument("--data", type=Path, default=GRAPHS, help="folder of the graphs")
    made_.add_argument("--budget", type=float, default=4.0, help="seconds for each comparison")
    made_.when_small(
        apps=["pagerank", "sssp"],
        graphs=["rmat12"],
        peer_graphs=["rmat12"],
        threads=["1"],
        budget=0.1,
    )
    answer(made_.parse_args(), measured, table)


def measured(args):
    missing = missing_of(args.gapbs)
    if missing:
        yield {"part": "suite", "skipped": missing}
        args.gapbs = None
    for graph in args.graphs:
        files = made(graph, args.data, args.gapbs)
        yield from of_graph(graph, files, args)
    if "start" in args.parts:
        yield started(made(args.graphs[0], args.data, args.gapbs)[0])


def missing_of(folder):
    """Say why the suite cannot be run; nothing if it can."""
    if folder is None:
        return "--gapbs is not given: the folder of the GAP benchmark suite, made"
    programs = ["converter", *(case.suite for case in APPS.values())]
    missing = [name for name in programs if not os.access(folder / name, os.X_OK)]
    return f"{folder} has no {', '.join(missing)}: run `make` there" if missing else ""


def of_graph(graph, files, args):
    """Yield all lines of one graph."""
    sources = sources_of(files[0], args.gapbs)
    asked = "peers" in args.parts and graph in args.peer_graphs
    libraries = libraries_for(files, args) if asked else []
    for weighted, path in enumerate(files):
        apps = [app for app in args.apps if APPS[app].is_weighted == bool(weighted)]
        part = part_of(path) if apps else None
        for threads, app in itertools.product(map(int, args.threads), apps):
            cores = sorted(os.sched_getaffinity(0))[:threads]
            with ThreadPool(threads, cores) as pool:
                shared = graph, app, part, pool, sources if APPS[app].has_source else [0]
                if "suite" in args.parts:
                    yield from against_suite(*shared, path, args)
                if libraries:
                    yield against_libraries(*shared, libraries)
                is_last = threads == int(args.threads[-1])
                if "around" in args.parts and is_last and part.out.ends.size > SMALL_ARCS:
                    yield around(*shared, args.budget)
    if "devices" in args.parts and args.gapbs is not None:
        yield from on_devices(graph, files[0], sources[0], args)
    if "memory" in args.parts:
        for app in args.apps:
            yield remembered(graph, app, files[APPS[app].is_weighted], max(args.threads))
    for library in libraries:
        library.close()


def sources_of(path, folder):
    if folder is not None:
        return suite_sources(folder, path, SOURCES)
    degrees = part_of(path).degrees
    return np.random.default_rng(7).choice(np.flatnonzero(degrees), SOURCES).tolist()


def rounds_of(runners, sources, budget):
    """Run all by turns until the budget [s] is spent; name -> (rounds, runs) seconds."""
    found = {name: [] for name in runners}
    began = time.perf_counter()
    for turn in range(MOST_ROUNDS):
        if turn >= LEAST_ROUNDS and time.perf_counter() - began > budget:
            break
        for name, runner in runners.items():
            found[name].append(runner.seconds(sources))
    return {name: np.array(rows) for name, rows in found.items()}


def median_of(rows):
    """Return the median over the rounds, summed over the sources [s]."""
    return float(np.median(rows, axis=0).sum())


def against_suite(graph, app, part, pool, sources, path, args):
    """Yield the lines of engine to suite and engine to a kernel written by hand."""
    runs = sources[:2] if part.out.ends.size > LARGE_ARCS else sources
    runs = runs if APPS[app].has_source else sources * 2
    runners = {"engine": OurEngine(app, graph, part, pool)}
    runners["hand"] = HandWritten(app, graph, part, pool)
    if args.gapbs is not None:
        runners["gapbs"] = Suite(app, graph, path, pool.threads, args.gapbs, len(runs))
    found = rounds_of(runners, runs, args.budget)
    arcs = int(part.out.ends.size)
    asked = {"gapbs": asked_of_suite(app, graph, arcs), "hand": asked_of_hand(app, arcs)}
    for other in found.keys() - {"engine"}:
        ratio = median_of(found["engine"]) / median_of(found[other])
        least = found["engine"].min(0).sum() / found[other].min(0).sum()
        yield line(
            "suite", graph, app, pool.threads, other, asked[other], ratio,
            ratio_of_least=round(float(least), 3), rounds=len(found[other]), arcs=arcs,
            engine_ms=milliseconds(found["engine"]), other_ms=milliseconds(found[other]),
        )  # fmt: skip


def milliseconds(rows):
    return round(1e3 * median_of(rows) / rows.shape[1], 3)


def line(part, graph, app, threads, against, asked, reached, **more):
    return {
        "part": part, "graph": graph, "app": app, "threads": threads, "against": against,
        "asked": asked, "reached": round(float(reached), 3), **more,
    }  # fmt: skip


def libraries_for(files, args):
    """Return the libraries that the Pythons have, once each, with the graph loaded."""
    started_ = [
        Library(python, name, *files) for python, name in itertools.product(args.peers, LIBRARIES)
    ]
    found = {library.name: library for library in started_ if library.is_there()}
    return list(found.values())


def against_libraries(graph, app, part, pool, sources, libraries):
    """Return the line of the engine to the best of the libraries."""
    ours = OurEngine(app, graph, part, pool)
    source = sources[0]
    engine = ours.engine_of(source)
    engine.advance(ours.steps)
    expected = found_by_us(app, engine.values)
    others, wrong = {}, []
    for library in libraries:
        threads = pool.threads if library.run(app, source, pool.threads) else 1
        seconds, found = library.run(app, source, threads)
        others[library] = [seconds]
        if app != "pagerank" and found != expected:
            wrong.append(library.name)
    own = []
    for _ in range(PEER_ROUNDS):
        best = min(np.median(seconds) for seconds in others.values())
        for library, seconds in others.items():
            if np.median(seconds) < HOPELESS * best:
                asked = library.run(app, source, pool.threads) or library.run(app, source, 1)
                seconds.append(asked[0])
        own += ours.seconds([source])
    medians = {library.name: float(np.median(seconds)) for library, seconds in others.items()}
    best = min(medians, key=medians.get)
    return line(
        "peers", graph, app, pool.threads, best, ASKED_OF_PEERS, np.median(own) / medians[best],
        engine_ms=round(1e3 * float(np.median(own)), 3), wrong=wrong,
        others_ms={name: round(1e3 * seconds, 3) for name, seconds in medians.items()},
    )  # fmt: skip


def around(graph, app, part, pool, sources, budget):
    """Return the line of a whole run on one device to its kernel, called once a superstep."""
    ours = OurEngine(app, graph, part, pool)
    source = sources[0]
    given = {**ours.given, **({"source": source} if APPS[app].has_source else {})}
    most = STEPS.get(app, NO_BOUND)

    class Whole:
        def seconds(self, _):
            watched = {"devices": [pool.cores], "most": most, "parameters": given}
            return [run_on_parts(ours.case.program, [part], **watched).seconds]

    class Bare:
        def seconds(self, _):
            engine = ours.engine_of(source)
            engine.advance(0)
            return [timed(lambda: supersteps(engine, most))]

    found = rounds_of({"whole": Whole(), "bare": Bare()}, [source], budget / 2)
    ratio = median_of(found["whole"]) / median_of(found["bare"])
    return line(
        "around", graph, app, pool.threads, "bare kernel", ASKED_AROUND, ratio,
        engine_ms=milliseconds(found["whole"]), other_ms=milliseconds(found["bare"]),
    )  # fmt: skip


def on_devices(graph, path, source, args):
    """Yield the lines of `evener run` on two devices of one process to the suite's best trial."""
    offsets, ends, _ = arrays(path)
    degrees = np.diff(offsets.astype(np.int64))
    number = np.cumsum(degrees > 0) - 1
    xadj = np.concatenate([[0], np.cumsum(degrees[degrees > 0])])
    with tempfile.TemporaryDirectory() as folder:
        file, plan = Path(folder) / "graph.npz", Path(folder) / "graph.plan"
        same = Path(folder) / "graph.sg"
        connected = Graph(xadj, number[ends].astype(np.int32))
        write_graph(file, connected)
        written(connected, same, Path(folder) / "graph.wsg")
        evener("plan", file, "--k", 2, "--kernel", "pagerank", "-o", plan)
        for app in (app for app in args.apps if app in ASKED_OF_DEVICES):
            words_ = ["run", plan, file, "--app", app]
            suite = Suite(app, graph, same, 2, args.gapbs, TRIALS)
            if APPS[app].has_source:
                words_ += ["--source", number[source]]
                suite.command += ["-r", str(number[source])]
            evener(*words_)  # compiled
            found = []
            for _ in range(RUNS):
                own, trials = evener(*words_)["seconds"], suite.seconds([])
                found.append((own, min(trials), trials[0]))
            ours, theirs, first = np.median(found, axis=0)
            yield line(
                "devices", graph, app, 2, "gapbs's best", ASKED_OF_DEVICES[app], ours / theirs,
                engine_ms=round(1e3 * float(ours), 2), other_ms=round(1e3 * float(theirs), 2),
                worst=round(max(one / other for one, other, _ in found), 2),
                to_first=round(float(ours / first), 3),
            )  # fmt: skip


def evener(*words_):
    """Run an Evener command in a new process; return what it prints as JSON."""
    import json

    command = [sys.executable, "-m", "evener", *map(str, words_), "--json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def supersteps(engine, most):
    for _ in range(most):
        if engine.has_ended:
            break
        engine.advance(1)


def started(path):
    """Return the line of a user's program in new processes, one of which compiles it."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "mine.py"
        damping = np.random.default_rng().uniform(0.5, 0.9)  # so that no process knows it yet
        program.write_text(PROGRAM.format(damping=damping))
        first, second = (child("start", program, path) for _ in range(2))
    return line(
        "start", path.stem, "user's", 1, "1 s", ASKED_START, second["seconds"],
        first_s=round(first["seconds"], 3), first_compiled=first["compiled"],
        compiled=second["compiled"], process_s=round(second["process_s"], 3),
    )  # fmt: skip


def remembered(graph, app, path, threads):
    """Return the line of the memory of a run."""
    found = child("memory", app, path, threads)
    ratio = found["peak_bytes"] / found["csr_bytes"]
    return line("memory", graph, app, int(threads), "CSR arrays", ASKED_OF_MEMORY, ratio, **found)


def child(*asked):
    """Return what engine_child.py prints, and the seconds of the process."""
    import json

    began = time.perf_counter()
    command = [sys.executable, HERE / "engine_child.py", *map(str, asked)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout) | {"process_s": time.perf_counter() - began}


def table(lines):
    skipped = [f"Left out: {one['skipped']}." for one in lines if "skipped" in one]
    rows = [
        [one["part"], one["graph"], one["app"], one["threads"], one["against"], one["asked"],
         f"{one['reached']:.2f}", "" if one["reached"] <= one["asked"] else "missed",
         note(one)]
        for one in lines
        if "skipped" not in one
    ]  # fmt: skip
    head = ["part", "graph", "app", "threads", "against", "asked", "reached", "", "ms, or as named"]
    return "\n".join([*skipped, markdown([head, *rows])])


def summary(lines):
    """A row for each application and each rival: over all graphs, the worst in brackets."""
    groups = {}
    for one in lines:
        if "skipped" not in one and one["part"] != "start":
            against = "best library" if one["part"] == "peers" else one["against"]
            groups.setdefault((against, one["app"], one["threads"]), []).append(one)
    names = sorted({(against, app) for against, app, _ in groups})
    rows = [
        [app, against, *(mean_of(groups.get((against, app, n), [])) for n in (1, 2))]
        for against, app in names
    ]
    return markdown([["application", "against", "1 thread", "2 threads"], *rows])


def mean_of(lines):
    """Geometric mean of ratios, the worst, and in how many graphs what is asked was reached."""
    if not lines:
        return "–"
    ratios = [one["reached"] for one in lines]
    kept = sum(one["reached"] <= one["asked"] for one in lines)
    mean = geometric_mean(ratios)
    return f"{mean:.2f} ({max(ratios):.2f}), {kept} of {len(lines)}"


def note(one):
    """Return the figures behind a ratio."""
    if one["part"] == "start":
        return (
            f"second start {one['reached']:.2f} s, {one['compiled']} compiled; first "
            f"{one['first_s']:.2f} s; whole process {one['process_s']:.2f} s"
        )
    if one["part"] == "memory":
        return f"{one['peak_bytes'] / 1e6:.1f} MB to {one['csr_bytes'] / 1e6:.1f} MB"
    if one["part"] == "peers":
        others = ", ".join(f"{name} {ms:.1f}" for name, ms in sorted(one["others_ms"].items()))
        wrong = f"; another result: {', '.join(one['wrong'])}" if one["wrong"] else ""
        return f"{one['engine_ms']:.1f}; {others}{wrong}"
    least = f"; least {one['ratio_of_least']:.2f}" if "ratio_of_least" in one else ""
    return f"{one['engine_ms']:.2f} to {one['other_ms']:.2f}{least}"


if __name__ == "__main__":
    main()
