"""The applications of benchmarks/engine.py, and who runs them: engine, kernels by hand, others.

Each runner is made for a graph, an application and a number of threads. seconds(sources) returns
the wall seconds of a run from each source; arrays for results are made within them.
"""

import json
import math
import os
import re
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

import engine_hand_kernels as hand
import numpy as np
from engine_graphs import delta_of, is_mesh

from evener.running.apps import bfs, pagerank, sssp, wcc
from evener.running.engine import Engine, VertexProgram
from evener.running.engine.atomics_kernels import SYNC_SIZE

HERE = Path(__file__).parent
NO_BOUND = 1 << 40
STEPS = {"pagerank": 10}  # supersteps; others end by themselves
SMALL_ARCS = 2_000_000  # issue 16: "small graphs" have less than 1 million edges


class EngineCase(NamedTuple):
    """An application: our program, the suite's, and the most of the suite's time asked for."""

    program: VertexProgram
    suite: str
    is_weighted: bool
    has_source: bool
    asked: float


APPS = {
    "pagerank": EngineCase(pagerank.PROGRAM, "pr", False, False, 1.0),
    "bfs": EngineCase(bfs.PROGRAM, "bfs", False, True, 1.0),
    "wcc": EngineCase(wcc.PROGRAM, "cc", False, False, 0.8),
    "sssp": EngineCase(sssp.PROGRAM, "sssp", True, True, 1.15),
}
ASKED_ON_SMALL, ASKED_SSSP_ON_MESHES = 1.1, 1.25
ASKED_OF_HAND, ASKED_OF_HAND_SMALL_BFS = 1.1, 1.2


def asked_of_suite(app, graph, arcs):
    """Return the most of the suite's time that issue 16 asks for."""
    if app == "sssp":
        return ASKED_SSSP_ON_MESHES if is_mesh(graph) else APPS[app].asked
    return ASKED_ON_SMALL if arcs < SMALL_ARCS else APPS[app].asked


def asked_of_hand(app, arcs):
    is_small = app == "bfs" and arcs < SMALL_ARCS
    return ASKED_OF_HAND_SMALL_BFS if is_small else ASKED_OF_HAND


def timed(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


class OurEngine:
    """The program, by the engine."""

    def __init__(self, app, graph, part, pool):
        self.case, self.part, self.pool = APPS[app], part, pool
        self.steps = STEPS.get(app, NO_BOUND)
        self.given = {"delta": delta_of(graph)} if app == "sssp" else {}
        self.engine_of(0).compile()

    def engine_of(self, source):
        given = {"source": int(source), **self.given} if self.case.has_source else {}
        return Engine(self.case.program, self.part, self.pool, given)

    def seconds(self, sources):
        with self.pool.bound():  # as threads of the suite are bound when they start
            return [timed(lambda s=s: self.engine_of(s).advance(self.steps)) for s in sources]


class HandWritten:
    """A kernel written by hand for the application."""

    def __init__(self, app, graph, part, pool):
        self.run = getattr(self, app)
        self.pool, self.delta = pool, np.int32(delta_of(graph))
        self.offsets, self.ends, weights = part.out
        self.weights = weights if weights is not None else np.empty(0, np.int32)
        self.n = part.n_owned
        self.run(int(np.argmax(part.degrees)))  # compiles

    def seconds(self, sources):
        with self.pool.bound():
            return [timed(lambda s=s: self.run(int(s))) for s in sources]

    def _kernel(self, kernel, *rest):
        self.pool.run(kernel, np.zeros(SYNC_SIZE, np.int64), self.offsets, self.ends, *rest)

    def pagerank(self, _):
        ranks, now, then = (np.empty(self.n, np.float32) for _ in range(3))
        self._kernel(hand.hand_pagerank, ranks, now, then, STEPS["pagerank"])
        return ranks

    def bfs(self, source):
        parents = np.empty(self.n, np.int32)
        queues = np.empty((2, self.n + 256), np.uint32)
        bitmaps = np.empty((2, (self.n + 63) // 64), np.uint64)
        buffers = np.empty(256 * self.pool.threads, np.uint32)
        self._kernel(hand.hand_bfs, source, parents, queues, bitmaps, buffers)
        return parents

    def wcc(self, _):
        parents = np.empty(self.n, np.uint32)
        self._kernel(hand.hand_wcc, parents, np.empty(1024, np.uint32), np.empty(1, np.uint32))
        return parents

    def sssp(self, source):
        threads = self.pool.threads
        distances = np.empty(self.n, np.int32)
        chunks = self.ends.size // 256 + 2 * 256
        bins, pools = np.empty((threads, 1026), np.int64), np.empty((threads, chunks * 256), "u4")
        work = np.empty((threads, chunks), np.int64), np.empty((threads, 1000), np.uint32)
        work = (*work, np.empty(threads * chunks * 256, np.uint32))
        given = self.weights, source, self.delta, distances, bins, pools, work
        self._kernel(hand.hand_sssp, *given)
        return distances


class Suite:
    """A program of the GAP benchmark suite; it draws sources itself, `count` of them."""

    def __init__(self, app, graph, path, threads, folder, trials):
        case = APPS[app]
        self.command = [folder / case.suite, "-f", path, "-n", str(trials)]
        if app == "pagerank":
            self.command += ["-i", str(STEPS[app]), "-t", "0"]
        if app == "sssp":
            self.command += ["-d", str(delta_of(graph))]
        # Threads that wait turn to the system after a while where cores are shared; each has one.
        self.settings = os.environ | {
            "OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "true", "GOMP_SPINCOUNT": "10000",
        }  # fmt: skip

    def seconds(self, _):
        done = subprocess.run(
            self.command, env=self.settings, capture_output=True, text=True, check=True
        )
        return [float(found) for found in re.findall(r"Trial Time:\s+([\d.]+)", done.stdout)]


def suite_sources(folder, path, count):
    """Return the sources that the suite's programs draw for a graph, in their order."""
    command = [folder / "bfs", "-f", path, "-n", str(count), "-l"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [int(found) for found in re.findall(r"Source:\s+(\d+)", done.stdout)]


class Library:
    """A graph library in a process of its own, which loads one graph."""

    def __init__(self, python, library, plain, weighted):
        words = [python, HERE / "engine_peers.py", library, plain, weighted]
        bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self.child = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, env=bare,
        )  # fmt: skip
        self.name = library

    def is_there(self):
        """Wait until the graph is loaded; False if this Python does not have the library."""
        return "version" in json.loads(self.child.stdout.readline())

    def run(self, app, source, threads):
        """Return the seconds of a run and what it found; None where it cannot use the threads.

        A library that has ended by an error took infinitely long.
        """
        if self.child.poll() is not None:
            return math.inf, math.nan
        question = {"app": app, "source": int(source), "threads": threads}
        self.child.stdin.write(json.dumps(question) + "\n")
        self.child.stdin.flush()
        said = self.child.stdout.readline()
        if not said:
            self.child.wait()
            return math.inf, math.nan
        answer = json.loads(said)
        return (answer["seconds"], answer["found"]) if answer else None

    def close(self):
        self.child.stdin.close()
        self.child.wait()


def found_by_us(app, values):
    """Return the number by which a result is compared to those of other libraries."""
    if app == "pagerank":
        return float(values.max())
    if app == "wcc":
        return float(np.count_nonzero(values == np.arange(values.size)))
    return float(np.count_nonzero(values != np.iinfo(values.dtype).max))
