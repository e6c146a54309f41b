"""Stream programs to be tried: random ones, their outputs by a slow twin, plans that say where."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from evener.plans.stream_plan import StreamPlan
from evener.platforms.platform import Device, Platform
from evener.running.streams.program import StreamChannel, StreamFilter, StreamProgram
from evener.streams.replicating import FilterCopies, with_copies


def plan_of(program, part, period=1.0, kind="cpu"):
    """Filters on as many devices as `part` names."""
    k = int(max(part)) + 1
    platform = Platform(tuple(Device(f"p{i}", 1.0, kind) for i in range(k)))
    nothing = np.zeros(k)
    return StreamPlan(
        np.array(part, np.int32), program.graph, platform, period, period, nothing, nothing, {}, {}
    )


def copied_plan(rng, program, k):
    """Each filter without state in up to three copies of random shares, on k devices."""
    graph = program.graph
    copies = FilterCopies.single(graph)
    for _ in range(2 * graph.n):
        c = int(rng.integers(copies.of.size))
        room = copies.high[c] - copies.low[c] - 2
        if not graph.stateful[copies.of[c]] and room > 0:
            copies = copies.divided(c, copies.low[c] + 1 + rng.random() * room)
    plan = plan_of(program, [*rng.integers(0, k, copies.of.size - 1), k - 1])
    return replace(plan, graph=with_copies(graph, copies), copy_of=copies.of)


def drawn_program(rng, n, cuda_of=lambda *_: None):
    """n filters of integers: any edges forward, feedback with tokens, state, tuples, fan-out.

    cuda_of: as work_of, for functions for CUDA devices.
    """
    ends = [(u, v) for v in range(1, n) for u in range(v) if rng.random() < 2 / n]
    back = [(v, u) for u in range(n) for v in range(u + 1, n) if rng.random() < 0.7 / n]
    channels = []
    for u, v in ends + back:
        count = int(rng.integers(1, 4)) if u > v else int(rng.integers(0, 2))
        initial = [rng.integers(0, 9, 2) for _ in range(count)]
        channels.append(StreamChannel(f"f{u}", f"f{v}", (2,), "int64", initial))
    filters = []
    for i in range(n):
        outs = sum(channel.source == f"f{i}" for channel in channels)
        has_inputs = any(channel.to == f"f{i}" for channel in channels)
        state = np.array([i]) if rng.random() < 0.4 else None
        kind = rng.integers(3) if outs else 0
        work, cuda = (make(i, outs, has_inputs, state is not None, kind)
                      for make in (work_of, cuda_of))  # fmt: skip
        filters.append(StreamFilter(f"f{i}", work, state, fills=bool(kind == 2), cuda=cuda,
                                    vector=1 if state is not None else 6))  # fmt: skip
    return StreamProgram(tuple(filters), tuple(channels))


def work_of(i, outs, has_inputs, has_state, kind):
    """One that returns an array, a tuple (kind 1), or fills arrays (2)."""

    def made(given):
        state, *inputs = given if has_state else (np.zeros(1, np.int64), *given)
        number = [] if has_inputs else [np.array([inputs[0], 1])]
        whole = sum((j + 2) * x for j, x in enumerate(number or inputs)) % 9973
        state += whole[0]
        found = (whole + i + state[0]) % 9973
        for x in inputs if has_inputs else []:
            x[:] = -1  # what it was given is its own
        return found

    def returns(*given):
        found = made(given)
        return tuple(found + j for j in range(outs)) if kind == 1 else found

    def fills(*given):
        found = made(given[: len(given) - outs])
        for j in range(outs):
            given[len(given) - outs + j][:] = found * (j + 1) % 9973

    return fills if kind == 2 else returns


def slow_outputs(program, iterations):
    """Any filter that has data runs, with queues of any length."""
    queues = [[np.array(x) for x in channel.initial] for channel in program.channels]
    states = [None if one.state is None else np.array(one.state) for one in program.filters]
    done, given = [0] * len(program.filters), {}
    while min(done) < iterations:
        for i, one in enumerate(program.filters):
            into = [e for e, c in enumerate(program.channels) if c.to == one.name]
            out = [e for e, c in enumerate(program.channels) if c.source == one.name]
            if done[i] == iterations or not all(queues[e] for e in into):
                continue
            first = [] if states[i] is None else [states[i]]
            own = [queues[e].pop(0) for e in into] if into else [done[i]]
            if one.fills:
                parts = [np.empty(c.shape, c.dtype) for c in map(program.channels.__getitem__, out)]
                one.work(*first, *own, *parts)
            else:
                found = one.work(*first, *own)
                parts = found if isinstance(found, tuple) else [found] * len(out)
                if not out:
                    given.setdefault(one.name, []).append(found)
            for e, part in zip(out, parts, strict=True):
                queues[e].append(np.array(part))
            done[i] += 1
    return {name: np.stack(arrays) for name, arrays in given.items()}


def chain(*works, shape=(2,), dtype="float64"):
    """One filter after the other, by number."""
    names = [f"f{i}" for i in range(len(works))]
    filters = [StreamFilter(name, work) for name, work in zip(names, works, strict=True)]
    ends = pairwise(names)
    return StreamProgram(tuple(filters), tuple(StreamChannel(u, v, shape, dtype) for u, v in ends))
