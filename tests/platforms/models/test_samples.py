"""Samples and what is known of a device: checked once, on construction."""

import math

import numpy as np
import pytest

from evener.errors import InputError
from evener.platforms.models.samples import DeviceSpeeds, Sample


@pytest.mark.parametrize(
    ("fields", "match"),
    [({"load": 0, "seconds": 1}, "load"), ({"load": -1, "seconds": 1}, "load"),
     ({"load": math.nan, "seconds": 1}, "load"), ({"load": "1", "seconds": 1}, "load"),
     ({"load": 1, "seconds": 0}, "seconds"), ({"load": 1, "seconds": -2}, "seconds"),
     ({"load": 1, "seconds": math.inf}, "seconds"), ({"load": 10**400, "seconds": 1}, "load"),
     ({"load": 1e300, "seconds": 1e-300}, "is a speed outside the range of a float"),
     ({"load": 1e-300, "seconds": 1e300}, "is a speed outside the range of a float"),
     ({"load": 1, "seconds": 1, "half_width": -1}, "half_width"),
     ({"load": 1, "seconds": 1, "repetitions": 0}, "repetitions"),
     ({"load": 1, "seconds": 1, "repetitions": 1.5}, "repetitions"),
     ({"load": 1, "seconds": 1, "status": "failed"}, "status")],
)  # fmt: skip
def test_sample_refuses(fields, match):
    with pytest.raises(InputError, match=match):
        Sample(**fields)


def test_sample_takes_numpy_numbers():
    sample = Sample(np.int64(10), np.float32(0.5), repetitions=np.int64(3))
    assert sample == Sample(10.0, 0.5, 0.0, 3)
    assert type(sample.load) is float
    assert type(sample.repetitions) is int
    assert sample.speed == 20.0


@pytest.mark.parametrize(
    ("fields", "match"),
    [({"name": ""}, "name"), ({"name": " a"}, "name"), ({"name": "a", "capacity": 0}, "capacity"),
     ({"name": "a", "capacity": math.nan}, "capacity"), ({"name": "a", "model": "cubic"}, "cubic")],
)  # fmt: skip
def test_device_refuses(fields, match):
    with pytest.raises(InputError, match=match):
        DeviceSpeeds(**fields)
