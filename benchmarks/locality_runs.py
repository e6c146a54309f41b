"""Runs with and without --locality: CPU seconds of all threads, the search for an order included.

    python benchmarks/locality_runs.py [--runs shuffled-delaunay18:spmv:1500] [--rounds 3]

A run: a graph of locality.py, an app, supersteps. One device of one thread, bound to a core that
the search of `auto` may use as well, and no other: equal cores. The three ways take turns. cpu:
median seconds of run_program, distributing included. after: superstep after which `auto` changed
the order in the last round; break_even as it was told. Writes a JSON line a run to
results/locality_runs.jsonl.
"""

import os
import time
from pathlib import Path

import numpy as np
from locality import SEED, graph_of, shuffled
from records import answer, markdown, parser, words
from spmv import symmetric

from evener.plans.partition import Partition
from evener.running.apps.registry import APPS
from evener.running.executing import RunWatch, run_program

RESULTS = Path(__file__).parent / "results" / "locality_runs.jsonl"
RUNS = ["delaunay18:spmv:300", "delaunay18:cg:300", "shuffled-delaunay18:spmv:1500",
        "shuffled-delaunay18:cg:1000", "shuffled-delaunay20:spmv:100",
        "shuffled-delaunay20:cg:300", "shuffled-rmat18:spmv:200"]  # fmt: skip
NEVER = 1e-300  # tolerance of cg, so that each run does as many supersteps


def main():
    made = parser(__doc__, RESULTS)
    made.add_argument("--runs", type=words, default=RUNS)
    made.add_argument("--rounds", type=int, default=3)
    made.when_small(runs=["shuffled-delaunay10:cg:20"], rounds=1)
    answer(made.parse_args(), measured, table)


def measured(args):
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[:1])
    for run in args.runs:
        name, app, steps = run.split(":")
        base = name.removeprefix("shuffled-")
        graph = graph_of(base) if base == name else shuffled(graph_of(base))
        weights = np.random.default_rng(SEED).random(graph.adjncy.size)
        yield {"graph": name, "app": app, "supersteps": int(steps)} | compared(
            graph.with_(adjwgt=symmetric(graph, weights)), app, int(steps), args.rounds
        )


def compared(graph, app, steps, rounds):
    partition = Partition(np.zeros(graph.n, np.int32), 1)
    given = {"devices": [sorted(os.sched_getaffinity(0))], "most": steps}
    if app == "cg":
        given["parameters"] = {"tolerance": NEVER}
    seconds = {how: [] for how in ("off", "auto", "on")}
    found = {}
    for _ in range(rounds):
        for how, spent in seconds.items():
            began = time.process_time()
            watch = RunWatch(locality=how)
            found[how] = run_program(APPS[app].program, graph, partition, watch=watch, **given)
            spent.append(time.process_time() - began)
    values = found["off"].values
    for how in ("auto", "on"):
        assert np.allclose(found[how].values, values, rtol=1e-6, atol=1e-9 * np.abs(values).max())
    cpu = {how: float(np.median(spent)) for how, spent in seconds.items()}
    told = found["auto"].reorderings[0]
    paid = told.step is not None and told.after < told.before
    return {
        **{f"{how}_cpu": round(one, 3) for how, one in cpu.items()},
        "off_by_auto": round(cpu["off"] / cpu["auto"], 3),
        "off_by_on": round(cpu["off"] / cpu["on"], 3),
        "after": told.step, "search": round(told.seconds, 4),
        "break_even": round(told.break_even, 1) if paid else None,
    }  # fmt: skip


def table(lines):
    head = ["graph", "app", "supersteps", "off (CPU s)", "off / auto", "off / on",
            "auto changed after", "search (CPU s)", "break-even (supersteps)"]  # fmt: skip
    rows = [
        [line["graph"], line["app"], line["supersteps"], line["off_cpu"], line["off_by_auto"],
         line["off_by_on"], line["after"], line["search"], line["break_even"]]
        for line in lines
    ]  # fmt: skip
    return markdown([head, *rows])


if __name__ == "__main__":
    main()
