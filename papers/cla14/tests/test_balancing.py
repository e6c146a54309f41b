"""Balancers as the thesis has them, and when they are said to have converged."""

import numpy as np
import pytest

from evener.platforms.models.examples import curve_set, jacobi_servers
from evener.platforms.models.fitting import Constant
from evener.sizing.solving import solve_sizes
from papers.cla14.balancing import (
    EPSILON,
    PlainDPA,
    balanced_at,
    by_geometry,
    by_roots,
    converged_after,
    even_sizes,
    played,
    spread,
    traditional,
)


def test_the_traditional_balancer_by_hand_never_ends_on_cluster_2():
    models = [curve.model for curve in curve_set("cluster2")]
    seconds, sizes = played(models, 11000, traditional, 30)
    assert (sizes.sum(axis=1) == 11000).all()
    assert converged_after(sizes) is None
    assert balanced_at(seconds) is None
    # To and fro: what P1 has one iteration it has again two later.
    assert sizes[-1, 0] == pytest.approx(sizes[-3, 0], rel=0.01)
    assert abs(sizes[-1, 0] - sizes[-2, 0]) > 1000


@pytest.mark.parametrize("name", ["cluster1", "cluster2"])
def test_the_traditional_balancer_goes_to_and_fro_on_both_clusters(name):
    models = [curve.model for curve in curve_set(name)]
    seconds, _ = played(models, 11000, traditional, 40)
    assert seconds[20:].max() > 20 * solve_sizes(models, 11000).makespan


def test_convergence_is_when_sizes_stay():
    sizes = np.array([[5, 5], [7, 3], [7, 3], [6, 4], [6, 4], [6, 4], [6, 4]])
    assert converged_after(sizes) == 4
    assert converged_after(sizes[:5]) is None
    assert converged_after(sizes[:1].repeat(9, axis=0)) == 1


def test_balanced_is_when_times_agree():
    seconds = np.array([[1.0, 2.0], [1.0, 1.0 + 2 * EPSILON], [1.0 + EPSILON / 2, 1.0]])
    assert spread(seconds).tolist() == pytest.approx([1.0, 2 * EPSILON, EPSILON / 2])
    assert balanced_at(seconds) == 3
    assert balanced_at(seconds[:2]) is None


@pytest.mark.parametrize("start", [by_geometry, by_roots])
def test_constant_speeds_are_balanced_at_the_second_iteration(start):
    seconds, sizes = played([Constant(3.0), Constant(1.0)], 800, start, 5)
    assert sizes[0].tolist() == [400, 400]
    assert (sizes[1:] == [600, 200]).all()
    assert balanced_at(seconds) == 2


@pytest.mark.parametrize("start", [by_geometry, by_roots])
@pytest.mark.parametrize("cluster", ["cluster1", "cluster2"])
def test_partial_models_find_the_edge_of_the_memories(start, cluster):
    models = [curve.model for curve in jacobi_servers(cluster, 11000)]
    seconds, sizes = played(models, 11000, start, 30)
    assert (sizes.sum(axis=1) == 11000).all()
    assert spread(seconds[-1]) <= EPSILON
    assert seconds[-1].max() <= (1 + EPSILON) * solve_sizes(models, 11000).makespan


def test_what_is_balanced_stays_so():
    balancer = PlainDPA(10, 2, "gpa")
    assert balancer.observe(np.array([1.0, 1.0])) is None
    assert balancer.observe(np.array([1.0, 9.0])) is None
    assert balancer.sizes.tolist() == even_sizes(10, 2).tolist() == [5, 5]


def test_a_servers_memory_holds_as_many_rows_as_rows_are_short():
    short, long = (jacobi_servers("cluster2", unknowns) for unknowns in (5500, 11000))
    for one, other in zip(short, long, strict=True):
        assert one.memory == pytest.approx(2 * other.memory)
        assert one.peak == pytest.approx(2 * other.peak)
    assert curve_set("cluster2") == long
