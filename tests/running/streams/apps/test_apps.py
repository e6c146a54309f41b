"""The stream programs that are here give what another algorithm gives."""

import numpy as np
import pytest

from evener.errors import InputError, UsageError
from evener.running.streams.apps.registry import STREAM_APPS, stream_app
from evener.running.streams.executing import run_stream
from tests.running.streams.programs import plan_of

SMALL = {"jacobi": {"n": 12, "sweeps": 2}}


@pytest.mark.parametrize("name", STREAM_APPS)
def test_verified_on_any_mapping_and_wrong_values_are_seen(name):
    program = stream_app(name, SMALL[name])
    rng = np.random.default_rng(7)
    for k in (1, 3):
        plan = plan_of(program, rng.integers(0, k, len(program.filters)))
        outputs = run_stream(program, plan, 5).outputs
        assert program.verify(outputs)
    for key, values in outputs.items():
        for place in (0, -1):
            wrong = np.array(values)
            wrong[place].flat[wrong[place].size // 2] *= 3
            assert not program.verify({**outputs, key: wrong}), (key, place)


def test_jacobi_is_that_of_the_papers_loops():
    """Its text, statement by statement, for n = 5."""
    n, given = (
        5,
        run_stream(
            program := stream_app("jacobi", {"n": 5, "sweeps": 3}), plan_of(program, [0] * 5), 2
        ).outputs["4"],
    )
    for t in range(2):
        A, B, copied = np.zeros((3, n, n))
        for i in range(n):
            for j in range(n):
                A[i, j] = i * j + 2.0 + 2.0 / 1000 + t
                B[i, j] = i * j + 3.0 + 3.0 / 1000 + t
        for _ in range(3):
            for i in range(1, n - 1):
                for j in range(1, n - 1):
                    B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i - 1, j])
        for i in range(1, n):
            for j in range(1, n):
                copied[i, j] = B[i, j]
        assert np.allclose(given[t], copied.sum(axis=1), rtol=1e-14)


def test_programs_that_are_not_there():
    with pytest.raises(UsageError, match="did you mean jacobi"):
        stream_app("jacoby")
    with pytest.raises(InputError, match="no parameter m"):
        stream_app("jacobi", {"m": 3})
    with pytest.raises(InputError, match="3 rows"):
        stream_app("jacobi", {"n": 2})
