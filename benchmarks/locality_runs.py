"""Runs with and without --locality: CPU seconds of all threads, the search for an order included.

    python benchmarks/locality_runs.py [--runs shuffled-delaunay18:spmv:1500] [--rounds 3]

A run: a graph of locality.py, an app, supersteps. One device of one thread, bound to a core that
the search of `auto` may use as well, and no other: equal cores. The three ways take turns, short
runs for more rounds. cpu: median seconds of the run, without dividing the graph, which is the same
for all; off_by_...: medians of ratios within a round. off_by_on_alone: the search of `on` not
counted (Figures 11 and 12 of [SPAC]). products: seconds of the products alone, of the median round
(Table 4 for cg). after: superstep after which `auto` changed the order in the last round;
break_even as it was told. Writes a JSON line a run to results/locality_runs.jsonl.
"""

import os
import time
from pathlib import Path

import numpy as np
from locality import SEED, graph_of, shuffled
from records import answer, markdown, parser, words
from spmv import symmetric

from evener.plans.partition import Partition
from evener.running.apps import laplacian_kernels, rows_kernels
from evener.running.apps.registry import APPS
from evener.running.distributing import distribute
from evener.running.engine.pool import ThreadPool
from evener.running.executing import run_on_parts
from evener.running.on_device import RunWatch, wanted_arcs

RESULTS = Path(__file__).parent / "results" / "locality_runs.jsonl"
RUNS = [
    f"{name}:spmv:{steps}"
    for name in ("delaunay18", "shuffled-delaunay18", "delaunay14", "shuffled-delaunay14")
    for steps in (5, 20, 100)
]
RUNS += ["delaunay18:spmv:300", "delaunay18:cg:300", "shuffled-delaunay18:spmv:1500",
         "shuffled-delaunay18:cg:1000", "shuffled-delaunay20:spmv:100",
         "shuffled-delaunay20:cg:300", "shuffled-rmat18:spmv:200"]  # fmt: skip
NEVER = 1e-300  # tolerance of cg, so that each run does as many supersteps
MULTIPLY = rows_kernels.multiply, laplacian_kernels.multiply
SECONDS, MOST_ROUNDS = 2.0, 101  # of `off` in all, and rounds at most, where runs are short


class TimedPool(ThreadPool):
    """A pool that adds up the CPU seconds of products."""

    products = 0.0

    def run(self, kernel, *arguments):
        began = time.thread_time()
        super().run(kernel, *arguments)
        if kernel in MULTIPLY:
            TimedPool.products += time.thread_time() - began


def main():
    made = parser(__doc__, RESULTS)
    made.add_argument("--runs", type=words, default=RUNS)
    made.add_argument("--rounds", type=int, default=3)
    made.when_small(runs=["shuffled-delaunay10:cg:20"], rounds=1)
    answer(made.parse_args(), measured, table)


def measured(args):
    from evener.running import executing

    executing.ThreadPool = TimedPool
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[-1:])
    for run in args.runs:
        name, app, steps = run.split(":")
        base = name.removeprefix("shuffled-")
        graph = graph_of(base) if base == name else shuffled(graph_of(base))
        weights = np.random.default_rng(SEED).random(graph.adjncy.size)
        yield {"graph": name, "app": app, "supersteps": int(steps)} | compared(
            graph.with_(adjwgt=symmetric(graph, weights)), app, int(steps), args.rounds
        )


def compared(graph, app, steps, rounds):
    program = APPS[app].program
    given = {"devices": [sorted(os.sched_getaffinity(0))], "most": steps}
    if app == "cg":
        given["parameters"] = {"tolerance": NEVER}
    partition = Partition(np.zeros(graph.n, np.int32), 1)
    parts = distribute(graph, partition, want=wanted_arcs(program))
    seconds = {how: [] for how in ("off", "auto", "on")}
    products, searches, found = {how: [] for how in seconds}, [], {}
    turn, more = 0, rounds
    while turn < more:
        for how in (*seconds, *seconds)[turn % 3 : turn % 3 + 3]:
            TimedPool.products, began = 0.0, time.process_time()
            found[how] = run_on_parts(program, parts, watch=RunWatch(locality=how), **given)
            spent = time.process_time() - began
            seconds[how].append(spent)
            products[how].append(TimedPool.products)
        searches.append(found["on"].reorderings[0].seconds)
        turn += 1
        if turn == 2 < rounds:  # kernels have been brought from files in the first
            more = min(max(int(SECONDS / seconds["off"][1]), rounds), MOST_ROUNDS)
    values = found["off"].values
    for how in ("auto", "on"):
        assert np.allclose(found[how].values, values, rtol=1e-6, atol=1e-9 * np.abs(values).max())
    off, auto, on = (np.array(seconds[how]) for how in ("off", "auto", "on"))
    told = found["auto"].reorderings[0]
    paid = told.step is not None and told.after < told.before
    return {
        "rounds": turn,
        **{f"{how}_cpu": round(float(np.median(one)), 4) for how, one in seconds.items()},
        **{f"{how}_products": round(float(np.median(one)), 4) for how, one in products.items()},
        "off_by_auto": ratio(off / auto), "off_by_on": ratio(off / on),
        "off_by_on_alone": ratio(off / (on - np.array(searches))),
        "after": told.step, "search": round(told.seconds, 4),
        "break_even": round(told.break_even, 1) if paid else None,
    }  # fmt: skip


def ratio(ratios):
    return round(float(np.median(ratios)), 3)


def table(lines):
    head = ["graph", "app", "supersteps", "rounds", "off (CPU s)", "off / auto", "off / on",
            "off / on, search not counted", "products: off (CPU s)", "auto", "on",
            "auto changed after", "search (CPU s)", "break-even (supersteps)"]  # fmt: skip
    rows = [
        [line["graph"], line["app"], line["supersteps"], line["rounds"], line["off_cpu"],
         line["off_by_auto"], line["off_by_on"], line["off_by_on_alone"], line["off_products"],
         line["auto_products"], line["on_products"], or_none(line["after"]), line["search"],
         or_none(line["break_even"])]
        for line in lines
    ]  # fmt: skip
    return markdown([head, *rows])


def or_none(number):
    return "–" if number is None else number


if __name__ == "__main__":
    main()
