"""Platforms as dictionaries: what is no platform is refused; round trips are in test_platforms."""

import math

import pytest

from evener.errors import InputError
from evener.io.machines.platform_json import platform_from_dict


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"devices": []}, "at least one device"),
        ({"devices": None}, "devices of platform 'x' must be a list"),
        ({"devices": [3]}, "write \\[\\[devices\\]\\]"),
        ({"devices": [{"name": "a"}]}, "no speed"),
        ({"devices": [{"name": "a", "speed": math.nan}]}, "above zero"),
        ({"devices": [{"name": "a", "speed": 1, "colour": 2}]}, "unknown key 'colour'"),
        ({"levels": [{"name": "l", "alpha_s": -1.0}]}, "alpha_s of levels 'l'"),
        ({"links": [{"between": ["a", 3]}]}, "two different places"),
        ({"name": 3}, "name"),
    ],
)
def test_a_dict_that_is_no_platform(change, message):
    good = {"name": "x", "devices": [{"name": "a", "speed": 1}], "levels": [], "links": []}
    assert platform_from_dict(good).k == 1
    with pytest.raises(InputError, match=message):
        platform_from_dict(good | change)


def test_a_dict_that_is_no_dict():
    with pytest.raises(InputError, match="table"):
        platform_from_dict([1, 2])
