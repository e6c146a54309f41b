"""The stream programs that are here give what another algorithm gives."""

import numpy as np
import pytest

from evener.errors import InputError, UsageError
from evener.running.streams.apps.registry import STREAM_APPS, stream_app
from evener.running.streams.executing import run_stream
from evener.running.streams.in_turn import run_in_turn
from tests.running.streams.programs import plan_of

SMALL = {
    "jacobi": {"n": 12, "sweeps": 2},
    "fft": {"n": 32, "batch": 3},
    "radio": {"block": 512},
    "bitonic": {"n": 16, "batch": 3},
    "image": {"rows": 40, "columns": 50},
}


@pytest.mark.parametrize("name", STREAM_APPS)
def test_verified_on_any_mapping_and_wrong_values_are_seen(name):
    program = stream_app(name, SMALL[name])
    rng = np.random.default_rng(7)
    for k in (1, 3):
        plan = plan_of(program, rng.integers(0, k, len(program.filters)))
        outputs = run_stream(program, plan, 5).outputs
        assert program.verify(outputs)
    for key, values in outputs.items():
        for place in (1, -1):
            wrong = np.array(values)
            middle = wrong[place].size // 2
            of = wrong[place].flat
            of[middle] = 1 - of[middle] if name == "image" else of[middle] + 3 * abs(of[:]).max()
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


@pytest.mark.parametrize("tone", [300, 3000, 6000, 12000])
def test_the_radio_recovers_tones_of_all_bands(tone):
    program = stream_app("radio", {"tone": float(tone), "block": 1000})
    sound = run_in_turn(program, 3)["add"]
    assert program.verify({"add": sound})
    spectrum = np.abs(np.fft.rfft(sound[1:].ravel() * np.hanning(2000)))
    assert np.argmax(spectrum) == round(tone * 2000 / 50e3)  # at 50,000 samples a second
    assert not stream_app("radio", {"tone": tone * 1.1}).verify({"add": sound})


def test_programs_that_are_not_there():
    with pytest.raises(UsageError, match="did you mean jacobi"):
        stream_app("jacoby")
    with pytest.raises(InputError, match="no parameter m"):
        stream_app("jacobi", {"m": 3})
    with pytest.raises(InputError, match="3 rows"):
        stream_app("jacobi", {"n": 2})
    for name, wrong in (("fft", {"n": 12}), ("bitonic", {"batch": 0}), ("image", {"rows": 2})):
        with pytest.raises(InputError, match="not "):
            stream_app(name, wrong)
    with pytest.raises(InputError, match="14,000 Hz"):
        stream_app("radio", {"tone": 20e3})
