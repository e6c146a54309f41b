"""Which parameters of a test are in `make test-fast`."""

import pytest


def slow_but(values, *fast):
    """Values of a parameter, all slow but those at the places `fast`; without, but the first."""
    kept = fast or (0,)
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            marks=[] if i in kept else [pytest.mark.slow],
        )
        for i, value in enumerate(values)
    ]
