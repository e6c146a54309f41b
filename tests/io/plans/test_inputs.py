"""same_inputs: the files of a plan are known by digest, whatever they are called."""

import pytest

from evener.io.plans.promises import same_inputs

FOAM = {"case": "0", "points": "1", "faces": "2", "owner": "3", "neighbour": "4"}


@pytest.mark.parametrize(
    ("recorded", "found", "same"),
    [
        ({}, {"x": "1"}, True),
        ({"x": "1"}, {"y": "1"}, True),
        ({"x": "1"}, {"x": "2"}, False),
        ({"x": "1"}, {"y": "2"}, False),
        ({"x": "1", "x.xyz": "2"}, {"x": "1"}, True),
        ({"x": "1", "x.xyz": "2"}, {"x": "9", "x.xyz": "2"}, False),
        ({"x": "1", "x.xyz": "2"}, {"x": "1", "x.xyz": "9"}, False),
        (FOAM, FOAM | {"case": "9"}, True),  # its file `boundary` was edited
        (FOAM, FOAM | {"owner": "9"}, False),  # renumbered: the points are the same
        (FOAM, {"copy": "9", "points": "1", "faces": "2", "owner": "3", "neighbour": "4"}, True),
        (FOAM, {"case": "9", "points.gz": "5", "faces.gz": "6"}, False),
    ],
)
def test_same(recorded, found, same):
    assert same_inputs(recorded, found) == same
