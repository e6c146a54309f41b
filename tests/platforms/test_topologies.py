"""Meshes, tori, stars, fat trees: their links, by networkx's own."""

import networkx as nx
import pytest

from evener.errors import InputError
from evener.platforms.device import Device, Link
from evener.platforms.network import fat_tree_links, mesh_links, star_links
from evener.platforms.platform import Platform

LINK = Link(1e-6, 1e-9)


def names(n):
    return [f"d{i}" for i in range(n)]


def graph_of(links):
    graph = nx.Graph()
    for one in links:
        assert not graph.has_edge(*one.between)
        graph.add_edge(*one.between, beta=one.link.beta)
    return graph


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("shape", [(8, 8), (4, 2), (3, 4, 5), (1, 6), (7,), (2, 2)])
def test_meshes_and_tori_are_those_of_networkx(shape, wrap):
    wanted = nx.grid_graph(shape[::-1], periodic=wrap)
    found = graph_of(mesh_links(names(wanted.number_of_nodes()), shape, LINK, wrap=wrap))
    order = dict(zip(sorted(wanted.nodes), names(len(wanted)), strict=True))
    pairs = {frozenset((order[a], order[b])) for a, b in wanted.edges if a != b}
    assert {frozenset(edge) for edge in found.edges} == pairs


def test_a_star():
    links = star_links(names(5), LINK, "hub")
    assert [one.between for one in links] == [(name, "hub") for name in names(5)]


@pytest.mark.parametrize(("k", "arity"), [(64, 4), (10, 3), (3, 8), (2, 2), (1, 2)])
def test_a_fat_tree_carries_at_every_level_what_all_below_can_send(k, arity):
    links = fat_tree_links(names(k), arity, LINK, "s")
    graph = graph_of(links)
    assert nx.is_tree(graph)
    for name in names(k):
        assert graph.degree[name] == 1
    for one in links:
        low, high = one.between
        cut = graph.copy()
        cut.remove_edge(low, high)
        below = sum(name in nx.node_connected_component(cut, low) for name in names(k))
        assert one.link.beta == pytest.approx(LINK.beta / below)
        if low not in names(k):
            assert sum(high != other for other in graph[low]) <= arity
    devices = tuple(Device(name, 1.0) for name in names(k))
    assert Platform(devices, (), tuple(links) if k > 1 else ()).k == k


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: mesh_links(names(5), (2, 3), LINK),
            "a mesh of 2x3 has 6 places, but there are 5 devices",
        ),
        (
            lambda: star_links(["a", "hub"], LINK, "hub"),
            "a switch and a device both have the name 'hub'",
        ),
        (
            lambda: fat_tree_links(["a", "s1.0"], 2, LINK, "s"),
            r"a switch and a device both have the name 's1\.0'",
        ),
        (
            lambda: fat_tree_links(names(4), 1, LINK, "s"),
            "the arity of a fat tree must be >= 2, not",
        ),
    ],
)
def test_what_is_refused(make, said):
    with pytest.raises(InputError, match=said):
        make()
