"""Filters on CUDA devices give what they give on cores. Run by test_cuda_firing.py."""

import numpy as np
from numba import cuda

from evener.errors import EvenerError
from evener.running.devices import Cuda
from evener.running.streams.apps.registry import stream_app
from evener.running.streams.executing import StreamWatch, run_stream
from evener.running.streams.program import StreamChannel, StreamFilter, StreamProgram
from tests.running.streams.programs import copied_plan, drawn_program, plan_of, slow_outputs

ITERATIONS = 5
SMALL = {"jacobi": {"n": 7, "sweeps": 2}, "image": {"rows": 6, "columns": 9}}


@cuda.jit
def begin(number, into):
    """Set into (2,) to what work_of of programs.py makes of an iteration's number."""
    if cuda.grid(1) == 0:
        into[0], into[1] = number, 1


@cuda.jit
def add(whole, times, x):
    """Add `times` x (2,) to whole (2,), and mark x as used."""
    i = cuda.grid(1)
    if i < whole.size:
        whole[i] += times * x[i]
        x[i] = -1


@cuda.jit
def finish(whole, number, state, found):
    """Set found (2,) by whole and state (1,), which grows."""
    if cuda.grid(1) == 0:
        state[0] += whole[0] % 9973
        for i in range(whole.size):
            found[i] = (whole[i] % 9973 + number + state[0]) % 9973


@cuda.jit
def give(found, more, times, out):
    """Set out (2,) to a multiple of found, or to more than it."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = (found[i] + more) * times % 9973 if times > 1 else found[i] + more


def cuda_of(i, outs, has_inputs, has_state, kind):
    """What computes on a device what work_of's function does on a core."""

    def work(device, *given):
        state, *arrays = given if has_state else (device.put(np.zeros(1, np.int64)), *given)
        inputs, out = arrays[: len(arrays) - outs], arrays[len(arrays) - outs :]
        whole, found = (device.put(np.zeros(2, np.int64)) for _ in range(2))
        if not has_inputs:
            number = device.put(np.zeros(2, np.int64))
            device.launch(begin, 1, inputs[0], number)
            inputs = [number]
        for j, x in enumerate(inputs):
            device.launch(add, 2, whole, j + 2, x)
        device.launch(finish, 1, whole, i, state, found)
        for j, target in enumerate(out):
            more, times = (0, j + 1) if kind == 2 else (j if kind == 1 else 0, 1)
            device.launch(give, 2, found, more, times, target)
        return None if out else found

    return work


def same(found, expected):
    assert found.keys() == expected.keys()
    for name in expected:
        assert np.array_equal(found[name], expected[name]), name


def as_on_cores(seed):
    """Cores and devices in any order: filters, feedback, state, tuples, copies."""
    rng = np.random.default_rng(seed)
    program = drawn_program(rng, 5, cuda_of)
    expected = slow_outputs(program, ITERATIONS)
    for k in (1, 3):
        devices = [Cuda(0) if d != 1 else [0] for d in range(k)]
        plans = [plan_of(program, [*rng.integers(0, k, 4), k - 1]), copied_plan(rng, program, k)]
        for plan in plans:
            watch = StreamWatch(devices=devices)
            same(run_stream(program, plan, ITERATIONS, watch=watch).outputs, expected)


def apps():
    for name, given in SMALL.items():
        program = stream_app(name, given)
        n = len(program.filters)
        first = int(name == "jacobi")  # its first filter has a function for devices, too
        for part in ([first] + [1] * (n - 1), [first, *(i % 2 for i in range(1, n))]):
            watch = StreamWatch(devices=[[0], Cuda(0)])
            assert program.verify(
                run_stream(program, plan_of(program, part), 3, watch=watch).outputs
            )


def refused():
    def pair(first, second=lambda device, x: None, state=None, shape=(2,)):
        filters = (
            StreamFilter("a", lambda *_: np.zeros(shape), cuda=first),
            StreamFilter("b", lambda *_: None, state, cuda=second),
        )
        return StreamProgram(filters, (StreamChannel("a", "b", shape),))

    def fails(device, *arrays):
        raise ValueError("too hot")

    def nothing(device, *arrays):
        pass

    cases = (
        (pair(None), "filter 'a' has no function for CUDA devices, but the plan places it on p0"),
        (pair(nothing, state=[1]), "the state of filter 'b' on p0 is not an array"),
        (pair(nothing, shape=(0,)), "carries no bytes"),
        (pair(fails), "filter 'a' on p0 failed in iteration 0: ValueError: too hot"),
        (pair(lambda *_: 3), "filter 'a' on p0 returned a value, but"),
        (pair(nothing, lambda *_: "x"), "filter 'b' on p0 returned"),
        (
            pair(nothing, lambda device, state, x: fails(device), np.zeros(1)),
            "filter 'b' on p0 failed",
        ),
    )
    for program, reason in cases:
        try:
            run_stream(program, plan_of(program, [0, 0]), 2, watch=StreamWatch(devices=[Cuda(0)]))
        except EvenerError as error:
            assert reason in error.message, error.message
        else:
            raise AssertionError(reason)


@cuda.jit
def set_to(number, out):
    """Set out (1,) to a number."""
    if cuda.grid(1) == 0:
        out[0] = number


def without_dimensions():
    """A channel of one number, which the device has as an array of one entry."""

    def first(device, iteration, out):
        device.launch(set_to, 1, iteration, out)

    program = StreamProgram(
        (
            StreamFilter("a", np.float64, cuda=first),
            StreamFilter("b", lambda x: x, cuda=lambda device, x: x),
        ),
        (StreamChannel("a", "b", ()),),
    )
    for part in ([0, 1], [1, 1], [1, 0]):
        watch = StreamWatch(devices=[[0], Cuda(0)][: max(part) + 1])
        found = run_stream(program, plan_of(program, part), 4, watch=watch)
        assert np.array_equal(found.outputs["b"].ravel(), np.arange(4.0))


for seed in range(4):
    as_on_cores(seed)
apps()
refused()
without_dimensions()
print("all as on the CPU")
