"""Stream programs on two cores: the measured period beside the predicted one.

    python benchmarks/streams_run.py             # on quiet cores; under a minute

Each program's filters are measured one after the other, while the other core does so as well, and
what bytes between two cores take; then it is planned for two cores, and run: what is predicted
knows nothing of the run. Runs are repeated: the shortest period counts, as other programs only ever
lengthen it, and with it the CPU seconds of the busiest core in an iteration, which others disturb
less. Filters that sleep are emulated processors: cores have nothing to do then.
"""

import os
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from records import answer, markdown, parser

from evener.planning.stream import MapOptions, map_filters
from evener.platforms.platform import Device, Platform
from evener.running.streams.apps.registry import stream_app
from evener.running.streams.between_cores import calibrate_stream
from evener.running.streams.executing import StreamWatch, run_stream
from evener.running.streams.in_turn import measure_filters
from evener.running.streams.program import StreamChannel, StreamFilter, StreamProgram
from evener.running.streams.stages import PipelineStages
from evener.streams.emulating import emulate_stream

RESULTS = Path(__file__).parent / "results" / "streams_run.jsonl"
# Sizes at which the heaviest filters take a millisecond and more.
PROGRAMS = {
    "jacobi": {"sweeps": 5},
    "fft": {"n": 4096, "batch": 64},
    "radio": {"block": 8192},
    "bitonic": {"n": 256, "batch": 1024},
    "image": {},
}
ASLEEP = (12e-3, 18e-3, 15e-3, 27e-3)  # [s] of the filters of a chain
TWO = Platform(tuple(Device(f"core{i}", 1.0, capabilities={"mips": 1000.0}) for i in range(2)))
ASKED = {"cores": 0.15, "asleep": 0.03, "virtual clock": 0.03}


def asleep():
    """A chain of filters that sleep, and the graph that says how long."""

    def made(seconds):
        def work(*_):
            until = time.perf_counter() + seconds
            while (left := until - time.perf_counter()) > 0:
                time.sleep(left)
            return np.zeros(1)

        return work

    names = [f"f{i}" for i in range(len(ASLEEP))]
    filters = [StreamFilter(name, made(s)) for name, s in zip(names, ASLEEP, strict=True)]
    channels = [StreamChannel(u, v, (1,)) for u, v in pairwise(names)]
    program = StreamProgram(tuple(filters), tuple(channels), "asleep")
    return program, program.costing(np.array(ASLEEP))


def measured(args):
    cores = sorted(os.sched_getaffinity(0))[:2]
    watch = StreamWatch(keep=1, devices=[[core] for core in cores] if len(cores) == 2 else None)
    for name, parameters in PROGRAMS.items():
        program = stream_app(name, parameters)
        found = calibrate_stream(program, args.iterations, TWO.k, devices=watch.devices)
        own = line("cores", name, program, found.graph, (args, watch, found.platform))
        yield {**own, "per_byte": found.per_byte}
    program, graph = asleep()
    yield line("asleep", "chain", program, graph, (args, StreamWatch(keep=1), TWO))
    for name, parameters in PROGRAMS.items():
        program = stream_app(name, parameters)
        plan = map_filters(measure_filters(program, 3), TWO, MapOptions("greedy"))
        run = emulate_stream(program, plan, steady(program, plan, args))
        yield {"what": "virtual clock", "program": name, "load": os.getloadavg()[0],
               "predicted": plan.period, "periods": [run.period], "cpu": None}  # fmt: skip


def steady(program, plan, args):
    """How many iterations leave as many as asked for between the first and last, unsteady ones."""
    return args.iterations + 2 * PipelineStages(program, plan.part).depth


def line(what, name, program, graph, how):
    args, watch, machine = how
    plan = map_filters(graph, machine)
    count = steady(program, plan, args)
    runs = [run_stream(program, plan, count, watch=watch) for _ in range(args.repeats)]
    best = min(runs, key=lambda run: run.period)
    return {
        "what": what, "program": name, "load": os.getloadavg()[0], "predicted": plan.period,
        "periods": [run.period for run in runs],
        "cpu": min(float(run.cpu.max()) for run in runs) / count,
        "heaviest": float((graph.scalar * graph.vector).max()) / 1e9,
        "busy": (best.busy / best.iterations).tolist(),
    }  # fmt: skip


def table(lines):
    rows = [["processors", "program", "heaviest filter", "predicted", "measured", "off", "asked",
             "CPU of the busiest, off", "ns for a byte"]]  # fmt: skip
    for own in lines:
        best, predicted = min(own["periods"]), own["predicted"]
        cpu = own["cpu"]
        rows.append(
            [own["what"], own["program"],
             f"{own['heaviest'] * 1e3:.2f} ms" if "heaviest" in own else "",
             f"{predicted * 1e3:.2f} ms", f"{best * 1e3:.2f} ms",
             f"{best / predicted - 1:+.1%}", f"{ASKED[own['what']]:.0%}",
             f"{cpu / predicted - 1:+.1%}" if own["what"] == "cores" else "",
             f"{own['per_byte'] * 1e9:.3f}" if "per_byte" in own else ""]
        )  # fmt: skip
    return markdown(rows)


def main():
    arguments = parser(__doc__, RESULTS)
    arguments.add_argument("--iterations", type=int, default=30)
    arguments.add_argument("--repeats", type=int, default=5)
    arguments.when_small(iterations=5, repeats=1)
    answer(arguments.parse_args(), measured, table)


if __name__ == "__main__":
    main()
