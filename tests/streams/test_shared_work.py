"""Work that is shared at will: as the linear program says."""

import numpy as np
import pytest
from scipy.optimize import linprog

from evener.streams.bounds import kinds_of, shared_value
from evener.streams.period import work_of
from evener.streams.placing import least_work
from evener.streams.readings import reading_of
from tests.streams.twins import small_case


def program(problem):
    """The least period of filters divided at will, by HiGHS."""
    n, k = problem.n, problem.k
    work = work_of(problem, np.arange(n))
    wholes = np.kron(np.eye(n), np.ones(k)), np.ones(n)
    loads = np.hstack([np.hstack([np.diag(row) for row in work]), -np.ones((k, 1))])
    goal = np.append(np.zeros(n * k), 1.0)
    scale = work.mean()
    loads[:, :-1] /= scale
    every = np.hstack([wholes[0], np.zeros((n, 1))])
    return linprog(goal, loads, np.zeros(k), every, wholes[1]).fun * scale


@pytest.mark.parametrize("words", ["", "literal", "max1"])
def test_the_bound_is_nearly_the_linear_program(words):
    for seed in range(4):
        problem = small_case(seed, reading_of(words), n=12, k=3)
        found = shared_value(problem, kinds_of(problem), least_work(problem)[0])[0]
        best = program(problem)
        assert 0.98 * best < found < best * (1 + 1e-9)


def test_processors_that_are_alike_are_one_kind():
    problem = small_case(1, n=3, k=3)
    kinds = kinds_of(problem)
    assert kinds.counts.sum() == 3
    rate, width = problem.processors.rate, problem.processors.width
    assert (rate[kinds.first][kinds.of] == rate).all()
    assert (width[kinds.first][kinds.of] == width).all()
