"""A machine without some of its devices is still one."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.platforms.examples import grid, tree
from evener.platforms.platform import Connection, Device, Link, Platform
from evener.platforms.with_only import with_only


def costs(platform, devices):
    p, q = np.repeat(devices, len(devices)), np.tile(devices, len(devices))
    return np.concatenate(platform.link_costs(p, q))


@pytest.mark.parametrize("kept", [[0], [0, 1], [2, 5, 7], [0, 3, 4, 8], list(range(9))])
def test_links_cost_what_they_did(kept):
    for platform in (grid([3, 3]), tree([3, 3])):
        less = with_only(platform, kept)
        assert less.names == [platform.names[i] for i in kept]
        assert costs(less, list(range(len(kept)))) == pytest.approx(costs(platform, kept))


def test_links_that_lead_nowhere_go():
    link = Link(1e-6, 1e-9)
    devices = [Device(f"d{i}", 1.0, at=f"n{i}") for i in range(3)]
    ends = [("n0", "s"), ("n1", "s"), ("n2", "far"), ("far", "s"), ("d2", "n2")]
    platform = Platform(tuple(devices), connections=tuple(Connection(e, link) for e in ends))
    less = with_only(platform, [0, 1])
    assert {c.between for c in less.connections} == {("n0", "s"), ("n1", "s")}


def test_no_device_is_no_machine():
    with pytest.raises(InputError, match="at least one device"):
        with_only(grid([2, 2]), [])
