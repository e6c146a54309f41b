"""Apps on random graphs and partitions, devices as threads: their values are right."""

import pytest

from tests.examples import seeds
from tests.running.random_runs import APPS, is_right, random_case


@pytest.mark.parametrize("seed", seeds(40))
def test_random_graphs_and_partitions(seed):
    case = random_case(seed)
    for app in APPS:
        assert is_right(app, case), (app, case)
