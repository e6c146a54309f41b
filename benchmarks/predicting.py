"""Predicted against measured seconds of an iteration on this computer's first two cores.

    python benchmarks/predicting.py [--runs 20] [--kernels spmv,gemm] [-o FILE]

Device 0 is a core; device 1 is the other core, on which a rival streams through memory as well. For
each run and kernel, both are sampled at the same time at a few loads, speed models are fitted, and
sizes solved for three loads (iterations of 20 ms and more). An iteration ends when both are done:
predicted is the mean of the larger of two times drawn from the samples' scatter around the models;
measured is the mean over a window of iterations in lockstep. The null pair is the same measured
again: no prediction can be nearer than that. One JSON line a case: `error` and `null`, relative to
what was measured, and the load of the computer meanwhile.
"""

import argparse
import json
import multiprocessing
import os
import time
from pathlib import Path

import numpy as np

from evener.measuring.kernels import make_kernel
from evener.models import fit_model
from evener.samples import Sample
from evener.sizing import solve_sizes

RESULTS = Path(__file__).parent / "results" / "predicting.jsonl"
LOADS = {"spmv": (4_000_000, 6_000_000, 8_000_000), "gemm": (3000, 4500, 6500)}  # units in all
SHARES = (0.15, 0.3, 0.5, 0.7, 0.85)  # of the middle load, at which devices are sampled
WINDOW = 1.2  # seconds of repetitions, many slices of the scheduler
WARM = 2
DRAWS = 4000


def main():
    args = arguments()
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # of the processes begun
    with Device(0) as first, Device(1, rival=True) as second, args.output.open("w") as file:
        rng = np.random.default_rng(2026)
        for run in range(args.runs):
            for kernel in args.kernels:
                for line in one_run(kernel, (first, second), rng):
                    file.write(json.dumps({"kernel": kernel, "run": run} | line) + "\n")
                    file.flush()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--kernels", type=lambda text: text.split(","), default=list(LOADS))
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    return parser.parse_args()


def one_run(kernel, devices, rng):
    """Sample both, then predict and measure each load, in any order."""
    middle = LOADS[kernel][1]
    samples, scatter = ([], []), ([], [])
    for share in rng.permutation(SHARES):
        sizes = round(middle * share), round(middle * (1 - share))
        for i, times in enumerate(at_once(devices, kernel, sizes, lockstep=False)):
            samples[i].append(Sample(float(sizes[i]), float(times.mean()), repetitions=times.size))
            scatter[i].append(times / times.mean())
    models = [fit_model(own) for own in samples]
    scatter = [np.concatenate(own) for own in scatter]
    for n in rng.permutation(LOADS[kernel]).tolist():
        sizes = solve_sizes(models, n, low=1).sizes
        drawn = [float(model.time(float(size))) * rng.choice(own, DRAWS)
                 for model, size, own in zip(models, sizes, scatter, strict=True)]  # fmt: skip
        predicted = float(np.maximum(*drawn).mean())
        measured, again = (
            float(np.maximum(*at_once(devices, kernel, sizes, lockstep=True)).mean())
            for _ in range(2)
        )
        yield {
            "n": n,
            "sizes": [int(size) for size in sizes],
            "predicted_ms": round(predicted * 1e3, 2),
            "measured_ms": round(measured * 1e3, 2),
            "error": round(abs(predicted / measured - 1), 4),
            "null": round(abs(again / measured - 1), 4),
            "computer_load": round(os.getloadavg()[0], 1),
        }


def at_once(devices, kernel, sizes, *, lockstep):
    """Seconds of each device's executions; in lockstep as many of one as of the other."""
    for device, size in zip(devices, sizes, strict=True):
        device.say(("prepare", kernel, int(size)))
    expected = max(device.hear() for device in devices)
    count = max(round(WINDOW / expected), 5)
    start = time.perf_counter() + 0.02
    for device in devices:
        device.say(("execute", count if lockstep else 0, start))
    return [device.hear() for device in devices]


class Device:
    """A process bound to a core, and another one that spoils its memory's speed."""

    context = multiprocessing.get_context("spawn")
    gate = context.Array("q", 2, lock=False)  # how many iterations each has finished

    def __init__(self, core, *, rival=False):
        self._pipe, theirs = Device.context.Pipe()
        context = Device.context
        self._processes = [
            context.Process(target=serve, args=(core, theirs, Device.gate), daemon=True)
        ]
        if rival:
            self._processes.append(context.Process(target=stream, args=(core,), daemon=True))
        for process in self._processes:
            process.start()

    def say(self, words):
        self._pipe.send(words)

    def hear(self):
        return self._pipe.recv()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self._processes:
            process.terminate()


def serve(core, pipe, gate):
    """Prepare and execute kernels as told; the answer to `execute` is the times of each."""
    apart(core)
    kernel = None
    while True:
        what, *words = pipe.recv()
        if what == "prepare":
            if kernel is not None:
                kernel.finalize()
            kernel = make_kernel(words[0])
            kernel.initialize(words[1])
            gate[core] = 0
            pipe.send(min(timed(kernel) for _ in range(WARM)))
            continue
        count, start = words
        while time.perf_counter() < start:
            pass
        times = []
        while len(times) < count or (count == 0 and time.perf_counter() < start + WINDOW):
            times.append(timed(kernel))
            if count:
                gate[core] += 1
                while gate[1 - core] < gate[core]:
                    pass  # spin, as MPI's ranks do
        pipe.send(np.array(times))


def timed(kernel):
    begin = time.perf_counter()
    kernel.execute()
    return time.perf_counter() - begin


def stream(core):
    """Go through more memory than any cache holds, for ever."""
    apart(core)
    values = np.ones(1 << 23)
    while True:
        values += 1.0


def apart(core):
    """Bind this process, in a session of its own: process groups share time otherwise."""
    os.setsid()
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[core]})


if __name__ == "__main__":
    main()
