"""Stand-ins keep degree, direction and skew; the machine is shrunk with them."""

import numpy as np
import pytest

from papers.guo16.setup import (
    das4,
    gpus_alone,
    ordered_by_degree,
    scale_degrees,
    scale_graph,
    stand_ins,
)

GRAPHS = stand_ins(0.25)


@pytest.mark.parametrize("name", ["G1", "G3", "G4", "G5"])
def test_stand_ins_are_like_the_papers_graphs(name):
    stand_in = GRAPHS[name]
    graph = stand_in.graph
    assert graph.m / graph.n == pytest.approx(stand_in.degree, rel=0.1)
    arcs = set(zip(np.repeat(np.arange(graph.n), graph.degrees), graph.adjncy, strict=True))
    is_symmetric = all((w, v) in arcs for v, w in list(arcs)[:500])
    assert is_symmetric != stand_in.is_directed
    assert graph.degrees.max() > 5 * graph.m / graph.n
    both = stand_in.both_ways
    assert both.m == both.undirected().adjncy.size
    assert stand_in.shrink * graph.m == pytest.approx(stand_in.arcs)


@pytest.mark.slow
def test_the_dense_stand_in():
    graph = stand_ins()["G2"].graph
    assert graph.m / graph.n == pytest.approx(1663, rel=0.02)


def test_shares_on_four_machines_are_the_papers():
    shares = {name: 1 / (one.ratio(4) + 1) for name, one in GRAPHS.items()}
    assert [int(shares[name] * 100) for name in ("G1", "G2", "G3", "G4")] == [9, 6, 4, 4]


def test_small_numbers_have_most_arcs_where_ordered_by_degree():
    shuffled = GRAPHS["G4"].graph
    graph = ordered_by_degree(shuffled)
    assert graph.degrees.tolist() == sorted(shuffled.degrees.tolist(), reverse=True)
    assert graph.m == shuffled.m


def test_the_machine_is_shrunk_in_all_but_latency():
    whole, part = das4(2), das4(2, 100.0)
    assert part.k == 4
    assert part.speeds * 100 == pytest.approx(whole.speeds)
    assert part.memories * 100 == pytest.approx(whole.memories)
    for one, other in zip(part.levels, whole.levels, strict=True):
        assert one.link.alpha == other.link.alpha
        assert one.link.beta == pytest.approx(100 * other.link.beta)


def test_scale_graphs_have_twice_the_arcs_for_each_scale():
    assert scale_graph(9).m / scale_graph(8).m == pytest.approx(2, rel=0.1)


def test_degrees_alone_are_those_of_graph500():
    """Mean and largest degree of a drawn graph; its repeated edges are not left out."""
    alone, whole = scale_degrees(12), scale_graph(12, 32)
    degrees = np.diff(alone.xadj)
    assert alone.m == pytest.approx(32 * 2**12, rel=0.02)
    assert degrees.min() == 1
    assert alone.arcs_out().adjncy.size == alone.m
    assert degrees.max() == pytest.approx(2 * 16 * 2**12 * 0.76**12, rel=0.2)
    assert degrees.size == pytest.approx(whole.n, rel=0.3)


def test_gpus_alone_are_in_one_machine():
    platform = gpus_alone(8, 10.0)
    assert {device.kind for device in platform.devices} == {"cuda"}
    assert {device.at for device in platform.devices} == {"m0"}
    assert platform.k == 8


def test_the_generators_own_numbers_give_small_ones_more_arcs():
    made = GRAPHS["G4"].draw_numbered()
    half = made.n // 2
    assert made.degrees[:half].sum() > 1.5 * made.degrees[half:].sum()
    assert sorted(made.degrees) == sorted(GRAPHS["G4"].graph.degrees)
