"""Solver: an application that is a function; its parameters and what it is given."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.plans.partition import Partition
from evener.running.engine.program import Solver
from evener.running.engine.recording import DeviceRun, StepRecorder
from evener.running.executing import run_program
from tests.running.engine.parts import random_graph


def largest_of_neighbours(comm, local, pool, tell, *, most, offset):
    steps = StepRecorder(comm, local, tell)
    x = np.concatenate([local.owned, local.ghosts]) + offset
    for _ in range(most):
        steps.exchange(x)
        arcs = local.out
        lists = [
            x[arcs.ends[a:b]] for a, b in zip(arcs.offsets[:-1], arcs.offsets[1:], strict=True)
        ]
        x[: local.n_owned] = [
            max(own, *found) if found.size else own
            for own, found in zip(x[: local.n_owned], lists, strict=True)
        ]
        steps.end(local.ghosts.size)
    assert pool.threads == 1
    return DeviceRun(x[: local.n_owned], steps.steps, 0.0)


SOLVER = Solver("largest", largest_of_neighbours, lambda *_: 0, {"offset": 0}, want="out")


def test_a_function_runs_on_every_device():
    graph = random_graph(40, 60, 2)
    alone = run_program(SOLVER, graph, Partition(np.zeros(40, np.int32), 1), most=3)
    blocks = np.random.default_rng(1).integers(0, 4, 40).astype(np.int32)
    divided = run_program(SOLVER, graph, Partition(blocks, 4), most=3, parameters={"offset": 5})
    assert np.array_equal(divided.values, alone.values + 5)
    assert divided.supersteps == 3


def test_parameters():
    assert SOLVER.given({"offset": 2.0}) == (2,)
    with pytest.raises(InputError, match="largest has no parameter offzet; did you mean offset"):
        SOLVER.given({"offzet": 1})
    with pytest.raises(InputError, match="offset must be an integer"):
        SOLVER.given({"offset": 0.5})
