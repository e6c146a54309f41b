"""Processors: fastest routes between all pairs, as SciPy's."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from evener.errors import InputError
from evener.graphs.stream_graph import FilterRow, StreamGraph
from evener.platforms.device import Connection, Device, Link
from evener.platforms.platform import Platform
from evener.streams.generating import random_machine
from evener.streams.processors import Processors
from tests.streams.twins import processor


def test_routes_of_a_mesh_are_the_fastest():
    platform = random_machine(50, "A", 3)
    network = platform.network
    size = len(network.names)
    ends = np.divmod(network.keys, size)
    links = coo_array((network.costs[:, 1], ends), (size, size)).tocsr()
    slow = dijkstra(links, indices=network.home)[:, network.home]
    found = Processors(platform).seconds_per_byte()
    assert np.allclose(found, slow, rtol=1e-12)
    assert np.array_equal(found, found.T)
    assert (Processors(platform).seconds_per_byte(least=True) <= found).all()


def test_devices_at_one_place_and_links_that_cost_nothing():
    at = [Device(name, 1.0, at="host", capabilities={"mips": 1.0}) for name in "ab"]
    links = Connection(("host", "c"), Link(0.0, 2e-9)), Connection(("c", "d"), Link())
    platform = Platform((*at, processor("c", 1.0), processor("d", 1.0)), (), links)
    found = Processors(platform).seconds_per_byte()
    assert found[0].tolist() == [0.0, 0.0, 2e-9, 2e-9]
    assert found[2, 3] == 0


@pytest.mark.parametrize("name", ["mips", "vector_length"])
def test_capabilities_must_be_above_zero(name):
    able = {"mips": 1.0, "vector_length": 1.0} | {name: 0.0}
    with pytest.raises(InputError, match=f"{name} of device 'a' must be above zero"):
        Processors(Platform((Device("a", 1.0, capabilities=able),)))


@pytest.mark.parametrize(
    ("device", "link", "said"),
    [
        ({"mips": 1e101}, 0.0, "mips of device 'a' must lie between 1e-100 and 1e.100, not"),
        ({"mips": 1.0, "vector_length": 1e-101}, 0.0, "vector_length of device 'a' must lie"),
        ({"mips": 1.0}, 1e101, "a link takes 1e.101 s for a byte"),
    ],
)
def test_numbers_whose_quotients_are_no_numbers(device, link, said):
    devices = Device("a", 1.0, capabilities=device), processor("b", 1.0)
    with pytest.raises(InputError, match=said):
        Processors(Platform(devices, (), (Connection(("a", "b"), Link(0.0, link)),)))


def test_a_filter_that_fits_nowhere_is_told_what_there_is():
    graph = StreamGraph.of(
        [FilterRow("a", 1.0, needs={"vector_length": 1, "ram": 9}), FilterRow("b", 1.0)], []
    )
    devices = processor("p", 1.0, ram=4), Device("q", 1.0, capabilities={"mips": 1.0})
    with pytest.raises(InputError, match="'a', which needs vector_length 1, ram 9") as error:
        Processors(Platform(devices)).allowed(graph)
    assert "The largest capabilities of devices: vector_length 1, ram 4." in str(error.value)
