"""GPUs behind their hosts: routes and periods by hand."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.graphs.stream_graph import EdgeRow, FilterRow, StreamGraph
from evener.platforms.device import Connection, Device, Level, Link
from evener.platforms.hosts import behind_hosts, hosts_of
from evener.platforms.platform import Platform
from evener.streams.period import StreamProblem, period_of
from evener.streams.processors import Processors

ABLE = {"mips": 1.0}
BUS = Link(5e-6, 1 / 16e9)
WIRE = Link(2e-6, 1 / 10e9)


def devices(**gpu):
    cpus = [Device(name, 1e6, capabilities=ABLE) for name in ("c0", "c1")]
    host = {"host": "c0", "host_link": BUS} | gpu
    return (*cpus, Device("gpu", 1e6, "cuda", capabilities=ABLE, **host))


WIRED = (Connection(("c0", "c1"), WIRE),)
OWN_LINK = (*WIRED, Connection(("gpu", "c1"), Link(0.0, 1 / 40e9)))
LEVELS = (Level("net", WIRE), Level("node", Link(0.0, 1 / 80e9)))


def rates(platform):
    """Seconds of 16 GB from c0 to c1, c0 to gpu, c1 to gpu."""
    table = 16e9 * Processors(platform).seconds_per_byte()
    assert np.array_equal(table, table.T)
    return [table[0, 1], table[0, 2], table[1, 2]]


@pytest.mark.parametrize(
    ("platform", "before", "behind"),
    [
        (Platform(devices(), (), WIRED), [1.6, 0, 1.6], [1.6, 1, 2.6]),
        (Platform(devices(), (), OWN_LINK), [1.6, 2.0, 0.4], [1.6, 1, 2.6]),
        (Platform(devices()), [0, 0, 0], [0, 1, 1]),
        (Platform(devices(), LEVELS[:1]), [1.6, 1.6, 1.6], [1.6, 1, 2.6]),
    ],
    ids=["links", "link of its own", "free", "level"],
)
def test_transfers_count_between_a_gpu_and_its_host(platform, before, behind):
    assert rates(platform) == pytest.approx(before)
    made = behind_hosts(platform)
    assert rates(made) == pytest.approx(behind)
    assert not any(device.host for device in made.devices)
    alpha, _ = made.link_costs(np.array([1]), np.array([2]))
    assert alpha[0] == pytest.approx(7e-6 if platform.has_links else 5e-6)


def test_hosts_at_a_place_and_in_nodes():
    """Two CPUs at one place reach each other free; one GPU is behind the place."""
    cpus = [Device(name, 1e6, at="n0", capabilities=ABLE) for name in ("c0", "c1")]
    gpu = Device("gpu", 1e6, capabilities=ABLE, host="c1", host_link=BUS)
    far = Device("far", 1e6, capabilities=ABLE)
    platform = Platform((*cpus, gpu, far), (), (Connection(("n0", "far"), WIRE),))
    assert platform.devices[2].at == "n0"
    made = Processors(behind_hosts(platform)).seconds_per_byte() * 16e9
    assert made[0] == pytest.approx([0, 0, 1, 1.6])
    assert made[2, 3] == pytest.approx(2.6)
    node = Platform((*cpus, gpu, far), LEVELS)
    assert Processors(node).seconds_per_byte()[0, 2] == 1 / 80e9
    made = Processors(behind_hosts(node)).seconds_per_byte() * 16e9
    assert made[0] == pytest.approx([0, 0.2, 1.2, 1.6])


def test_the_period_of_a_filter_on_a_gpu():
    """3,200 bytes to the GPU: free from its host, 0.2 us behind it, and 0.52 us from the other."""
    graph = StreamGraph.of([FilterRow("a", 0.0), FilterRow("b", 0.0)], [EdgeRow("a", "b", 3200.0)])
    platform = Platform(devices(), (), WIRED)
    behind = behind_hosts(platform)
    for made, from_host, from_other in ((platform, 0, 0.32e-6), (behind, 0.2e-6, 0.52e-6)):
        problem = StreamProblem.of(graph, made)
        assert period_of(problem, [0, 2]).seconds == pytest.approx(from_host)
        assert period_of(problem, [1, 2]).seconds == pytest.approx(from_other)


@pytest.mark.parametrize(
    ("platform", "said"),
    [
        (Platform(devices(host="", host_link=None)), "no device of this machine has a host"),
        (Platform(devices(), (Level("net", WIRE, shared=True),)), "has shared levels"),
        (
            Platform(devices(), (), (Connection(("c0", "gpu"), WIRE), OWN_LINK[1])),
            "behind their hosts: no chain of links joins|behind their hosts: no link reaches",
        ),
    ],
)
def test_what_cannot_be_behind_hosts(platform, said):
    with pytest.raises(InputError, match=said):
        behind_hosts(platform)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Device("a", 1.0, host="b"), "needs another device as host, and the link"),
        (lambda: Device("a", 1.0, host_link=BUS), "needs another device as host, and the link"),
        (lambda: Device("a", 1.0, host="a", host_link=BUS), "needs another device as host"),
        (lambda: Platform(devices(host="x")), "host of device 'gpu', 'x', is not a device"),
        (
            lambda: Platform((*devices(), Device("g", 1.0, host="gpu", host_link=BUS))),
            "host of device 'g', 'gpu', has a host itself",
        ),
        (lambda: hosts_of(["g0", "g1", "g2"], "c", {"c": 2}), "3 devices 'g0', ... cannot be"),
    ],
)
def test_hosts_that_are_refused(make, said):
    with pytest.raises(InputError, match=said):
        make()


def test_hosts_of_a_table():
    known = {"cpu": 2, "box": 0}
    assert hosts_of(["g0", "g1"], "box", known) == ["box", "box"]
    assert hosts_of([f"g{i}" for i in range(4)], "cpu", known) == ["cpu0", "cpu0", "cpu1", "cpu1"]
